"""Sentences that were stored, on pages in another language than they were written in."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from annotate import speaking
from annotate.wording import Words, listed, said

register = template.Library()


@register.filter
def said_again(text: object) -> str:
    """A sentence of ours that was stored in English; a page says any other text as it is."""
    return text if isinstance(text, Words) else speaking.said_again(text)


@register.filter
def all_said_again(texts: Iterable[str]) -> str:
    """Several stored sentences in a row."""
    return said(listed((said_again(text) for text in texts), "; "))  # type: ignore[misc]


@register.filter
def capital(text: str) -> str:
    """Where a sentence begins; Django's own `capfirst` would say it in English."""
    words = said(text)
    return words[:1].upper() + words[1:]
