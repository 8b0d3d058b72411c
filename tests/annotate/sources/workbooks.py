"""Workbooks and archives that a test describes in a few words."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl


def workbook(*sheets: tuple[str, list[list[Any]]], change: Callable[[Any], None] | None = None) -> bytes:
    """Sheets of rows as openpyxl writes them; `change` gets the workbook before it is saved."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if change is not None:
        change(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def with_part(data: bytes, path: str, change: Callable[[str], str]) -> bytes:
    """The same archive with one of its parts changed, as another program might have written it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after:
        for info in before.infolist():
            part = before.read(info)
            after.writestr(info.filename, change(part.decode()) if info.filename == path else part)
    return buffer.getvalue()


def with_cell(data: bytes, coordinate: str, xml: str) -> bytes:
    """The first sheet with one of its cells as this XML."""
    pattern = re.compile(rf'<c r="{coordinate}".*?(?:</c>|/>)', re.DOTALL)
    return with_part(data, "xl/worksheets/sheet1.xml", lambda part: pattern.sub(lambda _: xml, part, count=1))


def zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def words_only(value: object) -> str:
    """For the ids of parametrized tests: archives hold the time at which they were made, and ids must not."""
    return value if isinstance(value, str) else type(value).__name__
