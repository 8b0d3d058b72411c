"""Statements that are written by hand, run. docs/decisions/0011 says where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.utils import CursorWrapper
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=models.Model)


def one_row(statement: str, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row that a statement returns, if any."""
    # Once: each look at `connection` finds the thread's own anew.
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        _run(database, cursor, statement, parameters)
        # All of it: SQLite finishes a statement that returns rows only when the last one was fetched.
        rows = cursor.fetchall()
    return rows[0] if rows else None


def run(cursor: CursorWrapper, statement: str, parameters: Mapping[str, Any]) -> None:
    """Execute with a plan that the connection keeps: planning was half of what an answer cost the database."""
    _run(connections[DEFAULT_DB_ALIAS], cursor, statement, parameters)


def _run(database: Any, cursor: CursorWrapper, statement: str, parameters: Mapping[str, Any]) -> None:
    if database.vendor == "postgresql":
        statement = database.prepare(statement)  # config/postgresql
    cursor.execute(statement, parameters)


def row_of(model: type[Row], columns: Iterable[tuple[str, Any]], **related: models.Model) -> Row:
    """A row in memory from what a statement returned: (column, value), each column by its name in Python ("stage_id").

    related: rows that it points to, by the name of the relation. What is not given is read when asked for, instead of
    being a default that is not true. As Model.from_db, which goes through all fields and sends two signals that nobody
    listens to: an answer makes a dozen rows, and that took a twentieth of its time.
    """
    row = model.__new__(model)
    row._state = ModelState()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    row.__dict__.update(columns)
    row._state.fields_cache.update(related)
    return row
