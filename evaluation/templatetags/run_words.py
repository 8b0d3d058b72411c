"""Words for runs."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def strategy_words(name: str) -> str:
    """few_shot -> few-shot"""
    return name.replace("_", "-")
