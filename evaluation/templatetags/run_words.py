"""Words for runs."""

from __future__ import annotations

import math
from decimal import Decimal

from django import template

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
