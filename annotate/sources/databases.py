"""Databases that people supply: an SQLite file, tables as CSV, or a ZIP of either; in memory, and only ever read."""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from time import monotonic
from typing import Any

from annotate.sources.archives import MAX_TOTAL_BYTES, opened_zip, safe_members, unpacked
from annotate.sources.decoding import BinaryFile
from annotate.sources.detect import detect, is_zip
from annotate.sources.errors import SourceError, shortened
from annotate.sources.names import folded
from annotate.sources.reading import DEFAULT_LIMITS, read_records
from annotate.sources.records import Limits
from annotate.wording import _, placed

SQLITE_SUFFIXES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})
CSV_SUFFIXES = frozenset({".csv", ".tsv"})
SECONDS_A_QUERY = 5.0
SECONDS_IN_ALL = 240.0
# SQLite asks whether to go on after so many of its steps: some milliseconds.
_STEPS_BETWEEN_LOOKS = 20_000
# What one value, one statement and one program of SQLite may have.
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 2_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 50_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# What gives the same result whenever it is asked, and reaches nothing outside the database.
FUNCTIONS = frozenset((
    "abs", "avg", "cast", "ceil", "ceiling", "char", "coalesce", "concat", "concat_ws", "count", "cume_dist",
    "date", "datetime", "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "if",
    "ifnull", "iif", "instr", "julianday", "lag", "last_value", "lead", "length", "like", "ln", "log", "log10",
    "log2", "lower", "ltrim", "max", "min", "mod", "nth_value", "ntile", "nullif", "percent_rank", "pi", "pow",
    "power", "printf", "quote", "radians", "rank", "replace", "round", "row_number", "rtrim", "sign", "sqrt",
    "strftime", "string_agg", "substr", "substring", "sum", "time", "timediff", "total", "trim", "trunc", "typeof",
    "unhex", "unicode", "unixepoch", "upper",
))  # fmt: skip
_MAGIC = b"SQLite format 3\x00"
_IS_QUERY = re.compile(r"(?:\s|--[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*(?:select|with|values)\b", re.IGNORECASE)
# Only a whole literal is "now"; a text that has the word in it is no clock.
_NOW = re.compile(r"'\s*now\s*'|\bcurrent_(?:date|time|timestamp)\b", re.IGNORECASE)
_NULLS = frozenset({"", "null"})
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")

Row = tuple[Any, ...]


def is_sqlite(head: bytes) -> bool:
    return head.startswith(_MAGIC)


