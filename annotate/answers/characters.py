"""Strings as they come in: one string per field, and no character that a database or an export cannot hold."""

import re
from decimal import Decimal

from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, RawData
from annotate.answers.meaning.numbers import number_text
from annotate.wording import _

# PostgreSQL refuses NUL in text, and a lone surrogate cannot be encoded: either one would break every later export.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def one_string(data: RawData, spec: FieldSpec) -> str | None:
    """The field's only string in a POST or JSON mapping; None if it is absent. Raises AnswerInvalid."""
    raw = data.get(spec.name)
    if isinstance(raw, list | tuple):
        # A radio button that was changed must not leave two answers behind: one string, or a clear refusal.
        if len(raw) > 1:
            raise AnswerInvalid(spec.name, _("Give one answer only."))
        raw = raw[0] if raw else None
    if raw is None:
        return None
    return storable_string(raw, spec)


def storable_string(value: object, spec: FieldSpec) -> str:
    if not isinstance(value, str):
        raise AnswerInvalid(spec.name, _("This answer must be text."))
    if found := _UNSTORABLE.search(value):
        kind = _("an empty character (NUL)") if found.group() == "\x00" else _("half a character (a lone surrogate)")
        raise AnswerInvalid(
            spec.name,
            _(
                "Character %(start)s is %(kind)s that cannot be saved. Please delete it.",
                start=f"{found.start() + 1:,}",
                kind=kind,
            ),
        )
    return value


def many_strings(data: RawData, spec: FieldSpec) -> list[str]:
    """All strings of the field in a POST or JSON mapping, without the blank ones. Raises AnswerInvalid."""
    raw = data.get(spec.name)
    values = raw if isinstance(raw, list | tuple) else [] if raw is None else [raw]
    return [text for value in values if not is_blank(text := storable_string(value, spec))]


def number_as_text(value: object) -> object:
    """A JSON number as plain digits, so that a program may send 12 for "12"; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) == float("inf"):
        return value
    return number_text(Decimal(str(value)))
