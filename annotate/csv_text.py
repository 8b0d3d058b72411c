"""Rows as CSV text, in two forms: `exact` for programs, `spreadsheet` for eyes; and what a cell says. No Django here.

`exact` holds every value as it is: UTF-8, RFC 4180. `spreadsheet` begins with a byte order mark, so that Excel reads
UTF-8, and puts an apostrophe before what a spreadsheet would run as a formula or round to another number.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

FORMS = ("exact", "spreadsheet")

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?")
# Excel keeps 15 digits: a 19-digit id would come back as another one. Leading zeros it drops.
_MANGLED_NUMBER = re.compile(r"0[0-9]+|[0-9]{16,}")
_CHUNK = 65_536
_PLAIN = frozenset((str, int, float, type(None)))


def spreadsheet_cell(value: object) -> str:
    """The value so that a spreadsheet shows it and does nothing else with it."""
    value = cell(value)
    text = "" if value is None else str(value)
    if _MANGLED_NUMBER.fullmatch(text):
        return f"'{text}"
    # -0.25 is a number, not a formula; with an apostrophe no sum would count it.
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def cell(value: object) -> object:
    """What a cell holds where a row has more than a cell can: truth as yes or no, lists and objects as JSON."""
    if isinstance(value, bool):
        return yes_no(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value


def yes_no(value: bool) -> str:
    return "yes" if value else "no"


def utc(moment: datetime | None) -> str | None:
    """To the millisecond, as 2026-03-01T09:30:00.000Z; an empty cell for what has not happened."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def csv_chunks(rows: Iterable[Sequence[object]], form: str) -> Iterator[bytes]:
    """UTF-8 pieces of some 64 kB: constant memory, whatever the number of rows. None is an empty cell."""
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    for_eyes = form == "spreadsheet"
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    if for_eyes:
        buffer.write("\ufeff")
    for row in rows:
        if for_eyes:
            writer.writerow([spreadsheet_cell(value) for value in row])
        else:
            # Most cells are what the writer takes as it is; a call for each would be a fifth of an export.
            writer.writerow([value if type(value) in _PLAIN else cell(value) for value in row])
        if buffer.tell() >= _CHUNK:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
