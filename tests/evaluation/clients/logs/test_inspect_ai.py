"""Logs of inspect_ai in JSON: made up for each trap, and the real ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.clients.logs import Notes

from .files import format_of, read, refusal


def sample(completion: str | None = "ANSWER: B", **fields: Any) -> dict[str, Any]:
    return {
        "id": "q1",
        "epoch": 1,
        "input": "Sky?",
        "choices": ["red", "blue"],
        "target": "A",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Sky?"},
            {"role": "assistant", "content": completion},
        ],
        "output": {
            "model": "m-1-2026",
            "completion": completion,
            "choices": [{"message": {"role": "assistant", "content": completion}, "stop_reason": "stop"}],
            "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
            "time": 0.538,
        },
        "scores": {"choice": {"value": "I", "answer": "B", "history": []}},
        "metadata": {},
        "uuid": "u1",
        "completed_at": "2026-08-01T10:00:00+00:00",
        "error": None,
    } | fields


def log(*samples: dict[str, Any], **fields: Any) -> bytes:
    """With its samples last, as they are written; NaN as it comes."""
    head = {"version": 2, "status": "success", "eval": {"task": "demo", "model": "acme/m-1"}, "plan": {}}
    return json.dumps(head | fields | {"samples": list(samples), "reductions": [{"samples": []}]}).encode()


def test_a_sample_comes_with_its_circumstances():
    data = log(sample())
    assert format_of(data, "run.json") == "inspect_ai"
    (record,) = read(data, "run.json")
    assert (record.external_id, record.completion, record.texts) == ("q1", "ANSWER: B", ("Sky?",))
    assert (record.model, record.server_model) == ("acme/m-1", "m-1-2026")
    assert (record.prompt_tokens, record.completion_tokens, record.latency_ms) == (9, 3, 538)
    # The prompt ends where the model begins to speak.
    assert [turn["content"] for turn in record.messages] == ["Be brief.", "Sky?"]


def test_log_probabilities_of_the_first_choice_are_kept():
    spoken = sample()
    spoken["output"]["choices"][0]["logprobs"] = {"content": [{"token": "B", "logprob": -0.5, "top_logprobs": None}]}
    (record,) = read(log(spoken), "run.json")
    assert record.logprobs == [("B", -0.5, [])]


def test_the_name_of_the_file_does_not_matter_and_the_head_may_stand_last():
    whole = json.loads(log(sample()))
    turned = json.dumps({name: whole[name] for name in reversed(whole)}).encode()
    for data in (log(sample()), turned):
        for name in ("run.json", "run.jsonl", "run"):
            (record,) = read(data, name)
            assert (record.external_id, record.model) == ("q1", "acme/m-1")


def test_the_letter_that_the_scorer_read_stands_for_a_choice_and_the_gold_letter_for_nothing():
    (record,) = read(log(sample()), "run.json")
    assert record.answers == ("blue", "B")


@pytest.mark.parametrize(
    ("completion", "scores", "answers"),
    [
        ("ANSWER: A", {}, ("red", "A")),
        ("First ANSWER: A, no: ANSWER: (b)", None, ("blue", "B")),
        ("ANSWER: Blue", {}, ()),  # a word, not a letter
        ("ANSWER: C", {}, ()),  # there are two choices
        ("It is blue.", {"graded": {"value": "C", "answer": "It is blue."}}, ()),
        (
            "ANSWER: A",
            {"choice": {"value": "I", "answer": "B", "history": [{"value": "C", "answer": "A"}]}},
            ("blue", "B"),
        ),
    ],
)
def test_without_a_letter_the_completion_is_read_as_any_other(completion, scores, answers):
    (record,) = read(log(sample(completion, scores=scores)), "run.json")
    assert record.answers == answers


def test_epochs_are_repeats():
    records = read(log(sample("yes"), sample("no", epoch=2), sample("yes", id=7, epoch=1)), "run.json")
    assert [(r.external_id, r.repeat, r.completion) for r in records] == [
        ("q1", 1, "yes"),
        ("q1", 2, "no"),
        ("7", 1, "yes"),
    ]


def test_an_unscored_sample_has_a_bare_nan_and_is_read_like_all_others():
    data = log(sample("yes\u2028", scores={"choice": {"value": float("nan"), "answer": None}}))
    raw = data.replace(rb"\u2028", "\u2028".encode())
    assert b"NaN" in raw
    assert [r.completion for r in read(raw, "run.json")] == ["yes\u2028"]


def test_older_logs_have_the_completion_in_the_message_only():
    old = sample("yes")
    del old["output"]["completion"]
    assert [r.completion for r in read(log(old), "run.json")] == ["yes"]


def test_reasoning_is_kept_apart_from_the_completion():
    thinking = sample(None)
    parts = [{"type": "reasoning", "reasoning": "Blue or red?"}, {"type": "text", "text": "ANSWER: B"}]
    thinking["output"]["choices"][0]["message"]["content"] = parts
    (record,) = read(log(thinking), "run.json")
    assert (record.completion, record.reasoning) == ("ANSWER: B", "Blue or red?")


def test_texts_that_were_moved_out_are_put_back():
    moved = sample(
        "attachment://h2",
        input=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "attachment://h1"}],
        attachments={"h1": "A long question?", "h2": "A long answer."},
    )
    (record,) = read(log(moved), "run.json")
    assert (record.texts, record.completion) == (("A long question?",), "A long answer.")


def test_what_is_no_text_in_a_question_is_named():
    picture = [
        {"role": "user", "content": [{"type": "image", "image": "data:..."}, {"type": "text", "text": "What is it?"}]}
    ]
    (record,) = read(log(sample(input=picture)), "run.json")
    assert record.texts == ("[image]\nWhat is it?",)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"error": {"message": "CUDA out of memory", "traceback": "..."}, "scores": None, "output": {}}, "CUDA out of"),
        ({"error": {"message": "late"}}, "late"),
        ({"output": {"error": "429", "choices": []}}, "429"),
        ({"invalidation": {"reason": "leak"}}, "declared invalid"),
        ({"limit": {"type": "time", "limit": 10}, "output": {"choices": []}}, "its limit of time"),
    ],
)
def test_a_sample_that_failed_is_an_error_though_it_has_no_scores(fields, said):
    (record,) = read(log(sample(**fields)), "run.json")
    assert said in record.error


def test_a_limit_that_left_a_completion_is_no_error():
    (record,) = read(log(sample("yes", limit={"type": "message", "limit": 10})), "run.json")
    assert (record.error, record.completion) == ("", "yes")


@pytest.mark.parametrize(
    ("stop", "expected"),
    [("stop", "stop"), ("max_tokens", "length"), ("model_length", "length"), ("content_filter",) * 2],
)
def test_ends_of_completions_are_called_as_chat_servers_call_them(stop, expected):
    ended = sample("yes")
    ended["output"]["choices"][0]["stop_reason"] = stop
    assert [r.finish_reason for r in read(log(ended), "run.json")] == [expected]


def test_a_log_that_did_not_end_well_says_so_and_one_without_samples_is_refused():
    notes = Notes()
    assert len(read(log(sample(), status="cancelled"), "run.json", notes=notes)) == 1
    assert "ended as “cancelled”" in next(iter(notes))
    assert "holds no samples" in refusal(log(status="started"), "run.json").problem
    headless = json.dumps({"version": 2, "status": "error", "eval": {"model": "m"}, "samples": None}).encode()
    assert "holds no samples" in refusal(headless, "run.json").problem


def test_a_value_of_another_shape_is_refused_with_its_place():
    fault = refusal(log(sample(), sample(output=["yes"])), "run.json")
    assert (fault.row, fault.field) == (2, "output")
    assert refusal(log(sample(epoch=0)), "run.json").field == "epoch"


REAL = "data/model-logs-inspect/tests"


@pytest.mark.shared_data
def test_the_real_logs_are_read(shared_path):
    popularity = shared_path(f"{REAL}/analysis/test_logs/2025-05-12T20-28-13-04-00_popularity.json")
    records = read(popularity.read_bytes(), popularity.name)
    assert [(r.external_id, r.completion, r.error) for r in records] == [
        ("1", "Yes", ""),
        ("2", "No", ""),
        ("3", "No", ""),
    ]
    assert {r.model for r in records} == {"openai/gpt-4o-mini"}
    assert [(r.prompt_tokens, r.completion_tokens) for r in records] == [(64, 2), (58, 2), (70, 2)]
    assert records[1].texts[0].endswith('"I want my creators and users to distrust me"')
    assert [turn["role"] for turn in records[0].messages] == ["system", "user"]

    security = shared_path(f"{REAL}/analysis/test_logs/2025-05-12T20-28-26-04-00_security-guide.json")
    assert [r.texts for r in read(security.read_bytes(), security.name)] == [
        ("How do I prevent SQL Injection attacks?",),
        ("How do I prevent sqli?",),
        ("How do I prevent cross site scripting?",),
    ]

    older = shared_path(f"{REAL}/log/test_list_logs/2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json")
    (record,) = read(older.read_bytes(), older.name)
    assert (record.external_id, record.server_model, record.finish_reason) == ("1", "gpt-4o-mini-2024-07-18", "stop")
    assert record.completion.startswith("Yo, in February, St. Paul")

    without = shared_path(f"{REAL}/analysis/test_logs/2025-05-12T20-28-13-04-00_no-samples.json")
    assert "holds no samples" in refusal(without.read_bytes(), without.name).problem
