"""Our own logs: which column means what, and what is refused with its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evaluation.clients.logs import Notes

from .files import format_of, lines, read, refusal


def test_a_completion_comes_with_its_circumstances():
    (record,) = read(
        lines(
            {
                "id": "q1",
                "completion": "  Yes, it is.\n",
                "model": "acme/m-1",
                "filter": "strict",
                "repeat": 2,
                "finish_reason": "length",
                "reasoning": "Water freezes at 0.",
                "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is ice cold?"}],
                "prompt_tokens": 12,
                "completion_tokens": "5",
                "latency_ms": 340.0,
                "finished_at": "2026-08-01T12:00:00+02:00",
            }
        )
    )
    assert (record.external_id, record.completion, record.answers) == ("q1", "  Yes, it is.\n", ())
    assert (record.model, record.filter, record.repeat) == ("acme/m-1", "strict", 2)
    assert (record.finish_reason, record.reasoning) == ("length", "Water freezes at 0.")
    assert (record.prompt_tokens, record.completion_tokens, record.latency_ms) == (12, 5, 340)
    assert record.finished_at == datetime(2026, 8, 1, 10, tzinfo=UTC)
    assert [turn["role"] for turn in record.messages] == ["system", "user"]
    # Only what the user says can hold the item's text.
    assert record.texts == ("Is ice cold?",)


def test_log_probabilities_are_read_as_exported_and_as_servers_tell_them():
    ours = [["Yes", -0.5, [["No", -1.0]]]]
    servers = {"content": [{"token": "Yes", "logprob": -0.5, "top_logprobs": [{"token": "No", "logprob": -1.0}]}]}
    told = [ours, json.dumps(ours), servers, None, ""]
    records = read(lines(*({"id": f"q{n}", "completion": "Yes", "logprobs": each} for n, each in enumerate(told))))
    assert [record.logprobs for record in records] == [[("Yes", -0.5, [("No", -1.0)])]] * 3 + [None, None]


@pytest.mark.parametrize("told", ["-0.5", "[[", -0.5, [["Yes"]], {"content": [{"token": "Yes"}]}])
def test_what_is_no_log_probabilities_is_refused_with_its_place(told):
    said = refusal(lines({"id": "q1", "completion": "No"}, {"id": "q2", "completion": "Yes", "logprobs": told}))
    assert "no log probabilities" in said.problem
    assert (said.line, said.field) == (2, "logprobs")


def test_csv_says_the_same_as_jsonl():
    table = b'id,completion,model,repeat\nq1,"Yes,\nindeed",m-1,1\nq2,,m-1,2\n'
    assert format_of(table, "log.csv") == "goldpanel"
    found = [(r.external_id, r.completion, r.model, r.repeat, r.line) for r in read(table, "log.csv")]
    assert found == [("q1", "Yes,\nindeed", "m-1", 1, 2), ("q2", "", "m-1", 2, 4)]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"id": "a", "completion": "yes"}, {"id": "b", "completion": "no"}]',
        b'{"run": "r1", "predictions": [{"id": "a", "completion": "yes"}, {"id": "b", "completion": "no"}]}',
    ],
)
def test_a_json_document_with_one_list_is_read_too(data):
    assert [(r.external_id, r.completion) for r in read(data, "log.json")] == [("a", "yes"), ("b", "no")]


def test_a_single_line_is_a_record_whatever_the_file_is_called():
    assert [r.external_id for r in read(b'{"id": "a", "completion": "yes"}', "log.json")] == ["a"]


def test_nan_is_no_value_and_a_line_separator_inside_a_text_ends_no_record():
    data = '{"id": "a", "completion": "one\u2028two", "score": NaN, "latency_ms": NaN}\n{"id": "b", "completion": ""}\n'
    first, second = read(data.encode())
    assert (first.completion, first.latency_ms, first.fields["score"]) == ("one\u2028two", None, None)
    assert (second.external_id, second.completion) == ("b", "")


def test_what_no_database_stores_is_replaced_and_the_rest_is_kept():
    (record,) = read(rb'{"id": "a", "completion": "cut \ud83d and \u0000 nul"}')
    assert record.completion == "cut \ufffd and \ufffd nul"


def test_a_model_s_answer_is_never_taken_from_a_column_that_may_be_gold():
    """`answer` beside a completion is what most data sets call their gold label."""
    notes = Notes()
    (record,) = read(lines({"id": "a", "answer": "no", "completion": "Yes."}), notes=notes)
    assert (record.completion, record.answers, dict(record.fields)) == ("Yes.", (), {})
    assert "“answer” and “prediction” were not read" in next(iter(notes))
    (alone,) = read(lines({"id": "a", "answer": "no"}))
    assert (alone.completion, alone.answers) == ("no", ("no",))
    (parsed,) = read(lines({"id": "a", "parsed_answer": "no", "completion": "I would say no."}))
    assert (parsed.completion, parsed.answers) == ("I would say no.", ("no",))
    (labelled,) = read(lines({"id": "a", "label": "no", "completion": "Yes."}))
    assert labelled.answers == ()


def test_an_empty_parsed_answer_leaves_the_completion_to_be_read():
    (record,) = read(b"id,completion,parsed_answer\na,Yes.,\n", "log.csv")
    assert (record.completion, record.answers) == ("Yes.", ())


@pytest.mark.parametrize("error", ["out of memory", {"message": "out of memory", "code": 7}])
def test_an_error_stands_in_place_of_a_completion(error):
    (record,) = read(lines({"id": "a", "error": error}))
    assert (record.error, record.completion) == ("out of memory", "")


def test_no_error_is_no_error_however_it_is_written():
    records = read(lines(*({"id": "a", "completion": "yes", "error": none} for none in (None, "", False, {}))))
    assert [record.error for record in records] == [""] * 4


def test_ids_keep_how_they_were_written():
    ids = [r.external_id for r in read(b'{"id": 1.10, "completion": ""}\n{"id": 7, "completion": ""}\n')]
    assert ids == ["1.10", "7"]


def test_the_id_may_stand_in_a_column_of_any_name_and_other_columns_are_content():
    data = lines({"id": "row 9", "claim_id": "c1", "claim": "Ice is cold.", "output": "true"})
    (record,) = read(data, id_field="claim_id")
    assert (record.external_id, record.completion) == ("c1", "true")
    assert dict(record.fields) == {"claim": "Ice is cold."}


def test_it_is_said_which_columns_were_only_compared():
    notes = Notes()
    read(
        lines({"id": "a", "completion": "", "claim": "x"}, {"id": "b", "completion": "", "split": "test"}), notes=notes
    )
    assert list(notes) == ["Read only to recognise items, never as an answer: “claim”, “split”."]


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"id": "a"}, "completion", "no completion, no answer and no error"),
        ({"id": ["a"], "completion": "x"}, "id", "a list or an object"),
        ({"id": "a", "completion": {"text": "x"}}, "completion", "a list or an object"),
        ({"id": "a", "completion": "x", "repeat": 0}, "repeat", "a whole number from 1 on"),
        ({"id": "a", "completion": "x", "repeat": "second"}, "repeat", "a whole number from 1 on"),
        ({"id": "a", "completion": "x", "prompt_tokens": -1}, "prompt_tokens", "a whole number from 0 on"),
        ({"id": "a", "completion": "x", "latency_ms": 1.5}, "latency_ms", "a whole number from 0 on"),
        ({"id": "a", "completion": "x", "finished_at": "yesterday"}, "finished_at", "a time such as 2026-08-01"),
    ],
)
def test_what_cannot_be_read_is_refused_with_line_and_field(fields, field, said):
    fault = refusal(lines({"id": "fine", "completion": "yes"}, fields))
    assert (fault.line, fault.row, fault.field) == (2, 2, field)
    assert said in fault.problem


def test_broken_json_is_refused_with_line_and_column():
    fault = refusal(b'{"id": "a", "completion": "yes"}\n{"id": "b", "completion": }\n')
    assert (fault.line, fault.column) == (2, 27)


def test_an_archive_is_refused_with_the_way_to_unpack_it():
    assert "inspect log convert --to json" in refusal(b"PK\x03\x04rest", "run.eval").problem
