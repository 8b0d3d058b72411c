"""Words for runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import template

from annotate.templatetags.figures import coefficient, percent
from evaluation.clients.logprobs import logprob_of
from evaluation.services import budgets

register = template.Library()


@register.filter
def strategy_words(name: str) -> str:
    """few_shot -> few-shot"""
    return name.replace("_", "-")


@register.filter
def about(value: float) -> str:
    """An estimate, to two significant digits: 123,456 -> 120,000; 0.0374 -> 0.037."""
    if value == 0:
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:,.{max(digits, 0)}f}"


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
