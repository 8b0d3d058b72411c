"""What a run costs, and where it stops."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotate.exceptions import WorkNotPossible
from evaluation.models import Call, Run
from evaluation.services import budgets, running
from tests.evaluation.runs import asking_server, make_due, outcomes, started, work
from tests.factories import make_endpoint, make_stage

pytestmark = pytest.mark.django_db

# A completion of the test server counts 11 tokens in and 3 out: 17 millionths at these prices.
PRICES = {"input_price": Decimal(1), "output_price": Decimal(2), "currency": "USD"}


def limited(server, n_items: int, *, money: str | None = None, tokens: int | None = None, **limits) -> Run:
    run = asking_server(server, n_items, **PRICES | limits)
    return budgets.set_budget(
        run=run, by=run.created_by, money=None if money is None else Decimal(money), tokens=tokens
    )


def test_a_run_counts_what_it_spends_with_each_result(server):
    run = work(asking_server(server, 3, **PRICES))
    assert (run.prompt_tokens, run.completion_tokens, run.n_counted, run.n_uncounted) == (33, 9, 3, 0)
    assert budgets.cost_of(run) == budgets.Cost(Decimal("0.000051"), "USD")


@pytest.mark.parametrize(
    ("fields", "usage", "why"),
    [({}, [11, 3], "the endpoint has no prices"), (PRICES, None, "the tokens of only 0 of 1 completions")],
)
def test_a_cost_that_cannot_be_said_has_its_reason(server, fields, usage, why):
    server.play(usage=usage)
    run = work(asking_server(server, 1, **fields))
    cost = budgets.cost_of(run)
    assert cost.money is None
    assert why in cost.why_undefined


@pytest.mark.parametrize("budget", [{"tokens": 40}, {"money": "0.00005"}])
def test_a_run_stops_where_its_budget_ends_and_goes_on_when_it_is_raised(server, budget):
    # 14 tokens and 17 millionths a call: the third call reaches 40 tokens, and 50 millionths.
    run = work(limited(server, 8, **budget))
    assert len(server.calls()) == 3
    assert outcomes(run) == {"answered": 3, "pending": 5}
    assert run.state == "paused"
    assert run.stopped_because.startswith("The budget of")
    # The page says what it came to, with what was in flight.
    assert "is spent: 42 so far" in run.stopped_because or "is spent: 0.000051 USD so far" in run.stopped_because
    with pytest.raises(WorkNotPossible, match="is spent"):
        running.resume_run(run=run, by=run.created_by)
    budgets.set_budget(run=run, by=run.created_by, money=None, tokens=84)
    running.resume_run(run=run, by=run.created_by)
    run = work(run)
    # Six calls are 84 tokens.
    assert (outcomes(run), run.state) == ({"answered": 6, "pending": 2}, "paused")
    budgets.set_budget(run=run, by=run.created_by, money=None, tokens=None)
    running.resume_run(run=run, by=run.created_by)
    run = work(run)
    assert (outcomes(run), run.state) == ({"answered": 8}, "done")
    assert (run.prompt_tokens, run.completion_tokens) == (88, 24)


def test_a_budget_is_overshot_by_the_calls_in_flight_at_most(server):
    server.play(latency_ms=100)
    run = work(limited(server, 60, tokens=14 * 10, max_in_flight=6))
    n = len(server.calls())
    # The tenth completion spends it; five others may be under way at that moment.
    assert 10 <= n <= 15
    assert outcomes(run)["answered"] == n == Call.objects.filter(prediction__run=run).count()
    assert run.prompt_tokens + run.completion_tokens == 14 * n


def test_a_budget_that_cannot_be_watched_stops_the_run(server):
    server.play(usage=None)
    run = work(limited(server, 5, tokens=1000))
    assert (run.state, run.stopped_because) == ("paused", budgets.BLIND)
    assert outcomes(run) == {"answered": 1, "pending": 4}


def test_what_was_answered_for_nothing_is_not_counted(server):
    server.play({"contains": "claim", "times": 1, "behaviour": {"status": 503}})
    run = work(asking_server(server, 1, **PRICES))
    assert (run.prompt_tokens, run.n_counted) == (0, 0)
    make_due(run)
    assert work(run).n_counted == 1


def test_budgets_that_nobody_could_watch_are_refused(server):
    run = asking_server(server, 1)
    with pytest.raises(WorkNotPossible, match="needs the endpoint's prices"):
        budgets.set_budget(run=run, by=run.created_by, money=Decimal(1), tokens=None)
    with pytest.raises(WorkNotPossible, match="more than nothing"):
        budgets.set_budget(run=run, by=run.created_by, money=None, tokens=0)
    stage = make_stage()
    baseline = started(1, stage=stage, endpoint=make_endpoint(stage.project, model="seeded_random"))
    with pytest.raises(WorkNotPossible, match="needs no budget"):
        budgets.set_budget(run=baseline, by=baseline.created_by, money=None, tokens=5)


@pytest.mark.parametrize(("money", "text"), [("5", "5.00"), ("0.000051", "0.000051"), ("1234.5", "1,234.50")])
def test_money_is_written_without_trailing_zeros(money, text):
    assert budgets.plain(Decimal(money)) == text
