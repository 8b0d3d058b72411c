"""Majority votes over a whole matrix of answers. What a majority is, annotate/resolution.py decides."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.resolution import Outcome, Status, resolve
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
    # A study has few distinct rows of votes: each is counted once.
    known: dict[tuple[int, ...], Outcome] = {}
    outcomes = []
    for row in np.sort(matrix, axis=1).tolist():
        votes = tuple(row)
        if votes not in known:
            known[votes] = resolve([None if label < 0 else str(label) for label in votes])
        outcomes.append(known[votes])
    return Votes(
        winners=np.array([-1 if outcome.key is None else int(outcome.key) for outcome in outcomes], dtype=np.int64),
        n_votes=np.array([outcome.votes for outcome in outcomes], dtype=np.int64),
        statuses=tuple(outcome.status for outcome in outcomes),
        tied=tuple(tuple(sorted(int(key) for key in outcome.tied)) for outcome in outcomes),
    )


def has_majority(counts: Rows) -> Floats:
    """1.0 for each row of label counts, shape (n_units, n_labels), where one label has more than half, else 0.0."""
    if isinstance(counts, np.ndarray):
        rows = [row[row > 0] for row in counts]
    else:
        rows = np.split(counts.data, counts.indptr[1:-1])
    statuses = [resolve([str(label) for label, n in enumerate(row) for _ in range(int(n))]).status for row in rows]
    return np.array([status in (Status.UNANIMOUS, Status.MAJORITY) for status in statuses], dtype=np.float64)
