"""Prodigy's JSONL (`db-out`): one line for each task that somebody answered, as a record of that answer.

What is answered follows from the task. With `options` it is which of them were accepted, with `field_id` what was
written; without either, whether the task was accepted or rejected: with a `label`, whether that label is right. Marked
spans, boxes and relations are no answer that a field holds: told by their kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.sources import answer_columns as columns
from annotate.sources.answer_columns import fault, made_record
from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import shortened
from annotate.sources.json_array import read_json_or_lines
from annotate.sources.records import Limits, Record
from annotate.wording import _

META_PREFIX = "meta."
# Of our own export: the columns that the text is made of, which stand beside it.
MADE_OF = "_made_of"
DECISIONS = ("accept", "reject", "ignore")
# Beside a decision they tell a task of Prodigy from any other line with such a word.
_MARKS = ("_input_hash", "_task_hash", "_view_id", "_session_id", "_annotator_id")
# Parts of regions of a text or an image, and the interfaces in which people mark them.
_REGIONS = ("spans", "relations", "arcs")
_REGION_VIEWS = {
    *("ner", "ner_manual", "spans", "spans_manual", "pos", "pos_manual", "dep", "relations"),
    *("image_manual", "audio_manual"),
}
# Where an interface keeps what was written, unless the task says another place.
_WRITTEN = "user_input"
# Of a task, and no content: what was answered, how it is laid out, what was worked out from its text.
_NO_CONTENT = {
    *("id", "answer", "accept", "meta", "tokens", "versions", "sessions", "style", "config", "priority", "score"),
    *("view_id", "width", "height", _WRITTEN, *_REGIONS),
}


def is_task(value: object) -> bool:
    """Whether an object is an answered task of Prodigy, by its own keys."""
    if not isinstance(value, dict):
        return False
    return "_task_hash" in value or (value.get("answer") in DECISIONS and any(mark in value for mark in _MARKS))


def is_content(key: str) -> bool:
    """Whether a value of an item may stand in a task under its own name, for Prodigy shows some by theirs."""
    taken = _NO_CONTENT | {"options", "label", "text", "html", "image", "audio"}
    return columns.is_of_item(key) and not key.startswith(("_", "field_", META_PREFIX)) and key not in taken


def read_prodigy(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """A task a line, or a list of them. Raises SourceError for what is no task, with line, row and field."""
    for record in read_json_or_lines(file, encoding=encoding, limits=limits):
        yield _record_of(record)


def _record_of(task: Record) -> Record:
    values = dict(task.values)
    decision = values.get("answer")
    if decision is not None and decision not in DECISIONS:
        raise fault(task, "answer", _("accept, reject or ignore is expected, or nothing where nobody has answered."))
    label = values.get("label")
    if isinstance(label, list | dict):
        raise fault(task, "label", _("one label is expected here."))
    options = _options(task, values.get("options"))
    written = _written(task, values)
    no_content = _NO_CONTENT | {"options", *written, *(["text"] if MADE_OF in values else [])}
    data = {
        key: value for key, value in values.items() if not key.startswith(("_", "field_")) and key not in no_content
    }
    kinds = [kind for kind in _REGIONS if values.get(kind)]
    is_region = bool(kinds) or values.get("_view_id") in _REGION_VIEWS
    shown = [(columns.SHOWN, list(data))]
    if options:
        data["options"] = list(options.values())
    is_binary = not (options or written or is_region)
    answers: dict[str, Any] = {}
    if decision in ("accept", "reject") and is_binary:
        answers["answer"] = decision
    elif decision == "accept":
        given = {name: values[name] for name in written if values.get(name) not in (None, "")}
        answers = {name.removeprefix(columns.ANSWER_PREFIX): value for name, value in given.items()}
        if options and (accepted := _accepted(task, values, options)):
            answers[_name_of_choice(values)] = accepted
    elif decision == "reject":
        kinds.append("rejected tasks")
    meta = values.get("meta")
    if not isinstance(meta, dict | None):
        raise fault(task, "meta", _("an object is expected here."))
    person = _person(task, values)
    beside = [
        *([(columns.ANNOTATOR, person)] if person else []),
        (columns.ANSWERED_AT, values.get("_timestamp")),
        (columns.SKIPPED, decision == "ignore"),
        (columns.UNSUPPORTED, kinds),
    ]
    return made_record(
        task,
        [
            (columns.ID, _id(task, values, data, is_binary=is_binary)),
            *data.items(),
            *((f"{META_PREFIX}{key}", value) for key, value in (meta or {}).items()),
            *shown,
            *((f"{columns.ANSWER_PREFIX}{name}", value) for name, value in answers.items()),
            *(beside if decision else []),
        ],
    )


def _options(task: Record, options: Any) -> dict[Any, Any]:
    """id -> what people read."""
    if options is None:
        return {}
    if not isinstance(options, list):
        raise fault(task, "options", _("a list of options is expected."))
    found: dict[Any, Any] = {}
    for position, option in enumerate(options):
        if not isinstance(option, dict) or not isinstance(option.get("id"), str | int):
            raise fault(task, f"options[{position}]", _("an option with an “id” is expected."))
        found[option["id"]] = option.get("text", option["id"])
    return found


def _accepted(task: Record, values: dict[str, Any], options: dict[Any, Any]) -> list[Any]:
    accepted = values.get("accept")
    if not isinstance(accepted, list):
        raise fault(task, "accept", _("the list of the options that were accepted is expected."))
    for position, one in enumerate(accepted):
        if isinstance(one, list | dict) or one not in options:
            raise fault(
                task,
                f"accept[{position}]",
                _("“%(one)s” is the id of none of the options.", one=shortened(str(one))),
            )
    return list(dict.fromkeys(accepted))


def _written(task: Record, values: dict[str, Any]) -> list[str]:
    """The keys that hold what somebody wrote."""
    named = values.get("field_id", [])
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise fault(task, "field_id", _("the key of what was written is expected."))
    return names or [name for name in (_WRITTEN,) if name in values]


def _name_of_choice(values: dict[str, Any]) -> str:
    """Our own export says which field the options are of."""
    field = values["meta"].get("field") if isinstance(values.get("meta"), dict) else None
    return field if isinstance(field, str) and field else "label"


def _person(task: Record, values: dict[str, Any]) -> str:
    """Newer versions name the annotator, older ones only the session."""
    for key in ("_annotator_id", "_session_id"):
        name = values.get(key)
        if isinstance(name, list | dict):
            raise fault(task, key, _("one name or number of a person is needed here."))
        if name not in (None, ""):
            return str(name)
    return ""


def _id(task: Record, values: dict[str, Any], data: dict[str, Any], *, is_binary: bool) -> Any:
    """One text is one item, but where a label is asked about, each text with its label is."""
    for key in ("_task_hash", "id") if is_binary else ("id", "_input_hash"):
        value = values.get(key)
        if isinstance(value, list | dict):
            raise fault(task, key, _("a list or an object stands where one text or number is needed."))
        if value is not None:
            return value
    return columns.id_of(data)
