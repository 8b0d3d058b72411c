"""Excel workbooks (.xlsx): one sheet as records, every cell as the text that somebody sees in it.

Numbers have no artefacts of binary fractions (2.0 is `2`, 0.1 + 0.2 is `0.3`: Excel itself keeps 15 digits), dates are
`2022-12-01`, moments `2022-12-01T17:45:00`, durations `62:12:00`, truth is `TRUE` and `FALSE`. A cell with an error, or
with a formula that no program has computed yet, has no value: a record that needs it is refused (Record.faults).
"""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from annotate.sources.archives import opened_zip, safe_members
from annotate.sources.decoding import BinaryFile, is_larger, too_large
from annotate.sources.delimited import column_names
from annotate.sources.errors import SourceError, shortened
from annotate.sources.records import Limits, Record
from annotate.wording import _

# What a workbook may unpack to: twenty times a large upload, and half an hour of reading.
MAX_TOTAL_BYTES = 1_000_000_000
MAX_STRINGS_BYTES = 256_000_000
MAX_MEMBERS = 2_000
# Repetition packs well: real sheets of labels reach a ratio of 100.
MAX_RATIO = 400
MAX_COLUMNS = 1_000
MAX_CELLS = 20_000_000
# One long text may stand in many cells and in the file once.
MAX_TEXT_BYTES = 1_000_000_000

# openpyxl raises whatever the damaged part of a workbook leads to. defusedxml's refusals are ValueErrors, broken XML is
# a SyntaxError.
_DAMAGED = (
    ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, SyntaxError, NotImplementedError, zlib.error,
    zipfile.BadZipFile,
)  # fmt: skip
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z0-9:]{1,30})\"")
_SCANNED = 1 << 20


@dataclass(frozen=True, slots=True)
class Sheet:
    """names: of all sheets. notes: what a person should know before importing it. first_row: the first with content."""

    name: str
    names: tuple[str, ...]
    notes: tuple[str, ...]
    first_row: tuple[str, ...]


def sheet_names(file: BinaryFile) -> list[tuple[str, bool]]:
    """(name, whether it is shown) of the worksheets in their order. Raises SourceError for what is no workbook."""
    with _opened(file) as workbook:
        return [(sheet.title, sheet.sheet_state == "visible") for sheet in _worksheets(workbook)]


def look_at(file: BinaryFile, name: str) -> Sheet:
    """A sheet's first row with content, and what is told of it: merged cells, and other sheets that are not read."""
    with _opened(file) as workbook:
        sheet = _sheet(workbook, name)
        others = [other.title for other in _worksheets(workbook) if other.title != sheet.title]
        hidden = [other.title for other in _worksheets(workbook) if other.sheet_state != "visible"]
        notes = []
        if sheet.title in hidden:
            notes.append(f"The sheet “{shortened(sheet.title)}” is hidden in the workbook.")
        if others:
            listed = ", ".join(f"“{shortened(o, 40)}”{' (hidden)' if o in hidden else ''}" for o in others[:10])
            more = f" and {len(others) - 10:,} more" if len(others) > 10 else ""
            notes.append(f"Only the sheet “{shortened(sheet.title)}” is read, not {listed}{more}.")
        n_merged, first = _merged_cells(workbook, sheet)
        if n_merged:
            notes.append(
                f"{n_merged:,} range{'' if n_merged == 1 else 's'} of merged cells (first {first}): only the first "
                "cell of each has the value, the others are empty."
            )
        first_row = next((texts for _, texts, _ in _rows(workbook, sheet, MAX_CELLS) if any(texts)), [])
        names = tuple(other.title for other in _worksheets(workbook))
        return Sheet(sheet.title, names, tuple(notes), tuple(first_row))


