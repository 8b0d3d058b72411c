"""Argilla's records, as its `to_json` and `to_list` give them, as records of one person's responses each.

Nested, a record has `fields`, `metadata`, `suggestions` and `responses` by question; flattened, the fields stand at the
top beside lists that belong together: `label.responses`, `label.responses.users`, `label.responses.status`. Only the
flattened form says which responses are drafts or discarded.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotate.sources import answer_columns as columns
from annotate.sources.answer_columns import fault, made_record
from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import shortened
from annotate.sources.json_array import read_json_or_lines
from annotate.sources.records import Limits, Record
from annotate.wording import _

METADATA_PREFIX = "metadata."
_RESPONSES, _USERS, _STATUS, _SUGGESTION = ".responses", ".responses.users", ".responses.status", ".suggestion"
_PARTS_OF_SUGGESTION = (_SUGGESTION, f"{_SUGGESTION}.score", f"{_SUGGESTION}.agent")
_PEOPLE = uuid.UUID("3d9a2d53-52a1-4b29-8f0e-0a1c6a5f7b11")
# What the tool keeps for itself: no part of what people saw.
_OWN = ("id", "_server_id")
# Discarded is Argilla's word for passed over; a draft was never given.
_GIVEN, _DRAFT, _DISCARDED = ("submitted", "pending", ""), "draft", "discarded"


def is_record(value: object) -> bool:
    """Whether an object is a record of such an export, by its own keys."""
    if not isinstance(value, dict):
        return False
    nested = all(isinstance(value.get(key), dict) for key in ("fields", "responses", "suggestions"))
    return nested or any(_is_question(key, value) for key in value)


def user_id(pseudonym: str) -> str:
    """Argilla knows its users by UUIDs: ours get one that is always the same."""
    return str(uuid.uuid5(_PEOPLE, pseudonym))


def read_argilla(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """A list, or an object a line. Raises SourceError for what is no record, with line, row and field."""
    for record in read_json_or_lines(file, encoding=encoding, limits=limits):
        yield from _records_of(record)


def _records_of(record: Record) -> Iterator[Record]:
    values = dict(record.values)
    is_nested = "fields" in values
    if is_nested:
        data, responses, suggestions = (_object(record, values, key) for key in ("fields", "responses", "suggestions"))
        shown = [(columns.SHOWN, list(data))]
        beside = [(f"{METADATA_PREFIX}{key}", value) for key, value in _object(record, values, "metadata").items()]
    else:
        data, responses, suggestions = _flattened(record, values)
        shown, beside = [], []
    external_id = values.get("id")
    item = [(columns.ID, columns.id_of(data) if external_id is None else external_id), *data.items(), *beside]
    people, n_drafts = _by_person(record, responses)
    counted = [(columns.PREDICTIONS, sum(one is not None for one in suggestions.values())), (columns.DRAFTS, n_drafts)]
    if not people:
        yield made_record(record, [*item, *shown, *counted])
    for position, (name, person) in enumerate(people.items()):
        yield made_record(
            record,
            [
                *item,
                *shown,
                *((f"{columns.ANSWER_PREFIX}{question}", value) for question, value in person.answers.items()),
                (columns.ANNOTATOR, name),
                (columns.SKIPPED, person.is_skipped),
                (columns.UNSUPPORTED, person.unsupported),
                *(counted if position == 0 else []),
            ],
        )


@dataclass
class _Person:
    """What one person said of a record. asked: also what they passed over."""

    asked: set[str] = field(default_factory=set)
    answers: dict[str, Any] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    is_skipped: bool = False


def _by_person(record: Record, responses: dict[str, Any]) -> tuple[dict[str, _Person], int]:
    """(person -> what they said, in order of appearance; how many drafts were passed over)."""
    people: dict[str, _Person] = {}
    n_drafts = 0
    for question, given in responses.items():
        place = f"responses.{question}"
        if not isinstance(given, list):
            raise fault(record, place, _("a list of responses is expected."))
        for position, response in enumerate(given):
            at = f"{place}[{position}]"
            if not isinstance(response, dict) or "value" not in response:
                raise fault(record, at, _("a response with “value” and “user_id” is expected."))
            status = response.get("status") or ""
            if status == _DRAFT:
                n_drafts += 1
                continue
            if status not in (*_GIVEN, _DISCARDED):
                raise fault(
                    record,
                    f"{at}.status",
                    _("“%(status)s” is no status of a response.", status=shortened(str(status))),
                )
            person = people.setdefault(_name(record, response.get("user_id"), f"{at}.user_id"), _Person())
            if question in person.asked:
                raise fault(record, at, _("this person answered the question twice; keep one of the responses."))
            person.asked.add(question)
            person.is_skipped |= status == _DISCARDED
            if status == _DISCARDED or response["value"] is None:
                continue
            if kind := _unsupported(response["value"]):
                person.unsupported.append(kind)
            else:
                person.answers[question] = response["value"]
    return people, n_drafts


def _name(record: Record, user: Any, place: str) -> str:
    # A response without a person is written with the word for nothing.
    if not isinstance(user, str | int) or isinstance(user, bool) or user in ("", "None"):
        raise fault(record, place, _("nobody is named who gave this response."))
    return str(user)


def _unsupported(value: Any) -> str:
    """The kind of an answer that no field holds."""
    parts = value if isinstance(value, list) else [value]
    keys = {key for part in parts if isinstance(part, dict) for key in part}
    if not keys:
        return "lists of lists" if any(isinstance(part, list) for part in parts) else ""
    return "ranking" if "rank" in keys else "spans" if "start" in keys else "objects"


def _flattened(record: Record, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(data, responses, suggestions) in the nested form."""
    questions = [key.removesuffix(_RESPONSES) for key in values if _is_question(key, values)]
    suggested = [key.removesuffix(_SUGGESTION) for key in values if _is_suggestion(key, values)]
    parts = {f"{question}{part}" for question in questions for part in (_RESPONSES, _USERS, _STATUS)}
    parts |= {f"{question}{part}" for question in suggested for part in _PARTS_OF_SUGGESTION}
    data = {key: value for key, value in values.items() if key not in parts and key not in _OWN}
    responses = {}
    for question in questions:
        lists = []
        for part in (_RESPONSES, _USERS, _STATUS):
            given = values.get(f"{question}{part}")
            if not isinstance(given, list | None):
                raise fault(record, f"{question}{part}", _("a list of responses is expected."))
            lists.append(given or [])
        given, users, statuses = lists
        if len(given) != len(users) or len(statuses) not in (0, len(given)):
            raise fault(
                record, f"{question}{_USERS}", _("there are not as many people and statuses as there are responses.")
            )
        responses[question] = [
            {"value": value, "user_id": user, "status": status}
            for value, user, status in zip(given, users, statuses or [None] * len(given), strict=True)
        ]
    return data, responses, {question: values[f"{question}{_SUGGESTION}"] for question in suggested}


def _is_question(key: str, values: dict[str, Any]) -> bool:
    return key.endswith(_RESPONSES) and f"{key.removesuffix(_RESPONSES)}{_USERS}" in values


def _is_suggestion(key: str, values: dict[str, Any]) -> bool:
    return key.endswith(_SUGGESTION) and f"{key}.score" in values


def _object(record: Record, values: dict[str, Any], key: str) -> dict[str, Any]:
    value = values.get(key)
    if value is not None and not isinstance(value, dict):
        raise fault(
            record,
            key,
            _(
                "an object is expected here in a record of Argilla; choose JSON or JSON Lines as the format if the "
                "file is another one."
            ),
        )
    return value or {}
