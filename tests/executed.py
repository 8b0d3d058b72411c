"""What a captured query was: on PostgreSQL the name of a prepared statement stands in the place of its text."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext


def statements(queries: CaptureQueriesContext) -> list[str]:
    """The texts of what was executed, each on one line."""
    texts = {ready.partition("(")[0]: text for text, ready in getattr(connection, "prepared", {}).items()}
    return [" ".join(texts.get(query["sql"].partition("(")[0], query["sql"]).split()) for query in queries]
