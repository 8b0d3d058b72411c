"""Label Studio's JSON export: tasks with their annotations, as records of one annotation each.

A record has the task's data as its columns, `answer.NAME` for each control, and in parentheses what stands beside an
annotation. A task without annotations is one record without an annotator. What no field can hold (boxes, spans,
relations) is listed by its kind in UNSUPPORTED, predictions and drafts are counted on the task's first record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.sources import answer_columns as columns
from annotate.sources.answer_columns import made_record
from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_array import read_json
from annotate.sources.records import Limits, Record
from annotate.wording import _

# The kind of a result -> the key of its value. A result with a place in the text or image belongs to a region of it.
_VALUES = {"choices": "choices", "textarea": "text", "rating": "rating", "number": "number", "datetime": "datetime"}
_REGION_KEYS = {"start", "end", "x", "y", "startOffset", "endOffset", "ranges"}


def is_task(value: object) -> bool:
    """Whether an object is a task of such an export, by its own keys."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return False
    return isinstance(value.get("annotations", value.get("completions")), list)


def read_label_studio(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """Raises SourceError for what is no task, and for annotations of another shape, with line and row."""
    for task in read_json(file, encoding=encoding, limits=limits):
        yield from _records_of(task)


def _records_of(task: Record) -> Iterator[Record]:
    values = dict(task.values)
    data = values.get("data")
    annotations = values.get("annotations", values.get("completions", []))
    if not isinstance(data, dict) or not isinstance(annotations, list):
        raise SourceError(
            _(
                "this is no task of Label Studio: an object “data” and a list “annotations” are expected; "
                "choose JSON as the format if the file is another one."
            ),
            line=task.line,
            row=task.number,
        )
    item = [(columns.ID, values.get("id")), *data.items()]
    beside = [(columns.PREDICTIONS, _n(values.get("predictions"))), (columns.DRAFTS, _n(values.get("drafts")))]
    if not annotations:
        yield made_record(task, [*item, *beside])
    for position, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            raise SourceError(
                _("the annotations are listed by number only; export as JSON with all of their content."),
                line=task.line,
                row=task.number,
                field=f"annotations[{position}]",
            )
        answers, unsupported = _answers(annotation.get("result"), task, position)
        yield made_record(
            task,
            [
                *item,
                *answers.items(),
                (columns.ANNOTATOR, _person(annotation.get("completed_by"))),
                (columns.ANSWERED_AT, annotation.get("created_at") or annotation.get("updated_at")),
                (columns.SECONDS, annotation.get("lead_time")),
                (columns.SKIPPED, bool(annotation.get("was_cancelled"))),
                (columns.GROUND_TRUTH, bool(annotation.get("ground_truth"))),
                (columns.UNSUPPORTED, unsupported),
                *(beside if position == 0 else []),
            ],
        )


def _answers(results: Any, task: Record, position: int) -> tuple[dict[str, Any], list[str]]:
    """(column -> value, kinds that no field can hold)."""
    answers: dict[str, Any] = {}
    unsupported: list[str] = []
    for result in results if isinstance(results, list) else []:
        kind, value = (result.get("type"), result.get("value")) if isinstance(result, dict) else (None, None)
        key = _VALUES.get(kind) if isinstance(kind, str) else None
        if not isinstance(value, dict) or key is None or key not in value or value.keys() & _REGION_KEYS:
            unsupported.append(shortened(str(kind or "without a type"), 40))
            continue
        column = f"{columns.ANSWER_PREFIX}{result.get('from_name') or kind}"
        given = value[key] if isinstance(value[key], list) else [value[key]]
        if any(isinstance(element, list | dict) for element in given):
            unsupported.append(f"nested {kind}")
            continue
        answers[column] = [*answers.get(column, []), *given]
    return {column: given[0] if len(given) == 1 else given for column, given in answers.items()}, unsupported


def _person(completed_by: Any) -> Any:
    """People are known by a number; newer exports have an object with it. An address is taken only without one."""
    if isinstance(completed_by, dict):
        return completed_by.get("id") or completed_by.get("email")
    return completed_by


def _n(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0
