"""How far a report's measures agree with its main one, answer by answer and system by system. No Django."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison, Floats
from evaluation.reports.figures import Figure, Row, from_coefficient
from evaluation.stats import Bootstrap, Correlations, metric_correlations

# Of more answers than these rank correlations take minutes to resample: they are told without an interval.
MAX_CORRELATED = 2_000
BY_ANSWER, BY_SYSTEM = "answers", "systems"


def metric_figures(
    comparison: Comparison, *, scorers: Sequence[str], primary_scorer: str, bootstrap: Bootstrap
) -> Iterator[Figure]:
    """Each further measure against the main one: Pearson, Spearman and Kendall, over every scored answer of people and
    runs (denominator: answers) and over the means of each person and each run (systems). Nothing with one measure.

    A high correlation by system says little about answers. Systems are few, so that one has no interval.
    """
    n_answers = int((~np.isnan(_columns(comparison, primary_scorer))).sum())
    for scorer in scorers:
        if scorer == primary_scorer:
            continue
        found = metric_correlations(
            _columns(comparison, scorer),
            _columns(comparison, primary_scorer),
            roots=comparison.roots,
            bootstrap=bootstrap if n_answers <= MAX_CORRELATED else None,
        )
        yield from _figures(scorer, BY_ANSWER, found.items)
        yield from _figures(scorer, BY_SYSTEM, found.systems)


def _figures(scorer: str, level: str, found: Correlations) -> Iterator[Figure]:
    row = Row(scorer, "scorer", scorer)
    for coefficient in found:
        figure = from_coefficient("metrics", row, coefficient)
        note = figure.note
        if level == BY_ANSWER and figure.value is not None and figure.n > MAX_CORRELATED:
            note = _("no interval: more than %(n)s answers", n=f"{MAX_CORRELATED:,}")
        yield replace(figure, denominator=level, is_exploratory=True, note=note)


def _columns(comparison: Comparison, scorer: str) -> Floats:
    """Items x answerers: a column each person and each repeat of a run."""
    sides = [comparison.people, *comparison.runs]
    return np.hstack([side.scores[scorer] for side in sides])
