"""How a value of an item's content is shown. Item content is data: everything is escaped by the templates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django import template

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
