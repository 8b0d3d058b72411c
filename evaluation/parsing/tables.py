"""A table read out of a completion: JSON in many states of repair, Markdown, CSV."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.answers import JsonValue
from annotate.answers.table_text import MAX_TEXT, TableTextError, header_key, rows_of_text
from evaluation.parsing.envelope import drop_reasoning, is_refusal, own_turn
from evaluation.parsing.loose_json import Reading, readings
from evaluation.parsing.parsed import Parsed, ParseStatus

# A longer completion is cut here, and says so.
MAX_CHARACTERS = 400_000
_FENCE = re.compile(r"```[ \t]{0,4}([\w+-]{0,20})[ \t]*\n?((?:[^`]|`(?!``))*+)(```)?")
_BAR_LINES = re.compile(r"(?:^[ \t]{0,8}\|[^\n]*\|?[ \t]*\n?)+", re.MULTILINE)
# The same without bars at the edges: a head over a rule of dashes, and the lines below it that have a bar.
_RULED = re.compile(
    r"^(?P<head>[^|\n]{1,200}\|[^\n]{1,2000})\n"
    r"[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}){1,200}"
    r"(?P<rows>(?:\n[^|\n]{0,2000}+\|[^\n]*+)*+)",
    re.MULTILINE,
)
_MAX_HEAD = 2_000
_WRAPPERS = ("rows", "data", "table", "result", "results", "answer", "items", "records", "response", "output")
_NAMES_OF_COLUMNS = ("columns", "headers", "header", "column_names")
_NAMES_OF_ROWS = ("rows", "data", "values", "records")
_MAX_WRAPPERS = 3
_SCHEMA_WORDS = frozenset({"$schema", "properties", "items"})

Row = dict[str, Any]


@dataclass(frozen=True)
class Recovered:
    """The rows of a table as name -> cell, None if there is no table. flags: what was repaired, in alphabetical order.

    columns: the names in their order, also where there is no row; none if nothing names them.
    """

    rows: list[Row] | None
    columns: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def parse_table(text: str, columns: Sequence[str] = ()) -> Parsed:
    """The table that a completion gives, as {"columns": [...], "rows": [[...], ...]}, read by `recover_table`.

    columns: the declared ones, if any. They are found by name; one that is missing has null in every row, and what the
    model added is left out. Without rows it is an answer: "[]".
    """
    recovered = recover_table(text, columns)
    if recovered.rows is None:
        if is_refusal(drop_reasoning(text[:MAX_CHARACTERS])[0]):
            return Parsed(None, ParseStatus.REFUSAL, "a refusal in the text")
        return Parsed(None, ParseStatus.NONE, "no table in it")
    names = tuple(columns) or recovered.columns
    flags = set(recovered.flags)
    if not names:
        return Parsed(None, ParseStatus.NONE, "a table without columns")
    known = {header_key(name) for name in names}
    key_of = {name: header_key(name) for name in (*names, *_names(recovered.rows))}
    rows: list[JsonValue] = []
    for row in recovered.rows:
        cells = {key_of[name]: cell for name, cell in row.items()}
        flags |= {"missing_columns"} if known - set(cells) else set()
        flags |= {"other_columns"} if set(cells) - known else set()
        rows.append([cells.get(key_of[name]) for name in names])
    if recovered.rows and not any(key_of[name] in known for row in recovered.rows for name in row):
        return Parsed(None, ParseStatus.NONE, f"a table with other columns: {', '.join(recovered.columns)[:200]}")
    repairs = tuple(sorted(flags))
    note = f"a table; repaired: {', '.join(repairs)}" if repairs else "a table"
    return Parsed({"columns": list(names), "rows": rows}, ParseStatus.OK, note, repairs)


def recover_table(text: str, columns: Sequence[str] = ()) -> Recovered:
    """The rows of the table in a completion, and what had to be repaired to read them.

    In this order: reasoning blocks are dropped; JSON (fenced or in prose: a list of objects, columns with rows, columns
    of cells, a lone object, one object a line); a Markdown table; CSV in a fence, or alone. Of several tables the last
    one counts, and `multiple` says that there were others; one without rows counts only if all are. Of a table that was
    cut off, whole rows are kept and the broken one is dropped.
    """
    flags: set[str] = set()
    turn = own_turn(text[:MAX_CHARACTERS])
    visible, _ = drop_reasoning(turn)
    if visible != turn:
        flags.add("reasoning")
    if len(text) > MAX_CHARACTERS:
        flags.add("truncated")
    found = _from_json(visible, columns) or _from_bars(visible) or _from_csv(visible, columns)
    if found is None:
        return Recovered(None)
    return Recovered(found.rows, found.columns, tuple(sorted(flags | set(found.flags))))


def _from_json(text: str, columns: Sequence[str]) -> Recovered | None:
    tables: list[tuple[Recovered, int, int]] = []
    lone: list[tuple[Recovered, int, int]] = []
    saw_schema = False
    for start, reading in readings(text):
        if _is_schema(reading.value):
            saw_schema = True
            continue
        table = _table_of(reading, columns)
        if table is not None:
            kind = lone if isinstance(reading.value, dict) and table.rows == [reading.value] else tables
            kind.append((table, start, reading.position))
    if tables:
        # "[]" after a table says that there is no more, and [1] is a footnote where something else has names.
        named = [table for table, _, _ in tables if table.rows and "positions" not in table.flags]
        filled = [table for table, _, _ in tables if table.rows]
        table = (named or filled or [table for table, _, _ in tables])[-1]
        flags = set(table.flags) | ({"multiple"} if len(tables) > 1 else set())
        spans = [(start, end) for _, start, end in tables]
    elif lone:
        # One object a line, or a single row without the list around it.
        rows = [row for table, _, _ in lone for row in table.rows or []]
        flags = {flag for table, _, _ in lone for flag in table.flags} | {
            "lone_object" if len(lone) == 1 else "multiple"
        }
        table = Recovered(rows, _names(rows))
        spans = [(start, end) for _, start, end in lone]
    else:
        return None
    if saw_schema:
        flags.add("schema")
    return Recovered(table.rows, table.columns, tuple(flags | _around(text, spans)))


def _around(text: str, spans: Iterable[tuple[int, int]]) -> set[str]:
    """What stands around what was read: a fence, prose."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    pieces.append(text[position:])
    rest = "".join(pieces)
    flags = {"fence"} if "```" in rest else set()
    outside = re.sub(r"```[\w+-]{0,20}", "", rest)
    return flags | ({"prose"} if outside.strip(" \t\r\n,;") else set())


