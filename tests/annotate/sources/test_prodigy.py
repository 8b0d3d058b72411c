"""Prodigy's JSONL as records of one decision each."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotate.sources.detect import detect
from tests.annotate.sources.files import refusal, values

OPTIONS = [{"id": "r", "text": "red"}, {"id": "b", "text": "blue"}]
CHOICE: dict[str, Any] = {
    "text": "Sky?",
    "meta": {"source": "a"},
    "options": OPTIONS,
    "accept": ["b"],
    "answer": "accept",
    "config": {"choice_style": "single"},
    "_input_hash": -1593,
    "_task_hash": 2207,
    "_view_id": "choice",
    "_session_id": "demo-ann",
    "_annotator_id": "ann",
    "_timestamp": 1790000000,
}
BINARY = {**{key: CHOICE[key] for key in CHOICE if key not in ("options", "accept")}, "label": "WEATHER"}
BINARY["_view_id"] = "classification"
WRITTEN = {key: BINARY[key] for key in BINARY if key != "label"} | {"user_input": "It is blue", "field_label": "Why?"}
MARKED = {key: BINARY[key] for key in BINARY if key != "label"} | {
    "_view_id": "ner_manual",
    "tokens": [{"text": "Sky", "start": 0, "end": 3, "id": 0}],
    "spans": [{"start": 0, "end": 3, "label": "PLACE"}],
}


def lines(*tasks: Any) -> bytes:
    return "".join(json.dumps(task) + "\n" for task in tasks).encode()


def one(task: dict[str, Any], *parts: str) -> tuple[Any, ...]:
    (record,) = values(lines(task), "a.jsonl")
    return tuple(record.get(part) for part in parts)


def test_a_choice_is_a_record_of_what_one_person_accepted():
    assert detect(io.BytesIO(lines(CHOICE)), "a.txt").format == "prodigy"
    (record,) = values(lines(CHOICE), "a.jsonl")
    assert record == {
        "(id)": -1593,
        "text": "Sky?",
        "options": ["red", "blue"],
        "meta.source": "a",
        "(shown)": ["text"],
        "answer.label": ["b"],
        "(annotator)": "ann",
        "(answered at)": 1790000000,
        "(skipped)": False,
        "(unsupported)": [],
    }


def test_where_a_label_is_asked_about_the_text_with_it_is_the_item():
    assert one(BINARY, "(id)", "label", "(shown)", "answer.answer") == (2207, "WEATHER", ["text", "label"], "accept")
    assert one(BINARY | {"answer": "reject"}, "answer.answer") == ("reject",)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (WRITTEN, {"user_input": "It is blue"}),
        (WRITTEN | {"field_id": "why", "why": "I looked"}, {"why": "I looked"}),
        (
            WRITTEN | {"field_id": ["why", "since"], "why": "I looked", "since": "1999"},
            {"why": "I looked", "since": "1999"},
        ),
        (CHOICE | {"field_id": "why", "why": "I looked"}, {"label": ["b"], "why": "I looked"}),
        (CHOICE | {"meta": {"field": "colour"}}, {"colour": ["b"]}),
        (CHOICE | {"accept": []}, {}),
    ],
)
def test_what_was_answered_follows_from_the_task(task, expected):
    (record,) = values(lines(task), "a.jsonl")
    answered = {name.removeprefix("answer."): value for name, value in record.items() if name.startswith("answer.")}
    assert answered == expected
    assert (record["(shown)"], record["(unsupported)"]) == (["text"], [])


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        (MARKED, ["spans"]),
        (MARKED | {"label": "PLACE"}, ["spans"]),
        (MARKED | {"spans": [], "relations": [{"head": 0}]}, ["relations"]),
        (MARKED | {"spans": []}, []),
        (CHOICE | {"answer": "reject"}, ["rejected tasks"]),
    ],
)
def test_regions_and_rejected_tasks_are_told_and_are_no_answers(task, kinds):
    (record,) = values(lines(task), "a.jsonl")
    assert record["(unsupported)"] == kinds
    assert not any(name.startswith("answer.") for name in record)


def test_spans_beside_a_choice_leave_its_answer_alone():
    assert one(CHOICE | {"spans": MARKED["spans"]}, "answer.label", "(unsupported)") == (["b"], ["spans"])


def test_what_was_ignored_is_a_skip_and_what_nobody_answered_is_an_item():
    assert one(CHOICE | {"answer": "ignore"}, "(skipped)", "answer.label", "(annotator)") == (True, None, "ann")
    open_task = {key: value for key, value in CHOICE.items() if key not in ("answer", "accept")}
    assert one(open_task, "text", "(annotator)", "(skipped)") == ("Sky?", None, None)


def test_an_older_export_names_the_session_only():
    older = {key: value for key, value in CHOICE.items() if key != "_annotator_id"}
    assert one(older, "(annotator)") == ("demo-ann",)


def test_an_id_of_the_stream_comes_before_the_hash_and_without_either_the_same_text_is_the_same_item():
    assert one(CHOICE | {"id": "q1"}, "(id)") == ("q1",)
    bare = {key: value for key, value in CHOICE.items() if key not in ("_input_hash", "_task_hash")}
    first, second, other = values(lines(bare, bare | {"accept": ["r"]}, bare | {"text": "Sea?"}), "a.jsonl")
    assert first["(id)"] == second["(id)"] != other["(id)"]


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"answer": "yes"}, "answer", "accept, reject or ignore"),
        ({"answer": ["accept"]}, "answer", "accept, reject or ignore"),
        ({"label": ["a"]}, "label", "one label"),
        ({"options": {"r": "red"}}, "options", "a list of options"),
        ({"options": ["red"]}, "options[0]", "an “id”"),
        ({"accept": "b"}, "accept", "the list of the options"),
        ({"accept": None}, "accept", "the list of the options"),
        ({"accept": ["b", "g"]}, "accept[1]", "“g” is the id of none"),
        ({"accept": [["b"]]}, "accept[0]", "is the id of none"),
        ({"meta": [1]}, "meta", "an object"),
        ({"field_id": 3}, "field_id", "the key of what was written"),
        ({"_annotator_id": ["ann"]}, "_annotator_id", "one name or number"),
        ({"_input_hash": [1]}, "_input_hash", "one text or number"),
        ({"field_id": "why", "why": "x", "answer.why": "y"}, "answer.why", "the name of this field of the data"),
    ],
)
def test_what_is_no_task_is_refused_by_line_and_field(changed, field, said):
    fault = refusal(lines(CHOICE, CHOICE | changed), "a.jsonl")
    assert (fault.line, fault.row, fault.field) == (2, 2, field)
    assert said in fault.problem


def test_another_file_is_not_taken_for_one():
    assert detect(io.BytesIO(lines({"id": 1, "text": "x", "answer": "accept"})), "a.jsonl").format == "jsonl"
