"""How a value of an item's content is shown. Item content is data: everything is escaped by the templates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotate.answers import FieldSpec
from annotate.judging import Card, cards_of

register = template.Library()

# Deeper values are shown as their JSON text: an include per level would meet Python's recursion limit.
MAX_NESTED = 5


@register.filter
def kind_of(value: object, depth: int = 0) -> str:
    """The name of the block that shows a value: text, plain, table, grid, mono, pairs, list or json."""
    if isinstance(value, str):
        return "text"
    if not isinstance(value, dict | list):
        return "plain"
    # Only a text can name a type: item content is anybody's JSON, and a list is not even hashable.
    if isinstance(value, dict) and isinstance(named := value.get("type"), str):
        is_one = _TYPED.get(named)
        if is_one and is_one(value):
            return named
    if depth >= MAX_NESTED:
        return "json"
    if isinstance(value, dict):
        return "pairs"
    return "pairs" if _is_pairs(value) else "list"


@register.filter
def pairs(value: dict[str, Any] | list[list[Any]]) -> Iterator[tuple[str, Any]]:
    """The (key, value) pairs of an object or of a list of pairs, in their own order."""
    yield from value.items() if isinstance(value, dict) else ((key, inner) for key, inner in value)


@register.simple_tag
def answer_field(field: Mapping[str, Any], item: Mapping[str, Any]) -> SafeString:
    """A field of the form beside an item: annotate/fields/TYPE.html, with field {spec, value, error, name} and item.

    An empty one looks the same beside every item of a language, on pages of one language, and is made once: the next
    item comes with empty fields.
    """
    spec, value, language = field["spec"], field["value"], item["language"]
    if value in (None, "", []) and not field["error"] and not spec.columns_from:
        return _empty_field(spec, repr(value), language, get_language())
    return _field(field, language)


@lru_cache(maxsize=1_024)
def _empty_field(spec: FieldSpec, value: str, language: str, of_page: str) -> SafeString:
    values: dict[str, Any] = {"None": None, "''": "", "[]": []}
    return _field({"spec": spec, "value": values[value], "error": "", "name": spec.name}, language)


def _field(field: Mapping[str, Any], language: str) -> SafeString:
    return render_to_string(
        f"annotate/fields/{field['spec'].type}.html", {"field": field, "item": {"language": language}}
    )


@register.filter
def pair_rows(field: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The inputs of a field of questions with answers: those written, and empty ones up to as many as are asked for."""
    spec, hints = field["spec"], field.get("hints", [])
    pairs = field["value"] if isinstance(field["value"], list) else []
    wanted = max(len(pairs), spec.minimum or 1)
    return [
        {
            **(pairs[position] if position < len(pairs) else {}),
            "position": position,
            "number": position + 1,
            "hints": [hint for hint in hints if hint.position == position],
            "is_first": position == 0,
            "is_last": position == wanted - 1,
        }
        for position in range(wanted)
    ]


@register.filter
def cards(content: list[list[Any]]) -> list[Card]:
    """The answers of a candidate that is judged."""
    return cards_of(content)


@register.filter
def as_json(value: object) -> str:
    """A value as a reader of JSON writes it: true, false, null, 19-digit numbers unrounded."""
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) else None)


@register.filter
def as_list(value: object) -> list[object]:
    """One value or several, as several."""
    return value if isinstance(value, list) else [value]


@register.filter
def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_pairs(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value)
        # [["a", "b"], ["c", "d"]] is as likely a list of couples: only distinct keys make it pairs.
        and len({pair[0] for pair in value}) == len(value)
    )


def _is_table(block: dict[str, Any]) -> bool:
    sections = block.get("sections")
    return isinstance(sections, list) and all(
        isinstance(section, list)
        and len(section) == 2
        and isinstance(section[1], list)
        and all(isinstance(row, list) and len(row) == 2 for row in section[1])
        for section in sections
    )


def _is_grid(block: dict[str, Any]) -> bool:
    rows = block.get("rows")
    return (
        isinstance(block.get("columns"), list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    )


def _is_mono(block: dict[str, Any]) -> bool:
    return isinstance(block.get("text"), str)


_TYPED = {"table": _is_table, "grid": _is_grid, "mono": _is_mono}
