"""The forms in which scorers take answers, and how a stored value is read into each.

A value is what an answer's field holds: a text, or a JSON structure, or the JSON text of one (matrices.py carries
answers as texts). People's and models' values are read by the same lines.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard

from evaluation.scorers.folding import folded_header

# What a cell may be. Numbers from JSON stay numbers, so that 12 and "12" can be told apart by a rule that wants to.
Cell = str | int | float | bool | None

MAX_CELLS = 200_000


class Takes(StrEnum):
    """What a scorer takes."""

    LABEL = "label"  # the value of an option
    TEXT = "text"
    TABLE = "table"
    ITEMS = "items"  # a list of short answers


class AnswerUnreadable(ValueError):
    """The value is not of the form that the scorer takes; the message says why, in words that fit after "because"."""


@dataclass(frozen=True)
class Table:
    """A table answer. columns: as written. rows: each has a cell for every column.

    exact_columns: folded names of the columns in which nothing but equal values match (years, ids); of gold only.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    exact_columns: frozenset[str] = frozenset()

    @property
    def folded_columns(self) -> tuple[str, ...]:
        """Headers as they meet those of the other table."""
        return tuple(folded_header(column) for column in self.columns)


def read_text(value: object) -> str:
    """A text as it is. Raises AnswerUnreadable for anything else: a number would have to be printed by some rule."""
    if not isinstance(value, str):
        raise AnswerUnreadable(f"it is no text but {_kind(value)}")
    return value


def read_table(value: object) -> Table:
    """A table from {"columns": [...], "rows": [[...]]} or its JSON text; raises AnswerUnreadable, saying where.

    Rows must have a cell for every column; a header must be a text, and no two headers may be the same after folding.
    A NaN is a missing value; an infinite number is refused.
    """
    data = _from_json(value, "a table")
    if isinstance(data, Table):
        return data
    if not isinstance(data, Mapping) or not {"columns", "rows"} <= set(data):
        raise AnswerUnreadable("it is no table with columns and rows")
    columns, rows = data["columns"], data["rows"]
    if not _is_list(columns) or not all(isinstance(column, str) for column in columns):
        raise AnswerUnreadable("its columns are no list of texts")
    folded = [folded_header(column) for column in columns]
    if repeated := sorted({header for header in folded if folded.count(header) > 1}):
        raise AnswerUnreadable(f"two columns are called {repeated[0]!r}")
    if not _is_list(rows):
        raise AnswerUnreadable("its rows are no list")
    if len(rows) * max(len(columns), 1) > MAX_CELLS:
        raise AnswerUnreadable(f"it has more than {MAX_CELLS:,} cells")
    exact = data.get("exact_columns") or []
    if not _is_list(exact) or not all(isinstance(column, str) for column in exact):
        raise AnswerUnreadable("its exact_columns are no list of texts")
    exact_columns = frozenset(folded_header(column) for column in exact)
    if unknown := sorted(exact_columns.difference(folded)):
        raise AnswerUnreadable(f"its exact column {unknown[0]!r} is none of its columns")
    return Table(
        columns=tuple(columns),
        rows=tuple(_row(row, len(columns), number) for number, row in enumerate(rows, start=1)),
        exact_columns=exact_columns,
    )


def read_items(value: object) -> tuple[str, ...]:
    """A list of texts, or its JSON text; any other text is a list of one. Raises AnswerUnreadable for anything else."""
    data = value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            data = json.loads(value)
        except (ValueError, RecursionError):
            data = value
    if isinstance(data, str):
        return (data,)
    if not _is_list(data) or not all(isinstance(item, str) for item in data):
        raise AnswerUnreadable("it is no list of texts")
    return tuple(data)


READERS: dict[Takes, Callable[[object], object]] = {
    Takes.LABEL: read_text,
    Takes.TEXT: read_text,
    Takes.TABLE: read_table,
    Takes.ITEMS: read_items,
}


def _row(row: object, width: int, number: int) -> tuple[Cell, ...]:
    if not _is_list(row):
        raise AnswerUnreadable(f"row {number} is no list of cells")
    if len(row) != width:
        raise AnswerUnreadable(f"row {number} has {len(row)} cells for {width} columns")
    return tuple(_cell(cell, number) for cell in row)


def _cell(cell: object, number: int) -> Cell:
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        if math.isinf(cell):
            raise AnswerUnreadable(f"row {number} holds an infinite number")
    elif not (cell is None or isinstance(cell, str | int)):
        raise AnswerUnreadable(f"row {number} holds {_kind(cell)} where a cell should be")
    return cell


def _from_json(value: object, wanted: str) -> object:
    """The structure itself, or what a JSON text says."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise AnswerUnreadable(f"it is a text and not {wanted}") from None


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    names = {bool: "a truth value", int: "a number", float: "a number", dict: "a structure", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
