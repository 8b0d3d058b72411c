"""What a run has cost, what it may cost, and the end of it when that is spent.

Tokens are counted in the run's row, in the transaction that stores the completions that took them. A worker stops
sending at the very completion with which the budget is spent, so a run overshoots by the calls that were in flight at
that moment, and by no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import Person
from annotate.wording import _
from evaluation.models import Endpoint, Run

if TYPE_CHECKING:
    # Clients bring libraries that a page does not need.
    from evaluation.clients.base import Completion
    from evaluation.clients.pace import Meter

MILLION = Decimal(1_000_000)
BLIND = _(
    "The server does not say how many tokens a completion took, so the budget cannot be watched. "
    "Remove the budget to go on without one."
)


@dataclass(frozen=True)
class Cost:
    """What the completions of a run cost by the endpoint's prices; money is None with the reason why."""

    money: Decimal | None
    currency: str
    why_undefined: str = ""


@dataclass(frozen=True)
class Spent:
    """A run's counters and limits as the database has them at this moment."""

    prompt_tokens: int
    completion_tokens: int
    budget_money: Decimal | None
    budget_tokens: int | None
    endpoint: Endpoint


def money_of(endpoint: Endpoint, prompt_tokens: float, completion_tokens: float) -> Decimal | None:
    """None without prices."""
    if endpoint.input_price is None or endpoint.output_price is None:
        return None
    return (
        Decimal(prompt_tokens) * endpoint.input_price + Decimal(completion_tokens) * endpoint.output_price
    ) / MILLION


def cost_of(run: Run) -> Cost:
    """The cost so far, by the prices that the endpoint has now."""
    endpoint = run.endpoint
    money = money_of(endpoint, run.prompt_tokens, run.completion_tokens)
    if endpoint.provider == Endpoint.Provider.BASELINE:
        return Cost(None, "", _("a baseline costs nothing"))
    if money is None:
        return Cost(None, "", _("the endpoint has no prices"))
    if run.n_uncounted:
        n = run.n_counted + run.n_uncounted
        return Cost(
            None,
            "",
            _(
                "the endpoint counted the tokens of only %(n_counted)s of %(n)s completions",
                n_counted=f"{run.n_counted:,}",
                n=f"{n:,}",
            ),
        )
    return Cost(money, endpoint.currency)


def spent_words(run: Run | Spent) -> str:
    """Why the run may not go on: its budget is spent, and by how much; empty if it is not."""
    tokens = run.prompt_tokens + run.completion_tokens
    if run.budget_tokens is not None and tokens >= run.budget_tokens:
        return _(
            "The budget of %(budget_tokens)s tokens is spent: %(tokens)s so far. Calls that were in "
            "flight when it ran out are kept and counted. Raise it, then resume.",
            budget_tokens=f"{run.budget_tokens:,}",
            tokens=f"{tokens:,}",
        )
    money = money_of(run.endpoint, run.prompt_tokens, run.completion_tokens)
    if run.budget_money is not None and money is not None and money >= run.budget_money:
        currency = run.endpoint.currency
        return _(
            "The budget of %(plain)s %(currency)s is spent: %(plain_2)s %(currency)s so far. Calls that "
            "were in flight when it ran out are kept and counted. Raise it, then resume.",
            plain=plain(run.budget_money),
            currency=currency,
            plain_2=plain(money),
        )
    return ""


def plain(money: Decimal) -> str:
    """Without trailing zeros, but with two places at least."""
    text = f"{money:,.6f}".rstrip("0")
    return text + "0" * max(0, 2 - len(text.partition(".")[2]))


@transaction.atomic
def set_budget(*, run: Run, by: Person, money: Decimal | None, tokens: int | None) -> Run:
    """Limit what the run may cost in all, trials aside; None takes a limit away. It holds from the next completion."""
    run = Run.objects.select_for_update(of=("self",)).select_related("endpoint", "project").get(pk=run.pk)
    check_budget(run.endpoint, money=money, tokens=tokens)
    run.budget_money, run.budget_tokens = money, tokens
    run.save(update_fields=["budget_money", "budget_tokens"])
    events.record(
        actor=by,
        verb="run.budget_set",
        subject=run,
        project_id=run.project_id,
        money=None if money is None else str(money),
        tokens=tokens,
    )
    return run


def check_budget(endpoint: Endpoint, *, money: Decimal | None, tokens: int | None) -> None:
    """Raises WorkNotPossible for a budget that nobody could watch."""
    if (money is not None and money <= 0) or (tokens is not None and tokens <= 0):
        raise WorkNotPossible(_("A budget is more than nothing; leave it empty for no limit."))
    if endpoint.provider != Endpoint.Provider.OPENAI and (money is not None or tokens is not None):
        raise WorkNotPossible(_("Only a server costs something: this run needs no budget."))
    if money is not None and endpoint.input_price is None:
        raise WorkNotPossible(_("A budget in money needs the endpoint's prices: add them there, or limit the tokens."))


def meter_of(run: Run) -> Meter | None:
    """Counts in step with the completions as they arrive; None for what costs nothing."""
    from evaluation.clients.pace import Meter

    endpoint = run.endpoint
    if endpoint.provider != Endpoint.Provider.OPENAI:
        return None
    meter = Meter(input_price=endpoint.input_price or Decimal(0), output_price=endpoint.output_price or Decimal(0))
    update_meter(meter, run, [])
    return meter


def update_meter(meter: Meter, spent: Run | Spent, stored: Sequence[Completion]) -> None:
    """What all workers spent, and what may be spent; stored: those of our own that are in it since the last time."""
    meter.limit(money=spent.budget_money, tokens=spent.budget_tokens)
    meter.know(spent.prompt_tokens, spent.completion_tokens, of_ours=_tokens(stored))


def count_spent(run: Run, completions: Sequence[Completion]) -> Spent | None:
    """Add what these took to the run's counters, in the caller's transaction; what they come to among all workers."""
    if not completions or run.endpoint.provider != Endpoint.Provider.OPENAI:
        return None
    prompt, completion = _tokens(completions)
    n_counted = sum(completion.tokens is not None for completion in completions)
    values: list[Any] = [prompt, completion, n_counted, len(completions) - n_counted, run.pk]
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        prompt, completion, money, tokens = cursor.fetchone()
    return Spent(prompt, completion, None if money is None else Decimal(str(money)), tokens, run.endpoint)


_COUNT = f"""
UPDATE {Run._meta.db_table} SET
    prompt_tokens = prompt_tokens + %s, completion_tokens = completion_tokens + %s,
    n_counted = n_counted + %s, n_uncounted = n_uncounted + %s
WHERE id = %s
RETURNING prompt_tokens, completion_tokens, budget_money, budget_tokens
"""


def _tokens(completions: Sequence[Completion]) -> tuple[int, int]:
    return (
        sum(completion.prompt_tokens or 0 for completion in completions),
        sum(completion.completion_tokens or 0 for completion in completions),
    )
