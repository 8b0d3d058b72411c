"""Many rows with ids known beforehand, so that they may point to one another in any direction."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models

BATCH = 500
BATCH_CHARS = 8_000_000
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def take_ids(model: type[models.Model], n: int) -> array[int]:
    """n ids that nobody else gets, in ascending order. SQLite: the caller holds the write lock."""
    if not n:
        return array("q")
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, n])
            ids = array("q")
            while rows := cursor.fetchmany(10_000):
                ids.extend(row[0] for row in rows)
            return ids
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        taken = cursor.fetchone()[0]
        cursor.execute(f"SELECT COALESCE(MAX(id), 0) FROM {table}")
        first = max(taken, cursor.fetchone()[0]) + 1
        return array("q", range(first, first + n))


def insert(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add the rows in the way that each database takes fastest. None is NULL, and an empty text is none."""
    batch: list[Sequence[Any]] = []
    n_chars = 0
    for row in rows:
        batch.append(row)
        n_chars += sum(len(value) for value in row if type(value) is str)
        if len(batch) == BATCH or n_chars > BATCH_CHARS:
            _insert_batch(table, columns, batch)
            batch, n_chars = [], 0
    if batch:
        _insert_batch(table, columns, batch)


def _insert_batch(table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            text = "".join("\t".join(map(_copied, row)) + "\n" for row in rows)
            # Django wraps the errors of what it knows, and it does not know COPY.
            with connection.wrap_database_errors:
                cursor.copy_expert(f'COPY "{table}" ({names}) FROM STDIN', io.StringIO(text))
        else:
            places = f"({', '.join(['%s'] * len(columns))})"
            values = [value for row in rows for value in row]
            cursor.execute(f'INSERT INTO "{table}" ({names}) VALUES {", ".join([places] * len(rows))}', values)


def _copied(value: Any) -> str:
    if value is None:
        return "\\N"
    if value is True or value is False:
        return "t" if value else "f"
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)
