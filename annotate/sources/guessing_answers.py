"""A first proposal of where a file has people's answers, from the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from annotate.sources import answer_columns, blocks
from annotate.sources.answered import AnswerColumn, Answers
from annotate.sources.json_files import NAME_COLUMN
from annotate.sources.names import folded

# Whoever these name has answered. A column called user or author may as well name who wrote what is shown.
_ANNOTATOR_NAMES = (
    "annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "rater_id", "coder", "coder_id", "person",
    "completed_by", "_annotator_id",
)  # fmt: skip
_TIME_NAMES = ("answered_at", "submitted_at", "submit_time", "submittime", "created_at", "updated_at", "timestamp")
_SECONDS_NAMES = ("wall_seconds", "seconds", "lead_time", "work_time_in_seconds", "worktimeinseconds", "duration")
_SKIP_NAMES = ("skipped", "was_cancelled", "is_skip")
_ITEM_NAMES = ("item", "item_id", "external_id", "task_id", "unit_id", "question_id", "qid", "id", "task", "unit")
_ANSWER_NAMES = (
    "answer",
    "answers",
    "label",
    "labels",
    "response",
    "judgment",
    "judgement",
    "vote",
    "rating",
    "choice",
)
# Beside the fields of a person's answer, in Label Studio's smaller export.
_JSON_MIN = ("annotator", "annotation_id", "lead_time")
# A field without a stage is a choice if its values repeat; more different ones are no labels.
_MAX_OPTIONS = 20
_SHORT_CHARS = 300
_LABEL_CHARS = 20
_ALL_MEMBERS = ("all", "unknown")


def guess_answers(columns: Sequence[str], values: dict[str, list[Any]], field_names: Sequence[str]) -> Answers | None:
    """Who answered, and what, if the file says so; None if its records are items alone.

    field_names: of the stage that the answers are for, if there is one; a column that has none of these names gets the
    stage's only field, or becomes a field of its own.
    """
    by_name = {folded(column): column for column in reversed(columns)}

    def named(names: Sequence[str]) -> str | None:
        return next((by_name[name] for name in names if name in by_name), None)

    if answer_columns.ID in columns:
        if answer_columns.ANNOTATOR not in columns:
            return None
        answered = [column for column in columns if column.startswith(answer_columns.ANSWER_PREFIX)]
        time, seconds, skip, truth = (
            name if name in columns else None
            for name in (
                answer_columns.ANSWERED_AT,
                answer_columns.SECONDS,
                answer_columns.SKIPPED,
                answer_columns.GROUND_TRUTH,
            )
        )
        return Answers(
            fields=_fields(answered, values, field_names),
            annotator_column=answer_columns.ANNOTATOR,
            time_column=time,
            seconds_column=seconds,
            skip_column=skip,
            ground_truth_column=truth,
        )
    annotator = named(_ANNOTATOR_NAMES) or _member_column(columns, values)
    if annotator is None:
        return None
    answered = _answer_columns(columns, by_name, field_names)
    if not answered:
        return None
    return Answers(
        fields=_fields(answered, values, field_names),
        annotator_column=annotator,
        time_column=named(_TIME_NAMES),
        seconds_column=named(_SECONDS_NAMES),
        skip_column=named(_SKIP_NAMES),
    )


def item_column(columns: Sequence[str]) -> str | None:
    """The column that names the item: its values repeat, so that only its name can tell."""
    if answer_columns.ID in columns:
        return answer_columns.ID
    by_name = {folded(column): column for column in reversed(columns)}
    return next((by_name[name] for name in _ITEM_NAMES if name in by_name), None)


def data_columns(columns: Sequence[str]) -> list[str]:
    """Of another tool's export those that hold the item's data, some of which it shows; of other files none."""
    if answer_columns.ID in columns:
        return [c for c in columns if answer_columns.is_of_item(c)]
    if all(name in columns for name in (*_JSON_MIN, "id")):
        return list(columns[: columns.index("id")])
    return []


def field_name(column: str, taken: Sequence[str] = ()) -> str:
    """A name that a field may have, made of a column's."""
    base = re.sub(r"[^a-z0-9]+", "_", folded(column.removeprefix(answer_columns.ANSWER_PREFIX))).strip("_")[:40]
    base = base if re.match("[a-z]", base) else f"field_{base}".rstrip("_")
    if base in ("person", "flag", "active_seconds", "client_key", "flag_note"):
        base = f"{base}_answer"
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _member_column(columns: Sequence[str], values: dict[str, list[Any]]) -> str | None:
    """doccano writes one file for each member of a project, called by their names."""
    if NAME_COLUMN not in columns or "label" not in columns or "Comments" not in columns:
        return None
    names = {str(name) for name in values[NAME_COLUMN]}
    return None if names & set(_ALL_MEMBERS) else NAME_COLUMN


def _answer_columns(columns: Sequence[str], by_name: dict[str, str], field_names: Sequence[str]) -> list[str]:
    prefixed = [column for column in columns if column.startswith(answer_columns.ANSWER_PREFIX)]
    if prefixed:
        return prefixed
    if all(name in columns for name in _JSON_MIN) and "id" in columns:
        # The fields stand between the task's id and the annotator.
        between = columns[columns.index("id") + 1 : columns.index("annotator")]
        if between:
            return list(between)
    of_stage = [by_name[folded(name)] for name in field_names if folded(name) in by_name]
    if of_stage:
        return of_stage
    return [by_name[name] for name in _ANSWER_NAMES if name in by_name][:1]


def _fields(
    answered: Sequence[str], values: dict[str, list[Any]], field_names: Sequence[str]
) -> tuple[AnswerColumn, ...]:
    fields: list[AnswerColumn] = []
    for column in answered:
        taken = [entry.field for entry in fields]
        name = field_name(column, taken)
        if name not in field_names and len(field_names) == 1 and len(answered) == 1:
            name = field_names[0]
        fields.append(AnswerColumn(name, column, guess_type(values[column])))
    return tuple(fields)


def guess_type(values: Sequence[Any]) -> str:
    flat = [element for value in values for element in (value if isinstance(value, list) else [value])]
    texts = [blocks.plain_text(value).strip() for value in flat if not isinstance(value, list | dict)]
    different = set(texts)
    longest = max(map(len, texts), default=0)
    repeats = len(texts) >= 2 * len(different)
    if 2 <= len(different) <= _MAX_OPTIONS and (repeats or longest <= _LABEL_CHARS):
        return "choice"
    return "text" if longest <= _SHORT_CHARS else "long_text"
