"""Sentences that were stored, on pages in another language than they were written in."""

from __future__ import annotations

from django import template

from annotate import speaking
from annotate.wording import Words

register = template.Library()


@register.filter
def said_again(text: object) -> str:
    """A sentence of ours that was stored in English; a page says any other text as it is."""
    return text if isinstance(text, Words) else speaking.said_again(text)
