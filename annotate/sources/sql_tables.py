"""Questions that a query answers: the columns to fill, the gold table and its order, from running the SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from annotate.answers.characters import number_as_text
from annotate.answers.columns import MAX_COLUMNS, Column, repeated_name
from annotate.answers.table import MAX_CELLS, MAX_ROWS
from annotate.sources.blocks import plain_text
from annotate.sources.databases import SECONDS_A_QUERY, Databases, Row
from annotate.sources.errors import SourceError, shortened
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from annotate.sources.names import folded
from annotate.sources.records import Record
from annotate.wording import _, placed

MAX_CELL_CHARS = 2_000
MAX_SQL_CHARS = 50_000
IN_ORDER = "Write the rows in the order that the question asks for."
IN_ANY_ORDER = "The order of the rows does not matter."
# What the columns are called that a query adds to its record.
COLUMNS, SCHEMA, ORDER, GOLD = "columns", "schema", "row_order", "gold_table"
STRATA = ("attributes", "tuples", "cells", "operator", "kind")
GIVEN = (COLUMNS, SCHEMA, ORDER, GOLD, *STRATA, "sql_database")

_SQL_NAMES = ("sql", "query", "sql_query", "gold_sql", "gold_query")
_DATABASE_NAMES = ("db_id", "database", "database_id", "db", "db_name")
_QUESTION_NAMES = ("question", "nl", "nl_question", "utterance", "text")
_IS_QUERY = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)
_DAY = re.compile(r"([0-9]{4})-[0-9]{2}-[0-9]{2}(?:[ T].*)?")
# Schemas of other systems; SQLite has none, and tables of these names are its own.
_SCHEMA_PREFIX = re.compile(r"\b(?:public|target)\s*\.\s*(?=[A-Za-z_\"])", re.IGNORECASE)
# One that is never closed reaches to the end, so that nothing is looked at twice.
_LITERAL = re.compile(r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_END_OF_FROM = re.compile(r"[()]|\b(?:where|group|order|having|limit|window|union|intersect|except)\b")
_OPERATORS = {
    "aggregate": re.compile(r"\b(?:count|sum|avg|min|max|total|group_concat)\s*\("),
    "join": re.compile(r"\bjoin\b"),
    "distinct": re.compile(r"\bdistinct\b"),
    "where": re.compile(r"\bwhere\b"),
    "group by": re.compile(r"\bgroup\s+by\b"),
    "having": re.compile(r"\bhaving\b"),
    "order by": re.compile(r"\border\s+by\b"),
    "limit": re.compile(r"\blimit\b"),
    "nested": re.compile(r"\(\s*select\b"),
    "like": re.compile(r"\blike\b"),
    "set operation": re.compile(r"\b(?:union|intersect|except)\b"),
}


@dataclass(frozen=True, slots=True)
class Query:
    """Where a record has its SQL, and the name of its database ("" where there is only one)."""

    column: str
    database_column: str = ""
    dates_as_years: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    is_ordered: bool


def ask(record: Record, query: Query, databases: Databases, *, question: str = "") -> Record:
    """The record with what its query gives, in further columns. Raises SourceError that names the question."""
    values = dict(record.values)
    try:
        return replace(record, values=[*record.values, *_given(values, query, databases)])
    except SourceError as fault:
        problem = placed([_("question %(id)s", id=shortened(question))], fault.message) if question else fault.message
        raise SourceError(problem, line=record.line, row=record.number, field=query.column) from fault


def _given(values: dict[str, Any], query: Query, databases: Databases) -> list[tuple[str, Any]]:
    for name in (COLUMNS, SCHEMA, ORDER, GOLD):
        if name in values:
            raise SourceError(
                _("the records have a column “%(name)s” already, which the query is to give; rename it.", name=name)
            )
    sql = plain_text(values.get(query.column)).strip()
    if not sql:
        raise SourceError(_("there is no query; write one or remove the record."))
    if len(sql) > MAX_SQL_CHARS:
        raise SourceError(_("the query has more than %(most)s characters; make it simpler.", most=f"{MAX_SQL_CHARS:,}"))
    reference = plain_text(values.get(query.database_column)) if query.database_column else ""
    database = databases.get(reference)
    if database is None:
        raise SourceError(
            _(
                "there is no database “%(name)s”; there are: %(names)s.",
                name=shortened(reference),
                names=shortened(", ".join(databases.names), 200),
            )
        )
    if databases.seconds_left <= 0:
        raise SourceError(_("the queries of this file take too long together; import it in parts."))
    begun = monotonic()
    try:
        seconds = min(SECONDS_A_QUERY, databases.seconds_left)
        names, rows = database.query(without_schema(sql), max_rows=MAX_ROWS, seconds=seconds)
    finally:
        databases.seconds_left -= monotonic() - begun
    table = table_of(names, rows, sql, dates_as_years=query.dates_as_years)
    cells = {"columns": [column.name for column in table.columns], "rows": [list(row) for row in table.rows]}
    given: list[tuple[str, Any]] = [
        (COLUMNS, [str(column) for column in table.columns]),
        (SCHEMA, json.dumps(schema_of(table.columns), ensure_ascii=False)),
        (ORDER, IN_ORDER if table.is_ordered else IN_ANY_ORDER),
        (GOLD, json.dumps(cells, ensure_ascii=False)),
        ("attributes", len(table.columns)),
        ("tuples", len(table.rows)),
        ("cells", len(table.columns) * len(table.rows)),
        ("operator", operators_in(sql)),
        ("kind", kind_of(table.columns)),
        ("sql_database", database.name),
    ]
    # Whoever counted before stays right: published questions have some of these columns.
    return [(name, value) for name, value in given if name not in values]


def table_of(names: Sequence[str], rows: Sequence[Row], sql: str, *, dates_as_years: bool = False) -> Table:
    """The gold table: texts, and None for NULL. Without ORDER BY its rows are sorted, so that it is always the same."""
    if len(names) > MAX_COLUMNS:
        raise SourceError(
            _("the table has %(n)s columns; at most %(most)s are asked for.", n=len(names), most=MAX_COLUMNS)
        )
    if not all(name.strip() for name in names):
        raise SourceError(_("a column of the query has no name; give it one with AS."))
    if repeated := repeated_name(names):
        raise SourceError(
            _("two columns of the query are called “%(name)s”; name them with AS.", name=shortened(repeated))
        )
    if len(rows) > MAX_ROWS or len(rows) * len(names) > MAX_CELLS:
        raise SourceError(
            _(
                "the table has too many rows; with %(n_names)s columns at most %(most)s are asked for.",
                n_names=len(names),
                most=f"{min(MAX_ROWS, MAX_CELLS // len(names)):,}",
            )
        )
    kinds = [_kind([row[at] for row in rows], dates_as_years=dates_as_years) for at in range(len(names))]
    cells = [tuple(_cell(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in rows]
    is_ordered = has_outer_order(sql)
    if not is_ordered:
        cells.sort(key=lambda row: [(cell is not None, cell or "") for cell in row])
    columns = tuple(Column(name.strip(), kind) for name, kind in zip(names, kinds, strict=True))
    return Table(columns, tuple(cells), is_ordered)


def schema_of(columns: Sequence[Column]) -> dict[str, Any]:
    """The table as JSON Schema: a list of objects, one for each row; every cell may be null."""
    words = {"number": "number", "year": "integer"}
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {column.name: {"type": [words.get(column.type, "string"), "null"]} for column in columns},
            "required": [column.name for column in columns],
            "additionalProperties": False,
        },
    }


def kind_of(columns: Sequence[Column]) -> str:
    """Whether the table is of numbers, years among them, of names, or of both."""
    n_numeric = sum(column.type in ("number", "year") for column in columns)
    return "numeric" if n_numeric == len(columns) else "mixed" if n_numeric else "categorical"


def has_outer_order(sql: str) -> bool:
    """Whether the query itself, not one inside it, orders its rows."""
    bare = _bare(sql)
    while (inner := re.sub(r"\([^()]*\)", " ", bare)) != bare:
        bare = inner
    return bool(_OPERATORS["order by"].search(bare))


def operators_in(sql: str) -> list[str]:
    bare = _bare(sql)
    found = {name for name, pattern in _OPERATORS.items() if pattern.search(bare)}
    # FROM a, b is a join, too.
    if any("," in _END_OF_FROM.split(tables, maxsplit=1)[0] for tables in re.split(r"\bfrom\b", bare)[1:]):
        found.add("join")
    return [name for name in _OPERATORS if name in found] or ["none"]


def without_schema(sql: str) -> str:
    """`target.city` as `city`, outside of texts and quoted names."""
    parts, at = [], 0
    for literal in _LITERAL.finditer(sql):
        parts += [_SCHEMA_PREFIX.sub("", sql[at : literal.start()] + literal[0][:1])[:-1], literal[0]]
        at = literal.end()
    return "".join([*parts, _SCHEMA_PREFIX.sub("", sql[at:])])


def proposed_query(columns: Sequence[str], sample: Sequence[Record], databases: Sequence[str] = ()) -> Query | None:
    """The column that holds queries, and the one that names databases; None if no column is one of SQL."""
    by_name = {folded(column): column for column in reversed(columns)}
    texts = {column: [plain_text(dict(record.values).get(column)) for record in sample] for column in columns}
    for name in _SQL_NAMES:
        column = by_name.get(name)
        if column and texts[column] and sum(bool(_IS_QUERY.match(text)) for text in texts[column]) * 2 > len(sample):
            return Query(column, next((by_name[name] for name in _DATABASE_NAMES if name in by_name), ""))
    return None


def asked_mapping(guess: Mapping, query: Query, columns: Sequence[str], field: str) -> Mapping:
    """What the columns mean: the question, the query and what it gives are content; the table is the field's gold."""
    by_name = {folded(column): column for column in reversed(columns)}
    question = next((by_name[name] for name in _QUESTION_NAMES if name in by_name), None)
    shown = [ContentColumn(question, "question")] if question else []
    shown += [
        ContentColumn(query.column, "sql", "mono"),
        ContentColumn(COLUMNS, COLUMNS),
        ContentColumn(SCHEMA, SCHEMA, "mono"),
        ContentColumn(ORDER, ORDER),
    ]
    used = {entry.column for entry in shown} | {guess.id_column, query.database_column}
    return replace(
        guess,
        content=tuple(shown),
        gold=(GoldColumn(field, GOLD),) if field else (),
        strata=tuple(dict.fromkeys((*(column for column in guess.strata if column not in used), *STRATA))),
        group_column=query.database_column or None,
        answers=None,
    )


def _kind(values: Sequence[Any], *, dates_as_years: bool) -> str:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) for value in known):
        return "number"
    if dates_as_years and known and all(isinstance(value, str) and _DAY.fullmatch(value) for value in known):
        return "year"
    return "text"


def _cell(value: Any, kind: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        raise SourceError(_("a cell of the table is binary data, which nobody can write."))
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise SourceError(_("a cell of the table is infinite."))
    text = str(number_as_text(value))
    if kind == "year" and (day := _DAY.fullmatch(text)):
        return str(int(day[1]))
    if len(text) > MAX_CELL_CHARS:
        raise SourceError(
            _(
                "a cell of the table has %(n)s characters; at most %(most)s are asked for.",
                n=f"{len(text):,}",
                most=f"{MAX_CELL_CHARS:,}",
            )
        )
    return text


def _bare(sql: str) -> str:
    """In small letters, with texts, quoted names and comments emptied."""
    return _LITERAL.sub(lambda literal: " " if literal[0][0] in "-/" else literal[0][0] * 2, sql).lower()
