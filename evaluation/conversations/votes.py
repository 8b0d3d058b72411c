"""The same question several times, by chance answered differently: the answers vote, as people's do.

Source: Wang et al. 2023, Self-Consistency Improves Chain of Thought Reasoning in Language Models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from annotate.answers import get_field_type
from annotate.resolution import Outcome, Status, resolve
from annotate.wording import _, listed
from evaluation.clients.base import Completion
from evaluation.conversations.base import Ask, Item, Reading, Reply
from evaluation.conversations.reading import read_answer
from evaluation.storable import shorten

_STATUS = {
    Status.UNANIMOUS: _("unanimous"),
    Status.MAJORITY: _("majority (more than half)"),
    Status.PLURALITY: _("plurality (the most, not more than half)"),
    Status.TIE: _("tie (nobody wins)"),
    Status.NO_VOTES: _("no votes"),
}
_NO_VOTE = {
    "unparsed": _("unparsed"),
    "refused": _("refused"),
    "empty": _("empty"),
    "cut_off": _("cut off"),
}


def read(item: Item, step: int, completion: Completion) -> Reading:
    return read_answer(item.field, completion, item.language)


def following(item: Item, replies: Sequence[Reply]) -> Ask | Reading:
    if len(replies) < item.n_steps:
        return Ask(item.chat, draw=len(replies))
    return _counted(item, [reply.reading for reply in replies])


def _counted(item: Item, readings: Sequence[Reading]) -> Reading:
    """The answer that won. Without any vote what most samples came to; a tie has no answer, and is told as one."""
    keys = [_key(item, reading) for reading in readings]
    outcome = resolve(keys)
    note = shorten(_told(item, readings, keys, outcome))
    if outcome.key is not None:
        return Reading("answered", note, readings[keys.index(outcome.key)].answer)
    if outcome.status == Status.TIE:
        return Reading("tied", note)
    states = Counter(reading.state for reading in readings).most_common()
    return Reading(states[0][0] if len(states) == 1 else "unparsed", note)


def _key(item: Item, reading: Reading) -> str | None:
    """What is counted: equal keys are equal answers, of samples as of people."""
    if reading.answer is None:
        return None
    return get_field_type(item.field.type).canonical_key(reading.answer[item.field.name], item.field)


def _told(item: Item, readings: Sequence[Reading], keys: Sequence[str | None], outcome: Outcome) -> str:
    kind = get_field_type(item.field.type)
    # Of answers that mean the same the first is shown.
    first = {key: readings[keys.index(key)].answer or {} for key, _n in outcome.counts}
    counts = [f"{kind.in_words(first[key][item.field.name], item.field)} {n}" for key, n in outcome.counts]
    states = Counter(reading.state for reading in readings if reading.answer is None)
    without = [_("%(n)s %(what)s", n=str(n), what=_NO_VOTE.get(state, state)) for state, n in states.items()]
    status = _STATUS[outcome.status]
    if not without:
        return _(
            "Vote of %(n)s samples, %(status)s: %(counts)s", n=len(readings), status=status, counts=", ".join(counts)
        )
    return _(
        "Vote of %(n)s samples, %(status)s: %(counts)s; without a vote: %(without)s",
        n=len(readings),
        status=status,
        counts=", ".join(counts) or "–",
        without=listed(without),
    )
