"""Seeded draws from closed populations. Pure: keys in, positions out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def draw_simple(keys: Sequence[str], n: int, *, seed: int) -> list[int]:
    """Positions of a simple random sample of n keys without replacement, in ascending order.

    Each key gets the SHA-256 of seed and key, and the n smallest are drawn: who is drawn depends on the seed and the
    keys alone, not on their order nor on the version of a random generator. Every key has probability n / len(keys).
    Raises ValueError if n is not between 1 and the number of keys, or a key occurs twice.
    """
    if not 1 <= n <= len(keys):
        raise ValueError(f"cannot draw {n} of {len(keys)}")
    if len(set(keys)) != len(keys):
        raise ValueError("a key occurs twice")
    lots = [hashlib.sha256(f"{seed}:{key}".encode()).digest() for key in keys]
    return sorted(sorted(range(len(keys)), key=lots.__getitem__)[:n])
