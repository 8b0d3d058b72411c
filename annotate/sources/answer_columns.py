"""The columns of a record that other tools' exports are read into: an item with one answer of one person, or with none.

Such a record has the item's data as its columns, `answer.NAME` for each question, and in parentheses what stands beside
an answer. What a tool keeps beside an item, and shows to nobody, has a prefix (`metadata.`, `meta.`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from annotate.sources.errors import SourceError
from annotate.sources.records import Record
from annotate.wording import _

ID = "(id)"
ANNOTATOR = "(annotator)"
ANSWERED_AT = "(answered at)"
SECONDS = "(seconds)"
SKIPPED = "(skipped)"
GROUND_TRUTH = "(ground truth)"
# Kinds of answers that no field holds; how many answers of models, unfinished and rejected ones were passed over.
UNSUPPORTED = "(unsupported)"
PREDICTIONS = "(predictions)"
DRAFTS = "(drafts)"
REJECTED = "(rejected)"
# Which of the columns people were shown, where the tool says so.
SHOWN = "(shown)"
ANSWER_PREFIX = "answer."
# What is counted and told, and of no use as a column.
COUNTED = (UNSUPPORTED, PREDICTIONS, DRAFTS, REJECTED, SHOWN)


def is_of_item(column: str) -> bool:
    """Whether a column holds data of the item, and nothing that belongs to an answer."""
    return not column.startswith(("(", ANSWER_PREFIX))


def made_record(record: Record, values: Iterable[tuple[str, Any]]) -> Record:
    """A record at the place of the one that it was made of. Raises SourceError where two columns have one name."""
    columns: dict[str, Any] = {}
    for column, value in values:
        if column in columns:
            raise fault(
                record,
                column,
                _("a question has the name of this field of the data; rename one of them."),
            )
        columns[column] = value
    return Record(record.number, record.line, list(columns.items()))


def id_of(data: object) -> str:
    """An id for an item that its tool gave none: the same data is the same item."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fault(record: Record, field: str, problem: str) -> SourceError:
    return SourceError(problem, line=record.line, row=record.number, field=field)
