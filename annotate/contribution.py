"""How much of the work came from how few people: the contribution curve. No Django here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

# How many people the table names, where there are more.
STEPS = (1, 5, 10, 25, 50, 100)


@dataclass(frozen=True)
class Contribution:
    """counts: answers by person, the most first. curve: shares of all answers by the first k people, k from 0.

    gini: 0 where everybody gave as many, towards 1 where one gave them all; None for fewer than two people or answers
    by nobody. n_half: how few gave at least half.
    """

    counts: tuple[int, ...]
    curve: tuple[float, ...]
    gini: float | None
    n_half: int

    @property
    def n_people(self) -> int:
        return len(self.counts)

    @property
    def n_answers(self) -> int:
        return sum(self.counts)

    def share_of(self, k: int) -> float | None:
        """The share of the k people who gave most."""
        return self.curve[min(k, self.n_people)] if self.n_answers else None

    @property
    def steps(self) -> list[tuple[int, float]]:
        """(k, their share) for some k up to everybody."""
        if not self.n_answers:
            return []
        return [(k, self.curve[k]) for k in dict.fromkeys([*STEPS, self.n_people]) if k <= self.n_people]


def contribution_of(counts: Iterable[int]) -> Contribution:
    """The curve of people who gave so many answers each.

    The Gini coefficient is the mean absolute difference of all pairs of people, over twice the mean: with counts in
    rising order, sum((2 i - n - 1) x_i) / (n sum(x)).
    """
    given = tuple(sorted(counts, reverse=True))
    total, n = sum(given), len(given)
    if not total:
        return Contribution(given, (0.0,), None, 0)
    curve = (0.0, *(done / total for done in accumulate(given)))
    n_half = next(k for k, share in enumerate(curve) if share >= 0.5)
    return Contribution(given, curve, _gini(given[::-1], total) if n > 1 else None, n_half)


def _gini(rising: Sequence[int], total: int) -> float:
    n = len(rising)
    return sum((2 * rank - n - 1) * count for rank, count in enumerate(rising, start=1)) / (n * total)
