"""Parquet files, where the extra `requirements-parquet.txt` is installed: row group after row group, in batches."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.sources.mapping import canonical_json
from annotate.sources.records import Limits, Record
from annotate.wording import _

MISSING = (
    "Parquet files need a further library, which is not installed here: run “pip install -r requirements-parquet.txt”, "
    "or save the file as JSON Lines."
)
BATCH_ROWS = 500
MAX_COLUMNS = 2_000
# A row group is decoded column by column; what its own directory says it unpacks to must fit beside a worker.
MAX_ROW_GROUP_BYTES = 1_000_000_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_parquet(file: BinaryFile, *, limits: Limits) -> Iterator[Record]:
    """Rows as records. `line` counts them like `number`: a Parquet file has no lines.

    Whole numbers stay numbers, as do fractions; decimals, dates, moments and durations are text as they would be
    written (`1.10`, `2022-12-01`, `2022-12-01T17:45:00+00:00`), bytes must be UTF-8. Nested values are JSON. NaN and
    infinities are no values: a record that needs one is refused (Record.faults).
    Raises SourceError: without the library, for a damaged file, for a text that no database stores, for a value that
    cannot be read, each with its row.
    """
    with _opened(file) as (arrow, parquet):
        names = parquet.schema_arrow.names
        if len(names) > MAX_COLUMNS:
            raise SourceError(
                _("The file has more than %(max_columns)s columns; remove some.", max_columns=f"{MAX_COLUMNS:,}")
            )
        for name in names:
            if names.count(name) > 1:
                raise SourceError(_("two columns have the same name; rename one of them."), field=name)
        number = 0
        for group in range(parquet.num_row_groups):
            if parquet.metadata.row_group(group).total_byte_size > MAX_ROW_GROUP_BYTES:
                raise SourceError(
                    _(
                        "Row group %(group)s unpacks to more than %(max_row_group_bytes)s bytes; write the file with "
                        "smaller row groups.",
                        group=f"{group + 1:,}",
                        max_row_group_bytes=f"{MAX_ROW_GROUP_BYTES:,}",
                    )
                )
            for batch in parquet.iter_batches(BATCH_ROWS, row_groups=[group], use_threads=False):
                columns = [
                    _values(column, name, number, arrow) for name, column in zip(names, batch.columns, strict=True)
                ]
                for row in range(batch.num_rows):
                    number += 1
                    yield _record(number, names, [column[row] for column in columns], limits)


@contextmanager
def _opened(file: BinaryFile) -> Iterator[tuple[Any, Any]]:
    try:
        import pyarrow as arrow  # an extra, and a heavy import
        import pyarrow.parquet
    except ImportError as fault:
        raise SourceError(MISSING) from fault
    file.seek(0)
    try:
        yield arrow, pyarrow.parquet.ParquetFile(arrow.PythonFile(file, mode="r"))
    except (arrow.ArrowException, OSError) as fault:
        raise SourceError(
            _(
                "The Parquet file cannot be read (%(shortened)s); write it again, or save it as JSON Lines.",
                shortened=shortened(str(fault), 100),
            )
        ) from fault


def _values(column: Any, name: str, n_before: int, arrow: Any) -> list[Any]:
    """A batch's values of one column. Moments to the nanosecond are cut: Python's own stop at microseconds."""
    import numpy

    if arrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    if arrow.types.is_duration(column.type) and column.type.unit == "ns":
        column = column.cast(arrow.duration("us"), safe=False)
    try:
        values: list[Any] = column.to_pylist()
        if arrow.types.is_float16(column.type) or arrow.types.is_float32(column.type):
            # As short as they were written: 0.1 in single precision is 0.10000000149011612 in double.
            values = [None if value is None else float(str(numpy.float32(value))) for value in values]
    except (ValueError, OverflowError, UnicodeDecodeError) as fault:
        raise SourceError(
            _(
                "a value cannot be read (%(shortened)s); it is among the rows from %(n_before)s on.",
                shortened=shortened(str(fault), 100),
                n_before=f"{n_before + 1:,}",
            ),
            field=name,
        ) from fault
    return values


def _record(number: int, names: list[str], raw: list[Any], limits: Limits) -> Record:
    values: list[tuple[str, Any]] = []
    faults: dict[str, str] = {}
    for name, value in zip(names, raw, strict=True):
        try:
            values.append((name, _plain(value, 1, limits.max_depth)))
        except _NoNumber as fault:
            faults[name] = _("%(fault)s is not a value; write null or leave it empty.", fault=str(fault))
            values.append((name, None))
        except ValueError as fault:
            raise SourceError(str(fault), line=number, row=number, field=name) from fault
    if len(canonical_json(values)) > limits.max_item_bytes:
        raise SourceError(
            _(
                "this row has more than %(max_item_bytes)s bytes, the most one item may have; shorten it, or "
                "ask for a higher limit.",
                max_item_bytes=f"{limits.max_item_bytes:,}",
            ),
            line=number,
            row=number,
        )
    return Record(number, number, values, faults)


class _NoNumber(Exception):
    """NaN or an infinity."""


def _plain(value: Any, depth: int, max_depth: int) -> Any:
    """The value as JSON has it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise ValueError(_("there is a NUL character or half of a surrogate pair, which is no text; remove it."))
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NoNumber("NaN" if math.isnan(value) else "An infinity")
        return value
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        try:
            return _plain(value.decode("utf-8"), depth, max_depth)
        except UnicodeDecodeError as fault:
            raise ValueError(
                _("there are bytes that are no UTF-8 text; write them as text, or leave them out.")
            ) from fault
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta | uuid.UUID):
        return str(value)
    if depth > max_depth:
        raise ValueError(
            _("lists and objects are nested more than %(max_depth)s deep; flatten them.", max_depth=max_depth)
        )
    if isinstance(value, dict):
        return {str(key): _plain(element, depth + 1, max_depth) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(element, depth + 1, max_depth) for element in value]
    raise ValueError(_("a value of the kind %(name)s cannot be stored; write it as text.", name=type(value).__name__))
