"""CSV and TSV, with what spreadsheets and scripts make of them."""

import csv
from collections.abc import Iterator
from typing import Any

from annotate.sources.decoding import BinaryFile, is_larger, text_lines, too_large
from annotate.sources.errors import SourceError, shortened
from annotate.sources.records import Limits, Record
from annotate.wording import _

DELIMITERS = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("vertical bar")}
NEWLINES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


def csv_options(*, delimiter: str, quoting: bool, backslash_escapes: bool) -> dict[str, Any]:
    """Arguments of csv.reader. Strict, or an unbalanced quote would swallow the following rows without a word."""
    return {
        "delimiter": delimiter,
        "quotechar": '"' if quoting else None,
        "quoting": csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        "escapechar": "\\" if backslash_escapes else None,
        "doublequote": True,
        "strict": True,
    }


def read_delimited(
    file: BinaryFile,
    *,
    encoding: str,
    delimiter: str,
    has_header: bool,
    newline: str,
    quoting: bool,
    backslash_escapes: bool,
    limits: Limits,
) -> Iterator[Record]:
    """Rows as records; every value is text. Rows without any content (blank lines, `,,,`) are passed over.

    Columns without a name, and all of a file without header, are called column_1, column_2 ...
    Raises SourceError: an open quote, a row of another width than the header, a column name used twice.
    """
    # The csv module's limit on a cell is one global number, 128 kB at first; it is only ever raised, so that two
    # imports with different limits do not disturb each other. The item's own limit is checked below.
    if csv.field_size_limit() < limits.max_item_bytes:
        csv.field_size_limit(limits.max_item_bytes)
    split_at = "\r" if newline == "\r" else "\n"
    lines = text_lines(file, encoding, max_bytes=limits.max_item_bytes, newline=split_at)
    reader = csv.reader(lines, **csv_options(delimiter=delimiter, quoting=quoting, backslash_escapes=backslash_escapes))
    columns: list[str] = []
    number = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as fault:
            raise _unreadable(str(fault), line, reader.line_num, quoting, limits) from fault
        if cells is None:
            return
        if not any(cells) or (len(cells) == 1 and cells[0].isspace()):
            continue
        if not columns:
            columns = column_names(cells, line=line) if has_header else column_names([""] * len(cells), line=line)
            if has_header:
                continue
        number += 1
        if len(cells) != len(columns):
            raise _wrong_width(len(cells), len(columns), line=line, row=number, has_header=has_header)
        if sum(map(len, cells)) * 4 > limits.max_item_bytes and is_larger("".join(cells), limits.max_item_bytes):
            raise too_large(limits.max_item_bytes, line=line, row=number)
        yield Record(number, line, list(zip(columns, cells, strict=True)))


def column_names(cells: list[str], *, line: int) -> list[str]:
    """The header's names without surrounding white space; a nameless column (as pandas writes) gets a number."""
    names = [cell.strip() or f"column_{position}" for position, cell in enumerate(cells, start=1)]
    places: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in places:
            raise SourceError(
                _(
                    "columns %(places)s and %(position)s have the same name; rename one of them.",
                    places=f"{places[name]:,}",
                    position=f"{position:,}",
                ),
                line=line,
                field=name,
            )
        places[name] = position
    return names


def _wrong_width(n_cells: int, n_columns: int, *, line: int, row: int, has_header: bool) -> SourceError:
    reference = _("the header") if has_header else _("the first row")
    likely = (
        _("a delimiter inside a cell needs quotes around the cell") if n_cells > n_columns else _("cells are missing")
    )
    return SourceError(
        _(
            "%(n_cells)s cells, but %(reference)s has %(n_columns)s; %(likely)s, or the delimiter is another one.",
            n_cells=f"{n_cells:,}",
            reference=reference,
            n_columns=f"{n_columns:,}",
            likely=likely,
        ),
        line=line,
        row=row,
    )


def _unreadable(reason: str, line: int, line_of_fault: int, quoting: bool, limits: Limits) -> SourceError:
    if "field larger" in reason:
        return too_large(limits.max_item_bytes, line=line)
    if "new-line character" in reason:
        return SourceError(
            _("a carriage return stands in a cell without quotes; put the cell in quotes or choose other line ends."),
            line=line,
        )
    if quoting:
        noticed = (
            _(" (noticed in line %(line_of_fault)s)", line_of_fault=f"{line_of_fault:,}")
            if line_of_fault > line
            else ""
        )
        return SourceError(
            _(
                "the row that begins here has an unbalanced quote%(noticed)s; close it, write a quote inside "
                "a cell twice, or say that quotes are ordinary characters.",
                noticed=noticed,
            ),
            line=line,
        )
    return SourceError(
        _("this row cannot be read (%(shortened)s); correct it and try again.", shortened=shortened(reason)), line=line
    )
