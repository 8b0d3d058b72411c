"""Everything that is wrong with a file, in the form in which a job stores it and a page lists it."""

from __future__ import annotations

from typing import Any

from annotate.exceptions import ImportRefused
from annotate.sources.errors import SourceError

# A file of 200,000 faulty rows must not make a report of 200,000 lines.
MAX_SHOWN = 100


class Problems:
    """The first MAX_SHOWN problems with their places, and how many there are in all."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.n = 0

    def add(self, fault: SourceError) -> None:
        self.n += 1
        if len(self.shown) < MAX_SHOWN:
            self.shown.append(fault.as_problem())

    def add_others(self, n: int) -> None:
        """Count faults of which `add` was told only the first."""
        self.n += n

    def add_all(self, others: Problems) -> None:
        self.n += others.n
        self.shown = [*self.shown, *others.shown][:MAX_SHOWN]

    def as_refusal(self) -> ImportRefused:
        words = "a problem" if self.n == 1 else f"{self.n:,} problems"
        more = f" The first {len(self.shown)} are listed." if self.n > len(self.shown) else ""
        return ImportRefused(f"Nothing was imported: the file has {words}.{more}", self.shown)

    def raise_if_any(self) -> None:
        if self.n:
            raise self.as_refusal()


def refusal(fault: SourceError) -> ImportRefused:
    """One fault that ends everything."""
    return ImportRefused(f"Nothing was imported. {fault.message}", [fault.as_problem()])
