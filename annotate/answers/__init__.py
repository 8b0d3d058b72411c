"""What an answer is: field types that read, validate and compare, without Django.

An answer is a JSON object {field name: value}. People's forms, imports and models' parsed completions all become
answers through this package, so an answer that could not be stored or compared is refused in one place.
"""

from annotate.answers import choice as _choice  # noqa: F401  importing a field type registers it
from annotate.answers import text as _text  # noqa: F401
from annotate.answers.answer import answer_keys, read_answer, validate_answer
from annotate.answers.equivalence import KEY_VERSION, text_key
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import (
    FIELD_TYPES,
    FieldSpec,
    FieldType,
    JsonValue,
    Option,
    fields_from_json,
    get_field_type,
)

__all__ = [
    "FIELD_TYPES",
    "KEY_VERSION",
    "AnswerInvalid",
    "FieldSpec",
    "FieldSpecInvalid",
    "FieldType",
    "JsonValue",
    "Option",
    "answer_keys",
    "fields_from_json",
    "get_field_type",
    "read_answer",
    "text_key",
    "validate_answer",
]
