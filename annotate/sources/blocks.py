"""Typed blocks: values of an item's content that have a layout of their own. The only place that knows their shapes.

- infobox  `{"type": "table", "title": "...", "sections": [[heading, [[key, value], ...]], ...]}`; a value is text or a
  list of texts, a heading may be "" (rows above the first heading), a section may have no rows (a merged cell).
- grid     `{"type": "grid", "columns": ["..."], "rows": [["...", ...], ...]}`; all texts, all rows as wide as columns.
- mono     `{"type": "mono", "text": "..."}`; white space and line ends carry meaning.
"""

import json
from typing import Any, Literal

from annotate.sources.strict_json import FloatLiteral

BlockType = Literal["table", "grid", "mono"]
Block = dict[str, Any]

# Keys at the top of a table that name it rather than describe it.
_TITLE_KEYS = ("caption", "title")


def block_type(value: object) -> BlockType | None:
    """Which block a content value is; None for plain values, whatever their own "type" says."""
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if kind == "table" and value.keys() == {"type", "title", "sections"} and isinstance(value["title"], str):
        return "table" if _are_sections(value["sections"]) else None
    if kind == "grid" and value.keys() == {"type", "columns", "rows"} and _is_texts(value["columns"]):
        width = len(value["columns"])
        rows = value["rows"]
        is_grid = isinstance(rows, list) and all(_is_texts(row) and len(row) == width for row in rows)
        return "grid" if is_grid else None
    if kind == "mono" and value.keys() == {"type", "text"} and isinstance(value["text"], str):
        return "mono"
    return None


def infobox(value: dict[str, Any], title: str | None = None) -> Block:
    """An object of values and objects as an infobox, everything kept in its order.

    A value that is an object becomes a section, so do the plain values between two of them, without heading. Deeper
    objects become lines `key: value`. The title is a caption or title at the top unless given. Not for lists or texts:
    raises ValueError.
    """
    if not isinstance(value, dict):
        raise ValueError("an infobox needs an object of values")
    sections: list[tuple[str, list[list[Any]]]] = []
    is_open = False  # whether plain values may join the last section
    for key, element in value.items():
        if title is None and key in _TITLE_KEYS and isinstance(element, str):
            title = element
        elif isinstance(element, dict):
            sections.append((key, [[name, _cell(cell)] for name, cell in element.items()]))
            is_open = False
        else:
            if not is_open:
                sections.append(("", []))
                is_open = True
            sections[-1][1].append([key, _cell(element)])
    return {"type": "table", "title": title or "", "sections": [[heading, rows] for heading, rows in sections]}


def grid(rows: list[Any]) -> Block:
    """A list of lists (the first names the columns), or of objects (their keys do), as a grid.

    Raises ValueError for anything else, and for lists of different widths.
    """
    if rows and all(isinstance(row, dict) for row in rows):
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return {
            "type": "grid",
            "columns": columns,
            "rows": [[plain_text(row.get(column)) for column in columns] for row in rows],
        }
    if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        raise ValueError("a grid needs rows of equal width, or objects")
    texts = [[plain_text(cell) for cell in row] for row in rows]
    return {"type": "grid", "columns": texts[0], "rows": texts[1:]}


def mono(text: str) -> Block:
    return {"type": "mono", "text": text}


def plain_text(value: object) -> str:
    """A JSON value as a cell shows it: numbers as they were written, null as nothing, the rest as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, FloatLiteral):
        return value.literal
    return json.dumps(value, ensure_ascii=False)


def _cell(value: object) -> str | list[str]:
    if isinstance(value, list):
        return [plain_text(element) for element in value]
    if isinstance(value, dict):
        return [f"{key}: {plain_text(element)}" for key, element in value.items()]
    return plain_text(value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def _are_sections(value: object) -> bool:
    return isinstance(value, list) and all(
        _is_pair(section)
        and isinstance(section[1], list)
        and all(_is_pair(row) and (isinstance(row[1], str) or _is_texts(row[1])) for row in section[1])
        for section in value
    )
