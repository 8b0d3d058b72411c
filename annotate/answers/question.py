"""A question that somebody wrote or rewrote: a claim turned into a question."""

from annotate.answers.equivalence import text_key
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, field_type
from annotate.answers.text import Text
from annotate.wording import _


@field_type("question")
class Question(Text):
    """The value is the question as typed. Its key is its words without the question mark: two rewritings that differ in
    a word are two questions."""

    settings = frozenset()

    def validate(self, value: object, spec: FieldSpec) -> str:
        if value is None:
            raise AnswerInvalid(spec.name, _("Write the question."))
        return super().validate(value, spec)

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        words = text_key(self.validate(value, spec))
        return words.rstrip(" ?؟") or words
