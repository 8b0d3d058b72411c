"""Log probabilities of a completion's tokens, as servers and logs tell them: in the shape of chats, or the older one.

Natural logarithms. One token without a number makes the whole unknown, for the sum of the others would pass for the
completion's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.storable import storable

MAX_ALTERNATIVES = 20

# (token, its log probability, the likeliest tokens in its place with theirs, itself among them)
TokenLogprob = tuple[str, float, list[tuple[str, float]]]


def read_logprobs(told: object) -> list[TokenLogprob] | None:
    """The tokens in the order of the completion; None where nothing was told, or nothing that can be read.

    told: `logprobs` of a choice: {"content": [{"token", "logprob", "top_logprobs"}]} or {"tokens", "token_logprobs",
        "top_logprobs"}; or what we store ourselves, a list of [token, logprob, [[alternative, logprob], ...]].
    """
    if isinstance(told, list):
        return _whole(_of_ours(token) for token in told)
    if not isinstance(told, dict):
        return None
    if isinstance(content := told.get("content"), list):
        return _whole(_of_chat(token) for token in content)
    tokens, numbers = told.get("tokens"), told.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(numbers, list) or len(tokens) != len(numbers):
        return None
    tops = told.get("top_logprobs")
    tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
    return _whole(
        _token(token, number, top.items() if isinstance(top, dict) else ())
        for token, number, top in zip(tokens, numbers, tops, strict=True)
    )


def logprob_of(logprobs: Sequence[Sequence[Any]] | None) -> float | None:
    """Of the whole completion: the sum over its tokens; None where nothing was told."""
    return math.fsum(token[1] for token in logprobs) if logprobs else None


def _whole(tokens: Iterable[TokenLogprob | None]) -> list[TokenLogprob] | None:
    read = list(tokens)
    known = [token for token in read if token is not None]
    return known if known and len(known) == len(read) else None


def _of_chat(token: object) -> TokenLogprob | None:
    if not isinstance(token, dict):
        return None
    return _token(token.get("token"), token.get("logprob"), _pairs(token.get("top_logprobs")))


def _of_ours(token: object) -> TokenLogprob | None:
    if not isinstance(token, list | tuple) or len(token) != 3 or not isinstance(token[2], list):
        return None
    return _token(token[0], token[1], [pair for pair in token[2] if isinstance(pair, list | tuple) and len(pair) == 2])


def _pairs(told: object) -> list[tuple[object, object]]:
    alternatives = told if isinstance(told, list) else []
    return [(one.get("token"), one.get("logprob")) for one in alternatives if isinstance(one, Mapping)]


def _token(token: object, number: object, alternatives: Iterable[Sequence[object]]) -> TokenLogprob | None:
    logprob = _number(number)
    if not isinstance(token, str) or logprob is None:
        return None
    kept = [
        (storable(text), its)
        for text, told in alternatives
        if isinstance(text, str) and (its := _number(told)) is not None
    ]
    return storable(token), logprob, kept[:MAX_ALTERNATIVES]


def _number(value: object) -> float | None:
    # JSON as Python reads it has NaN and infinities, which databases refuse.
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)
