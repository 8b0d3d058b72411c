"""Short ways to read a file that a test writes down as bytes."""

import io
from dataclasses import replace
from typing import Any

from annotate.sources.detect import Detected, detect
from annotate.sources.errors import SourceError
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record


def read(data: bytes, name: str, *, limits: Limits | None = None, **changes: Any) -> list[Record]:
    """The records as an import would see them, with what was detected changed as said; a given format tells all."""
    file = io.BytesIO(data)
    if "format" in changes:
        detected = Detected(**{"encoding": "utf-8", **changes})
    else:
        detected = replace(detect(file, name), **changes)
    return list(read_records(file, detected, limits or Limits()))


def values(data: bytes, name: str, **changes: Any) -> list[dict[str, Any]]:
    return [dict(record.values) for record in read(data, name, **changes)]


def refusal(data: bytes, name: str, **changes: Any) -> SourceError:
    try:
        read(data, name, **changes)
    except SourceError as error:
        return error
    raise AssertionError("the file was read")


def values_or_refusal(data: bytes, name: str, **changes: Any) -> list[dict[str, Any]] | SourceError:
    """For properties of any file: what was read, or why it was not; any other exception is a fault of ours."""
    try:
        return values(data, name, **changes)
    except SourceError as error:
        return error
