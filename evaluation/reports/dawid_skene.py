"""Dawid and Skene's model beside the vote: who is right how often, and what is most probable. No Django."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison
from evaluation.reports.figures import Figure, Row, from_estimate
from evaluation.stats import Bootstrap, DawidSkene, chosen_label_accuracy, dawid_skene

PEOPLE_DAWID_SKENE = Row("people_dawid_skene", "people", _("People, Dawid and Skene’s model"))
# The reader of a report waits: what still moves after this many steps, moves in the sixth digit.
_MAX_ITERATIONS = 300
_TOLERANCE = 1e-8


def estimate_classes(comparison: Comparison, *, seed: int) -> DawidSkene | None:
    """From the counted answers of round one, with or without gold; None without declared labels or without a pair."""
    labels = comparison.people.labels
    items, people = np.nonzero(labels >= 0)
    if not comparison.classes or not ((labels >= 0).sum(axis=1) >= 2).any():
        return None
    return dawid_skene(
        items,
        people,
        labels[items, people],
        n_items=labels.shape[0],
        n_raters=labels.shape[1],
        n_classes=len(comparison.keys),
        seed=seed,
        tolerance=_TOLERANCE,
        max_iterations=_MAX_ITERATIONS,
    )


def dawid_skene_figures(
    comparison: Comparison, found: DawidSkene, *, scorers: Sequence[str], bootstrap: Bootstrap
) -> list[Figure]:
    """Accuracy of the most probable labels by both denominators, as of the vote, and each person's estimated share."""
    people = comparison.people
    asked = people.asked_items
    n_answers = int(((people.labels >= 0) & asked[:, np.newaxis]).sum())
    note = _how_it_ended(found)
    figures = []
    for scorer in scorers:
        estimates = chosen_label_accuracy(
            "dawid_skene",
            found.labels,
            people.labels,
            people.scores[scorer],
            scorable=asked,
            roots=comparison.roots,
            bootstrap=bootstrap,
        )
        for denominator, estimate in zip(("all", "answered"), estimates, strict=True):
            figure = from_estimate("accuracy", PEOPLE_DAWID_SKENE, scorer, estimate, denominator=denominator)
            figures.append(replace(figure, n=n_answers, note="; ".join(filter(None, (figure.note, note)))))
    for name, accuracy, n in zip(people.names, found.accuracies, (people.labels >= 0).sum(axis=0), strict=True):
        figures.append(
            Figure(
                section="agreement_person",
                row=f"person_{name}",
                who="people",
                label=name,
                measure="dawid_skene_accuracy",
                value=None if np.isnan(accuracy) else float(accuracy),
                n=int(n),
                n_items=int(n),
                n_people=1,
                undefined="no_trials" if np.isnan(accuracy) else "",
                is_exploratory=True,
                note=note,
            )
        )
    return figures


def frozen_classes(comparison: Comparison, found: DawidSkene) -> dict[str, Any]:
    """What a report keeps: the most probable key of each item and its probability, and how the search ended."""
    best = np.nanmax(np.where(np.isnan(found.posteriors), -1.0, found.posteriors), axis=1)
    return {
        "keys": [None if label < 0 else comparison.keys[label] for label in found.labels.tolist()],
        "probabilities": [None if probability < 0 else probability for probability in best.tolist()],
        "log_likelihood": found.log_likelihood,
        "n_starts": len(found.log_likelihoods),
        "n_agreeing": found.n_agreeing,
        "converged": found.converged,
        "seed": found.seed,
    }


def _how_it_ended(found: DawidSkene) -> str:
    words = [f"log-likelihood {found.log_likelihood:.3f}, {found.n_agreeing} of {len(found.log_likelihoods)} starts"]
    words.append("the interval takes the labels as estimated")
    if not found.converged:
        words.append(f"still moving after {found.n_iterations} steps")
    return "; ".join(words)
