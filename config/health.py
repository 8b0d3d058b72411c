"""What can be asked of database and broker without knowing what they hold: for readiness, doctor and launcher."""

from __future__ import annotations

from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def missing_migrations() -> list[str]:
    """Migrations of this version that the database has not seen, as app.name; empty: the database is up to date.

    A query or two on a small table. Raises DatabaseError where the database does not answer.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app}.{name}" for app, name in _migrations() if (app, name) not in applied]


@cache
def _migrations() -> list[tuple[str, str]]:
    """All that this version knows. The files do not change under a running process, and reading them takes a while."""
    return sorted(MigrationLoader(None).graph.nodes)
