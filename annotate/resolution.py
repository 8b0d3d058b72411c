"""The votes on one item: majority, plurality, tie or none. The only place that counts votes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a vote ended."""

    UNANIMOUS = "unanimous"  # two votes or more, all for one key
    MAJORITY = "majority"  # more than half of the votes; also a single vote, which nobody has confirmed
    PLURALITY = "plurality"  # more votes than any other key, but not more than half
    TIE = "tie"  # two keys or more share the most votes: nobody wins
    NO_VOTES = "no_votes"


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
