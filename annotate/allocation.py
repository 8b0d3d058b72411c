"""Dealing: items into batches that mix domains, people into groups of one size. Pure: keys in, order out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Batches:
    """batches: keys in the order in which they stand in the queue. n_domains: how many domains each batch has.

    short: the domains of which some batch that they are in has fewer than asked for, with how many items they have.
    """

    batches: tuple[tuple[str, ...], ...]
    n_domains: tuple[int, ...]
    short: Mapping[str, int]

    @property
    def keys(self) -> list[str]:
        return [key for batch in self.batches for key in batch]


def mix_domains(domains: Mapping[str, str], *, seed: int, n_domains: int = 12, per_domain: int = 3) -> Batches:
    """Deal items (key -> domain) into batches of n_domains domains with at most per_domain items of each.

    Each batch takes the domains of which most is left, so that large domains do not remain for the end; where fewer
    domains are left than asked for, the batch has those. Neighbours are of different domains as long as there are
    others. Which items, and which of equally large domains, the seed decides: the order of the keys does not matter.
    Raises ValueError for numbers below one.
    Source: TempTabQA (Gupta et al. 2023), "diverse table categories": 12 domains, no more than 3 tables of one.
    """
    if n_domains < 1 or per_domain < 1:
        raise ValueError("a batch needs one domain and one item of it at least")
    left: dict[str, list[str]] = {}
    for key in sorted(domains, key=lambda key: _lot(seed, key)):
        left.setdefault(domains[key], []).append(key)
    sizes = {domain: len(keys) for domain, keys in left.items()}
    batches: list[tuple[str, ...]] = []
    widths: list[int] = []
    while left:
        turn = len(batches)
        chosen = sorted(left, key=lambda domain: (-len(left[domain]), _lot(seed, f"{turn}:{domain}")))[:n_domains]
        taken = {domain: left[domain][:per_domain] for domain in chosen}
        for domain in chosen:
            left[domain] = left[domain][per_domain:]
            if not left[domain]:
                del left[domain]
        order = sorted(chosen, key=lambda domain: _lot(seed, f"{turn}/{domain}"))
        # One of each domain, then the next of each: neighbours differ.
        rounds = ((domain, place) for place in range(per_domain) for domain in order)
        batches.append(tuple(taken[domain][place] for domain, place in rounds if place < len(taken[domain])))
        widths.append(len(chosen))
    short = {domain: size for domain, size in sorted(sizes.items()) if size % per_domain}
    return Batches(tuple(batches), tuple(widths), short)


def deal(
    keys: Sequence[str], *, into: Sequence[str], seed: int, sizes: Mapping[str, int] | None = None
) -> dict[str, str]:
    """Key -> group: groups as equal in size as can be, those that have `sizes` already included.

    Raises ValueError if a key occurs twice or there is no group.
    """
    if not into or len(set(into)) != len(into):
        raise ValueError("groups must be named, each once")
    if len(set(keys)) != len(keys):
        raise ValueError("a key occurs twice")
    counts = Counter({group: (sizes or {}).get(group, 0) for group in into})
    dealt = {}
    for turn, key in enumerate(sorted(keys, key=lambda key: _lot(seed, key))):
        # Of groups of one size a lot decides, else the first group would always get the odd one.
        group = min(into, key=lambda group: (counts[group], _lot(seed, f"{turn}:{group}")))
        dealt[key] = group
        counts[group] += 1
    return dealt


def _lot(seed: int, key: str) -> bytes:
    """As in `sampling`: depends on the seed and the key alone, not on the version of a random generator."""
    return hashlib.sha256(f"{seed}:{key}".encode()).digest()