class Database:
    """One database. Only SELECT runs on it, within limits of time and size; `query` raises SourceError."""

    def __init__(self, name: str, connection: sqlite3.Connection) -> None:
        self.name = name
        self._connection = connection
        self._deadline = float("inf")
        try:
            names = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
        except (sqlite3.Error, sqlite3.Warning) as fault:
            connection.close()
            raise _unreadable(name, fault) from fault
        if any(re.match(r"\s*create\s+virtual", sql or "", re.IGNORECASE) for _name, sql in names):
            connection.close()
            raise SourceError(
                _(
                    "The database “%(name)s” has a virtual table, which runs code of its own; leave it out.",
                    name=shortened(name),
                )
            )
        self._tables = {str(table).lower() for table, _sql in names}
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.set_progress_handler(self._is_late, _STEPS_BETWEEN_LOOKS)
        connection.set_authorizer(self._allowed)

    @property
    def tables(self) -> list[str]:
        return sorted(self._tables)

    def query(self, sql: str, *, max_rows: int, seconds: float = SECONDS_A_QUERY) -> tuple[list[str], list[Row]]:
        """The names of the columns, and the rows; of more than max_rows one more than that."""
        if not _IS_QUERY.match(sql):
            raise SourceError(_("this is no query: only SELECT gives a table."))
        if _NOW.search(sql):
            raise SourceError(_("the query asks what day or time it is, so that its answer would not stay the same."))
        self._deadline = monotonic() + seconds
        cursor = self._connection.cursor()
        try:
            cursor.execute(sql)
            return [column[0] for column in cursor.description or ()], cursor.fetchmany(max_rows + 1)
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as fault:
            raise self._refused(fault, seconds) from fault
        finally:
            cursor.close()

    def close(self) -> None:
        self._connection.close()

    def _is_late(self) -> bool:
        return monotonic() > self._deadline

    def _allowed(
        self, action: int, first: str | None, second: str | None, schema: str | None, _within: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        # What WITH and a subquery make is of no schema.
        if action == sqlite3.SQLITE_READ and (schema is None or (first or "").lower() in self._tables):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _refused(self, fault: Exception, seconds: float) -> SourceError:
        said = str(fault)
        if self._is_late():
            return SourceError(
                _("the query took more than %(seconds)s seconds; make it simpler.", seconds=f"{seconds:g}")
            )
        if "authorized" in said or "prohibited" in said:
            return SourceError(
                _(
                    "only SELECT from the database's own tables is run, with functions that always give the same "
                    "(%(said)s).",
                    said=shortened(said, 120),
                )
            )
        if "no such table" in said:
            return SourceError(
                _(
                    "%(said)s in the database “%(name)s”; it has: %(tables)s.",
                    said=shortened(said, 120),
                    name=shortened(self.name),
                    tables=shortened(", ".join(self.tables), 200),
                )
            )
        return SourceError(_("the query cannot be run (%(said)s).", said=shortened(said, 200)))


class Databases:
    """Databases by their names. Close them: they fill memory."""

    def __init__(self, databases: Sequence[Database]) -> None:
        self._by_name = {_key(database.name): database for database in databases}
        self.names = [database.name for database in databases]
        self.seconds_left = SECONDS_IN_ALL

    def get(self, reference: str) -> Database | None:
        """By its name, world1 for World_1; without a reference the only one."""
        if not reference and len(self.names) == 1:
            return next(iter(self._by_name.values()))
        return self._by_name.get(_key(reference))

    def close(self) -> None:
        for database in self._by_name.values():
            database.close()


def read_databases(
    file: BinaryFile, name: str, *, limits: Limits = DEFAULT_LIMITS, max_total_bytes: int = MAX_TOTAL_BYTES
) -> Databases:
    """The databases in a file: one in SQLite or a CSV; in a ZIP one for each SQLite file and folder of CSV.

    A table is called as its CSV, a database as its file or folder. Raises SourceError, closing what was opened.
    """
    file.seek(0)
    head = file.read(16)
    path = PurePosixPath(name)
    if is_sqlite(head):
        file.seek(0)
        data = file.read(max_total_bytes + 1)
        if len(data) > max_total_bytes:
            raise SourceError(
                _(
                    "The database has more than %(most)s bytes; leave out what no query asks for.",
                    most=f"{max_total_bytes:,}",
                )
            )
        return Databases([_of_sqlite(path.stem, data)])
    if not is_zip(head):
        return Databases([_of_csv(path.stem, [(path, file)], limits)])
    opened: list[Database] = []
    try:
        for database in _of_zip(file, path, limits, max_total_bytes):
            opened.append(database)
        if not opened:
            raise SourceError(_("The ZIP holds no database: .sqlite, .db, .csv or .tsv files are expected."))
        if len({_key(database.name) for database in opened}) < len(opened):
            raise SourceError(_("The ZIP holds two databases of one name; rename one."))
    except SourceError:
        for database in opened:
            database.close()
        raise
    return Databases(opened)


def _of_zip(file: BinaryFile, path: PurePosixPath, limits: Limits, max_total_bytes: int) -> Iterator[Database]:
    with opened_zip(file) as archive:
        members = safe_members(archive, suffixes=SQLITE_SUFFIXES | CSV_SUFFIXES, max_total_bytes=max_total_bytes)
        folders: dict[str, list[tuple[PurePosixPath, BinaryFile]]] = {}
        for info in members:
            member, data = PurePosixPath(info.filename), unpacked(archive, info)
            if is_sqlite(data[:16]):
                yield _of_sqlite(member.stem, data)
            elif member.suffix.lower() in CSV_SUFFIXES:
                folders.setdefault(member.parent.name or path.stem, []).append((member, io.BytesIO(data)))
            else:
                raise SourceError(_("In the ZIP “%(name)s” is no SQLite database.", name=shortened(info.filename)))
        for name, files in folders.items():
            yield _of_csv(name, files, limits)


def _of_sqlite(name: str, data: bytes) -> Database:
    # A file in WAL mode cannot be opened from memory; what its header says of that matters only to those who write.
    if data[18:20] == b"\x02\x02":
        data = data[:18] + b"\x01\x01" + data[20:]
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        connection.deserialize(data)
        # A file that was cut short reads as one without its last rows.
        deadline = monotonic() + SECONDS_A_QUERY
        connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
    except (sqlite3.Error, sqlite3.Warning) as fault:
        connection.close()
        raise _unreadable(name, fault) from fault
    return Database(name, connection)


def _of_csv(name: str, files: list[tuple[PurePosixPath, BinaryFile]], limits: Limits) -> Database:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        for path, file in files:
            try:
                _add_table(connection, path.stem, file, path.name, limits)
            except SourceError as fault:
                raise SourceError(placed([_("In “%(name)s”", name=shortened(str(path)))], fault.message)) from fault
        connection.commit()
    except SourceError:
        connection.close()
        raise
    return Database(name, connection)


def _add_table(connection: sqlite3.Connection, table: str, file: BinaryFile, name: str, limits: Limits) -> None:
    records = [dict(record.values) for record in read_records(file, detect(file, name), limits)]
    columns = list(records[0])
    values = {column: [_cell(record.get(column)) for record in records] for column in columns}
    kinds = {column: _kind(values[column]) for column in columns}
    described = ", ".join(f"{_quoted(column.strip())} {kinds[column]}" for column in columns)
    try:
        connection.execute(f"CREATE TABLE {_quoted(table)} ({described})")
        marks = ", ".join("?" for _column in columns)
        connection.executemany(
            f"INSERT INTO {_quoted(table)} VALUES ({marks})", zip(*(values[column] for column in columns), strict=True)
        )
    except (sqlite3.Error, sqlite3.Warning) as fault:
        raise SourceError(_("no table can be made of it (%(said)s).", said=shortened(str(fault), 200))) from fault


def _cell(value: Any) -> str | None:
    text = str(value).strip() if value is not None else ""
    return None if text.casefold() in _NULLS else text


def _kind(cells: list[str | None]) -> str:
    """As numbers only what a number gives back as it was written: 007 and 1,000 stay texts."""
    known = [cell for cell in cells if cell is not None]
    if known and all(_WHOLE.fullmatch(cell) for cell in known):
        return "INTEGER"
    return "REAL" if known and all(_DECIMAL.fullmatch(cell) for cell in known) else "TEXT"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace("\0", "") + '"'


def _key(name: str) -> str:
    return folded(name).replace("_", "")


def _unreadable(name: str, fault: Exception) -> SourceError:
    return SourceError(
        _(
            "The database “%(name)s” cannot be read (%(said)s).",
            name=shortened(name),
            said=shortened(str(fault), 120),
        )
    )