def _table_of(reading: Reading, columns: Sequence[str]) -> Recovered | None:
    """The rows in a value that was read; None if it is no table."""
    value, flags = reading.value, set(reading.flags)
    names: Sequence[Any] | None = None
    for _ in range(_MAX_WRAPPERS):
        # {"table": {"columns": ...}}: what is around it names nothing.
        if isinstance(value, dict) and len(value) == 1 and isinstance(inside := next(iter(value.values())), dict):
            value = inside if next(iter(value)).lower() in _WRAPPERS else value
    if isinstance(value, dict):
        names = _list_called(value, _NAMES_OF_COLUMNS)
        unnamed = _list_called(value, _NAMES_OF_ROWS) if names is not None else None
        if unnamed is not None:
            value = unnamed
        elif _is_by_column(value) and id(value) not in reading.cut and not reading.cut & set(map(id, value.values())):
            flags.add("by_column")
            names, value = tuple(value), [list(row) for row in zip(*value.values(), strict=True)]
        else:
            names = None
            lists = [name for name in value if isinstance(value[name], list)]
            inner = [name for name in lists if name.lower() in _WRAPPERS or (len(value) == 1 and _is_rows(value[name]))]
            if len(inner) != 1:
                return None if id(value) in reading.cut else _lone(value, flags)
            value = value[inner[0]]
    # Only whole rows: of the one in which the text ended nobody knows the rest.
    rows = [row for row in value if id(row) not in reading.cut]
    if names is None and rows and all(isinstance(row, list) for row in rows):
        names, rows = _names_of_lists(rows, columns, flags)
    elif names is None and rows and len(columns) == 1 and not any(isinstance(row, dict | list) for row in rows):
        names, rows = columns, [[row] for row in rows]
        flags.add("positions")
    if names is not None:
        if not all(isinstance(name, str) for name in names):
            return None
        lists_of_cells = [row for row in rows if isinstance(row, list) and len(row) == len(names)]
        objects = [row for row in rows if isinstance(row, dict)]
        if len(lists_of_cells) + len(objects) < len(rows):
            return None
        rows = [row if isinstance(row, dict) else dict(zip(names, row, strict=True)) for row in rows]
    if not all(isinstance(row, dict) and row for row in rows):
        return None
    plain = [_flat(row, flags) for row in rows]
    return Recovered(plain, tuple(names or ()) or _names(plain), tuple(flags))


def _list_called(value: Row, names: Sequence[str]) -> list[Any] | None:
    return next((value[name] for name in names if isinstance(value.get(name), list)), None)


def _is_by_column(value: Row) -> bool:
    """{"name": ["Ada", "Alan"], "born": [1815, 1912]}: a list of cells for each column, all of one length."""
    lists = list(value.values())
    if not lists or not all(isinstance(cells, list) and cells for cells in lists):
        return False
    if len(value) == 1 and next(iter(value)).lower() in _WRAPPERS:
        return False
    is_flat = not any(isinstance(cell, dict | list) for cells in lists for cell in cells)
    return is_flat and len({len(cells) for cells in lists}) == 1


