"""Several of several options."""

import json

from annotate.answers.characters import many_strings, storable_string
from annotate.answers.choice import caption_of, check_options
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning.lists import split_typed
from annotate.wording import _


@field_type("choices")
class Choices(FieldType):
    """The value is the list of chosen values in the order of the options, whatever the order of the clicks."""

    settings = frozenset({"options", "min", "max"})

    def check_spec(self, spec: FieldSpec) -> None:
        check_options(spec)
        if not 1 <= (spec.minimum or 1) <= len(spec.options) or (spec.maximum is not None and spec.maximum < 1):
            raise FieldSpecInvalid(
                _("Field %(name)s: min and max must be between 1 and the number of options.", name=spec.name)
            )

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        chosen = many_strings(data, spec)
        return self._in_order(chosen, spec) or None

    def validate(self, value: object, spec: FieldSpec) -> list[JsonValue]:
        if value is None:
            raise AnswerInvalid(spec.name, _("Choose at least one answer."))
        entries = split_typed(value) if isinstance(value, str) else value
        if not isinstance(entries, list | tuple):
            raise AnswerInvalid(spec.name, _("This answer must be a list of the answers chosen."))
        chosen = [storable_string(entry, spec) for entry in entries]
        known = {option.value for option in spec.options}
        if unknown := [entry for entry in chosen if entry not in known]:
            raise AnswerInvalid(spec.name, _("“%(unknown)s” is none of the answers shown.", unknown=unknown[0][:50]))
        ordered = self._in_order(chosen, spec)
        if not ordered:
            raise AnswerInvalid(spec.name, _("Choose at least one answer."))
        if len(ordered) < (spec.minimum or 1):
            raise AnswerInvalid(spec.name, _("Choose at least %(minimum)s answers.", minimum=spec.minimum))
        if spec.maximum is not None and len(ordered) > spec.maximum:
            raise AnswerInvalid(
                spec.name,
                _(
                    "Choose at most %(maximum)s; %(n_ordered)s are chosen.",
                    maximum=spec.maximum,
                    n_ordered=len(ordered),
                ),
            )
        return ordered

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return json.dumps(self.validate(value, spec), ensure_ascii=False)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        most = len(spec.options) if spec.maximum is None else spec.maximum
        values: list[JsonValue] = [option.value for option in spec.options]
        return {
            "type": "array",
            "items": {"type": "string", "enum": values},
            "uniqueItems": True,
            "minItems": spec.minimum or 1,
            "maxItems": most,
        }

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        return ", ".join(caption_of(entry, spec) for entry in value) if isinstance(value, list) else str(value)

    def _in_order(self, chosen: list[str], spec: FieldSpec) -> list[JsonValue]:
        """Options first, in their order; then what is none, for `validate` to name."""
        known: list[JsonValue] = [option.value for option in spec.options]
        return [*(value for value in known if value in chosen), *(value for value in chosen if value not in known)]
