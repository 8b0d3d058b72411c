"""Seeded chance that gives the same draws in every process, on every machine and with every version of Python."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Draws that follow from the words they are seeded with, and from nothing else.

    Only `Random.random()` is used: it is the one method whose sequence Python promises to keep.
    """

    def __init__(self, *seed: object) -> None:
        text = "\x1f".join(str(part) for part in seed)
        self._random = Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))

    def below(self, n: int) -> int:
        """One of 0 ... n - 1."""
        return int(self._random.random() * n)

    def between(self, first: int, last: int) -> int:
        return first + self.below(last - first + 1)

    def pick(self, among: Sequence[T]) -> T:
        return among[self.below(len(among))]

    def happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def shuffled(self, values: Sequence[T]) -> list[T]:
        left, drawn = list(values), []
        while left:
            drawn.append(left.pop(self.below(len(left))))
        return drawn
