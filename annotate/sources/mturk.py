"""Batch results of Mechanical Turk: a CSV row for each assignment, as a record of one worker's answers.

`Input.NAME` is what a worker was shown, `Answer.NAME` what they said; the rest is about the HIT and its pay, and only
the times are taken over. Assignments that were rejected, or are marked to be, are counted and left out.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from annotate.sources import answer_columns as columns
from annotate.sources.answer_columns import fault, made_record
from annotate.sources.errors import shortened
from annotate.sources.records import Record
from annotate.wording import _

# The column of our own input files by which results find their items again.
ITEM_ID = "item_id"
_NEEDED = {"HITId", "AssignmentId", "WorkerId"}
_INPUT, _ANSWER = "Input.", "Answer."
# Forms of Amazon's own elements (crowd-form) give all their answers at once, as JSON.
_ALL_ANSWERS = "taskAnswers"
_STATES = ("", "Submitted", "Approved", "Rejected")
# Results tell times as people read them; Python knows no zone by such a name. Amazon writes Pacific time.
_ZONES = {"PST": "-0800", "PDT": "-0700", "UTC": "+0000", "GMT": "+0000", "EST": "-0500", "EDT": "-0400"}
# What a page takes for markup, line ends, and what is beyond four hexadecimal digits: MTurk refuses to read four bytes.
_NOT_PLAIN = re.compile(r"[&<>\"'\r\n]|[^\u0000-\uffff]")
_NO_VARIABLE = re.compile(r"[^A-Za-z0-9_]+")


def is_results(names: Collection[str]) -> bool:
    """Whether a header is that of batch results."""
    return set(names) >= _NEEDED and any(name.startswith((_INPUT, _ANSWER)) for name in names)


def as_html(text: str) -> str:
    """A text as a cell of an input file: it shows itself in the page of a HIT, where MTurk puts it as it stands."""
    return _NOT_PLAIN.sub(lambda match: f"&#{ord(match[0])};", text)


def has_four_bytes(text: str) -> bool:
    """Whether a text has a character, such as an emoji, that takes four bytes in UTF-8."""
    return any(character > "\uffff" for character in text)


def variables(names: Iterable[str]) -> dict[str, str]:
    """Name -> variable that a template can name: letters, digits and underscores, each of them once."""
    made: dict[str, str] = {}
    for name in names:
        base = _NO_VARIABLE.sub("_", name).strip("_") or "value"
        variable, number = base, 1
        while variable in made.values() or variable == ITEM_ID:
            number += 1
            variable = f"{base}_{number}"
        made[name] = variable
    return made


def assignments(rows: Iterable[Record]) -> Iterator[Record]:
    """Raises SourceError, with line, row and column, for a row that names no worker or whose answers cannot be read."""
    for row in rows:
        yield _record_of(row)


def _record_of(row: Record) -> Record:
    values = {name: str(value) for name, value in row.values}
    shown = {name.removeprefix(_INPUT): html.unescape(text) for name, text in values.items() if name.startswith(_INPUT)}
    for name in ("HITId", "WorkerId"):
        if not values.get(name, "").strip():
            raise fault(row, name, _("it is empty; every assignment has one."))
    item_id = shown.pop(ITEM_ID, None) or values["HITId"]
    item = [(columns.ID, item_id), *shown.items(), (columns.SHOWN, list(shown))]
    state = values.get("AssignmentStatus", "")
    if state not in _STATES:
        raise fault(
            row,
            "AssignmentStatus",
            _("“%(state)s” is none of Submitted, Approved and Rejected.", state=shortened(state)),
        )
    if state == "Rejected" or values.get("Reject", "").strip():
        return made_record(row, [*item, (columns.REJECTED, 1)])
    answers, kinds = _answers(row, values)
    return made_record(
        row,
        [
            *item,
            *((f"{columns.ANSWER_PREFIX}{name}", value) for name, value in answers.items()),
            (columns.ANNOTATOR, values["WorkerId"].strip()),
            (columns.ANSWERED_AT, _moment(row, values.get("SubmitTime", ""))),
            (columns.SECONDS, _seconds(row, values.get("WorkTimeInSeconds", ""))),
            (columns.UNSUPPORTED, kinds),
        ],
    )


def _answers(row: Record, values: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """(answer by name, kinds that no field holds)."""
    answers: dict[str, Any] = {}
    kinds: list[str] = []
    for column, text in values.items():
        name = column.removeprefix(_ANSWER)
        if name == column or not text:
            continue
        base, _dot, option = name.rpartition(".")
        if name == _ALL_ANSWERS:
            for key, value in _of_crowd_form(row, column, text).items():
                said = _said(value)
                if isinstance(said, dict):
                    kinds.append("boxes, spans or objects")
                elif said not in ("", []):
                    answers[key] = said
        elif base and text.lower() in ("true", "false"):
            # A column for each option: Answer.label.yes, Answer.label.no.
            if text.lower() == "true":
                answers[base] = [*answers.get(base, []), option]
        else:
            answers[name] = text
    return answers, kinds


def _of_crowd_form(row: Record, column: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise fault(row, column, _("a list with one JSON object of answers is expected here."))
    return value


def _said(value: Any) -> Any:
    """A text, a list of texts, or an object for what is neither."""
    if not isinstance(value, dict):
        if isinstance(value, list) and any(isinstance(one, list | dict) for one in value):
            return {"parts": value}
        return "" if value is None else value
    if value and all(isinstance(one, bool) for one in value.values()):
        # Radio buttons and boxes to tick: each option with whether it is on.
        return [option for option, is_on in value.items() if is_on]
    if value.keys() == {"label"} and isinstance(value["label"], str):
        return value["label"]
    if value.keys() == {"labels"} and isinstance(value["labels"], list):
        return value["labels"]
    return value


def _moment(row: Record, text: str) -> str | None:
    """`Mon Nov 02 01:30:21 PST 2026` in ISO 8601; what is in it already stays."""
    parts = text.split()
    if len(parts) != 6:
        return text or None
    zone = _ZONES.get(parts[4])
    try:
        if zone is None:
            raise ValueError(parts[4])
        return datetime.strptime(" ".join([*parts[1:4], zone, parts[5]]), "%b %d %H:%M:%S %z %Y").isoformat()
    except ValueError as problem:
        raise fault(
            row, "SubmitTime", _("“%(text)s” is no moment, or in a zone that is not known.", text=shortened(text))
        ) from problem


def _seconds(row: Record, text: str) -> int | None:
    if not text.strip():
        return None
    if not (text.strip().isascii() and text.strip().isdecimal()):
        raise fault(row, "WorkTimeInSeconds", _("a number of seconds is needed, or nothing where it is not known."))
    return int(text)
