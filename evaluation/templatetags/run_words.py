"""Words for runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import template

from annotate.templatetags.figures import coefficient, percent
from annotate.wording import _, said
from evaluation.clients.logprobs import logprob_of
from evaluation.services import budgets
from evaluation.strategies import strategy_of

register = template.Library()


@register.filter
def strategy_words(name: str) -> str:
    """few_shot -> "few-shot", in the language of the page."""
    return said(strategy_of(name).label)


@register.simple_tag
def step_words(strategy: str, step: int) -> str:
    """What a call is for, of several for one answer: "Step 1 of 2: reasoning"; empty where there is but one."""
    asked = strategy_of(strategy)
    if asked.kind == "votes":
        return said(_("Sample %(number)s", number=step + 1))
    if asked.kind == "rounds":
        return said(_("Call %(number)s", number=step + 1))
    if len(asked.stages) == 1 or step >= len(asked.stages):
        return ""
    return said(
        _("Step %(number)s of %(n)s: %(stage)s", number=step + 1, n=len(asked.stages), stage=asked.stages[step])
    )


@register.filter
def steps_label(strategy: str) -> str:
    """What a run says the number of: "Samples"."""
    steps = strategy_of(strategy).steps
    return said(steps.label) if steps else ""


@register.filter
def about(value: float) -> str:
    """An estimate, to two significant digits: 123,456 -> 120,000; 0.0374 -> 0.037."""
    if value == 0:
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:,.{max(digits, 0)}f}"


@register.filter
def whole(value: float) -> str:
    """1234.0 -> "1,234"."""
    return f"{value:,.0f}"


@register.filter
def money(value: Decimal | None) -> str:
    """As it is, without trailing zeros, but with two places at least."""
    return "" if value is None else budgets.plain(value)


@register.filter
def logprob(logprobs: Sequence[Sequence[Any]]) -> str:
    """Of a whole completion: "−2.31"."""
    return coefficient(logprob_of(logprobs))


@register.filter
def logprob_each(logprobs: Sequence[Sequence[Any]]) -> str:
    """The mean over its tokens: "−0.33"."""
    whole = logprob_of(logprobs)
    return coefficient(None if whole is None else whole / len(logprobs))


@register.filter
def probability(logarithm: float) -> str:
    """−0.105 -> "90.0", in per cent; servers round, so that a logarithm may come out a little above 0."""
    return percent(math.exp(min(logarithm, 0.0)))


@register.filter
def spaces_shown(token: str) -> str:
    """A token is often a space and a word: " yes" -> "␣yes"."""
    return token.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
