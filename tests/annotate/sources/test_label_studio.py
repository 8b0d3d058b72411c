"""Exports of Label Studio as records, whatever their tasks hold."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from tests.annotate.sources.files import read, values

TASK = {
    "id": 7,
    "data": {"text": "Is it?", "meta": {"page": 3}},
    "annotations": [
        {
            "completed_by": {"id": 4, "email": "somebody@example.org"},
            "was_cancelled": False,
            "lead_time": 6.5,
            "created_at": "2026-11-01T09:00:00Z",
            "result": [
                {"from_name": "label", "type": "choices", "value": {"choices": ["yes"]}},
                {"from_name": "why", "type": "textarea", "value": {"text": ["one", "two"]}},
                {"from_name": "stars", "type": "rating", "value": {"rating": 4}},
                {"from_name": "many", "type": "choices", "value": {"choices": ["a", "b"]}},
            ],
        }
    ],
}


def export(*tasks: Any) -> bytes:
    return json.dumps(list(tasks)).encode()


def with_result(*results: Any) -> dict[str, Any]:
    return TASK | {"annotations": [TASK["annotations"][0] | {"result": list(results)}]}


def test_an_annotation_is_a_record_with_its_task():
    assert detect(io.BytesIO(export(TASK)), "export.txt").format == "label_studio"
    (record,) = values(export(TASK), "export.json")
    assert record == {
        "(id)": 7,
        "text": "Is it?",
        "meta": {"page": 3},
        "answer.label": "yes",
        "answer.why": ["one", "two"],
        "answer.stars": 4,
        "answer.many": ["a", "b"],
        "(annotator)": 4,
        "(answered at)": "2026-11-01T09:00:00Z",
        "(seconds)": 6.5,
        "(skipped)": False,
        "(ground truth)": False,
        "(unsupported)": [],
        "(predictions)": 0,
        "(drafts)": 0,
    }
    assert "somebody@example.org" not in json.dumps(record)


def test_tasks_keep_their_number_and_line_however_often_they_were_answered():
    data = json.dumps([TASK | {"annotations": []}, TASK | {"annotations": TASK["annotations"] * 2}], indent=1).encode()
    records = read(data, "export.json")
    assert [record.number for record in records] == [1, 2, 2]
    assert records[1].line == records[2].line > 1
    # What stands beside a task is counted once.
    assert ["(predictions)" in dict(record.values) for record in records] == [True, True, False]


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (
            {"type": "rectanglelabels", "from_name": "box", "value": {"x": 1, "rectanglelabels": ["a"]}},
            "rectanglelabels",
        ),
        ({"type": "labels", "from_name": "ner", "value": {"start": 0, "end": 3, "labels": ["PER"]}}, "labels"),
        ({"type": "relation", "from_id": "a", "to_id": "b"}, "relation"),
        ({"type": "choices", "from_name": "c", "value": {"start": 0, "end": 3, "choices": ["a"]}}, "choices"),
        ({"type": "taxonomy", "from_name": "t", "value": {"taxonomy": [["a", "b"]]}}, "taxonomy"),
        ({"type": "choices", "from_name": "c", "value": {"choices": [["a", "b"]]}}, "nested choices"),
        ({"type": "choices", "from_name": "c", "value": None}, "choices"),
        ("nothing", "without a type"),
    ],
)
def test_what_no_field_holds_is_named(result, kind):
    (record,) = values(export(with_result(result, TASK["annotations"][0]["result"][0])), "export.json")
    assert (record["(unsupported)"], record["answer.label"]) == ([kind], "yes")


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([TASK, {"id": 8}], "Line 1, row 2: this is no task of Label Studio"),
        ([TASK, {"id": 8, "data": [], "annotations": []}], "row 2: this is no task"),
        ([TASK, TASK | {"annotations": 3}], "row 2: this is no task"),
        ([TASK, TASK | {"annotations": [17, 18]}], "field “annotations.0.”: the annotations are listed by number only"),
        ([TASK, TASK | {"data": {"answer.label": "x"}}], "a question has the name of this field of the data"),
        ([TASK, 5], "each element of the list must be an object"),
    ],
)
def test_what_is_no_task_is_refused_by_row(tasks, said):
    with pytest.raises(SourceError, match=said):
        read(export(*tasks), "export.json")


@pytest.mark.parametrize(
    "data", [b"", b"[", export(TASK)[:-20], export(TASK)[:40], b'[{"data": {}, "annotations": [NaN]}]']
)
def test_broken_exports_are_refused(data):
    with pytest.raises(SourceError):
        read(data, "export.json")
