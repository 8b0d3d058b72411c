"""A ZIP of JSON files: each holds one object, a list of objects, or JSON Lines; its path becomes columns.

FILE_COLUMN is the path, NAME_COLUMN the file's name without ending, and each folder above it a column of its own:
`en/claims/7.json` has (file) en/claims/7.json, (folder 1) en, (folder 2) claims and (name) 7.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from annotate.sources.archives import opened_zip, safe_members, unpacked
from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_array import read_json
from annotate.sources.json_window import JsonWindow
from annotate.sources.jsonl import read_jsonl
from annotate.sources.records import Limits, Record
from annotate.wording import _

FILE_COLUMN = "(file)"
NAME_COLUMN = "(name)"
MAX_MEMBERS = 100_000
MAX_TOTAL_BYTES = 1_000_000_000
SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})


def read_json_files(file: BinaryFile, *, limits: Limits) -> Iterator[Record]:
    """The records of all files, in the order of their paths; `line` is where the record begins in its file.

    Raises SourceError that names the file, for the first that cannot be read.
    """
    number = 0
    with opened_zip(file, max_members=MAX_MEMBERS) as archive:
        members = safe_members(archive, suffixes=SUFFIXES, max_members=MAX_MEMBERS, max_total_bytes=MAX_TOTAL_BYTES)
        if not members:
            raise SourceError(_("The ZIP holds no .json and no .jsonl file."))
        for info in sorted(members, key=lambda member: member.filename):
            places = _places(info.filename)
            try:
                for record in _records(io.BytesIO(unpacked(archive, info)), info.filename, limits):
                    number += 1
                    taken = {column for column, _ in record.values}
                    own = [(column, text) for column, text in places if column not in taken]
                    yield Record(number, record.line, [*record.values, *own])
            except SourceError as fault:
                if fault.message.startswith("In “"):
                    raise
                raise SourceError(
                    _("In “%(shortened)s”: %(message)s", shortened=shortened(info.filename, 120), message=fault.message)
                ) from fault


def _places(path: str) -> list[tuple[str, str]]:
    *folders, _ = PurePosixPath(path).parts
    return [
        (FILE_COLUMN, path),
        *((f"(folder {depth})", folder) for depth, folder in enumerate(folders, start=1)),
        (NAME_COLUMN, PurePosixPath(path).stem),
    ]


def _records(file: io.BytesIO, name: str, limits: Limits) -> Iterator[Record]:
    if not name.lower().endswith(".json"):
        yield from read_jsonl(file, encoding="utf-8", limits=limits)
        return
    window = JsonWindow(file, "utf-8", limits)
    if window.peek() != "{":
        yield from read_json(file, encoding="utf-8", limits=limits)
        return
    # One object is one record here, whatever lists it has.
    value: Any = window.value(row=1)
    window.expect_end()
    yield Record(1, 1, list(value.items()))
