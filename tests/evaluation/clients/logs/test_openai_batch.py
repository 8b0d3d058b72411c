"""Output of OpenAI's batch API, with every trap that the format is known for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from evaluation.clients.logs import Notes

from .files import format_of, lines, read, refusal


def line(*contents: Any, custom_id: str = "item-42", status: int = 200, **body: Any) -> dict[str, Any]:
    """A line for a chat completion with these texts, one a choice."""
    choices = [
        {"index": n, "message": {"role": "assistant", "content": content}, "finish_reason": "stop", "logprobs": None}
        for n, content in enumerate(contents)
    ]
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "m-1-2026",
        "choices": choices,
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }
    response = {"status_code": status, "request_id": "rq1", "body": whole | body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def failed(custom_id: str = "item-43", **fields: Any) -> dict[str, Any]:
    error = {"code": "server_error", "message": "try again"}
    return {"id": "batch_req_2", "custom_id": custom_id, "response": None, "error": error} | fields


def test_a_line_is_recognised_and_comes_with_its_circumstances():
    data = lines(line("B"))
    assert format_of(data, "batch_output.jsonl") == "openai_batch"
    (record,) = read(data)
    assert (record.external_id, record.completion, record.finish_reason) == ("item-42", "B", "stop")
    assert (record.model, record.server_model, record.filter, record.repeat) == ("m-1-2026", "m-1-2026", "", 1)
    assert (record.prompt_tokens, record.completion_tokens) == (9, 1)
    assert record.finished_at == datetime.fromtimestamp(1_790_000_000, UTC)
    assert (record.texts, record.messages, record.error) == ((), (), "")


def test_log_probabilities_of_a_choice_are_kept():
    whole = line("B")
    whole["response"]["body"]["choices"][0]["logprobs"] = {"content": [{"token": "B", "logprob": -0.5}]}
    (record,) = read(lines(whole))
    assert record.logprobs == [("B", -0.5, [])]


def test_a_file_that_begins_with_an_error_is_recognised_too():
    data = lines(failed(), line("B"))
    assert format_of(data) == "openai_batch"
    assert [(r.external_id, r.error, r.completion) for r in read(data)] == [
        ("item-43", "try again", ""),
        ("item-42", "", "B"),
    ]


def test_one_line_alone_is_read_as_a_line_whatever_its_file_is_called():
    assert [r.completion for r in read(lines(line("B")), "output.json")] == ["B"]


def test_what_follows_the_id_of_the_item_tells_runs_apart():
    records = read(lines(line("A", custom_id="item-42|m-1|run-3"), line("B", custom_id="item-42|m-1|run-4")))
    assert [(r.external_id, r.filter) for r in records] == [("item-42", "m-1|run-3"), ("item-42", "m-1|run-4")]


def test_an_error_inside_a_response_is_no_answer():
    refused = line(status=429, error={"message": "Rate limit reached", "code": "rate_limit"}, choices=[])
    bare = line("not an answer", status=500)
    assert [(r.error, r.completion) for r in read(lines(refused, bare))] == [
        ("HTTP 429: Rate limit reached", ""),
        ("HTTP 500", ""),
    ]


def test_cut_off_and_filtered_completions_keep_their_reason():
    cut = line("The answer is", choices=[{"index": 0, "message": {"content": "The ans"}, "finish_reason": "length"}])
    filtered = line(choices=[{"index": 0, "message": {"content": ""}, "finish_reason": "content_filter"}])
    refused = line(choices=[{"index": 0, "message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"}])
    records = read(lines(cut, filtered, refused))
    assert [(r.completion, r.finish_reason) for r in records] == [
        ("The ans", "length"),
        ("", "content_filter"),
        ("I can't.", "content_filter"),
    ]


def test_choices_are_repeats_in_the_order_of_their_index():
    both = line("first", "second")
    both["response"]["body"]["choices"].reverse()
    notes = Notes()
    assert [(r.repeat, r.completion) for r in read(lines(both), notes=notes)] == [(1, "first"), (2, "second")]
    assert list(notes) == ["Some requests have several choices: each is a repeat."]


def test_reasoning_is_kept_apart_from_the_answer():
    message = {"content": [{"type": "text", "text": "B"}], "reasoning_content": "Because."}
    (record,) = read(lines(line(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])))
    assert (record.completion, record.reasoning) == ("B", "Because.")


def test_older_text_completions_are_read():
    (record,) = read(lines(line(choices=[{"index": 0, "text": " B", "finish_reason": "length", "logprobs": None}])))
    assert (record.completion, record.finish_reason) == (" B", "length")


def test_bodies_of_the_responses_api_are_read():
    body = {
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "m-1",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Blue, I think."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "B"}]},
        ],
        "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
    }
    batch = {"custom_id": "q", "response": {"status_code": 200, "body": body}, "error": None}
    (record,) = read(lines(batch))
    assert (record.completion, record.reasoning, record.finish_reason) == ("B", "Blue, I think.", "length")
    assert (record.prompt_tokens, record.completion_tokens) == (7, 2)


def test_a_body_of_another_kind_is_an_error_of_its_item():
    body = {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}], "model": "e-1"}
    batch = {"custom_id": "q", "response": {"status_code": 200, "body": body}, "error": None}
    (record,) = read(lines(batch))
    assert record.error == "The response holds no text of the model: is this a batch of another kind?"


def test_lines_that_say_nothing_are_refused_with_their_place():
    fault = refusal(lines(line("B"), line("B", custom_id=" ")))
    assert (fault.line, fault.field) == (2, "custom_id")
    fault = refusal(lines(failed(error=None)))
    assert (fault.line, fault.field) == (1, "response")
    for wrong in ([], "body", 3):
        response = {"status_code": 200, "body": wrong}
        (record,) = read(lines({"custom_id": "q", "response": response, "error": None}))
        assert record.error


def test_hostile_values_are_refused_or_read_and_never_break():
    for choices in ([3], ["x"], {"index": 0}):
        assert refusal(lines(line(choices=choices))).line == 1
    for created in ("soon", 1e300, True, None, -5):
        (record,) = read(lines(line("B", created=created)))
        assert record.finished_at is None
    text = json.dumps(line("a\u2028b"), ensure_ascii=False).replace('"created": 1790000000', '"created": NaN')
    (record,) = read(text.encode())
    assert record.completion == "a\u2028b"
