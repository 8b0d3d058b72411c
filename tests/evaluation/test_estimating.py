"""What a run would take, worked by hand."""

from __future__ import annotations

import pytest

from evaluation.estimating import Limits, Range, Tried, estimate

# 100 and 300 tokens in, 10 and 30 out, 1 and 3 seconds: means of 200, 20 and 2.
TWO = [Tried(100, 10, 1000), Tried(300, 30, 3000)]


def test_time_is_latency_over_the_places():
    got = estimate(TWO, 1000, Limits(places=10))
    # 1,000 calls, 10 at a time: a hundred rounds.
    assert got.seconds == Range(200.0, 100.0, 300.0)
    assert got.bound_by == "calls at a time"
    assert (got.n_tried, got.n_counted, got.n_answers) == (2, 2, 1000)
    assert got.requests == Range(1000.0, 1000.0, 1000.0)


def test_a_run_is_not_shorter_than_one_call():
    assert estimate(TWO, 5, Limits(places=10)).seconds == Range(2.0, 1.0, 3.0)


def test_the_tightest_limit_decides():
    got = estimate(TWO, 1000, Limits(places=100, requests_per_minute=60))
    # A thousand requests at one a second; by latency alone it would be 20 s.
    assert (got.seconds, got.bound_by) == (Range(1000.0, 1000.0, 1000.0), "requests per minute")
    got = estimate(TWO, 1000, Limits(places=100, tokens_per_minute=66_000))
    # 110, 220 or 330 tokens a call, 1,100 a second.
    assert got.seconds is not None
    assert got.seconds.mean == pytest.approx(200)
    assert (got.seconds.low, got.seconds.high) == (pytest.approx(100), pytest.approx(300))
    assert got.bound_by == "tokens per minute"


def test_money_is_tokens_by_their_prices():
    got = estimate(TWO, 1000, Limits(places=1, input_price=2.0, output_price=10.0))
    # The mean: 200,000 in at 2 and 20,000 out at 10 a million.
    assert got.money is not None
    assert got.money.mean == pytest.approx(0.4 + 0.2)
    assert got.money.low == pytest.approx(0.2 + 0.1)
    assert got.money.high == pytest.approx(0.6 + 0.3)
    assert (got.tokens_in, got.tokens_out) == (
        Range(200_000.0, 100_000.0, 300_000.0),
        Range(20_000.0, 10_000.0, 30_000.0),
    )


def test_what_cannot_be_said_has_its_reason():
    assert estimate(TWO, 10, Limits(places=1)).why_no_money == "the endpoint has no prices"
    uncounted = estimate([*TWO, Tried(None, None, 500)], 10, Limits(places=1, input_price=1.0, output_price=1.0))
    assert (uncounted.money, uncounted.tokens_in) == (None, None)
    assert uncounted.why_no_money == "the server counted the tokens of 2 of 3 items"
    assert uncounted.seconds is not None
    nothing = estimate([], 10, Limits(places=1))
    assert (nothing.n_tried, nothing.seconds, nothing.money) == (0, None, None)
    assert "no item" in nothing.why_no_tokens
