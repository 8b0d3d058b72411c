"""The vote in which people weigh as much as they agree with the others. No Django."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison
from evaluation.reports.figures import Figure, Row, from_estimate, ratings_of
from evaluation.stats import Bootstrap, chosen_label_accuracy, rater_agreements, weighted_votes

PEOPLE_WEIGHTED_VOTE = Row("people_vote_weighted", "people", _("People, vote weighted by agreement with the others"))


def weighted_vote_figures(comparison: Comparison, *, scorers: Sequence[str], bootstrap: Bootstrap) -> list[Figure]:
    """Accuracy of the weighted vote by both denominators, as of the plain one; nothing with fewer than three people.

    A person's weight is the mean share of the others who say the same (rater_agreements), 0 for who shares no item with
    anybody. Equal totals are a tie, which is not right, and no label without weight wins.
    """
    people = comparison.people
    weights = np.zeros(len(people.names))
    for agreement in rater_agreements(ratings_of(comparison)):
        weights[agreement.rater] = agreement.percent.value or 0.0
    if (people.labels >= 0).any(axis=0).sum() < 3:
        return []
    votes = weighted_votes(people.labels, weights)
    winners = np.array([-1 if vote.key is None else int(vote.key) for vote in votes], dtype=np.int64)
    asked = people.asked_items
    n_answers = int(((people.labels >= 0) & asked[:, np.newaxis]).sum())
    figures = []
    for scorer in scorers:
        estimates = chosen_label_accuracy(
            "weighted_vote",
            winners,
            people.labels,
            people.scores[scorer],
            scorable=asked,
            roots=comparison.roots,
            bootstrap=bootstrap,
        )
        for denominator, estimate in zip(("all", "answered"), estimates, strict=True):
            figure = from_estimate("accuracy", PEOPLE_WEIGHTED_VOTE, scorer, estimate, denominator=denominator)
            figures.append(replace(figure, n=n_answers))
    return figures
