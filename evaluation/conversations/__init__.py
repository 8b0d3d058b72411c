"""What is asked of an item call by call, and what the replies come to. Pure: no Django, no HTTP.

A strategy of one call is a conversation that ends with its first reply. Whoever makes the calls stores each of them as
a step, from 0 on, asks `following` what comes next, and can ask it again after a crash: it looks at nothing but the
item and the replies so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.clients.base import ClientError, Completion, ErrorKind
from evaluation.conversations import rounds, stages, votes
from evaluation.conversations.base import Ask, Item, Reading, Reply
from evaluation.conversations.reading import read_answer

__all__ = ["Ask", "Item", "Reading", "Reply", "ended_by_error", "following", "read", "read_answer", "reads_each"]

_KINDS = {"stages": stages, "votes": votes, "rounds": rounds}


def read(item: Item, step: int, completion: Completion) -> Reading:
    """What the completion of a step came to by itself."""
    return _KINDS[item.kind].read(item, step, completion)


def reads_each(item: Item) -> bool:
    """Whether the reading of each reply counts, and is kept with it."""
    return item.kind != "stages"


def following(item: Item, replies: Sequence[Reply]) -> Ask | Reading:
    """The call that comes after these replies, or what they came to together."""
    return _KINDS[item.kind].following(item, replies)


def ended_by_error(item: Item, replies: Sequence[Reply], error: ClientError) -> Reading | None:
    """What the replies came to where an error ends the conversation rather than the step; None where it does not.

    Only rounds end so, and only if the request itself is at fault: what may heal, or be repeated, is asked again.
    """
    if item.kind != "rounds" or error.kind != ErrorKind.BAD_REQUEST:
        return None
    return rounds.ended_by_error(item, replies, error.message)
