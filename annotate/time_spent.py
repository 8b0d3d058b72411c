"""How long answers took, where that is known of some and not of others. Pure: no Django.

Unknown is not nought: an imported file may have no times, a browser without scripts measures none, and a program may
tell none. Whoever reads a sum hears how many answers it leaves out, and why.
"""

from __future__ import annotations

from typing import NamedTuple

from annotate.wording import Words, listed, ngettext


class TimeSpent(NamedTuple):
    """seconds: of the answers whose time is known; None: of none of them.

    n_imported, n_unmeasured: answers that it leaves out, imported without a time, or given here with nothing to
    measure it. A changed answer without a time is left out once, however often it was changed.
    """

    seconds: int | None = 0
    n_imported: int = 0
    n_unmeasured: int = 0

    @classmethod
    def of(cls, seconds: int | None, n_unknown: int, n_imported: int) -> TimeSpent:
        """From a sum that is 0 or None where there was nothing to add."""
        nothing = None if n_unknown else 0
        return cls(seconds or nothing, n_imported, n_unknown - n_imported)

    @property
    def n_unknown(self) -> int:
        return self.n_imported + self.n_unmeasured

    @property
    def why(self) -> Words:
        """What is left out, and why; empty where nothing is."""
        parts = []
        if self.n_imported:
            parts.append(
                ngettext(
                    "without a time: %(n)s imported answer",
                    "without a time: %(n)s imported answers",
                    self.n_imported,
                    n=f"{self.n_imported:,}",
                )
            )
        if self.n_unmeasured:
            parts.append(
                ngettext(
                    "not timed: %(n)s answer",
                    "not timed: %(n)s answers",
                    self.n_unmeasured,
                    n=f"{self.n_unmeasured:,}",
                )
            )
        return listed(parts, " · ")
