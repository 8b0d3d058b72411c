"""Everything that is wrong with a file, in the form in which a job stores it and a page lists it."""

from __future__ import annotations

from typing import Any

from annotate.exceptions import ImportRefused
from annotate.sources.errors import SourceError
from annotate.wording import _, placed

# A file of 200,000 faulty rows must not make a report of 200,000 lines.
MAX_SHOWN = 100
# Lines that are named of rows with one and the same problem.
MAX_LINES = 5


class Problems:
    """The first MAX_SHOWN different problems with their places; n: how many there are, n_listed: of them in the list.

    One problem of many rows (no value chosen for the label NEI) is listed once, with `n` and the first of its `lines`.
    """

    def __init__(self) -> None:
        self.n = 0
        self.n_listed = 0
        self._groups: dict[tuple[str, str | None], dict[str, Any]] = {}

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [_told(group) for group in self._groups.values()]

    def add(self, fault: SourceError) -> None:
        self.n += 1
        self._add(fault.as_problem() | {"n": 1, "lines": [] if fault.line is None else [fault.line]})

    def add_others(self, n: int) -> None:
        """Count faults of which `add` was told only the first."""
        self.n += n

    def add_all(self, others: Problems) -> None:
        self.n += others.n
        for group in others._groups.values():
            self._add(group)

    def as_refusal(self) -> ImportRefused:
        n = f"{self.n:,}"
        # Not by ngettext: a stored sentence is found again by its pattern, and catalogues keep none of plurals.
        if self.n == 1:
            words = _("Nothing was imported: the file has a problem.")
        elif self.n_listed == self.n:
            words = _("Nothing was imported: the file has %(n)s problems.", n=n)
        else:
            words = _(
                "Nothing was imported: the file has %(n)s problems. The first %(n_listed)s are listed.",
                n=n,
                n_listed=f"{self.n_listed:,}",
            )
        return ImportRefused(words, self.shown)

    def raise_if_any(self) -> None:
        if self.n:
            raise self.as_refusal()

    def _add(self, group: dict[str, Any]) -> None:
        key = (group["problem"], group["field"])
        known = self._groups.get(key)
        if known is not None:
            known["n"] += group["n"]
            known["lines"] = [*known["lines"], *group["lines"]][:MAX_LINES]
        elif len(self._groups) < MAX_SHOWN:
            self._groups[key] = {**group}
        else:
            return
        self.n_listed += group["n"]


def refusal(fault: SourceError) -> ImportRefused:
    """One fault that ends everything."""
    return ImportRefused(_("Nothing was imported. %(message)s", message=fault.message), [fault.as_problem()])


def _told(group: dict[str, Any]) -> dict[str, Any]:
    """The group with a message that says how many rows it is about."""
    if group["n"] == 1:
        return group
    lines = ", ".join(f"{line:,}" for line in group["lines"])
    places = [_("%(n)s rows", n=f"{group['n']:,}")]
    if lines:
        places.append(_("first in lines %(lines)s", lines=lines))
    if group["field"]:
        places.append(_("field “%(field)s”", field=group["field"]))
    return group | {"message": placed(places, group["problem"])}
