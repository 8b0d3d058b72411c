"""Tables that questions refer to: one file of many tables, or a ZIP with a file for each."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from annotate.sources import blocks
from annotate.sources.archives import MAX_MEMBERS, MAX_RATIO, MAX_TOTAL_BYTES, opened_zip, safe_members, unpacked
from annotate.sources.decoding import BinaryFile, moved_on, text_chunks
from annotate.sources.detect import Detected, detect, is_zip
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_array import KEY_COLUMN
from annotate.sources.jsonl import broken_json
from annotate.sources.mapping import canonical_json, stored_value
from annotate.sources.reading import DEFAULT_LIMITS, read_records
from annotate.sources.records import Limits, Record
from annotate.sources.strict_json import RefusedValue, decode_json
from annotate.wording import _, placed

_TABLE_SUFFIXES = frozenset({".json", ".csv", ".tsv", ".txt", ".md"})
_ID_COLUMNS = ("table_id", "id", KEY_COLUMN, "name", "table")


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables by their names: typed blocks (see blocks.py).

    A table from a ZIP is found by its path in it, by any ending of that path, and by the file's name without suffix, as
    far as these are unambiguous: `702` finds tables/json/702.json.
    """

    by_name: dict[str, blocks.Block]
    ambiguous: frozenset[str] = frozenset()
    n_tables: int = 0
    n_passed_over: int = 0

    def get(self, reference: str) -> blocks.Block | None:
        return self.by_name.get(reference)

    def __len__(self) -> int:
        return self.n_tables


def read_tables(
    file: BinaryFile,
    name: str,
    *,
    detected: Detected | None = None,
    id_column: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    max_members: int = MAX_MEMBERS,
    max_ratio: int = MAX_RATIO,
    max_total_bytes: int = MAX_TOTAL_BYTES,
) -> Tables:
    """All tables of a file, held in memory, since any question may ask for any table.

    A ZIP: each .json (an infobox, or rows), .csv or .tsv (a grid), .txt or .md (monospaced) is a table; other files are
    passed over. Another file: each record is a table, id_column its name (guessed if None), and its only other column,
    or else all of them together, the table.
    Raises SourceError, for a ZIP naming the file in it.
    """
    file.seek(0)
    if is_zip(file.read(4)):
        return _tables_of_zip(file, limits, max_members, max_ratio, max_total_bytes)
    records = read_records(file, detected or detect(file, name), limits)
    return _tables_of_records(records, id_column, max_total_bytes)


def join_tables(records: Iterable[Record], tables: Tables, *, column: str, key: str = "table") -> Iterator[Record]:
    """Each record with its table as a further column `key`.

    Raises SourceError with line and row where the column is empty or names no table: a question without its table
    cannot be answered by anybody.
    """
    for record in records:
        values = dict(record.values)
        if key in values:
            raise SourceError(
                _("the records have a column of this name already; give the joined table another one."),
                line=record.line,
                row=record.number,
                field=key,
            )
        reference = blocks.plain_text(values.get(column))
        table = tables.get(reference)
        if table is None:
            raise SourceError(_missing(reference, tables), line=record.line, row=record.number, field=column)
        yield replace(record, values=[*record.values, (key, table)])


def _missing(reference: str, tables: Tables) -> str:
    called = f"“{shortened(reference)}”"
    if not reference:
        return "no table is named here; fill it in or remove the record."
    if reference in tables.ambiguous:
        return f"several tables are called {called}; write the path of the file in the ZIP instead."
    return f"there is no table {called} among the {len(tables):,}; add it or remove the record."


def _tables_of_records(records: Iterable[Record], id_column: str | None, max_total_bytes: int) -> Tables:
    by_name: dict[str, blocks.Block] = {}
    total = 0
    for record in records:
        values = dict(record.values)
        id_column = id_column or next((name for name in _ID_COLUMNS if name in values), None)
        if id_column is None or id_column not in values:
            raise SourceError(
                _("this table has no name; choose the column that questions refer to."),
                line=record.line,
                row=record.number,
                field=id_column,
            )
        name = blocks.plain_text(values.pop(id_column))
        if name in by_name:
            raise SourceError(
                _("there are two tables “%(shortened)s”; keep one of them.", shortened=shortened(name)),
                line=record.line,
                row=record.number,
            )
        inner = next(iter(values.values())) if len(values) == 1 else values
        block = _as_block(inner if isinstance(inner, dict | list) else values)
        if block is None:
            raise SourceError(
                _(
                    "“%(shortened)s” is no table: an object or rows of equal width are expected.",
                    shortened=shortened(name),
                ),
                line=record.line,
                row=record.number,
            )
        total = _counted(total, block, max_total_bytes)
        by_name[name] = block
    return Tables(by_name, n_tables=len(by_name))


