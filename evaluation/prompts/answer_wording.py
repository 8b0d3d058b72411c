"""How a model is told to answer: for each type of field the form that the parsers read, in one sentence.

Labels and short answers have templates of their own. The parent process writes these sentences and the child gets them
as text, so that it needs to know nothing of fields.
"""

import json

from annotate.answers import FieldSpec, JsonValue, get_field_type
from annotate.answers.scale import points_of
from annotate.answers.verdict import VERDICTS
from evaluation.prompts.inputs import AnswerKind

_HELD_BY = {"number": "a number", "date": "a date", "year": "a year"}


def kind_of_answer(field: FieldSpec) -> AnswerKind:
    """Which of the default templates asks for it."""
    if field.type == "choice":
        return "label"
    return "short_answer" if field.type == "text" else "structured"


def answer_form(field: FieldSpec) -> str:
    """What a template says after the question, for the field as it is beside one item; "" for labels and short answers.

    Everything that a completion must keep to is said: a person reads it off the form.
    """
    match field.type:
        case "choices":
            captions = " / ".join(option.caption for option in field.options)
            most = "" if field.maximum is None else f", at most {field.maximum}"
            return f"Answer with a JSON array of those that fit{_at_least(field)}{most}, and nothing else: {captions}"
        case "scale":
            points = points_of(field)
            captions = "; ".join(f"{option.value}: {option.caption}" for option in field.options)
            means = f" ({captions})" if captions else ""
            return f"Answer with one whole number from {points[0]} to {points[-1]}{means}, and nothing else."
        case "number":
            unit = f" of {field.unit}" if field.unit else ""
            return f"Answer with one number{unit} in digits{_between(field)}, and nothing else."
        case "date":
            return "Answer with one date as YYYY-MM-DD, and nothing else; YYYY-MM or YYYY where no more can be known."
        case "list":
            order = "in the right order" if field.is_ordered else "in any order"
            unit = f" in {field.unit}" if field.unit else ""
            return f"Answer with a JSON array of short texts{unit}, {order}{_how_many(field)}, and nothing else."
        case "table":
            return _table_form(field)
        case "qa_pairs":
            return (
                'Answer with a JSON array and nothing else, one object for each pair with the keys "question" and '
                f'"answer"{_how_many(field)}.'
            )
        case "verdict":
            return f"Answer with one of: {' / '.join(VERDICTS)}"
        case "question":
            return "Answer with the question alone."
        case "long_text":
            return "Answer with the text alone, in full, without any word around it."
    return ""


def written_answer(field: FieldSpec, value: object) -> str:
    """An answer in the form a model is asked for, as an exemplar shows it. Raises AnswerInvalid for what is none."""
    stored = get_field_type(field.type).validate(value, field)
    match field.type:
        case "choice":
            return _captions(field)[str(stored)]
        case "choices":
            assert isinstance(stored, list)
            return json.dumps([_captions(field)[str(chosen)] for chosen in stored], ensure_ascii=False)
        case "table":
            assert isinstance(stored, dict)
            columns, rows = stored["columns"], stored["rows"]
            assert isinstance(columns, list)
            assert isinstance(rows, list)
            objects = [dict(zip(columns, row, strict=True)) for row in rows if isinstance(row, list)]
            return json.dumps(objects, ensure_ascii=False)
        case "list" | "qa_pairs":
            return json.dumps(stored, ensure_ascii=False)
        case "verdict":
            assert isinstance(stored, dict)
            return str(stored["verdict"])
    return str(stored)


def _table_form(field: FieldSpec) -> str:
    begin = "Answer with a JSON array and nothing else, one object for each row"
    if not field.columns:
        return f"{begin}{_how_many(field)}; its keys name the columns and are the same in every row."
    held = [
        json.dumps(column.name, ensure_ascii=False) + (f" ({_HELD_BY[column.type]})" if column.type in _HELD_BY else "")
        for column in field.typed_columns
    ]
    return (
        f"{begin}{_how_many(field)}. Each object has exactly these keys: {', '.join(held)}. A cell is a text, "
        f"a number, or null where there is no value; if no row fits, answer []. As JSON Schema: {_rows_schema(field)}"
    )


def _rows_schema(field: FieldSpec) -> str:
    """Of the rows as objects: what models write best, and what the parser reads into the one stored form."""
    cell: JsonValue = {"type": ["string", "number", "null"]}
    schema: dict[str, JsonValue] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": dict.fromkeys(field.columns, cell),
            "required": list(field.columns),
            "additionalProperties": False,
        },
    }
    return json.dumps(schema, ensure_ascii=False)


def _captions(field: FieldSpec) -> dict[str, str]:
    return {option.value: option.caption for option in field.options}


def _how_many(field: FieldSpec) -> str:
    match (field.minimum, field.maximum):
        case (None, None):
            return ""
        case (least, None):
            return f", at least {least}"
        case (None, most):
            return f", at most {most}"
        case (least, most):
            return f", {least}" if least == most else f", {least} to {most}"
    return ""


def _at_least(field: FieldSpec) -> str:
    return "" if field.minimum is None else f", at least {field.minimum}"


def _between(field: FieldSpec) -> str:
    match (field.minimum, field.maximum):
        case (None, None):
            return ""
        case (least, None):
            return f", {least} or more"
        case (None, most):
            return f", {most} or less"
        case (least, most):
            return f", from {least} to {most}"
    return ""
