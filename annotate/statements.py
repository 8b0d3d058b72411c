"""Statements that are written by hand, run. docs/decisions/0011 says where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper


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
