"""Where the drafts of a file wait while they are compared: two temporary tables of this database connection.

A file of 200,000 items should fill no worker's memory, and only the database can compare it with what is stored.
Temporary tables take no lock that others wait for, on SQLite neither, and vanish with a worker that is killed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from annotate.exceptions import GoldpanelError
from annotate.services.importing.reading import root_name
from annotate.services.staged_rows import insert_rows
from annotate.sources.mapping import ItemDraft, Mapping

# A batch ends at either: items of a megabyte must not be held by the thousand.
BATCH_ITEMS = 1_000
BATCH_CHARS = 8_000_000

_ITEM_COLUMNS = (
    "position", "line", "row_number", "external_id", "content_hash", "language", "root_name", "content", "strata",
    "extra",
)  # fmt: skip
_GOLD_COLUMNS = ("position", "field", "answers")


class Staging:
    """Takes the drafts of a file in its order; `flush` after the last one."""

    def __init__(self, mapping: Mapping) -> None:
        self.n_staged = 0
        self._mapping = mapping
        self._items: list[tuple[Any, ...]] = []
        self._golds: list[tuple[Any, ...]] = []
        self._n_chars = 0

    def add(self, draft: ItemDraft) -> bool:
        """Whether this draft ended a batch."""
        # As Django writes JSON, so that SQLite finds equal what is equal.
        content, extra = json.dumps(draft.content), json.dumps(draft.extra)
        self._items.append(
            (
                self.n_staged,
                draft.line,
                draft.number,
                draft.external_id,
                draft.content_hash,
                draft.language,
                root_name(self._mapping, draft),
                content,
                json.dumps(draft.strata),
                extra,
            )
        )
        for field, answers in draft.gold.items():
            self._golds.append((self.n_staged, field, json.dumps(answers)))
        self.n_staged += 1
        self._n_chars += len(content) + len(extra)
        if len(self._items) < BATCH_ITEMS and self._n_chars < BATCH_CHARS:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        insert_rows("staged_item", _ITEM_COLUMNS, self._items)
        insert_rows("staged_gold", _GOLD_COLUMNS, self._golds)
        self._items, self._golds, self._n_chars = [], [], 0

    def finish(self) -> None:
        """The rest, then indexes, and for PostgreSQL the figures without which it plans for an empty table."""
        self.flush()
        with connection.cursor() as cursor:
            cursor.execute("CREATE INDEX staged_item_by_id ON staged_item (external_id, position)")
            cursor.execute("CREATE INDEX staged_item_by_content ON staged_item (content_hash, position)")
            cursor.execute("CREATE INDEX staged_gold_by_item ON staged_gold (position)")
            if connection.vendor == "postgresql":
                cursor.execute("ANALYZE staged_item (position, external_id, content_hash, root_name)")
                cursor.execute("ANALYZE staged_gold")


@contextmanager
def staging(mapping: Mapping) -> Iterator[Staging]:
    """Empty tables `staged_item` and `staged_gold`, dropped at the end.

    After an error of the database they stay until the connection ends or the next import begins: a statement that
    drops them would only hide the error.
    """
    _drop()
    _create()
    try:
        yield Staging(mapping)
    except GoldpanelError:
        _drop()
        raise
    _drop()


def _create() -> None:
    json_type = "jsonb" if connection.vendor == "postgresql" else "text"
    with connection.cursor() as cursor:
        cursor.execute(f"""
CREATE TEMPORARY TABLE staged_item (
    position integer PRIMARY KEY, line integer NOT NULL, row_number integer NOT NULL, external_id text NOT NULL,
    content_hash text NOT NULL, language text NOT NULL, root_name text NOT NULL, content {json_type} NOT NULL,
    strata {json_type} NOT NULL, extra {json_type} NOT NULL
)""")
        cursor.execute(f"""
CREATE TEMPORARY TABLE staged_gold (position integer NOT NULL, field text NOT NULL, answers {json_type} NOT NULL)
""")


def _drop() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS staged_item")
        cursor.execute("DROP TABLE IF EXISTS staged_gold")
