"""Item content as plain text for a model.

Blocks: an infobox table in the linear form `Title: ... # Section # key: value; key: value` (TempTabQA's best of three),
a grid as a Markdown table, monospaced text verbatim; other values as JSON. The version is part of every prompt's
fingerprint: raise it with any change that moves a single character.
"""

import json
from typing import Any, TypedDict

from evaluation.prompts.inputs import ContentPairs

CONTENT_VERSION = 1
CURRENT_DATE_KEY = "Current Date"


class Part(TypedDict):
    """One shown key. `is_block`: the text has lines of its own, so it stands below its key rather than beside it."""

    key: str
    text: str
    is_block: bool


def content_parts(content: ContentPairs, *, current_date: str = "") -> list[Part]:
    """The shown pairs as text.

    current_date: becomes the first row of every infobox table, where a reader of the table looks for it; an item
        without such a table gets it as a part of its own, at the end.
    """
    parts: list[Part] = []
    is_dated = not current_date
    for key, value in content:
        if _block_type(value) == "table":
            parts.append(Part(key=str(key), text=linear_table(value, current_date=current_date), is_block=True))
            is_dated = True
        else:
            text = value_text(value)
            parts.append(Part(key=str(key), text=text, is_block=_block_type(value) is not None or "\n" in text))
    if not is_dated:
        parts.append(Part(key=CURRENT_DATE_KEY, text=current_date, is_block=False))
    return parts


def value_text(value: Any) -> str:
    """One value of an item as text; null is the empty text, numbers and true/false are written as in JSON."""
    match _block_type(value):
        case "table":
            return linear_table(value)
        case "grid":
            return markdown_grid(value)
        case "mono":
            return str(value["text"])
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def linear_table(table: dict[str, Any], *, current_date: str = "") -> str:
    """`Title: T # Current Date: D # Section # key: value; key: value # Section # ...`, on one line.

    The values of a list are joined with ", "; a section without heading shows its rows alone, one without rows its
    heading alone.
    """
    pieces = [f"Title: {_one_line(table.get('title'))}"]
    if current_date:
        pieces.append(f"{CURRENT_DATE_KEY}: {_one_line(current_date)}")
    for heading, rows in table.get("sections", []):
        pieces.append(_one_line(heading))
        pieces.append("; ".join(f"{_one_line(key)}: {_cell(value)}" for key, value in rows))
    return " # ".join(piece for piece in pieces if piece)


def markdown_grid(grid: dict[str, Any]) -> str:
    """A Markdown table; pipes in cells are escaped, line breaks become spaces, short rows are filled up."""
    columns = [_markdown_cell(column) for column in grid.get("columns", [])]
    rows = [[_markdown_cell(cell) for cell in row] for row in grid.get("rows", [])]
    width = max([len(columns), *(len(row) for row in rows)])
    if width == 0:
        return ""
    lines = [columns, ["---"] * width, *rows]
    return "\n".join("| " + " | ".join(line + [""] * (width - len(line))) + " |" for line in lines)


def _block_type(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    match value:
        case {"type": "table", "sections": list()}:
            return "table"
        case {"type": "grid", "columns": list(), "rows": list()}:
            return "grid"
        case {"type": "mono", "text": str()}:
            return "mono"
    return None


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_one_line(part) for part in value)
    return _one_line(value)


def _markdown_cell(value: Any) -> str:
    return _one_line(value).replace("|", "\\|")


def _one_line(value: Any) -> str:
    return " ".join(value_text(value).split())
