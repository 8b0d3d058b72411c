"""Rows -> bytes: exact CSV and JSON Lines for programs, another CSV and XLSX for eyes. Constant memory in each.

Every writer takes rows (the head first), a binary file and `tick`, which it calls with the number of rows written, and
returns what there is to say of the file: its rows, its sheets, what the format could not hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from annotate.csv_text import cell, csv_chunks
from annotate.models import Project
from annotate.wording import _

Row = Sequence[object]
Tick = Callable[[int], None]
# Rows between two ticks: a tick may look at the clock.
TICK = 200

# What a sheet of Excel can hold (its specifications and limits).
MAX_SHEET_ROWS = 1_048_576
MAX_CELL_CHARACTERS = 32_767
MAX_TOLD = 1_000

# Line ends to some readers, though not to JSON: escaped, so that nobody splits a record there.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_ODD_LINE_END = re.compile("[\x85\u2028\u2029]")
# XML 1.0 has no such characters.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class Format:
    """suffix and media_type: of the file. words: what it is good for, as the page says it. write: rows -> file.

    whole: in place of write, what makes the file of a project, for a format that is no table.
    """

    name: str
    label: str
    words: str
    suffix: str
    media_type: str
    write: Callable[[Iterable[Row], IO[bytes], Tick], dict[str, Any]] | None = None
    whole: Callable[[Project, IO[bytes], Tick], dict[str, Any]] | None = None


def write_csv(rows: Iterable[Row], file: IO[bytes], tick: Tick, *, form: str = "exact") -> dict[str, Any]:
    counted = _Counted(rows, tick)
    for chunk in csv_chunks(counted, form):
        file.write(chunk)
    return {"rows": counted.n}


def write_spreadsheet_csv(rows: Iterable[Row], file: IO[bytes], tick: Tick) -> dict[str, Any]:
    return write_csv(rows, file, tick, form="spreadsheet")


def write_jsonl(rows: Iterable[Row], file: IO[bytes], tick: Tick) -> dict[str, Any]:
    """One object a row, its keys in the order of the head; lists and numbers as they are, null for an empty cell."""
    counted = _Counted(rows, tick)
    iterator = iter(counted)
    head = [str(name) for name in next(iterator)]
    for row in iterator:
        file.write(json_line(dict(zip(head, row, strict=True))))
    return {"rows": counted.n}


def json_line(record: dict[str, Any]) -> bytes:
    """One line of JSON Lines. Keys inside a value are sorted, as PostgreSQL sorts them in its own way."""
    values = {name: _sorted(value) if isinstance(value, dict | list) else value for name, value in record.items()}
    return line_of(values)


def line_of(record: dict[str, Any]) -> bytes:
    """One line of JSON, its keys in their order."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    if _ODD_LINE_END.search(text):
        text = text.translate(_LINE_ENDS)
    return text.encode() + b"\n"


def write_xlsx(
    rows: Iterable[Row], file: IO[bytes], tick: Tick, *, max_sheet_rows: int = MAX_SHEET_ROWS
) -> dict[str, Any]:
    """Sheets of at most max_sheet_rows with the head on each. No cell is a formula, whatever it begins with.

    A text beyond what a cell holds ends with a mark that says how long it was, and is listed on the sheet Notes.
    """
    from openpyxl import Workbook  # heavy, and only a worker writes XLSX

    book = Workbook(write_only=True)
    counted = _Counted(rows, tick)
    iterator = iter(counted)
    head = [str(name) for name in next(iterator)]
    cells = _Cells(head)
    n_sheets, left = 0, 0
    sheet: Any = None
    for row in iterator:
        if not left:
            n_sheets += 1
            sheet = book.create_sheet(f"Rows {n_sheets}" if n_sheets > 1 else "Rows")
            sheet.append(cells.of(head, sheet, 0))
            left = max_sheet_rows - 1
        cells.place = (sheet.title, max_sheet_rows - left + 1)
        sheet.append(cells.of(row, sheet, counted.n))
        left -= 1
    if sheet is None:
        n_sheets, sheet = 1, book.create_sheet("Rows")
        sheet.append(cells.of(head, sheet, 0))
    if cells.n_cut or cells.n_replaced:
        notes = book.create_sheet("Notes")
        notes.append([f"{cells.n_cut} cells were cut: a cell of XLSX holds {MAX_CELL_CHARACTERS} characters."])
        notes.append([f"In {cells.n_replaced} cells control characters were replaced: XLSX has none."])
        notes.append(["The exact CSV and JSON Lines have every character."])
        notes.append(["sheet", "row", "column", "characters"])
        for told in cells.told:
            notes.append(told)
    book.save(file)
    return {"rows": counted.n, "sheets": n_sheets, "cut": cells.n_cut, "replaced": cells.n_replaced}


class _Counted:
    """Rows as they pass, without the head in the count."""

    def __init__(self, rows: Iterable[Row], tick: Tick) -> None:
        self.n = 0
        self._rows, self._tick = rows, tick

    def __iter__(self) -> Iterator[Row]:
        for n, row in enumerate(self._rows):
            self.n = n
            if n % TICK == 0:
                self._tick(n)
            yield row


class _Cells:
    """Values as cells of a sheet, with what could not be held."""

    def __init__(self, head: Sequence[str]) -> None:
        self.n_cut = 0
        self.n_replaced = 0
        self.told: list[list[object]] = []
        self.place = ("", 0)
        self._head = head

    def of(self, row: Row, sheet: Any, n: int) -> list[object]:
        found = []
        for column, value in enumerate(row):
            value = cell(value)
            if type(value) is str and value:
                value = self._text(value, column, sheet)
            found.append(value)
        return found

    def _text(self, text: str, column: int, sheet: Any) -> object:
        if _NOT_IN_XML.search(text):
            text = _NOT_IN_XML.sub("\ufffd", text)
            self.n_replaced += 1
        if len(text) > MAX_CELL_CHARACTERS:
            self.n_cut += 1
            if len(self.told) < MAX_TOLD:
                self.told.append([*self.place, self._head[column], len(text)])
            mark = f" [cut here: {len(text)} characters]"
            text = text[: MAX_CELL_CHARACTERS - len(mark)] + mark
        if text[0] in "=#":
            # The library would take these for a formula or an error of Excel's.
            from openpyxl.cell import WriteOnlyCell

            plain = WriteOnlyCell(sheet, value=text)
            plain.data_type = "s"
            return plain
        return text


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(element) for element in value]
    return value


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format(
            "exact",
            _("CSV, exact"),
            _("every value as it is, for programs: pandas, R"),
            ".csv",
            "text/csv; charset=utf-8",
            write_csv,
        ),
        Format(
            "jsonl",
            _("JSON Lines"),
            _("one object a row, with lists and numbers as they are"),
            ".jsonl",
            "application/jsonl",
            write_jsonl,
        ),
        Format(
            "spreadsheet",
            _("CSV for a spreadsheet"),
            _("what a spreadsheet would run or round is marked with an apostrophe"),
            ".spreadsheet.csv",
            "text/csv; charset=utf-8",
            write_spreadsheet_csv,
        ),
        Format(
            "xlsx",
            "XLSX",
            _("for Excel and LibreOffice; cells hold 32,767 characters, and what is cut is listed"),
            ".xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            write_xlsx,
        ),
    )
}