def _lone(value: Row, flags: set[str]) -> Recovered | None:
    if not value or any(isinstance(cell, dict) for cell in value.values()):
        return None
    return Recovered([value], tuple(value), tuple(flags))


def _names_of_lists(
    rows: list[list[Any]], columns: Sequence[str], flags: set[str]
) -> tuple[Sequence[Any] | None, list[list[Any]]]:
    """Rows without names: the first may name the columns; else places do, if there are as many as are declared."""
    declared = {header_key(column) for column in columns}
    first = {header_key(cell) for cell in rows[0] if isinstance(cell, str)}
    if len(first) == len(rows[0]) and (first <= declared if declared else len(rows) > 1):
        flags.add("header_row")
        return rows[0], rows[1:]
    if columns and all(len(row) == len(columns) for row in rows):
        flags.add("positions")
        return columns, rows
    return None, rows


def _is_rows(value: list[Any]) -> bool:
    return all(isinstance(row, dict) for row in value)


def _is_schema(value: Any) -> bool:
    """A JSON Schema that the model repeated instead of answering, or before it."""
    if not isinstance(value, dict):
        return False
    return "$schema" in value or (isinstance(value.get("type"), str) and bool(_SCHEMA_WORDS & set(value)))


def _flat(row: Row, flags: set[str]) -> Row:
    """A row whose cells are texts, numbers or nothing; the members of a list are joined."""
    flat: Row = {}
    for name, cell in row.items():
        if isinstance(cell, list) and not any(isinstance(member, dict | list) for member in cell):
            flags.add("nested")
            cell = ", ".join("" if member is None else str(member) for member in cell)
        flat[name] = cell
    return flat


def _names(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))


def _from_bars(text: str) -> Recovered | None:
    """The last Markdown table: a head, a rule of dashes, rows."""
    found = [match for match in _BAR_LINES.finditer(text) if match.group().count("\n") + 1 > 1 and "-" in match.group()]
    found = found or list(_RULED.finditer(text))
    if not found:
        return None
    match = found[-1]
    lines = match.group().strip("\n").split("\n")
    if match.re is _RULED:
        lines = [f"| {line} |" for line in (match["head"], *match["rows"].split("\n")) if line]
    # The last line of the text may have lost its end: a cell that looks whole, 19 of 1912, is none.
    is_closed = lines[0].rstrip().endswith("|")
    is_cut = is_closed and not lines[-1].endswith("|") and match.end() == len(text)
    lines = lines[:-1] if is_cut else lines
    block = "\n".join(lines)
    head, *rows = rows_of_text(block) if len(block) <= MAX_TEXT else [[]]
    table = _of_cells(head, rows)
    if table is None:
        return None
    flags = {"markdown"} | ({"multiple"} if len(found) > 1 else set()) | _around(text, [match.span()])
    return Recovered(table.rows, table.columns, tuple(flags | set(table.flags) | ({"truncated"} if is_cut else set())))


def _from_csv(text: str, columns: Sequence[str]) -> Recovered | None:
    """Delimited lines in a fence, or alone where their head names declared columns."""
    blocks = [(match.group(2), match) for match in _FENCE.finditer(text)] if "```" in text else []
    candidates = [block for block, _ in blocks] or ([text] if columns else [])
    for block in reversed(candidates):
        if columns and not _names_one_of(block, columns):
            continue
        try:
            head, *rows = rows_of_text(block) or [[]]
        except TableTextError:
            continue
        names = {header_key(name) for name in head}
        is_declared = bool(columns) and names <= {header_key(column) for column in columns}
        if not rows or not (is_declared if columns else len(head) > 1):
            continue
        table = _of_cells(head, rows)
        if table is not None:
            start = text.find(block)
            flags = {"csv", *table.flags} | _around(text, [(start, start + len(block))])
            return Recovered(table.rows, table.columns, tuple(flags))
    return None


def _names_one_of(block: str, columns: Sequence[str]) -> bool:
    """Whether the first line names a declared column: a look at it before all lines are read."""
    first = re.split(r"[\t,;|]", block.lstrip()[:_MAX_HEAD].partition("\n")[0])
    if len(first) < min(2, len(columns)):
        return False
    return bool({header_key(part) for part in first} & {header_key(column) for column in columns})


def _of_cells(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Recovered | None:
    if not head or not all(head) or len({header_key(name) for name in head}) < len(head):
        return None
    whole = [dict(zip(head, (cell or None for cell in row), strict=True)) for row in rows if len(row) == len(head)]
    return Recovered(whole, tuple(head), () if len(whole) == len(rows) else ("ragged_rows",))
