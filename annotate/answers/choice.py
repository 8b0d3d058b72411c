"""One of several options: yes, no, not sure enough."""

from annotate.answers.characters import one_string, storable_string
from annotate.answers.equivalence import KEY_VERSION, is_blank
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import FieldSpec, RawData, field_type


@field_type("choice")
class Choice:
    """The value is the chosen option's value; its key is the same string, so a changed caption changes no vote."""

    name: str
    KEY_VERSION: int = KEY_VERSION

    def check_spec(self, spec: FieldSpec) -> None:
        values = [option.value for option in spec.options]
        if len(values) < 2:
            raise FieldSpecInvalid(f"Field {spec.name}: a choice needs at least two options.")
        if len(set(values)) < len(values):
            raise FieldSpecInvalid(f"Field {spec.name}: two options have the same value.")
        captions = [option.caption.strip().casefold() for option in spec.options]
        if len(set(captions)) < len(captions):
            raise FieldSpecInvalid(f"Field {spec.name}: two options have the same caption.")

    def read(self, data: RawData, spec: FieldSpec) -> str | None:
        value = one_string(data, spec)
        return None if value is None or is_blank(value) else value

    def validate(self, value: object, spec: FieldSpec) -> str:
        if value is None:
            raise AnswerInvalid(spec.name, "Choose one answer.")
        chosen = storable_string(value, spec)
        if chosen not in {option.value for option in spec.options}:
            raise AnswerInvalid(spec.name, "Choose one of the answers shown.")
        return chosen

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return self.validate(value, spec)