def read_xlsx(file: BinaryFile, *, sheet: str, has_header: bool, limits: Limits) -> Iterator[Record]:
    """Rows with any content, in order; `line` is the row's number in the sheet.

    Raises SourceError: no such sheet, a column name used twice, a cell beyond the header, a text that no database
    stores, a sheet beyond the limits.
    """
    with _opened(file) as workbook:
        columns: list[str] = []
        number, n_bytes = 0, 0
        for line, texts, faults in _rows(workbook, _sheet(workbook, sheet), MAX_CELLS):
            while texts and not texts[-1] and len(texts) - 1 not in faults:
                texts.pop()
            if not any(texts) and not faults:
                continue
            if not columns:
                if len(texts) > MAX_COLUMNS:
                    raise SourceError(
                        _(
                            "the sheet has more than %(max_columns)s columns; remove some.",
                            max_columns=f"{MAX_COLUMNS:,}",
                        ),
                        line=line,
                    )
                columns = column_names(texts if has_header else [""] * len(texts), line=line)
                if has_header:
                    continue
            number += 1
            if len(texts) > len(columns):
                reference = _("the header") if has_header else _("the first row")
                raise SourceError(
                    _(
                        "this row has content in %(n_texts)s columns, and %(reference)s has %(n_columns)s; name "
                        "every column, or empty the cells beyond them.",
                        n_texts=f"{len(texts):,}",
                        reference=reference,
                        n_columns=f"{len(columns):,}",
                    ),
                    line=line,
                    row=number,
                )
            texts += [""] * (len(columns) - len(texts))
            if number * len(columns) > MAX_CELLS:
                raise SourceError(
                    _("the sheet has more than %(max_cells)s cells; import it in parts.", max_cells=f"{MAX_CELLS:,}"),
                    line=line,
                )
            size = sum(map(len, texts))
            if size * 4 > limits.max_item_bytes and is_larger("".join(texts), limits.max_item_bytes):
                raise too_large(limits.max_item_bytes, line=line, row=number)
            n_bytes += size
            if n_bytes > MAX_TEXT_BYTES:
                raise SourceError(
                    _(
                        "the sheet has more than %(max_text_bytes)s characters of text.",
                        max_text_bytes=f"{MAX_TEXT_BYTES:,}",
                    ),
                    line=line,
                )
            told = {columns[position]: problem for position, problem in faults.items()}
            yield Record(number, line, list(zip(columns, texts, strict=True)), told)


@contextmanager
def _opened(file: BinaryFile) -> Iterator[Any]:
    import openpyxl  # a heavy import, needed for workbooks alone

    try:
        with opened_zip(file, max_members=MAX_MEMBERS) as archive:
            members = safe_members(
                archive, max_members=MAX_MEMBERS, max_ratio=MAX_RATIO, max_total_bytes=MAX_TOTAL_BYTES
            )
            # Read into memory as a whole by openpyxl; sheets are streamed.
            for info in members:
                if "/worksheets/" not in info.filename and info.file_size > MAX_STRINGS_BYTES:
                    raise SourceError(
                        _(
                            "The workbook's “%(shortened)s” is too large; save it as CSV.",
                            shortened=shortened(info.filename),
                        )
                    )
            workbook = openpyxl.load_workbook(archive.fp, read_only=True, data_only=True, keep_links=False)
            try:
                yield workbook
            finally:
                workbook.close()
    except _DAMAGED as fault:
        raise SourceError(
            _(
                "The workbook cannot be read (%(value)s); open it in a spreadsheet program and save it again "
                "as .xlsx, or as CSV (UTF-8).",
                value=shortened(str(fault)) or type(fault).__name__,
            )
        ) from fault


def _worksheets(workbook: Any) -> list[Any]:
    """Without sheets that hold a chart alone."""
    return [sheet for sheet in workbook.worksheets if hasattr(sheet, "_worksheet_path")]


