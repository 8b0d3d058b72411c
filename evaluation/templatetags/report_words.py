"""Words of reports in templates; the rounding is annotate's `figures`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import template

from evaluation.reports.words import LEFT_OUT, NO_ANSWER, measure_words, undefined_words

register = template.Library()

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


@register.filter
def measure(name: str) -> str:
    """label_accuracy -> "Accuracy"."""
    return measure_words(name)


@register.filter
def why_undefined(figure: Mapping[str, Any]) -> str:
    return undefined_words(figure)


@register.filter
def md(value: object) -> str:
    """A text inside a line or a table cell of Markdown: it cannot end its cell, open a tag or become a heading."""
    return _MARKDOWN.sub(r"\\\1", " ".join(str(value).split()))


@register.filter
def no_answer_words(row: Mapping[str, Any]) -> str:
    """What came instead of an answer: "unparsed", "skipped and passed on"."""
    return _said(NO_ANSWER | LEFT_OUT, row["outcome"])


@register.filter
def left_out_words(row: Mapping[str, Any]) -> str:
    """Why an outcome is in no figure."""
    return _said(LEFT_OUT | NO_ANSWER | {"not_asked": "not asked"}, row["standing"])


def _said(words: Mapping[str, str], name: str) -> str:
    return words.get(name, name.replace("_", " "))
