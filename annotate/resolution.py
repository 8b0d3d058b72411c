"""The votes on one item: majority, plurality, tie or none. The only place that counts votes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, isfinite

# Weights are added up as binary fractions: .6 + .3 is not .9 there, and a tie all the same.
_WEIGHT_TOLERANCE = 1e-9


class Status(StrEnum):
    """How a vote ended."""

    UNANIMOUS = "unanimous"  # two votes or more, all for one key
    MAJORITY = "majority"  # more than half of the votes; also a single vote, which nobody has confirmed
    PLURALITY = "plurality"  # more votes than any other key, but not more than half
    TIE = "tie"  # two keys or more share the most votes: nobody wins
    NO_VOTES = "no_votes"
    NO_WEIGHT = "no_weight"  # of weighted votes only: there are votes, and none of them weighs anything


@dataclass(frozen=True)
class Outcome:
    """What the votes on one item say.

    key: the winner, or None for a tie or without votes.
    votes: how many votes were cast; None is not a vote.
    counts: (key, number of votes), most votes first, then by key.
    margin: votes of the first key minus votes of the second; 0 for a tie and without votes.
    tied: the keys that share the most votes, sorted; empty unless status is tie.
    """

    status: Status
    key: str | None
    votes: int
    counts: tuple[tuple[str, int], ...]
    margin: int
    tied: tuple[str, ...] = ()

    @property
    def agreement(self) -> float | None:
        """The share of pairs of votes that agree; None with fewer than two votes."""
        pairs = self.votes * (self.votes - 1)
        return sum(n * (n - 1) for _, n in self.counts) / pairs if pairs else None


def resolve(votes: Sequence[str | None]) -> Outcome:
    """Count the votes on one item. Ties are told, never broken: not by order, alphabet or chance."""
    counter = Counter(vote for vote in votes if vote is not None)
    n_votes = counter.total()
    if n_votes == 0:
        return Outcome(Status.NO_VOTES, key=None, votes=0, counts=(), margin=0)
    counts = tuple(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])))
    most = counts[0][1]
    margin = most - (counts[1][1] if len(counts) > 1 else 0)
    if margin == 0:
        tied = tuple(key for key, n in counts if n == most)
        return Outcome(Status.TIE, key=None, votes=n_votes, counts=counts, margin=0, tied=tied)
    if most == n_votes and n_votes > 1:
        status = Status.UNANIMOUS
    elif 2 * most > n_votes:
        status = Status.MAJORITY
    else:
        status = Status.PLURALITY
    return Outcome(status, key=counts[0][0], votes=n_votes, counts=counts, margin=margin)


@dataclass(frozen=True)
class WeightedOutcome:
    """What votes of unequal weight say.

    status: as of a plain vote, but never unanimous, and no_weight where no vote weighs anything. key: the winner or
    None. shares: (key, share of the weight), most first, then by key; they add up to 1. tied: as in Outcome.
    """

    status: Status
    key: str | None
    shares: tuple[tuple[str, float], ...]
    tied: tuple[str, ...] = ()


def resolve_weighted(votes: Sequence[tuple[str | None, float]]) -> WeightedOutcome:
    """Add up the weights of the votes on one item. Totals that differ by less than 1e-9 of all weight are a tie.

    votes: (key or None, weight from 0) pairs; None is not a vote. Raises ValueError for a weight that is negative or
    not finite.
    """
    totals: dict[str, list[float]] = {}
    for key, weight in votes:
        if not (isfinite(weight) and weight >= 0):
            raise ValueError(f"The weight of a vote is a number from 0, not {weight}.")
        if key is not None:
            totals.setdefault(key, []).append(weight)
    # fsum: whether totals are equal must not depend on the order in which the votes came.
    weights = {key: fsum(parts) for key, parts in totals.items()}
    everything = fsum(weights.values())
    if everything <= 0:
        return WeightedOutcome(Status.NO_WEIGHT if weights else Status.NO_VOTES, key=None, shares=())
    shares = tuple(
        sorted(((key, weight / everything) for key, weight in weights.items()), key=lambda pair: (-pair[1], pair[0]))
    )
    most = shares[0][1]
    tied = tuple(sorted(key for key, share in shares if most - share < _WEIGHT_TOLERANCE))
    if len(tied) > 1:
        return WeightedOutcome(Status.TIE, key=None, shares=shares, tied=tied)
    # Within rounding of a half is not more than half.
    status = Status.MAJORITY if most > 0.5 + _WEIGHT_TOLERANCE else Status.PLURALITY
    return WeightedOutcome(status, key=shares[0][0], shares=shares)


@dataclass(frozen=True)
class RoundsOutcome:
    """What the votes of one or two rounds say. needs_escalation: round one has no majority and there is no second."""

    outcome: Outcome
    round: int
    needs_escalation: bool = False


def resolve_rounds(
    first: Sequence[str | None], second: Sequence[str | None] | None = None, *, min_votes: int = 2
) -> RoundsOutcome:
    """A majority in round one stands; without it the votes of both rounds are pooled and counted as one vote.

    min_votes: votes that a majority of round one needs, so that a single vote decides nothing.
    """
    alone = resolve(first)
    if alone.status in (Status.UNANIMOUS, Status.MAJORITY) and alone.votes >= min_votes:
        return RoundsOutcome(alone, round=1)
    if second is None:
        return RoundsOutcome(alone, round=1, needs_escalation=True)
    return RoundsOutcome(resolve([*first, *second]), round=2)
