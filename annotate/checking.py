"""Which of the items somebody meets is a check, and in which order they get them. Pure: a seed in, places out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

# Larger than the ranks of any stage, and prime: multiplying by less than it deals each rank another place.
MODULUS = 1_000_003


@dataclass(frozen=True)
class Standing:
    """What decides which kind of place somebody gets next in a stage.

    n_met: how many of its items they have answered or skipped, checks among them. checks_owed: how many checks have
    come due and were not met yet; below 0 where they have met more. A table is never left for a check, so several may
    be owed at its end.
    """

    is_qualified: bool = True
    n_met: int = 0
    checks_owed: int = 0

    def after_one(self, *, is_check: bool, is_due: bool) -> Standing:
        """is_due: whether the place that comes next is one of a check."""
        return Standing(self.is_qualified, self.n_met + 1, self.checks_owed + is_due - is_check)


def check_is_due(*, seed: int, who: str, n_met: int, every: int) -> bool:
    """Whether the next item after n_met others is a check: one of each `every`, drawn anew for each person and block.

    The very first item is none: somebody who looks at a stage in which nothing is left gets no check alone.
    Raises ValueError if every is below 2: then there would be checks alone.
    """
    if every < 2:
        raise ValueError("one of so many items must leave room for others")
    block, place = divmod(n_met, every)
    first = 1 if block == 0 else 0
    return place == first + _number(f"{seed}/{who}/check/{block}") % (every - first)


def order_of_checks(*, seed: int, who: str) -> tuple[int, int]:
    """(factor, offset): (rank * factor + offset) mod MODULUS puts the checks, by the first of those that hang together,
    into this person's own order."""
    number = _number(f"{seed}/{who}/order")
    return 1 + number % (MODULUS - 1), (number >> 24) % MODULUS


def attempt_seed(*, seed: int, who: str, number: int) -> int:
    """From which seed the items of somebody's attempt are drawn."""
    return _number(f"{seed}/{who}/attempt/{number}")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
