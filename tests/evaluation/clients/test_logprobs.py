"""Log probabilities in every shape that servers and logs tell them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from evaluation.clients.logprobs import MAX_ALTERNATIVES, logprob_of, read_logprobs

CHAT: dict[str, Any] = {
    "content": [
        {
            "token": " Yes",
            "logprob": -0.25,
            "bytes": [32, 89],
            "top_logprobs": [{"token": " Yes", "logprob": -0.25}, {"token": " No", "logprob": -1.5}],
        },
        {"token": ".", "logprob": -0.5, "top_logprobs": []},
    ],
    "refusal": None,
}
TEXT = {
    "tokens": [" Yes", "."],
    "token_logprobs": [-0.25, -0.5],
    "top_logprobs": [{" Yes": -0.25, " No": -1.5}, {}],
    "text_offset": [0, 4],
}
READ = [(" Yes", -0.25, [(" Yes", -0.25), (" No", -1.5)]), (".", -0.5, [])]


@pytest.mark.parametrize("told", [CHAT, TEXT, json.loads(json.dumps(READ)), READ])
def test_all_shapes_are_read_alike_and_summed(told):
    assert read_logprobs(told) == READ
    assert logprob_of(read_logprobs(told)) == -0.75


@pytest.mark.parametrize("top", [None, [], "none"])
def test_alternatives_may_be_missing(top):
    assert read_logprobs(TEXT | {"top_logprobs": top}) == [(" Yes", -0.25, []), (".", -0.5, [])]


def with_number(number: Any) -> list[Any]:
    return [
        {"content": [CHAT["content"][0], {"token": ".", "logprob": number}]},
        TEXT | {"token_logprobs": [-0.25, number]},
        [[" Yes", -0.25, []], [".", number, []]],
    ]


@pytest.mark.parametrize("number", [None, math.nan, -math.inf, math.inf, "-0.5", True, []])
def test_a_token_without_a_number_makes_the_whole_unknown(number):
    assert [read_logprobs(told) for told in with_number(number)] == [None, None, None]


@pytest.mark.parametrize(
    "told",
    [
        None, {}, [], "text", 7, {"content": None}, {"content": []}, {"content": ["Yes"]}, {"tokens": ["a"]},
        {"tokens": ["a"], "token_logprobs": []}, {"content": [{"token": 7, "logprob": -1}]}, [["a", -1.0]],
        [["a", -1.0, None]], [7],
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_unknown_and_no_error(told):
    assert read_logprobs(told) is None
    assert logprob_of(read_logprobs(told)) is None


def test_alternatives_that_no_database_takes_are_left_out_or_mended():
    top = [
        {"token": "a", "logprob": -math.inf},
        {"token": "b\x00\ud800", "logprob": -1},
        {"token": None, "logprob": -1},
    ]
    (token,) = read_logprobs({"content": [{"token": "\udfff", "logprob": -9999, "top_logprobs": top}]}) or []
    assert token == ("\ufffd", -9999.0, [("b\ufffd\ufffd", -1.0)])


def test_no_more_alternatives_are_kept_than_can_be_asked_for():
    top = [{"token": str(n), "logprob": -n} for n in range(1000)]
    (token,) = read_logprobs({"content": [{"token": "0", "logprob": 0, "top_logprobs": top}]}) or []
    assert len(token[2]) == MAX_ALTERNATIVES
