"""Answers that people gave elsewhere: who answered an item, what, when, and how long it took them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotate.sources import blocks
from annotate.sources.errors import SourceError, shortened
from annotate.sources.records import Record
from annotate.wording import _

MAX_NAME_CHARS = 200
MAX_SECONDS = 2_000_000_000
# The types a new stage may be given: those whose answers any file can hold as one text.
NEW_TYPES = {"choice": _("a label"), "text": _("short text"), "long_text": _("long text")}

_YES = {"true", "1", "1.0", "yes", "y", "skipped", "cancelled"}
_NO = {"", "false", "0", "0.0", "no", "n"}


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """The column with the answers to a field.

    type: what the field becomes in a stage made for these answers, a key of NEW_TYPES. values: as those of gold.
    """

    field: str
    column: str
    type: str = "choice"
    values: Dictionary[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answers:
    """Where a record says who answered its item, and what; a record that names nobody is an item only.

    annotator: who gave all answers, where no column says so. ground_truth_column marks answers as right: they become
    gold only if somebody chooses so. counted: columns that say how many things of a kind were not taken over.
    """

    fields: tuple[AnswerColumn, ...]
    annotator_column: str | None = None
    annotator: str = ""
    time_column: str | None = None
    seconds_column: str | None = None
    skip_column: str | None = None
    ground_truth_column: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "annotator_column": self.annotator_column,
            "annotator": self.annotator,
            "fields": [
                {"field": f.field, "column": f.column, "type": f.type, "values": dict(f.values)} for f in self.fields
            ],
            "time_column": self.time_column,
            "seconds_column": self.seconds_column,
            "skip_column": self.skip_column,
            "ground_truth_column": self.ground_truth_column,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Answers:
        known = {name: data[name] for name in _SINGLE if data.get(name) is not None}
        return cls(fields=tuple(AnswerColumn(**entry) for entry in data["fields"]), **known)

    @property
    def columns(self) -> frozenset[str]:
        single = (getattr(self, name) for name in _SINGLE if name != "annotator")
        return frozenset({*(entry.column for entry in self.fields), *filter(None, single)})


_SINGLE = ("annotator_column", "annotator", "time_column", "seconds_column", "skip_column", "ground_truth_column")


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """An answer as it stands in the file: field -> text, or a list where the file has several.

    None in answered_at and seconds: the file does not say. unsupported: what was answered in a form that no field has.
    """

    annotator: str
    values: dict[str, str | list[str]]
    answered_at: datetime | None = None
    seconds: int | None = None
    is_skip: bool = False
    is_ground_truth: bool = False
    unsupported: tuple[str, ...] = ()


def read_answer(answers: Answers, values: dict[str, Any], record: Record) -> AnswerDraft | None:
    """The answer in a record; None if it names nobody and holds none. Raises SourceError with its place."""
    annotator = _annotator(answers, values, record)
    given: dict[str, str | list[str]] = {}
    unsupported: list[str] = []
    for entry in answers.fields:
        try:
            value = _value(values.get(entry.column))
        except _NoAnswer:
            unsupported.append(f"spans, boxes or objects in {shortened(entry.column)}")
            continue
        if isinstance(value, list):
            given[entry.field] = [_meant(text, entry, record) for text in value]
        elif value:
            given[entry.field] = _meant(value, entry, record)
    is_skip = _flag(answers.skip_column, values, record)
    if not annotator:
        if given or is_skip:
            raise _refused(record, answers.annotator_column, _("there is an answer, and nobody is named who gave it."))
        return None
    return AnswerDraft(
        annotator=annotator,
        values=given,
        answered_at=_moment(answers.time_column, values, record),
        seconds=_seconds(answers.seconds_column, values, record),
        is_skip=is_skip,
        is_ground_truth=_flag(answers.ground_truth_column, values, record),
        unsupported=tuple(unsupported),
    )


class _NoAnswer(Exception):
    """A value that is no text, number or truth, nor several of them."""


def _value(value: Any) -> str | list[str]:
    if isinstance(value, dict):
        # Label Studio's smaller export has several choices as {"choices": [...]}.
        if value.keys() != {"choices"}:
            raise _NoAnswer
        value = value["choices"]
    if not isinstance(value, list):
        return _text(value)
    if any(isinstance(element, list | dict) for element in value):
        raise _NoAnswer
    texts = [text for element in value if (text := _text(element))]
    return texts if len(texts) > 1 else "".join(texts)


def _text(value: Any) -> str:
    """As a cell shows it; truth as JSON writes it."""
    return blocks.plain_text(value).strip()


def _meant(text: str, entry: AnswerColumn, record: Record) -> str:
    if not entry.values:
        return text
    value = entry.values.get(text)
    if not value:
        raise _refused(
            record,
            entry.column,
            _(
                "no value of the field “%(field)s” was chosen for the answer “%(text)s”; choose one in the mapping.",
                field=shortened(entry.field),
                text=shortened(text),
            ),
        )
    return value


def _annotator(answers: Answers, values: dict[str, Any], record: Record) -> str:
    if answers.annotator_column is None:
        return answers.annotator
    value = values.get(answers.annotator_column)
    if isinstance(value, dict):
        # Label Studio names people by their id, or by an object that has it.
        value = value.get("id", value.get("email"))
    if isinstance(value, list | dict):
        raise _refused(record, answers.annotator_column, _("one name or number of a person is needed here."))
    name = _text(value) or answers.annotator
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise _refused(
            record,
            answers.annotator_column,
            _(
                "the name has more than %(max_name_chars)s characters, a line break or an invisible character.",
                max_name_chars=MAX_NAME_CHARS,
            ),
        )
    return name


def _flag(column: str | None, values: dict[str, Any], record: Record) -> bool:
    if column is None:
        return False
    value = values.get(column)
    text = "" if isinstance(value, list | dict) else _text(value).lower()
    if text in _YES:
        return True
    if text in _NO and not isinstance(value, list | dict):
        return False
    raise _refused(record, column, _("“%(text)s” is neither yes nor no.", text=shortened(text)))


def _seconds(column: str | None, values: dict[str, Any], record: Record) -> int | None:
    if column is None or values.get(column) in (None, ""):
        return None
    try:
        seconds = float(_text(values[column]))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_SECONDS:
        raise _refused(record, column, _("a number of seconds is needed, or nothing where it is not known."))
    return round(seconds)


def _moment(column: str | None, values: dict[str, Any], record: Record) -> datetime | None:
    """ISO 8601, with UTC where no zone is named, or seconds since 1970."""
    if column is None or values.get(column) in (None, ""):
        return None
    text = _text(values[column])
    try:
        moment = datetime.fromtimestamp(float(text), UTC) if _is_number(text) else datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.min.replace(tzinfo=UTC)
    if not 1990 <= moment.year <= 2200:
        raise _refused(
            record,
            column,
            _("“%(text)s” is no moment such as 2026-11-02T09:00:00Z; correct or empty it.", text=shortened(text)),
        )
    return moment


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() and text.isascii() and len(text) > 8


def _refused(record: Record, column: str | None, problem: str) -> SourceError:
    return SourceError(problem, line=record.line, row=record.number, field=column)
