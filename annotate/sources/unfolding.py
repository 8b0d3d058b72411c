"""Nested fields as columns of their own: `{"Label": {"task": "Join"}}` has the column `Label.task`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from annotate.sources import blocks
from annotate.sources.errors import SourceError
from annotate.sources.records import Record
from annotate.wording import _


def unfolded(records: Iterable[Record]) -> Iterator[Record]:
    """Each object that is no typed block becomes columns named by its path; lists stay as they are.

    Raises SourceError for a record that has a column of such a name already.
    """
    for record in records:
        values: list[tuple[str, Any]] = []
        for column, value in record.values:
            values.extend(_columns(column, value))
        if len({column for column, _ in values}) < len(values):
            names = [column for column, _ in values]
            repeated = next(name for name in names if names.count(name) > 1)
            raise SourceError(
                _("the record has this field twice, once nested; do not unfold nested fields, or rename one."),
                line=record.line,
                row=record.number,
                field=repeated,
            )
        yield replace(record, values=values)


def _columns(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value and blocks.block_type(value) is None:
        for key, element in value.items():
            yield from _columns(f"{path}.{key}", element)
    else:
        yield path, value
