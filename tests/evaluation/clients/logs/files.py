"""Short ways to read a log that a test writes down."""

from __future__ import annotations

import io
import json
from typing import Any

from annotate.sources.errors import SourceError
from evaluation.clients.logs import LogRecord, Notes, detect_log, read_log


def lines(*records: dict[str, Any]) -> bytes:
    """JSON Lines as logs have them: NaN as it comes, text as it is."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def read(data: bytes, name: str = "log.jsonl", *, id_field: str = "", notes: Notes | None = None) -> list[LogRecord]:
    file = io.BytesIO(data)
    source = detect_log(file, name)
    source = type(source)(source.format, source.detected, id_field)
    return list(read_log(file, source, Notes() if notes is None else notes))


def format_of(data: bytes, name: str = "log.jsonl") -> str:
    return detect_log(io.BytesIO(data), name).format


def refusal(data: bytes, name: str = "log.jsonl", **asked: Any) -> SourceError:
    try:
        read(data, name, **asked)
    except SourceError as fault:
        return fault
    raise AssertionError("the log was read")
