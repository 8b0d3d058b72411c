"""Initial migrations make at once what their operations would make one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.db import connection as ours
from django.db import migrations
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.utils import ConnectionHandler

from annotate.first_tables import FirstTables

pytestmark = pytest.mark.django_db

# Columns of a reference to the own table change places, which nothing depends on: so what is in a table has no order.
POSTGRESQL = """
  SELECT table_name || ': ' || column_name || ' ' || data_type || ' ' || is_nullable
         || coalesce(' ' || column_default, '') || coalesce(' ' || character_maximum_length, '')
    FROM information_schema.columns WHERE table_schema = current_schema()
  UNION ALL SELECT conrelid::regclass || ': ' || conname || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
  UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal"""


def test_all_at_once_or_one_by_one_gives_the_same_tables(monkeypatch):
    at_once = list(described(migrated("at_once")))
    monkeypatch.delattr(FirstTables, "apply")
    one_by_one = list(described(migrated("one_by_one")))
    assert any("annotate_assignment" in line for line in at_once)
    assert sorted(at_once) == sorted(one_by_one)


def test_every_initial_migration_of_ours_makes_its_tables_at_once():
    loader = MigrationLoader(None)
    ours = [loader.disk_migrations[app, "0001_initial"] for app in ("annotate", "evaluation")]
    assert all(isinstance(migration, FirstTables) for migration in ours), "FirstTables is their base class"
    only_tables = (migrations.CreateModel, migrations.AddField, migrations.AddIndex, migrations.AddConstraint)
    assert all(isinstance(operation, only_tables) for migration in ours for operation in migration.operations)


def migrated(name: str) -> BaseDatabaseWrapper:
    """An empty place with every migration applied: a database in memory, or a schema that is rolled back."""
    if ours.vendor == "postgresql":
        connection = ours
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA {name}")
            cursor.execute(f"SET LOCAL search_path TO {name}")
    else:
        connection = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})[
            "default"
        ]
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    return connection


def described(connection: BaseDatabaseWrapper) -> Iterator[str]:
    """A line for each column, constraint, index and trigger."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRESQL)
            yield from (line.replace("at_once.", "").replace("one_by_one.", "") for (line,) in cursor.fetchall())
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        for name, sql in cursor.fetchall():
            if not sql.startswith("CREATE TABLE"):
                yield sql
                continue
            for part in re.split(r", (?=\"|CONSTRAINT )", sql.partition("(")[2]):
                # The last one has the bracket of the whole.
                yield f"{name}: {part}".rstrip(")")
