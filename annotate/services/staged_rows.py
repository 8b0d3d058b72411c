"""Many rows at once, in the way that each database takes fastest, and the figures by which it plans for them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from django.db import connection


def insert_rows(
    table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], *, nullable: Sequence[str] = ()
) -> None:
    """Add the rows in one statement. `nullable`: the columns in which None is NULL; in the others it may not stand."""
    if not rows:
        return
    names = ", ".join(columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            text = io.StringIO()
            # Everything in quotes: nothing a file holds can be read as NULL or as the end of the data.
            csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            text.seek(0)
            nulls = f", FORCE_NULL ({', '.join(nullable)})" if nullable else ""
            cursor.copy_expert(f"COPY {table} ({names}) FROM STDIN WITH (FORMAT csv{nulls})", text)
        else:
            # One statement a batch: outside a transaction each statement is one of its own.
            places = f"({', '.join(['%s'] * len(columns))})"
            values = [value for row in rows for value in row]
            cursor.execute(f"INSERT INTO {table} ({names}) VALUES {', '.join([places] * len(rows))}", values)


def analyse(*tables: str) -> None:
    """Tell PostgreSQL how large tables have become and what is in them, each with the columns that are looked up by.

    From a fifth of the rows that it would read, 6,000 a table: it looks closer by itself within minutes, and nobody who
    imports should wait for that.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET default_statistics_target = 20")
            for table in tables:
                cursor.execute(f"ANALYZE {table}")
            cursor.execute("RESET default_statistics_target")
