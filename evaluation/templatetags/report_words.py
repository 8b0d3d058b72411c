"""Words of reports in templates; the rounding is annotate's `figures`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import template

from annotate.wording import _
from evaluation.reports import words
from evaluation.reports.words import LEFT_OUT, NO_ANSWER, NOT_JUDGED, measure_words, undefined_words

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
def interval_words(figure: Mapping[str, Any]) -> str:
    """Why there is no interval, or what it leaves out."""
    return words.interval_words(figure)


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
    return _said(LEFT_OUT | NO_ANSWER | {"not_asked": _("not asked")}, row["standing"])


@register.filter
def not_judged_words(name: str) -> str:
    """What came of an answer that judges said nothing of: waiting for a judge, refused."""
    return _said(NOT_JUDGED | NO_ANSWER, name)


@register.filter
def said(captions: Mapping[str, str], key: str) -> str:
    """The caption of what was said."""
    return captions.get(key, key)


@register.filter
def of_key(counts: Mapping[str, int], key: str) -> int:
    """How often something was said; a dictionary's key is no attribute in a template."""
    return counts.get(key, 0)


def _said(words: Mapping[str, str], name: str) -> str:
    return words.get(name, name.replace("_", " "))
