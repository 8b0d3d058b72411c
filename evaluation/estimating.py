"""What a run will probably take, reckoned from a few items: pure.

Five items say little, so each figure is given for their mean and for the least and the most among them, and n is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.wording import _


@dataclass(frozen=True)
class Tried:
    """The calls for one item of a trial, all of which brought completions, one after another.

    Tokens are None where the server does not count them.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int
    n_calls: int = 1


@dataclass(frozen=True)
class Limits:
    """Of an endpoint; prices of a million tokens."""

    places: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_price: float | None = None
    output_price: float | None = None


@dataclass(frozen=True)
class Range:
    """By the mean of the items that were tried, and by the least and the most of them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """n_tried items, n_counted of them with their tokens. What is None cannot be said; `why` is then the reason.

    n_answers: that the run wants. requests: one for each, or more where an answer takes several calls.
    bound_by: what makes the run last as long as it does at the mean.
    """

    n_tried: int
    n_counted: int
    n_answers: int
    requests: Range | None = None
    seconds: Range | None = None
    bound_by: str = ""
    tokens_in: Range | None = None
    tokens_out: Range | None = None
    money: Range | None = None
    why_no_tokens: str = ""
    why_no_money: str = ""


def estimate(tried: Sequence[Tried], n_answers: int, limits: Limits) -> Estimate:
    """For n_answers that take what those took that were tried, asked for as fast as the limits allow."""
    counted = [
        (item.prompt_tokens, item.completion_tokens)
        for item in tried
        if item.prompt_tokens is not None and item.completion_tokens is not None
    ]
    if not tried:
        nothing = _("no item of the trial was answered")
        return Estimate(0, 0, n_answers, why_no_tokens=nothing, why_no_money=nothing)
    tokens = None if len(counted) < len(tried) else counted
    requests = _scaled(_range([item.n_calls for item in tried]), n_answers)
    seconds, bound_by = _seconds(tried, tokens, n_answers, limits)
    if tokens is None:
        why = _(
            "the server counted the tokens of %(n_counted)s of %(n_tried)s items",
            n_counted=len(counted),
            n_tried=len(tried),
        )
        return Estimate(
            len(tried), len(counted), n_answers, requests, seconds, bound_by, why_no_tokens=why, why_no_money=why
        )
    money, why_no_money = None, ""
    if limits.input_price is None or limits.output_price is None:
        why_no_money = _("the endpoint has no prices")
    else:
        prices = limits.input_price / 1e6, limits.output_price / 1e6
        money = _range([n_answers * (a * prices[0] + b * prices[1]) for a, b in tokens])
    return Estimate(
        len(tried),
        len(counted),
        n_answers,
        requests,
        seconds,
        bound_by,
        _range([n_answers * a for a, _ in tokens]),
        _range([n_answers * b for _, b in tokens]),
        money,
        why_no_money=why_no_money,
    )


def _seconds(
    tried: Sequence[Tried], tokens: Sequence[tuple[int, int]] | None, n_answers: int, limits: Limits
) -> tuple[Range, str]:
    # The calls for an item come one after another.
    latency = _range([item.latency_ms / 1000 for item in tried])
    # The last calls do not fill all places: no run is shorter than one item.
    bounds = {"calls at a time": _scaled(latency, max(1.0, n_answers / limits.places))}
    if limits.requests_per_minute:
        n_calls = _range([item.n_calls for item in tried])
        bounds["requests per minute"] = _scaled(n_calls, n_answers * 60 / limits.requests_per_minute)
    if limits.tokens_per_minute and tokens is not None:
        each = _range([float(a + b) for a, b in tokens])
        bounds["tokens per minute"] = _scaled(each, n_answers * 60 / limits.tokens_per_minute)
    bound_by = max(bounds, key=lambda name: bounds[name].mean)
    ranges = bounds.values()
    slowest = Range(
        max(each.mean for each in ranges), max(each.low for each in ranges), max(each.high for each in ranges)
    )
    return slowest, bound_by


def _range(values: Sequence[float]) -> Range:
    return Range(sum(values) / len(values), min(values), max(values))


def _scaled(each: Range, factor: float) -> Range:
    return Range(each.mean * factor, each.low * factor, each.high * factor)
