"""Seeded draws from closed populations. Pure: keys in, positions out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Stratum = TypeVar("Stratum", bound=Hashable)


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


def draw_stratified(keys: Sequence[str], strata: Sequence[Stratum], k: int, *, seed: int) -> dict[Stratum, list[int]]:
    """Positions of k keys of each stratum, each stratum drawn as `draw_simple` draws; a short one is taken whole.

    strata: shape (n_keys,), the stratum of each key. What is drawn of a stratum does not depend on the others. The
    strata come in the order in which they first occur. Raises ValueError unless k is at least 1, for a key that occurs
    twice, and for lengths that differ.
    """
    if len(keys) != len(strata):
        raise ValueError("every key has one stratum")
    if k < 1:
        raise ValueError(f"cannot draw {k} of a stratum")
    if len(set(keys)) != len(keys):
        raise ValueError("a key occurs twice")
    members: dict[Stratum, list[int]] = {}
    for position, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(position)
    return {
        stratum: [own[place] for place in draw_simple([keys[one] for one in own], min(k, len(own)), seed=seed)]
        for stratum, own in members.items()
    }


def shuffled(keys: Sequence[str], *, seed: int) -> list[int]:
    """All positions in an order that the seed and the keys decide, apart from what the same seed draws."""
    return sorted(range(len(keys)), key=lambda place: hashlib.sha256(f"{seed}:order:{keys[place]}".encode()).digest())


def draw_in_proportion(keys: Sequence[str], strata: Mapping[str, str], n: int, *, seed: int) -> list[int]:
    """Positions of n keys, each stratum with its share of them, drawn within it as by `draw_simple`; ascending.

    strata: the stratum of each key. A share that is not whole is rounded by largest remainder, the larger stratum first
    and then by name; a small stratum may get none. Raises ValueError as `draw_simple`.
    """
    if not 1 <= n <= len(keys):
        raise ValueError(f"cannot draw {n} of {len(keys)}")
    sizes = Counter(strata[key] for key in keys)
    shares = {stratum: n * size / len(keys) for stratum, size in sizes.items()}
    wanted = {stratum: int(share) for stratum, share in shares.items()}
    by_remainder = sorted(sizes, key=lambda one: (wanted[one] - shares[one], -sizes[one], one))
    for stratum in by_remainder[: n - sum(wanted.values())]:
        wanted[stratum] += 1
    drawn = []
    for stratum, size in wanted.items():
        places = [place for place, key in enumerate(keys) if strata[key] == stratum]
        if size:
            drawn += [places[one] for one in draw_simple([keys[place] for place in places], size, seed=seed)]
    return sorted(drawn)
