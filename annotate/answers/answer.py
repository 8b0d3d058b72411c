"""A whole answer: one value for each field that has one."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.answers.columns import columns_in
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, JsonValue, RawData, get_field_type, types_of
from annotate.wording import _


def fields_for_item(
    fields: Sequence[FieldSpec], content: Iterable[Sequence[Any]], language: str = ""
) -> tuple[FieldSpec, ...]:
    """The fields as they are asked beside one item: captions in its language, and the columns that it names.

    A field whose `columns_from` the item does not have, or that names no columns there, keeps its own.
    """
    values = {pair[0]: pair[1] for pair in content} if any(field.columns_from for field in fields) else {}
    found = (field.in_language(language) if language else field for field in fields)
    return tuple(_with_columns(field, values.get(field.columns_from)) for field in found)


def _with_columns(field: FieldSpec, named: object) -> FieldSpec:
    columns = columns_in(named) if field.columns_from else ()
    if not columns:
        return field
    return replace(field, columns=tuple(column.name for column in columns), column_types=types_of(columns))


def answer_text(value: JsonValue) -> str:
    """One value as text: a text as it is, everything else as JSON, so that it can be read again."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_answer(fields: Sequence[FieldSpec], data: RawData) -> dict[str, JsonValue]:
    """The values found in a POST or JSON mapping; an empty field has no entry, other keys are ignored.

    Says nothing about what is required: a draft is read by the same function. Raises AnswerInvalid for what could
    not be stored at all.
    """
    values = _each(fields, lambda field: get_field_type(field.type).read(data, field))
    return {name: value for name, value in values.items() if value is not None}


def readings(fields: Sequence[FieldSpec], answer: Mapping[str, JsonValue]) -> dict[str, str]:
    """How values are taken that were typed in another form, or what is missing: words by field name."""
    values = ((field, answer.get(field.name)) for field in fields)
    found = {
        field.name: get_field_type(field.type).reading(value, field) for field, value in values if value is not None
    }
    return {name: words for name, words in found.items() if words}


def validate_answer(fields: Sequence[FieldSpec], answer: Mapping[str, object]) -> dict[str, JsonValue]:
    """The answer in the order of the fields, if every field's rules are kept and every required field is there.

    Raises AnswerInvalid with all fields at fault, also for an entry that is no field of this stage.
    """
    known = {field.name for field in fields}
    if unknown := [name for name in answer if name not in known]:
        raise AnswerInvalid(str(unknown[0]), _("This question is not asked here."))
    asked = [field for field in fields if field.required or answer.get(field.name) is not None]
    return _each(asked, lambda field: get_field_type(field.type).validate(answer.get(field.name), field))


def answer_keys(fields: Sequence[FieldSpec], answer: Mapping[str, object]) -> dict[str, str]:
    """The canonical keys of the fields that decide; a field without a value has no key and so casts no vote."""
    return {
        field.name: get_field_type(field.type).canonical_key(answer[field.name], field)
        for field in fields
        if field.decides and answer.get(field.name) is not None
    }


def _each(fields: Sequence[FieldSpec], value_of: Callable[[FieldSpec], JsonValue]) -> dict[str, JsonValue]:
    """The value of each field; one exception for all that fail, so that a person mends them in one go."""
    values: dict[str, JsonValue] = {}
    errors: dict[str, str] = {}
    for field in fields:
        try:
            values[field.name] = value_of(field)
        except AnswerInvalid as error:
            errors[field.name] = error.message
    if errors:
        raise AnswerInvalid.gather(errors)
    return values
