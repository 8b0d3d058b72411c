"""Tables written as text: pasted from a spreadsheet, CSV, Markdown. And one such text of a table."""

import csv
import io
import re
from collections.abc import Sequence

from annotate.answers.meaning.spelling import spelled
from annotate.wording import _

# csv reads a field of at most this many characters, unless told otherwise for the whole process.
MAX_TEXT = 120_000
_RULE = re.compile(r"[ \t|:+=-]*-[ \t|:+=-]*")
_SEPARATOR = re.compile(r"[,;|]")
_BETWEEN_NAMES = re.compile("[\\s_\u00ad-]+")


class TableTextError(ValueError):
    """Why a text is no table, in words for whoever typed it."""


def header_key(name: str) -> str:
    """Two column names with one key are one column: case, blanks, underscores and hyphens do not count."""
    return _BETWEEN_NAMES.sub("", spelled(name))


def rows_of_text(text: str, n_columns: int | None = None) -> list[list[str]]:
    """The rows of a text, blank lines left out: separated by tabs, else Markdown's bars, else commas or semicolons.

    n_columns: how many are expected; one column needs no separator, and its commas are part of the text.
    Raises TableTextError.
    """
    if len(text) > MAX_TEXT:
        raise TableTextError(_("This table has more than %(max_text)s characters.", max_text=f"{MAX_TEXT:,}"))
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    if "\t" in text:
        return _delimited(text, "\t")
    if all(line.lstrip().startswith("|") for line in lines):
        return [_bar_cells(line) for line in lines if not _RULE.fullmatch(line)]
    if n_columns == 1:
        return _delimited(text, "\t")
    for mark in (",", ";"):
        rows = _delimited(text, mark)
        widths = {len(row) for row in rows}
        if len(widths) == 1 and (widths == {n_columns} if n_columns else widths != {1}):
            return rows
    if n_columns is None:
        return _delimited(text, "\t")
    raise TableTextError(_("Put a tab between cells, and each row on a line of its own."))


def text_of_rows(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    """The columns and rows with tabs between cells, quoted where a cell needs it; an empty cell is none."""
    buffer = io.StringIO(newline="")
    written = [list(columns), *(["" if cell is None else cell for cell in row] for row in rows)]
    # Without a tab in it, a comma or a bar in the only column would be taken for what separates columns.
    is_plain = len(columns) > 1 or all(row[0] and not _SEPARATOR.search(row[0]) for row in written)
    writer = csv.writer(
        buffer, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL if is_plain else csv.QUOTE_ALL
    )
    writer.writerows(written)
    return buffer.getvalue().removesuffix("\n")


def _delimited(text: str, mark: str) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=mark != "\t"))
    except csv.Error as error:
        raise TableTextError(_("This table cannot be read: %(error)s.", error=error)) from error
    return [[cell.strip() for cell in row] for row in rows if row]


def _bar_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]