def _sheet(workbook: Any, name: str) -> Any:
    sheets = _worksheets(workbook)
    if not sheets:
        raise SourceError(_("The workbook has no sheet with cells."))
    if not name:
        return next((sheet for sheet in sheets if sheet.sheet_state == "visible"), sheets[0])
    found = next((sheet for sheet in sheets if sheet.title == name), None)
    if found is None:
        listed = ", ".join(f"“{shortened(sheet.title, 40)}”" for sheet in sheets[:20])
        raise SourceError(
            _(
                "The workbook has no sheet “%(shortened)s”; choose one of %(listed)s.",
                shortened=shortened(name),
                listed=listed,
            )
        )
    return found


def _rows(workbook: Any, sheet: Any, max_cells: int) -> Iterator[tuple[int, list[str], dict[int, str]]]:
    """(row number, texts, position -> what is wrong there) of the rows that the sheet has, as far as they have cells.

    By the parser beneath openpyxl's read-only sheets: those fill what is missing, a million rows for one stray cell,
    and cannot tell a formula without value from an empty cell.
    """
    from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            if cell["value"] is None and element.find(FORMULA_TAG) is not None:
                cell["data_type"] = "f"
            return cell

    with workbook._archive.open(sheet._worksheet_path) as source:
        parser = Parser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=workbook.epoch,
            date_formats=workbook._date_formats,
            timedelta_formats=workbook._timedelta_formats,
        )
        n_cells = 0
        for line, cells in parser.parse():
            texts: list[str] = []
            faults: dict[int, str] = {}
            n_cells += len(cells)
            if n_cells > max_cells:
                raise SourceError(
                    _("the sheet has more than %(max_cells)s cells; import it in parts.", max_cells=f"{max_cells:,}"),
                    line=line,
                )
            for cell in cells:
                position = cell["column"] - 1
                text, problem = _text_of(cell, line)
                if not text and not problem:
                    continue
                if position >= len(texts):
                    texts += [""] * (position + 1 - len(texts))
                texts[position] = text
                if problem:
                    faults[position] = problem
            yield line, texts, faults


def _text_of(cell: dict[str, Any], line: int) -> tuple[str, str]:
    """(text, what is wrong with it)."""
    value, kind = cell["value"], cell["data_type"]
    if kind == "f":
        return "", "the formula here has no computed value; open the workbook in a spreadsheet program and save it."
    if value is None:
        return "", ""
    if kind == "e":
        text = str(value)
        return text, f"the cell holds the error {shortened(text)}; correct its formula, or empty it."
    if isinstance(value, str):
        text = _unescaped(value) if "_x" in value else value
        if _UNSTORABLE.search(text):
            raise SourceError(
                _("the cell has a NUL character or half of a surrogate pair, which is no text; remove it."),
                line=line,
                column=cell["column"],
            )
        return text, ""
    if isinstance(value, float) and abs(value) >= 1e15 and float(format(value, ".15g")) != value:
        return _plain(
            value
        ), "the number has more digits than a spreadsheet keeps; format the column as text, and fill it anew."
    return _plain(value), ""


def _unescaped(text: str) -> str:
    """`_x000D_` is how a workbook writes a character that XML lacks; two escaped surrogates are one character."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    if not _UNSTORABLE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # Whole numbers without a point, and no more digits than Excel has.
        text = format(value, ".15g")
        return format(value, ".0f") if value.is_integer() and abs(value) < 1e15 else text
    if isinstance(value, datetime.datetime):
        if value.time() == datetime.time():
            return value.date().isoformat()
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _merged_cells(workbook: Any, sheet: Any) -> tuple[int, str]:
    """How many ranges, and the first: read from the bytes, since the parser would build an object for each."""
    n, first, rest = 0, "", b""
    with workbook._archive.open(sheet._worksheet_path) as source:
        while data := source.read(_SCANNED):
            text = rest + data
            found = _MERGED.findall(text)
            if found:
                n += len(found)
                first = first or found[0].decode()
            # An element may be cut; one that was counted must not be counted again.
            end = max((match.end() for match in _MERGED.finditer(text)), default=0)
            rest = text[max(end, len(text) - 200) :]
    return n, first
