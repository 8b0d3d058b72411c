"""The columns of a table: their names, and what their cells are meant to hold."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from annotate.answers.table_text import header_key
from annotate.wording import _

MAX_COLUMNS = 50
# A type helps whoever fills a cell and whoever is asked for one; it refuses nothing: a table is what somebody found.
COLUMN_TYPES = ("text", "number", "date", "year")
# Our words and those of databases.
_WORDS = {
    "text": "text string str varchar char character bool boolean",
    "number": "number int integer bigint smallint tinyint numeric decimal float double real money",
    "date": "date datetime timestamp timestamptz",
    "year": "year",
}
_TYPE_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_FIRST_WORD = re.compile(r"\s*(\w*)")
_NAME_AND_TYPE = re.compile(r"(.*\S)\s*:\s*(\w+)\s*")


class Column(NamedTuple):
    """type: one of COLUMN_TYPES, or "" where nothing was said about it."""

    name: str
    type: str = ""

    def __str__(self) -> str:
        """As `columns_of` reads it."""
        return f"{self.name}: {self.type}" if self.type else self.name


class ColumnsInvalid(ValueError):
    """A list of columns that cannot be read, in words for whoever made it."""


def columns_of(value: object) -> tuple[Column, ...]:
    """The columns in a list: names, "name: type", [name, type, ...], or {"name": ..., "type": ...}.

    A type that is none of ours, nor a database's word for one, says nothing. Raises ColumnsInvalid.
    """
    if not isinstance(value, list | tuple):
        raise ColumnsInvalid(_("columns must be a list of names"))
    columns = tuple(_column(entry) for entry in value)
    if len(columns) > MAX_COLUMNS:
        raise ColumnsInvalid(_("a table has at most %(max_columns)s columns", max_columns=MAX_COLUMNS))
    if name := repeated_name(column.name for column in columns):
        raise ColumnsInvalid(_("two columns are called %(name)s", name=name))
    return columns


def columns_in(value: object) -> tuple[Column, ...]:
    """The columns that a value of an item's content names; none if it names none.

    As `columns_of`; also an object with "columns" (a grid), or a text with commas between.
    """
    if isinstance(value, Mapping):
        value = value.get("columns")
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, list | tuple):
        value = [entry for entry in value if not isinstance(entry, str) or entry.strip()]
    try:
        return columns_of(value)
    except ColumnsInvalid:
        return ()


def repeated_name(names: Iterable[str]) -> str:
    """The first name that stands for a column named before, "" if there is none."""
    seen: set[str] = set()
    for name in names:
        if (key := header_key(name)) in seen:
            return name
        seen.add(key)
    return ""


def _column(entry: object) -> Column:
    name: object
    kind: object
    if isinstance(entry, str):
        found = _NAME_AND_TYPE.fullmatch(entry)
        if found and found[2].lower() in COLUMN_TYPES:
            return Column(found[1].strip(), found[2].lower())
        name, kind = entry, ""
    elif isinstance(entry, Mapping):
        name, kind = entry.get("name"), entry.get("type")
    elif isinstance(entry, list | tuple) and entry:
        name, kind = entry[0], entry[1] if len(entry) > 1 else ""
    else:
        name, kind = None, ""
    if not isinstance(name, str) or not name.strip():
        raise ColumnsInvalid(_("columns must be a list of names"))
    # "VARCHAR(40)", "double precision": the first word tells.
    word = _FIRST_WORD.match(kind) if isinstance(kind, str) else None
    return Column(name.strip(), _TYPE_OF.get(word[1].lower(), "") if word else "")
