"""A day, a month or a year."""

import re

from annotate.answers.characters import number_as_text, one_string, storable_string
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning.dates import read_date
from annotate.answers.meaning.spelling import bare, spelled
from annotate.wording import _

_YEAR = re.compile(r"(?:in )?([1-9]\d{0,3})")
# In a field for dates 2010-11 is a month; in a text it might be a season.
_ISO_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_SEVERAL_ORDERS = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_MAX_LENGTH = 200
_MONTHS = (
    *(_("January"), _("February"), _("March"), _("April"), _("May"), _("June")),
    *(_("July"), _("August"), _("September"), _("October"), _("November"), _("December")),
)


@field_type("date")
class Date(FieldType):
    """The value is as exact as what was typed: "2012-03-05", "2012-03", "2012" or "44 BC", four different answers."""

    def read(self, data: RawData, spec: FieldSpec) -> str | None:
        text = one_string({spec.name: number_as_text(data.get(spec.name))}, spec)
        return None if text is None or is_blank(text) else text

    def validate(self, value: object, spec: FieldSpec) -> str:
        value = number_as_text(value)
        if value is None or (isinstance(value, str) and is_blank(value)):
            raise AnswerInvalid(spec.name, _("Write a date."))
        text = storable_string(value, spec)
        plain = bare(spelled(text)) if len(text) <= _MAX_LENGTH else ""
        if _ISO_MONTH.fullmatch(plain):
            return plain
        if match := _YEAR.fullmatch(plain):
            return match.group(1)
        kind, __, date = (read_date(plain) or "").partition(":")
        if kind in {"date", "month", "year", "number"}:
            return date
        if _SEVERAL_ORDERS.fullmatch(plain):
            raise AnswerInvalid(
                spec.name,
                _(
                    "“%(text)s” can be read in two ways. Write the month as a word, or year-month-day.",
                    text=text.strip(),
                ),
            )
        raise AnswerInvalid(
            spec.name, _("Write a date with its year, such as 5 March 2012, 2012-03-05, March 2012 or 2012.")
        )

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return self.validate(value, spec)

    def reading(self, value: JsonValue, spec: FieldSpec) -> str:
        try:
            date = self.validate(value, spec)
        except AnswerInvalid as invalid:
            return invalid.message
        return "" if date == value else _("Read as %(in_words)s.", in_words=in_words(date))

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {"type": "string", "pattern": r"^([0-9]{4}-[0-9]{2}(-[0-9]{2})?|[1-9][0-9]{0,3}( (AD|BC))?)$"}


def in_words(date: str) -> str:
    """A stored date as it is read aloud: 5 March 2012. A year stays as it is."""
    year, *rest = date.split("-")
    if not rest:
        return date
    month = _MONTHS[int(rest[0]) - 1]
    if len(rest) == 2:
        return _("%(day)s %(month)s %(year)s", day=int(rest[1]), month=month, year=year)
    return _("%(month)s %(year)s", month=month, year=year)
