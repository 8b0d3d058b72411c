"""A table in rounds: after each of them more rows are asked for, until there are none.

Source: RelationalFactQA, whose published code asks up to ten times, joins the rows without repeating any, and asks once
more where a reply could not be read. A reply that still cannot be read counts as one without rows, and ends the rounds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.answers import AnswerInvalid, get_field_type
from annotate.answers.table_text import header_key
from annotate.normal_form import normal_form
from annotate.wording import _
from evaluation.clients.base import Completion, CompletionStatus
from evaluation.conversations.base import Ask, Item, Reading, Reply
from evaluation.conversations.reading import without_answer
from evaluation.conversations.stages import filled
from evaluation.parsing import ParseStatus, parse_table, recover_table
from evaluation.parsing.envelope import drop_reasoning
from evaluation.prompts.inputs import Message, is_reply
from evaluation.storable import shorten

# "An empty JSON" as models write it, beside an array without members.
_EMPTY_OBJECT = re.compile(r"\s*(?:```\w{0,20}\s*)?(?:\{\s*\}|\[\s*\{\s*\}\s*\])\s*(?:```)?\s*")
_STOPS = {
    "empty": _("an empty table"),
    "limit": _("the limit of rounds"),
    "repeated": _("repeated rows only"),
    "invalid": _("a reply that could not be read, asked for twice"),
    "refused": _("a refusal"),
}


@dataclass
class _Joined:
    """What the replies so far come to. stop: why no more rows are asked for; empty while they are."""

    columns: tuple[str, ...] = ()
    rows: list[list[Any]] = field(default_factory=list)
    n_rounds: int = 0
    n_repeated: int = 0
    stop: str = ""


def read(item: Item, step: int, completion: Completion) -> Reading:
    """The table of one reply, also one without rows. Of a reply that was cut off the whole rows are kept."""
    if completion.status == CompletionStatus.REFUSED:
        return without_answer(completion) or Reading("refused")
    columns = item.field.columns
    if recover_table(completion.text, columns).rows == [] or _EMPTY_OBJECT.fullmatch(
        drop_reasoning(completion.text)[0][:1_000]
    ):
        return Reading("answered", _("a table without rows"), {item.field.name: {"columns": [*columns], "rows": []}})
    parsed = parse_table(completion.text, columns)
    if parsed.status == ParseStatus.REFUSAL:
        return Reading("refused", shorten(parsed.note))
    if parsed.value is None:
        return without_answer(completion) or Reading("unparsed", shorten(parsed.note))
    # How many rows there must be, and may be, is said of all rounds together.
    one_round = replace(item.field, minimum=None, maximum=None)
    try:
        table = get_field_type(item.field.type).validate(parsed.value, one_round)
    except AnswerInvalid as invalid:
        return Reading("unparsed", shorten(_("Read, but the form would not take it: %(invalid)s", invalid=invalid)))
    return Reading("answered", shorten(parsed.note), {item.field.name: table})


def following(item: Item, replies: Sequence[Reply]) -> Ask | Reading:
    joined = _join(item, replies)
    if not joined.stop:
        return Ask(_chat(item, replies))
    if not joined.n_rounds:
        return replies[-1].reading
    return _ended(item, joined, _STOPS[joined.stop])


def ended_by_error(item: Item, replies: Sequence[Reply], message: str) -> Reading | None:
    """The rows so far, if there are any, where the server will not take the chat, which grows with every round."""
    joined = _join(item, replies)
    return _ended(item, joined, _("an error: %(message)s", message=message)) if joined.rows else None


def _join(item: Item, replies: Sequence[Reply]) -> _Joined:
    joined = _Joined()
    seen: set[tuple[str, ...]] = set()
    was_unread = False
    for reply in replies:
        if reply.reading.state == "refused":
            joined.stop = "refused"
        elif reply.reading.answer is None:
            joined.stop = "invalid" if was_unread else ""
            was_unread = True
        else:
            was_unread = False
            joined.n_rounds += 1
            _add(joined, seen, reply.reading.answer[item.field.name])
            if not joined.stop and joined.n_rounds >= item.n_steps:
                joined.stop = "limit"
        if joined.stop:
            break
    return joined


def _add(joined: _Joined, seen: set[tuple[str, ...]], table: dict[str, Any]) -> None:
    """The rows that former rounds did not have; what one reply says twice stands twice, as it may in a result."""
    if not table["rows"]:
        joined.stop = "empty"
        return
    joined.columns = joined.columns or tuple(table["columns"])
    places = {header_key(column): place for place, column in enumerate(table["columns"])}
    at = [places.get(header_key(column)) for column in joined.columns]
    rows = [[None if place is None else row[place] for place in at] for row in table["rows"]]
    new = [row for row in rows if _key(row) not in seen]
    joined.n_repeated += len(rows) - len(new)
    joined.rows += new
    seen |= {_key(row) for row in new}
    if not new:
        joined.stop = "repeated"


def _key(row: Sequence[Any]) -> tuple[str, ...]:
    return tuple(" ".join(normal_form("NFKC", str(cell or "")).casefold().split()) for cell in row)


def _chat(item: Item, replies: Sequence[Reply]) -> list[Message]:
    """All that was said so far, and what is said to the last reply. One without a word is asked for anew."""
    more, once_more = [message for message in item.chat if not is_reply(message)][-2:]
    messages = filled(item.chat, [])
    for reply in replies:
        if reply.said:
            messages.append(Message(role="assistant", content=reply.said))
            messages.append(once_more if reply.reading.answer is None else more)
    return messages


def _ended(item: Item, joined: _Joined, stop: str) -> Reading:
    table = {"columns": [*(joined.columns or item.field.columns)], "rows": joined.rows}
    counts = {"n_rows": len(joined.rows), "n_rounds": joined.n_rounds, "stop": stop}
    told = (
        _(
            "Rows: %(n_rows)s. Rounds: %(n_rounds)s. Repeated rows left out: %(n_repeated)s. Ended by: %(stop)s",
            n_repeated=joined.n_repeated,
            **counts,
        )
        if joined.n_repeated
        else _("Rows: %(n_rows)s. Rounds: %(n_rounds)s. Ended by: %(stop)s", **counts)
    )
    try:
        value = get_field_type(item.field.type).validate(table, item.field)
    except AnswerInvalid as invalid:
        return Reading("unparsed", shorten(_("Read, but the form would not take it: %(invalid)s", invalid=invalid)))
    return Reading("answered", shorten(told), {item.field.name: value})
