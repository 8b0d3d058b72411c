"""One of several options: yes, no, not sure enough."""

from annotate.answers.characters import one_string, storable_string
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.wording import _


@field_type("choice")
class Choice(FieldType):
    """The value is the chosen option's value; its key is the same string, so a changed caption changes no vote."""

    settings = frozenset({"options", "ordered"})

    def check_spec(self, spec: FieldSpec) -> None:
        check_options(spec)

    def read(self, data: RawData, spec: FieldSpec) -> str | None:
        value = one_string(data, spec)
        return None if value is None or is_blank(value) else value

    def validate(self, value: object, spec: FieldSpec) -> str:
        if value is None:
            raise AnswerInvalid(spec.name, _("Choose one answer."))
        chosen = storable_string(value, spec)
        if chosen not in {option.value for option in spec.options}:
            raise AnswerInvalid(spec.name, _("Choose one of the answers shown."))
        return chosen

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return self.validate(value, spec)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {"type": "string", "enum": [option.value for option in spec.options]}

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        return caption_of(value, spec)


def caption_of(value: JsonValue, spec: FieldSpec) -> str:
    """The caption of an option by its value; a value that is none as it is."""
    return next((option.caption for option in spec.options if option.value == value), str(value))


def check_options(spec: FieldSpec) -> None:
    """Raise FieldSpecInvalid unless there are two options or more, with different values and captions."""
    values = [option.value for option in spec.options]
    if len(values) < 2:
        raise FieldSpecInvalid(_("Field %(name)s: a choice needs at least two options.", name=spec.name))
    if len(set(values)) < len(values):
        raise FieldSpecInvalid(_("Field %(name)s: two options have the same value.", name=spec.name))
    captions = [option.caption.strip().casefold() for option in spec.options]
    if len(set(captions)) < len(captions):
        raise FieldSpecInvalid(_("Field %(name)s: two options have the same caption.", name=spec.name))
