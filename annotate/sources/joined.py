"""Tables that questions refer to: one file of many tables, or a ZIP with a file for each."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from annotate.sources import blocks
from annotate.sources.decoding import BinaryFile, moved_on, text_chunks
from annotate.sources.detect import Detected, detect, is_zip
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_array import KEY_COLUMN
from annotate.sources.jsonl import broken_json
from annotate.sources.mapping import canonical_json, stored_value
from annotate.sources.reading import DEFAULT_LIMITS, read_records
from annotate.sources.records import Limits, Record
from annotate.sources.strict_json import RefusedValue, decode_json

MAX_MEMBERS = 1_000
MAX_RATIO = 200
MAX_TOTAL_BYTES = 64_000_000

# Below this size a high ratio harms nobody: a table of a few hundred spaces reaches it.
_RATIO_MATTERS_FROM_BYTES = 100_000
_TABLE_SUFFIXES = {".json", ".csv", ".tsv", ".txt", ".md"}
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
                "the records have a column of this name already; give the joined table another one.",
                line=record.line,
                row=record.number,
                field=key,
            )
        reference = blocks.plain_text(values.get(column))
        table = tables.get(reference)
        if table is None:
            raise SourceError(_missing(reference, tables), line=record.line, row=record.number, field=column)
        yield Record(record.number, record.line, [*record.values, (key, table)])


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
                "this table has no name; choose the column that questions refer to.",
                line=record.line,
                row=record.number,
                field=id_column,
            )
        name = blocks.plain_text(values.pop(id_column))
        if name in by_name:
            raise SourceError(
                f"there are two tables “{shortened(name)}”; keep one of them.", line=record.line, row=record.number
            )
        inner = next(iter(values.values())) if len(values) == 1 else values
        block = _as_block(inner if isinstance(inner, dict | list) else values)
        if block is None:
            raise SourceError(
                f"“{shortened(name)}” is no table: an object or rows of equal width are expected.",
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
        raise SourceError(f"The tables have more than {max_total_bytes:,} bytes together; import them in parts.")
    return total


def _tables_of_zip(file: BinaryFile, limits: Limits, max_members: int, max_ratio: int, max_total_bytes: int) -> Tables:
    _refuse_large_directory(file, max_members)
    try:
        with zipfile.ZipFile(_Seekable(file)) as archive:
            members = _safe_members(archive, max_members, max_ratio, max_total_bytes)
            tables = {info.filename: _table_of_member(archive, info, limits) for info in members}
            n_passed_over = sum(not info.is_dir() for info in archive.infolist()) - len(members)
    except zipfile.BadZipFile as fault:
        raise SourceError(f"The ZIP cannot be read ({shortened(str(fault))}); pack it again.") from fault
    if not tables:
        raise SourceError("The ZIP holds no table: .json, .csv, .tsv, .txt or .md files are expected.")
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


def _refuse_large_directory(file: BinaryFile, max_members: int) -> None:
    """zipfile reads the whole directory before anybody can count it, so its size is looked at first.

    The record at the end of a ZIP tells it; one with 64-bit fields is not needed for what may be imported.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_557))
    tail = file.read(65_557)
    at = len(tail) - 22 if tail[-22:-18] == b"PK\x05\x06" and tail[-2:] == b"\0\0" else tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise SourceError("The ZIP cannot be read (it has no directory at its end); pack it again.")
    (directory_bytes,) = struct.unpack_from("<L", tail, at + 12)
    # 46 bytes and a path for each; four kilobytes are more than any real one takes.
    if b"PK\x06\x07" in tail[max(0, at - 20) : at] or directory_bytes > max_members * 4096:
        raise _too_many(max_members)


def _safe_members(
    archive: zipfile.ZipFile, max_members: int, max_ratio: int, max_total_bytes: int
) -> list[zipfile.ZipInfo]:
    """The members that are tables. Raises SourceError if any member, table or not, is one that no archive needs."""
    infos = archive.infolist()
    if sum(not info.is_dir() for info in infos) > max_members:
        raise _too_many(max_members)
    seen: set[str] = set()
    for info in infos:
        called = f"“{shortened(info.filename)}”"
        path = PurePosixPath(info.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in info.filename or info.filename[1:2] == ":":
            raise SourceError(f"The ZIP has a file {called} whose path leads out of it; pack it again without.")
        if (info.external_attr >> 16) & 0o170000 not in (0, 0o100000, 0o040000):
            raise SourceError(f"The ZIP has a link or device {called}; pack the files themselves.")
        if info.flag_bits & 0x1:
            raise SourceError(f"The ZIP is encrypted ({called}); pack it without a password.")
        if info.filename in seen:
            raise SourceError(f"The ZIP has two files {called}; keep one of them.")
        seen.add(info.filename)
        if info.file_size > _RATIO_MATTERS_FROM_BYTES and info.file_size > max_ratio * info.compress_size:
            raise SourceError(f"The ZIP's {called} unpacks to more than {max_ratio} times its size; pack it otherwise.")
    tables = [info for info in infos if not info.is_dir() and _is_table(info.filename)]
    if sum(info.file_size for info in tables) > max_total_bytes:
        raise SourceError(f"The ZIP unpacks to more than {max_total_bytes:,} bytes; import it in parts.")
    return tables


def _too_many(max_members: int) -> SourceError:
    return SourceError(f"The ZIP has more than {max_members:,} files; import it in parts.")


def _is_table(path: str) -> bool:
    parts = PurePosixPath(path).parts
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not is_hidden and PurePosixPath(path).suffix.lower() in _TABLE_SUFFIXES


def _table_of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits) -> blocks.Block:
    called = f"In “{shortened(info.filename)}”"
    if info.file_size > limits.max_item_bytes:
        raise SourceError(f"{called}: the table has more than {limits.max_item_bytes:,} bytes; shorten it.")
    try:
        # The declared size is all that zipfile ever returns, so a header that lies cannot unpack to more.
        data = archive.read(info)
    except (zlib.error, EOFError, NotImplementedError, zipfile.BadZipFile) as fault:
        raise SourceError(f"{called}: it cannot be unpacked ({shortened(str(fault))}); pack the ZIP again.") from fault
    try:
        return _table_of_file(io.BytesIO(data), info.filename, limits)
    except SourceError as fault:
        raise SourceError(f"{called}: {fault.message}") from fault


def _table_of_file(file: io.BytesIO, name: str, limits: Limits) -> blocks.Block:
    detected = detect(file, name)
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in (".txt", ".md"):
        return blocks.mono("".join(text_chunks(file, detected.encoding)))
    if suffix == ".json":
        block = _as_block(_whole_json("".join(text_chunks(file, detected.encoding)), limits))
        if block is None:
            raise SourceError("An object, or rows of equal width, are expected.")
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
        raise broken_json("something follows the value", line=line, column=column)
    return value


class _Seekable(io.RawIOBase):
    """The file as zipfile wants it; closing the archive leaves the upload open."""

    def __init__(self, file: BinaryFile) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.seek(0, 1)
