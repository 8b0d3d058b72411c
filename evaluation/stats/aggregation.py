"""Majority votes over a whole matrix of answers. What a majority is, annotate/resolution.py decides."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.resolution import Outcome, Status, WeightedOutcome, resolve, resolve_rounds, resolve_weighted
from evaluation.stats.intervals import Floats, Ints, Rows


@dataclass(frozen=True)
class Votes:
    """The vote on each of n_units units.

    winners: shape (n_units,), the winning label, -1 for a tie or without votes.
    n_votes: shape (n_units,). statuses: one for each unit. tied: for each unit the labels that share the most votes.
    """

    winners: Ints
    n_votes: Ints
    statuses: tuple[Status, ...]
    tied: tuple[tuple[int, ...], ...]

    def count(self, status: Status) -> int:
        """How many units ended so."""
        return self.statuses.count(status)


def majority_votes(labels: npt.ArrayLike) -> Votes:
    """Resolve every unit. labels: whole numbers, shape (n_units, n_raters), -1 where an answer is missing."""
    matrix = np.asarray(labels)
    if matrix.ndim != 2:
        raise ValueError("labels must be a two-dimensional array (units x raters).")
    units, raters = np.nonzero(matrix >= 0)
    given = matrix[units, raters]
    # The answers of a unit side by side, sorted: a study has few distinct rows of votes, and each is counted once.
    given = given[np.lexsort((given, units))].tolist()
    ends = np.cumsum(np.bincount(units, minlength=matrix.shape[0])).tolist()
    known: dict[tuple[int, ...], Outcome] = {}
    outcomes = []
    start = 0
    for end in ends:
        votes = tuple(given[start:end])
        start = end
        if votes not in known:
            known[votes] = resolve([str(label) for label in votes])
        outcomes.append(known[votes])
    return Votes(
        winners=np.array([-1 if outcome.key is None else int(outcome.key) for outcome in outcomes], dtype=np.int64),
        n_votes=np.array([outcome.votes for outcome in outcomes], dtype=np.int64),
        statuses=tuple(outcome.status for outcome in outcomes),
        tied=tuple(tuple(sorted(int(key) for key in outcome.tied)) for outcome in outcomes),
    )


def weighted_votes(labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[WeightedOutcome, ...]:
    """Resolve every unit with a weight for each rater. labels as in majority_votes; weights: shape (n_raters,).

    Raises ValueError for shapes that do not fit and for a weight that is negative or not finite.
    """
    matrix, factors = np.asarray(labels), np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or factors.shape != (matrix.shape[1],):
        raise ValueError("labels must be units x raters, with one weight for each rater.")
    return tuple(
        resolve_weighted(
            [(None if label < 0 else str(label), weight) for label, weight in zip(row, factors.tolist(), strict=True)]
        )
        for row in matrix.tolist()
    )


def pooled_rounds(first: npt.ArrayLike, later: npt.ArrayLike, *, min_votes: int = 2) -> Ints:
    """The answers that decide after escalation: those of round one where they have a majority, else all of both.

    first, later: labels of the same people, shape (n_units, n_raters), -1 where missing; nobody answers in both. The
    rule is resolve_rounds of annotate/resolution.py.
    """
    one, two = np.asarray(first), np.asarray(later)
    if one.shape != two.shape or one.ndim != 2:
        raise ValueError("first and later must be two-dimensional arrays of the same shape.")
    pooled = one.astype(np.int64)
    for unit in np.flatnonzero((two >= 0).any(axis=1)):
        votes = [[str(label) for label in row[unit] if label >= 0] for row in (one, two)]
        if resolve_rounds(votes[0], votes[1], min_votes=min_votes).round == 2:
            pooled[unit] = np.where(one[unit] >= 0, one[unit], two[unit])
    return pooled


def has_majority(counts: Rows) -> Floats:
    """1.0 for each row of label counts, shape (n_units, n_labels), where one label has more than half, else 0.0."""
    if isinstance(counts, np.ndarray):
        rows = [row[row > 0] for row in counts]
    else:
        rows = np.split(counts.data, counts.indptr[1:-1])
    statuses = [resolve([str(label) for label, n in enumerate(row) for _ in range(int(n))]).status for row in rows]
    return np.array([status in (Status.UNANIMOUS, Status.MAJORITY) for status in statuses], dtype=np.float64)
