"""What an answer is: field types that read, validate and compare, without Django.

An answer is a JSON object {field name: value}. People's forms, imports and models' parsed completions all become
answers through this package, so an answer that could not be stored or compared is refused in one place.
"""

from annotate.answers import choice as _choice  # noqa: F401  importing a field type registers it
from annotate.answers import choices as _choices  # noqa: F401
from annotate.answers import date as _date  # noqa: F401
from annotate.answers import list as _list  # noqa: F401
from annotate.answers import number as _number  # noqa: F401
from annotate.answers import qa_pairs as _qa_pairs  # noqa: F401
from annotate.answers import question as _question  # noqa: F401
from annotate.answers import scale as _scale  # noqa: F401
from annotate.answers import table as _table  # noqa: F401
from annotate.answers import text as _text  # noqa: F401
from annotate.answers import verdict as _verdict  # noqa: F401
from annotate.answers.answer import answer_keys, answer_text, fields_for_item, read_answer, readings, validate_answer
from annotate.answers.equivalence import KEY_VERSION, text_key
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import (
    FIELD_TYPES,
    RESERVED_NAMES,
    SETTINGS,
    FieldSpec,
    FieldType,
    JsonValue,
    Option,
    fields_from_json,
    get_field_type,
)
from annotate.answers.meaning import short_answer_key

__all__ = [
    "FIELD_TYPES",
    "KEY_VERSION",
    "RESERVED_NAMES",
    "SETTINGS",
    "AnswerInvalid",
    "FieldSpec",
    "FieldSpecInvalid",
    "FieldType",
    "JsonValue",
    "Option",
    "answer_keys",
    "answer_text",
    "fields_for_item",
    "fields_from_json",
    "get_field_type",
    "read_answer",
    "readings",
    "short_answer_key",
    "text_key",
    "validate_answer",
]
