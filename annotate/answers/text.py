"""Free text: a short line, or many lines."""

from annotate.answers.characters import one_string, storable_string
from annotate.answers.equivalence import is_blank, text_key
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning import short_answer_key
from annotate.wording import _, ngettext


@field_type("text")
class Text(FieldType):
    """The value is the text as typed; its key is what a short answer means."""

    settings = frozenset({"unit"})
    default_max_length = 2_000

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
            raise AnswerInvalid(spec.name, _("Write an answer."))
        text = storable_string(value, spec)
        if is_blank(text):
            raise AnswerInvalid(spec.name, _("Write an answer."))
        limit = self.max_length(spec)
        if (excess := len(text) - limit) > 0:
            raise AnswerInvalid(
                spec.name,
                ngettext(
                    "This text is %(excess)s character longer than the %(limit)s allowed.",
                    "This text is %(excess)s characters longer than the %(limit)s allowed.",
                    excess,
                    excess=f"{excess:,}",
                    limit=f"{limit:,}",
                ),
            )
        return text

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return short_answer_key(self.validate(value, spec), spec.unit)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {"type": "string", "minLength": 1, "maxLength": self.max_length(spec)}


@field_type("long_text")
class LongText(Text):
    """Text of many lines; its key is its words. One published gold answer has 46,140 characters."""

    settings = frozenset()
    default_max_length = 200_000

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return text_key(self.validate(value, spec))
