"""What a run will probably take, reckoned from a few calls: pure.

Five calls say little, so each figure is given for their mean and for the least and the most among them, and n is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.wording import _


@dataclass(frozen=True)
class Tried:
    """One call of a trial that brought a completion; tokens are None where the server does not count them."""

    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int


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
    """By the mean of the calls that were tried, and by the least and the most of them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """n_tried calls, n_counted of them with their tokens. What is None cannot be said; `why` is then the reason.

    bound_by: what makes the run last as long as it does at the mean.
    """

    n_tried: int
    n_counted: int
    n_requests: int
    seconds: Range | None = None
    bound_by: str = ""
    tokens_in: Range | None = None
    tokens_out: Range | None = None
    money: Range | None = None
    why_no_tokens: str = ""
    why_no_money: str = ""


def estimate(tried: Sequence[Tried], n_requests: int, limits: Limits) -> Estimate:
    """For n_requests calls like those that were tried, asked as fast as the limits allow."""
    counted = [
        (call.prompt_tokens, call.completion_tokens)
        for call in tried
        if call.prompt_tokens is not None and call.completion_tokens is not None
    ]
    if not tried:
        nothing = _("no call of the trial brought a completion")
        return Estimate(0, 0, n_requests, why_no_tokens=nothing, why_no_money=nothing)
    tokens = None if len(counted) < len(tried) else counted
    seconds, bound_by = _seconds(tried, tokens, n_requests, limits)
    if tokens is None:
        why = _(
            "the server counted the tokens of %(n_counted)s of %(n_tried)s completions",
            n_counted=len(counted),
            n_tried=len(tried),
        )
        return Estimate(len(tried), len(counted), n_requests, seconds, bound_by, why_no_tokens=why, why_no_money=why)
    money, why_no_money = None, ""
    if limits.input_price is None or limits.output_price is None:
        why_no_money = _("the endpoint has no prices")
    else:
        prices = limits.input_price / 1e6, limits.output_price / 1e6
        money = _range([n_requests * (a * prices[0] + b * prices[1]) for a, b in tokens])
    return Estimate(
        len(tried),
        len(counted),
        n_requests,
        seconds,
        bound_by,
        _range([n_requests * a for a, _ in tokens]),
        _range([n_requests * b for _, b in tokens]),
        money,
        why_no_money=why_no_money,
    )


def _seconds(
    tried: Sequence[Tried], tokens: Sequence[tuple[int, int]] | None, n_requests: int, limits: Limits
) -> tuple[Range, str]:
    latency = _range([call.latency_ms / 1000 for call in tried])
    # The last calls do not fill all places: no run is shorter than one call.
    bounds = {"calls at a time": _scaled(latency, max(1.0, n_requests / limits.places))}
    if limits.requests_per_minute:
        least = n_requests * 60 / limits.requests_per_minute
        bounds["requests per minute"] = Range(least, least, least)
    if limits.tokens_per_minute and tokens is not None:
        each = _range([float(a + b) for a, b in tokens])
        bounds["tokens per minute"] = _scaled(each, n_requests * 60 / limits.tokens_per_minute)
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
