"""Batch results of Mechanical Turk as records of one worker's answers, and texts as its input files hold them."""

from __future__ import annotations

import csv
import html
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.sources import mturk
from annotate.sources.detect import detect
from annotate.sources.mturk import as_html, variables
from tests.annotate.sources.files import refusal, values

ROW = {
    "HITId": "3AB",
    "HITTypeId": "3T",
    "Title": "Is it so?",
    "Reward": "$0.10",
    "CreationTime": "Mon Nov 02 01:00:00 PST 2026",
    "AssignmentId": "3CD",
    "WorkerId": "A1XYZ",
    "AssignmentStatus": "Submitted",
    "AcceptTime": "Mon Nov 02 01:30:00 PST 2026",
    "SubmitTime": "Mon Nov 02 01:30:21 PST 2026",
    "RejectionTime": "",
    "WorkTimeInSeconds": "21",
    "LifetimeApprovalRate": "100% (5/5)",
    "Input.q": "Sky &#38; sea &#128512;?",
    "Answer.ans": "blue",
    "Approve": "",
    "Reject": "",
}


def results(*rows: dict[str, str]) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def one(**changed: str) -> dict[str, Any]:
    (record,) = values(results(ROW | changed), "Batch_1_batch_results.csv")
    return record


def answered(**given: str) -> tuple[dict[str, Any], list[str]]:
    row = {name: value for name, value in ROW.items() if not name.startswith("Answer.")}
    (record,) = values(results(row | {f"Answer.{name}": value for name, value in given.items()}), "a.csv")
    said = {name.removeprefix("answer."): value for name, value in record.items() if name.startswith("answer.")}
    return said, record["(unsupported)"]


def test_an_assignment_is_a_record_of_what_one_worker_said_and_was_shown():
    assert detect(io.BytesIO(results(ROW)), "a.txt").format == "mturk"
    assert one() == {
        "(id)": "3AB",
        "q": "Sky & sea 😀?",
        "(shown)": ["q"],
        "answer.ans": "blue",
        "(annotator)": "A1XYZ",
        "(answered at)": "2026-11-02T01:30:21-08:00",
        "(seconds)": 21,
        "(unsupported)": [],
    }


def test_items_of_our_own_input_file_are_found_again_by_their_ids():
    record = one(**{"Input.item_id": "q&#38;1"})
    assert (record["(id)"], record["(shown)"]) == ("q&1", ["q"])


@pytest.mark.parametrize("changed", [{"AssignmentStatus": "Rejected"}, {"Reject": "too fast"}])
def test_what_was_rejected_is_counted_and_names_nobody(changed):
    record = one(**changed)
    assert record == {"(id)": "3AB", "q": "Sky & sea 😀?", "(shown)": ["q"], "(rejected)": 1}


@pytest.mark.parametrize(
    ("given", "said", "kinds"),
    [
        ({"a": "x", "b": ""}, {"a": "x"}, []),
        ({"label.yes": "true", "label.no": "false"}, {"label": ["yes"]}, []),
        ({"label.yes": "false", "label.no": "false", "a": "true"}, {"a": "true"}, []),
        ({"v1.note": "some words"}, {"v1.note": "some words"}, []),
        ({"taskAnswers": '[{"label": {"yes": true, "no": false}, "why": "so"}]'}, {"label": ["yes"], "why": "so"}, []),
        ({"taskAnswers": '[{"topics": {"a": true, "b": true}}]'}, {"topics": ["a", "b"]}, []),
        ({"taskAnswers": '[{"sure": {"on": false}, "n": 4, "none": null}]'}, {"n": 4}, []),
        ({"taskAnswers": '[{"mood": {"label": "glad"}, "a": {"labels": ["a"]}}]'}, {"mood": "glad", "a": ["a"]}, []),
        ({"taskAnswers": '[{"box": {"boundingBoxes": []}, "a": "x"}]'}, {"a": "x"}, ["boxes, spans or objects"]),
        ({"taskAnswers": '[{"box": [{"left": 1}]}]'}, {}, ["boxes, spans or objects"]),
    ],
)
def test_answers_of_every_kind_of_form_are_read(given, said, kinds):
    assert answered(**given) == (said, kinds)


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"WorkerId": " "}, "WorkerId", "every assignment has one"),
        ({"HITId": ""}, "HITId", "every assignment has one"),
        ({"AssignmentStatus": "Lost"}, "AssignmentStatus", "none of Submitted, Approved and Rejected"),
        ({"SubmitTime": "Mon Nov 02 01:30:21 XYZ 2026"}, "SubmitTime", "in a zone that is not known"),
        ({"SubmitTime": "Mon Nov 32 01:30:21 PST 2026"}, "SubmitTime", "is no moment"),
        ({"WorkTimeInSeconds": "soon"}, "WorkTimeInSeconds", "a number of seconds"),
        ({"WorkTimeInSeconds": "-1"}, "WorkTimeInSeconds", "a number of seconds"),
        ({"Answer.taskAnswers": "[{"}, "Answer.taskAnswers", "one JSON object"),
        ({"Answer.taskAnswers": "[1]"}, "Answer.taskAnswers", "one JSON object"),
        ({"Answer.taskAnswers": '[{"a": "x"}, {"a": "y"}]'}, "Answer.taskAnswers", "one JSON object"),
    ],
)
def test_what_is_no_assignment_is_refused_by_line_and_column(changed, field, said):
    fault = refusal(results(ROW | {"Answer.taskAnswers": ""}, ROW | changed), "a.csv")
    assert (fault.line, fault.row, fault.field) == (3, 2, field)
    assert said in fault.problem


def test_another_file_read_as_results_is_refused_and_not_taken_for_them():
    data = b"WorkerId,label\nA1,yes\n"
    assert detect(io.BytesIO(data), "a.csv").format == "csv"
    assert refusal(data, "a.csv", format="mturk").field == "HITId"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_text_in_an_input_file_shows_itself_and_needs_no_four_bytes(text: str):
    written = as_html(text)
    assert html.unescape(written) == text
    assert max(map(ord, written), default=0) <= 0xFFFF
    assert not set(written) & set("<>\"'\r\n")
    assert mturk.has_four_bytes(text) == any(len(character.encode()) == 4 for character in text)


def test_every_name_is_a_variable_of_its_own():
    assert variables(["question", "my key", "my-key", "问题", "item_id"]) == {
        "question": "question",
        "my key": "my_key",
        "my-key": "my_key_2",
        "问题": "value",
        "item_id": "item_id_2",
    }


def test_the_times_of_a_file_that_was_written_anew_are_read_too():
    assert one(SubmitTime="2026-11-02T09:30:21Z")["(answered at)"] == "2026-11-02T09:30:21Z"
    assert json.dumps(one(SubmitTime="", WorkTimeInSeconds="")).count("null") == 2
