"""What can be exported, and by whom. The model side registers its own kinds when Django starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from annotate.models import Project
from annotate.services.exporting import rows
from annotate.services.exporting.answers import answer_rows, n_answer_rows
from annotate.services.exporting.formats import FORMATS, Format, Row, Tick
from annotate.services.exporting.tools import ANSWER_FORMATS, ITEM_FORMATS
from annotate.wording import _

Rows = Callable[..., Iterator[Row]]


@dataclass(frozen=True)
class Kind:
    """One thing to export. rows(project=...) yields the head first; n_rows counts without it.

    is_for_admins: it shows what readers of results do not see.
    write: in place of rows, what makes a file that is no table; `formats` then are its own.
    """

    name: str
    title: str
    words: str
    is_for_admins: bool
    n_rows: Callable[[Project], int]
    rows: Rows | None = None
    write: Callable[[Project, IO[bytes], Tick], dict[str, Any]] | None = None
    formats: tuple[Format, ...] = tuple(FORMATS.values())

    def format(self, name: str) -> Format | None:
        return next((one for one in self.formats if one.name == name), None)

    def written(self, project: Project, form: Format, file: IO[bytes], tick: Tick) -> dict[str, Any]:
        """Write the file; what there is to say of it."""
        if self.write is not None:
            return self.write(project, file, tick)
        if form.whole is not None:
            return form.whole(project, file, tick)
        assert self.rows is not None
        assert form.write is not None
        return form.write(self.rows(project=project), file, tick)


KINDS: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    """Offer these, in this order, after those that are known."""
    for kind in kinds:
        KINDS[kind.name] = kind


def kinds_for(*, may_run: bool) -> Iterable[Kind]:
    """Those that admins (may_run), or other readers of a project, may have."""
    return [kind for kind in KINDS.values() if may_run or not kind.is_for_admins]


register(
    Kind(
        "answers",
        _("Answers"),
        _(
            "One row per revision of an answer, by pseudonym, and per item skipped, expired or "
            "withdrawn: what was given, when, in how many seconds, and how it counts."
        ),
        True,
        n_answer_rows,
        answer_rows,
        formats=(*FORMATS.values(), *ANSWER_FORMATS),
    ),
    Kind(
        "items",
        _("Items"),
        _("One row per revision of an item: content, strata, every gold label."),
        False,
        rows.n_item_rows,
        rows.item_rows,
        formats=(*FORMATS.values(), *ITEM_FORMATS),
    ),
    Kind(
        "resolutions",
        _("Votes"),
        _("One row per item and field: how the vote ended, and by how much."),
        False,
        rows.n_resolution_rows,
        rows.resolution_rows,
    ),
    Kind(
        "exclusions",
        _("Exclusions"),
        _("One row per decision to leave answers out, lifted ones included."),
        True,
        rows.n_exclusion_rows,
        rows.exclusion_rows,
    ),
    Kind(
        "history",
        _("History"),
        _("One row per event: who did what to which row, and when. By pseudonym; nobody can change it."),
        True,
        rows.n_history_rows,
        rows.history_rows,
    ),
)
