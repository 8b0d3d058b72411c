"""What every reader yields, whatever the file's format."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file.

    number: counts records from 1. line: where it begins in the file, from 1. values: (column, value) in file order;
    from CSV and TSV every value is text, from JSON it is what JSON has, with fractions as `FloatLiteral`.
    faults: column -> why its value is none (a spreadsheet's error, NaN); a mapping that uses the column refuses the
    record, any other keeps what is shown in its place.
    """

    number: int
    line: int
    values: list[tuple[str, Any]]
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one record may have: bytes in UTF-8 as written in the file, and levels of nesting.

    tolerant: of JSON written by programs that log what models say; see `decode_json`.
    """

    max_item_bytes: int = 2_000_000
    max_depth: int = 64
    tolerant: bool = False


def columns_of(records: Iterable[Record]) -> list[str]:
    """The columns of the records in order of first appearance: JSON records need not all have the same."""
    return list({column: None for record in records for column, _ in record.values})
