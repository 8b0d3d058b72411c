"""A number, in the unit that the question names."""

from decimal import Decimal

from annotate.answers.characters import number_as_text, one_string, storable_string
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning import short_answer_key
from annotate.answers.meaning.numbers import number_text, read_number
from annotate.answers.meaning.quantities import in_unit
from annotate.answers.meaning.spelling import bare, spelled, without_capitals
from annotate.wording import _

_MAX_LENGTH = 200


@field_type("number")
class Number(FieldType):
    """The value is a text of plain digits, "1234.5", whatever the separators typed: no digit is lost on its way through
    JSON, and people's and models' numbers have one form."""

    settings = frozenset({"unit", "min", "max"})

    def read(self, data: RawData, spec: FieldSpec) -> str | None:
        raw = data.get(spec.name)
        text = one_string({spec.name: number_as_text(raw)}, spec)
        return None if text is None or is_blank(text) else text

    def validate(self, value: object, spec: FieldSpec) -> str:
        value = number_as_text(value)
        if value is None or (isinstance(value, str) and is_blank(value)):
            raise AnswerInvalid(spec.name, _("Write a number."))
        number = self._number(storable_string(value, spec), spec)
        if spec.minimum is not None and number < spec.minimum:
            raise AnswerInvalid(spec.name, _("The number must be %(minimum)s or more.", minimum=f"{spec.minimum:,}"))
        if spec.maximum is not None and number > spec.maximum:
            raise AnswerInvalid(spec.name, _("The number must be %(maximum)s or less.", maximum=f"{spec.maximum:,}"))
        return number_text(number)

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return self.validate(value, spec)

    def reading(self, value: JsonValue, spec: FieldSpec) -> str:
        try:
            number = self.validate(value, spec)
        except AnswerInvalid as invalid:
            return invalid.message
        if number == value and not spec.unit:
            return ""
        read = f"{Decimal(number):,f} {spec.unit}".rstrip()
        return _("Read as %(number)s.", number=read)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$", "maxLength": _MAX_LENGTH}

    def _number(self, text: str, spec: FieldSpec) -> Decimal:
        plain = without_capitals(bare(spelled(text))) if len(text) <= _MAX_LENGTH else ""
        number = read_number(plain)
        if number is not None:
            return number
        # "12 months" where months are asked for.
        unit = spelled(spec.unit)
        words = plain.split(" ")
        for at in range(1, len(words)):
            number = read_number(" ".join(words[:at]))
            if unit and number is not None and short_answer_key(plain) == in_unit(number, unit):
                return number
        if unit:
            raise AnswerInvalid(
                spec.name, _("Write a number of %(unit)s, such as 12 or 3.5, without another unit.", unit=spec.unit)
            )
        raise AnswerInvalid(spec.name, _("Write a number in digits, such as 12, 3.5 or -1,000."))
