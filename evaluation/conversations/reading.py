"""From a completion to an answer that the form takes, or to the name of the reason why there is none."""

from __future__ import annotations

from annotate.answers import AnswerInvalid, FieldSpec, get_field_type
from annotate.wording import _
from evaluation.clients.base import Completion, CompletionStatus
from evaluation.conversations.base import Reading
from evaluation.parsing import ParseStatus, parse_answer
from evaluation.storable import shorten

_UNPARSED = {
    ParseStatus.AMBIGUOUS: _("More than one answer"),
    ParseStatus.NONE: _("No answer found"),
    ParseStatus.OK: _("No answer found"),
}


def read_answer(field: FieldSpec, completion: Completion, language: str) -> Reading:
    """field: as it is beside the item, with its columns and captions."""
    if without := without_answer(completion):
        return without
    parsed = parse_answer(field, completion.text, language)
    if parsed.status == ParseStatus.REFUSAL:
        return Reading("refused", shorten(parsed.note))
    if parsed.status != ParseStatus.OK or parsed.value is None:
        return Reading("unparsed", shorten(_UNPARSED[parsed.status] + f" ({parsed.note})" * bool(parsed.note)))
    try:
        value = get_field_type(field.type).validate(parsed.value, field)
    except AnswerInvalid as invalid:
        return Reading("unparsed", shorten(_("Read, but the form would not take it: %(invalid)s", invalid=invalid)))
    return Reading("answered", shorten(parsed.note), {field.name: value})


def without_answer(completion: Completion) -> Reading | None:
    """What a completion comes to that has no text to be read; None for any other."""
    match completion.status:
        case CompletionStatus.REFUSED:
            return Reading("refused", shorten(completion.refusal or _("The provider's filter stepped in.")))
        case CompletionStatus.EMPTY:
            return Reading("empty", _("The completion is empty."))
        case CompletionStatus.CUT_OFF:
            return Reading("cut_off", _("The token limit ended the completion."))
    return None
