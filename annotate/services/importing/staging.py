"""Where the drafts of a file wait while they are compared: temporary tables of this database connection.

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
from annotate.models import Project
from annotate.services.importing.reading import root_name
from annotate.services.staged_rows import analyse, insert_rows
from annotate.sources.answered import AnswerDraft
from annotate.sources.mapping import ItemDraft, Mapping

# A batch ends at either: items of a megabyte must not be held by the thousand.
BATCH_ITEMS = 1_000
BATCH_CHARS = 8_000_000

_ITEM_COLUMNS = (
    "position", "line", "row_number", "external_id", "content_hash", "language", "root_name", "content", "strata",
    "extra",
)  # fmt: skip
_GOLD_COLUMNS = ("position", "field", "answers")
_ANSWER_COLUMNS = (
    "position", "line", "row_number", "external_id", "annotator", "answer", "answered_at", "seconds", "is_skip",
)  # fmt: skip


class Staging:
    """Takes the drafts of a file in its order; `flush` after the last one."""

    def __init__(self, mapping: Mapping) -> None:
        self.n_staged = 0
        self._mapping = mapping
        self._items: list[tuple[Any, ...]] = []
        self._golds: list[tuple[Any, ...]] = []
        self._answers: list[tuple[Any, ...]] = []
        self._n_chars = 0

    def add(self, draft: ItemDraft) -> bool:
        """Whether this draft ended a batch."""
        # As Django writes JSON, so that SQLite finds equal what is equal.
        content, extra = json.dumps(draft.content), json.dumps(draft.extra)
        # Without content the item is one that the project has: `stage_known_items` finds it.
        if draft.content:
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
        if draft.answer is not None:
            self._add_answer(draft, draft.answer)
        self.n_staged += 1
        self._n_chars += len(content) + len(extra)
        if max(len(self._items), len(self._answers)) < BATCH_ITEMS and self._n_chars < BATCH_CHARS:
            return False
        self.flush()
        return True

    def _add_answer(self, draft: ItemDraft, given: AnswerDraft) -> None:
        answer = json.dumps(given.values)
        # One way to write a moment, so that text sorts as time.
        moment = given.answered_at and given.answered_at.isoformat(timespec="microseconds")
        self._answers.append(
            (
                self.n_staged,
                draft.line,
                draft.number,
                draft.external_id,
                given.annotator,
                answer,
                moment,
                given.seconds,
                int(given.is_skip),
            )
        )
        self._n_chars += len(answer)

    def flush(self) -> None:
        insert_rows("staged_item", _ITEM_COLUMNS, self._items)
        insert_rows("staged_gold", _GOLD_COLUMNS, self._golds)
        insert_rows("staged_answer", _ANSWER_COLUMNS, self._answers, nullable=("answered_at", "seconds"))
        self._items, self._golds, self._answers, self._n_chars = [], [], [], 0

    def finish(self) -> None:
        """The rest, then indexes, and for PostgreSQL the figures without which it plans for an empty table."""
        self.flush()
        with connection.cursor() as cursor:
            cursor.execute("CREATE INDEX staged_item_by_id ON staged_item (external_id, position)")
            cursor.execute("CREATE INDEX staged_item_by_content ON staged_item (content_hash, position)")
            cursor.execute("CREATE INDEX staged_gold_by_item ON staged_gold (position)")
            cursor.execute("CREATE INDEX staged_answer_by_item ON staged_answer (external_id, annotator, position)")
        analyse(
            "staged_item (position, external_id, content_hash, root_name)",
            "staged_gold",
            "staged_answer (position, external_id, annotator)",
        )


@contextmanager
def staging(mapping: Mapping) -> Iterator[Staging]:
    """Empty tables `staged_item`, `staged_gold` and `staged_answer`, dropped at the end.

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


def stage_known_items(project: Project) -> None:
    """The items of answers without content: what the project has under these ids, as if the file had it."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_ITEMS, [project.pk])


def gather_gold() -> None:
    """Gold that stands in a later row of an item belongs to its first row, which is the one that is kept."""
    with connection.cursor() as cursor:
        cursor.execute(_REPEATED_GOLD)
        cursor.execute(_GOLD_TO_FIRST_ROW)


_KNOWN_ITEMS = """
INSERT INTO staged_item
    (position, line, row_number, external_id, content_hash, language, root_name, content, strata, extra)
SELECT answer.position, answer.line, answer.row_number, item.external_id, shown.content_hash, shown.language, '',
       shown.content, kept.strata, kept.extra
FROM (SELECT external_id, MIN(position) AS position FROM staged_answer GROUP BY external_id) first_answer
JOIN staged_answer answer ON answer.position = first_answer.position
JOIN annotate_item item ON item.project_id = %s AND item.external_id = answer.external_id
JOIN annotate_itemrevision shown ON shown.item_id = item.id AND shown.is_current
JOIN annotate_itemkey kept ON kept.item_id = item.id
"""

_REPEATED_GOLD = """
DELETE FROM staged_gold WHERE EXISTS (
    SELECT 1 FROM staged_item mine
    JOIN staged_item other ON other.external_id = mine.external_id AND other.position < mine.position
    JOIN staged_gold earlier ON earlier.position = other.position AND earlier.field = staged_gold.field
    WHERE mine.position = staged_gold.position
)
"""

_GOLD_TO_FIRST_ROW = """
UPDATE staged_gold SET position = (
    SELECT MIN(other.position) FROM staged_item mine JOIN staged_item other ON other.external_id = mine.external_id
    WHERE mine.position = staged_gold.position
) WHERE EXISTS (SELECT 1 FROM staged_item mine WHERE mine.position = staged_gold.position)
"""


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
        cursor.execute("""
CREATE TEMPORARY TABLE staged_answer (
    position integer PRIMARY KEY, line integer NOT NULL, row_number integer NOT NULL, external_id text NOT NULL,
    annotator text NOT NULL, answer text NOT NULL, answered_at text, seconds integer, is_skip integer NOT NULL
)""")


def _drop() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS staged_item")
        cursor.execute("DROP TABLE IF EXISTS staged_gold")
        cursor.execute("DROP TABLE IF EXISTS staged_answer")
