"""Argilla's records as records of one person's responses, in both forms in which it writes them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from tests.annotate.sources.files import read, refusal, values, values_or_refusal

ANNA, BEN = "6f0f8a3c-0b0e-4d57-9d3c-2a4c3f1f0a01", "6f0f8a3c-0b0e-4d57-9d3c-2a4c3f1f0a02"
RECORD: dict[str, Any] = {
    "id": "q1",
    "fields": {"text": "Is it?", "reply": "It is."},
    "metadata": {"page": 3},
    "suggestions": {"label": {"value": "no", "score": 0.7, "agent": "m"}},
    "responses": {
        "label": [{"value": "yes", "user_id": ANNA}, {"value": "discarded", "user_id": BEN}],
        "topics": [{"value": ["a", "b"], "user_id": ANNA}],
        "stars": [{"value": 4, "user_id": BEN}],
    },
    "vectors": {"bert": [0.1, 0.2]},
    "_server_id": "8c0e",
}
FLAT: dict[str, Any] = {
    "id": "q1",
    "_server_id": None,
    "text": "Is it?",
    "label.responses": ["yes", "no", None],
    "label.responses.users": [ANNA, BEN, "c"],
    "label.responses.status": ["submitted", "draft", "discarded"],
    "label.suggestion": "no",
    "label.suggestion.score": 0.7,
    "label.suggestion.agent": "m",
}


def export(*records: Any) -> bytes:
    return json.dumps(list(records)).encode()


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def with_responses(**responses: Any) -> dict[str, Any]:
    return RECORD | {"responses": responses}


@pytest.mark.parametrize("written", [export, lines])
def test_each_person_of_a_record_is_a_record_with_what_they_said_to_all_questions(written):
    data = written(RECORD, RECORD | {"id": "q2", "responses": {}})
    assert detect(io.BytesIO(data), "records.txt").format == "argilla"
    item = {"text": "Is it?", "reply": "It is.", "metadata.page": 3, "(shown)": ["text", "reply"]}
    counted = {"(predictions)": 1, "(drafts)": 0}
    given = {"(skipped)": False, "(unsupported)": []}
    assert values(data, "records.json") == [
        {
            "(id)": "q1",
            **item,
            "answer.label": "yes",
            "answer.topics": ["a", "b"],
            "(annotator)": ANNA,
            **given,
            **counted,
        },
        {"(id)": "q1", **item, "answer.label": "discarded", "answer.stars": 4, "(annotator)": BEN, **given},
        {"(id)": "q2", **item, **counted},
    ]


def test_the_flattened_form_tells_drafts_and_discarded_responses_from_answers():
    data = lines(
        FLAT,
        FLAT | {"id": "q2", "label.responses": None, "label.responses.users": None, "label.responses.status": None},
    )
    assert detect(io.BytesIO(data), "records.jsonl").format == "argilla"
    first, discarded, unanswered = values(data, "records.jsonl")
    assert (first["text"], first["answer.label"], first["(annotator)"]) == ("Is it?", "yes", ANNA)
    assert (first["(predictions)"], first["(drafts)"]) == (1, 1)
    assert (discarded["(annotator)"], discarded["(skipped)"], "answer.label" in discarded) == ("c", True, False)
    assert (unanswered["(id)"], "(annotator)" in unanswered) == ("q2", False)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([{"value": "a", "rank": 1}, {"value": "b", "rank": 2}], "ranking"),
        ([{"label": "PER", "start": 0, "end": 3}], "spans"),
        ({"a": 1}, "objects"),
        ([["a"]], "lists of lists"),
    ],
)
def test_what_no_field_holds_is_named(value, kind):
    answered = [{"value": "yes", "user_id": ANNA}]
    (record,) = values(export(with_responses(label=answered, other=[{"value": value, "user_id": ANNA}])), "a.json")
    assert (record["(unsupported)"], record["answer.label"]) == ([kind], "yes")
    assert "answer.other" not in record


def test_a_record_without_an_id_gets_the_same_one_for_the_same_fields():
    first, second, other = values(
        export(*(RECORD | {"id": None, "responses": {}, "fields": {"text": text}} for text in ("a", "a", "b"))),
        "a.json",
    )
    assert first["(id)"] == second["(id)"] != other["(id)"]


@pytest.mark.parametrize(
    ("record", "field", "said"),
    [
        (RECORD | {"fields": ["text"]}, "fields", "an object is expected"),
        (RECORD | {"metadata": 3}, "metadata", "an object is expected"),
        (RECORD | {"responses": []}, "responses", "an object is expected"),
        (RECORD | {"suggestions": "no"}, "suggestions", "an object is expected"),
        (with_responses(label={"value": "yes"}), "responses.label", "a list of responses"),
        (with_responses(label=["yes"]), "responses.label[0]", "“value” and “user_id”"),
        (with_responses(label=[{"user_id": ANNA}]), "responses.label[0]", "“value” and “user_id”"),
        (with_responses(label=[{"value": "yes"}]), "responses.label[0].user_id", "nobody is named"),
        (with_responses(label=[{"value": "yes", "user_id": "None"}]), "responses.label[0].user_id", "nobody is named"),
        (with_responses(label=[{"value": "yes", "user_id": [1]}]), "responses.label[0].user_id", "nobody is named"),
        (
            with_responses(label=[{"value": "yes", "user_id": ANNA}] * 2),
            "responses.label[1]",
            "answered the question twice",
        ),
        (
            with_responses(label=[{"value": "yes", "user_id": ANNA, "status": "lost"}]),
            "responses.label[0].status",
            "no status of a response",
        ),
        (RECORD | {"fields": {"answer.label": "x"}}, "answer.label", "the name of this field of the data"),
    ],
)
def test_what_is_no_record_is_refused_by_line_and_field(record, field, said):
    fault = refusal(lines(RECORD, record), "records.jsonl")
    assert (fault.line, fault.row, fault.field) == (2, 2, field)
    assert said in fault.problem


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"label.responses": "yes"}, "label.responses"),
        ({"label.responses.users": [ANNA]}, "label.responses.users"),
        ({"label.responses.status": ["submitted"]}, "label.responses.users"),
        ({"label.responses.users": [ANNA, BEN, "None"]}, "responses.label[2].user_id"),
    ],
)
def test_lists_that_do_not_belong_together_are_refused(changed, field):
    fault = refusal(lines(FLAT, FLAT | changed), "records.jsonl")
    assert (fault.line, fault.field) == (2, field)


@pytest.mark.parametrize(
    "data", [b"", b"[", export(RECORD)[:-20], b'[{"fields": {}, "responses": {}, "suggestions": NaN}]']
)
def test_broken_exports_are_refused(data):
    with pytest.raises(SourceError):
        read(data, "export.json", format="argilla")


def test_another_file_is_not_taken_for_one():
    assert detect(io.BytesIO(lines({"id": 1, "text": "x", "responses": ["a"]})), "a.jsonl").format == "jsonl"
    assert isinstance(values_or_refusal(export({"id": 1, "text": "x"}), "a.json", format="argilla"), list)
