"""What a record of a log comes to: the columns of a prediction, by the same rules as those of a live run.

Imports the parsers' callers with their libraries: only where a log is read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from annotate.answers import AnswerInvalid, FieldSpec, get_field_type
from annotate.wording import _
from evaluation.clients.base import Completion
from evaluation.clients.logs import LogRecord
from evaluation.conversations import Reading, read_answer
from evaluation.storable import shorten

NOTHING_READ = _("The log says that no answer could be read from the completion.")


def outcome_of(record: LogRecord, field: FieldSpec, language: str) -> dict[str, Any]:
    """state, answer and note of the prediction. field: as it is beside the item."""
    if record.error:
        return Reading("error", shorten(record.error)).to_json()
    if not record.answers:
        completion = Completion(text=record.completion, finish_reason=record.finish_reason or "stop")
        reading = read_answer(field, completion, language)
    else:
        reading = _first_answered(record, field, language)
    note = "; ".join(note for note in (reading.note, record.note) if note)
    return replace(reading, note=shorten(note)).to_json()


def _first_answered(record: LogRecord, field: FieldSpec, language: str) -> Reading:
    """What the log itself read. Of several ways to say it (a choice's text, its letter) the form knows one."""
    readings = [_answer_of(text, field, language) for text in record.answers]
    return next((reading for reading in readings if reading.state == "answered"), readings[0])


def _answer_of(text: str, field: FieldSpec, language: str) -> Reading:
    if not text.strip():
        return Reading("unparsed", NOTHING_READ)
    try:
        value = get_field_type(field.type).validate(text, field)
    except AnswerInvalid as invalid:
        if field.type == "choice":
            # Not one of the values: a caption, or a word for one of them.
            return read_answer(field, Completion(text=text), language)
        return Reading("unparsed", _("The form would not take it: %(invalid)s", invalid=invalid))
    return Reading("answered", _("as the log has it"), {field.name: value})
