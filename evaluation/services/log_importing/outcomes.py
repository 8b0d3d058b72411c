"""What a record of a log comes to: the columns of a prediction, by the same rules as those of a live run.

Imports the parsers' callers with their libraries: only where a log is read.
"""

from __future__ import annotations

from typing import Any

from annotate.answers import AnswerInvalid, FieldSpec, get_field_type
from annotate.wording import _
from evaluation.clients.base import Completion
from evaluation.clients.logs import LogRecord
from evaluation.models import Prediction
from evaluation.services.answering import after_completion
from evaluation.storable import shorten

STATE = Prediction.State
NOTHING_READ = _("The log says that no answer could be read from the completion.")


def outcome_of(record: LogRecord, field: FieldSpec, language: str) -> dict[str, Any]:
    """state, answer and note of the prediction. field: as it is beside the item."""
    if record.error:
        return _outcome(STATE.ERROR, None, record.error)
    if not record.answers:
        completion = Completion(text=record.completion, finish_reason=record.finish_reason or "stop")
        outcome = after_completion(field, completion, language)
    else:
        outcome = _first_answered(record, field, language)
    notes = [outcome["note"], record.note]
    return _outcome(outcome["state"], outcome.get("answer"), "; ".join(note for note in notes if note))


def _first_answered(record: LogRecord, field: FieldSpec, language: str) -> dict[str, Any]:
    """What the log itself read. Of several ways to say it (a choice's text, its letter) the form knows one."""
    outcomes = [_answer_of(text, field, language) for text in record.answers]
    return next((outcome for outcome in outcomes if outcome["state"] == STATE.ANSWERED), outcomes[0])


def _answer_of(text: str, field: FieldSpec, language: str) -> dict[str, Any]:
    if not text.strip():
        return {"state": STATE.UNPARSED, "note": NOTHING_READ}
    try:
        value = get_field_type(field.type).validate(text, field)
    except AnswerInvalid as invalid:
        if field.type == "choice":
            # Not one of the values: a caption, or a word for one of them.
            return after_completion(field, Completion(text=text), language)
        return {"state": STATE.UNPARSED, "note": _("The form would not take it: %(invalid)s", invalid=invalid)}
    return {"state": STATE.ANSWERED, "answer": {field.name: value}, "note": _("as the log has it")}


def _outcome(state: str, answer: dict[str, Any] | None, note: str) -> dict[str, Any]:
    return {"state": state, "answer": answer, "note": shorten(note)}
