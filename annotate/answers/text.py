"""Free text: a short line, or many lines."""

from annotate.answers.characters import one_string, storable_string
from annotate.answers.equivalence import KEY_VERSION, is_blank, text_key
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import FieldSpec, RawData, field_type


@field_type("text")
class Text:
    """The value is the text as typed; its key folds case, compatibility forms and white space."""

    name: str
    KEY_VERSION: int = KEY_VERSION
    default_max_length = 2_000

    def check_spec(self, spec: FieldSpec) -> None:
        if spec.options:
            raise FieldSpecInvalid(f"Field {spec.name}: a text field has no options.")

    def max_length(self, spec: FieldSpec) -> int:
        return self.default_max_length if spec.max_length is None else spec.max_length

    def read(self, data: RawData, spec: FieldSpec) -> str | None:
        value = one_string(data, spec)
        if value is None or is_blank(value):
            return None
        # HTML forms send every line break as CR LF, a script sends LF: without this the same text would differ
        # between autosave and submit, and be longer than its limit by one character a line.
        return value.replace("\r\n", "\n")

    def validate(self, value: object, spec: FieldSpec) -> str:
        if value is None:
            raise AnswerInvalid(spec.name, "Write an answer.")
        text = storable_string(value, spec)
        if is_blank(text):
            raise AnswerInvalid(spec.name, "Write an answer.")
        limit = self.max_length(spec)
        if (excess := len(text) - limit) > 0:
            plural = "" if excess == 1 else "s"
            raise AnswerInvalid(
                spec.name, f"This text is {excess:,} character{plural} longer than the {limit:,} allowed."
            )
        return text

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return text_key(self.validate(value, spec))


@field_type("long_text")
class LongText(Text):
    """Text of many lines; one published gold answer has 46,140 characters."""

    default_max_length = 200_000