def _as_block(value: Any) -> blocks.Block | None:
    """A nested value as the block it plainly is; None if it is none."""
    if blocks.block_type(value) is not None:
        block: blocks.Block = value
        return block
    if isinstance(value, dict):
        return blocks.infobox(value)
    try:
        return blocks.grid(value)
    except ValueError:
        return None


def _counted(total: int, block: blocks.Block, max_total_bytes: int) -> int:
    total += len(canonical_json(stored_value(block)))
    if total > max_total_bytes:
        raise SourceError(
            _(
                "The tables have more than %(max_total_bytes)s bytes together; import them in parts.",
                max_total_bytes=f"{max_total_bytes:,}",
            )
        )
    return total


def _tables_of_zip(file: BinaryFile, limits: Limits, max_members: int, max_ratio: int, max_total_bytes: int) -> Tables:
    with opened_zip(file, max_members=max_members) as archive:
        members = safe_members(
            archive,
            suffixes=_TABLE_SUFFIXES,
            max_members=max_members,
            max_ratio=max_ratio,
            max_total_bytes=max_total_bytes,
        )
        tables = {info.filename: _table_of_member(archive, info, limits) for info in members}
        n_passed_over = sum(not info.is_dir() for info in archive.infolist()) - len(members)
    if not tables:
        raise SourceError(_("The ZIP holds no table: .json, .csv, .tsv, .txt or .md files are expected."))
    by_name: dict[str, blocks.Block] = {}
    ambiguous: set[str] = set()
    for path, block in tables.items():
        for name in _names_of(path):
            if name in by_name and by_name[name] is not block:
                ambiguous.add(name)
            by_name[name] = block
    for name in ambiguous - tables.keys():
        del by_name[name]
    # A whole path is never ambiguous, though another file's path may end in the same way.
    by_name.update(tables)
    return Tables(by_name, frozenset(ambiguous - tables.keys()), len(tables), n_passed_over)


def _names_of(path: str) -> set[str]:
    parts = PurePosixPath(path).parts
    endings = {"/".join(parts[start:]) for start in range(len(parts))}
    return endings | {PurePosixPath(path).stem}


def _table_of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits) -> blocks.Block:
    called = _("In “%(name)s”", name=shortened(info.filename))
    if info.file_size > limits.max_item_bytes:
        raise SourceError(
            _(
                "%(called)s: the table has more than %(max_item_bytes)s bytes; shorten it.",
                called=called,
                max_item_bytes=f"{limits.max_item_bytes:,}",
            )
        )
    data = unpacked(archive, info)
    try:
        return _table_of_file(io.BytesIO(data), info.filename, limits)
    except SourceError as fault:
        raise SourceError(placed([called], fault.message)) from fault


def _table_of_file(file: io.BytesIO, name: str, limits: Limits) -> blocks.Block:
    detected = detect(file, name)
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in (".txt", ".md"):
        return blocks.mono("".join(text_chunks(file, detected.encoding)))
    if suffix == ".json":
        block = _as_block(_whole_json("".join(text_chunks(file, detected.encoding)), limits))
        if block is None:
            raise SourceError(_("An object, or rows of equal width, are expected."))
        return block
    # A table may well have two columns of one name: it is only shown, so its header is a row like any other.
    records = read_records(file, replace(detected, has_header=False), limits)
    return blocks.grid([[cell for _, cell in record.values] for record in records])


def _whole_json(text: str, limits: Limits) -> Any:
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        value, end = decode_json(text, start, max_depth=limits.max_depth, allow_control_characters=False)
    except json.JSONDecodeError as fault:
        line, column = moved_on(1, 1, text[: fault.pos])
        raise broken_json(fault.msg, line=line, column=column) from fault
    except RefusedValue as fault:
        raise SourceError(fault.problem, field=fault.field) from fault
    if text[end:].strip(" \t\r\n"):
        line, column = moved_on(1, 1, text[:end])
        raise broken_json(_("something follows the value"), line=line, column=column)
    return value
