"""How a file is read and what its columns mean, as an import job stores it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotate.models import ImportJob
from annotate.sources.detect import Detected
from annotate.sources.mapping import Mapping
from annotate.sources.sql_tables import Query
from annotate.wording import _

# What several answers of one person to one item are.
REPEATS = {
    "times": _("versions of it, the latest in time counts; refused without times"),
    "order": _("versions of it, the last in the file counts"),
    "separate": _("answers of further people, called NAME (2)"),
}


@dataclass(frozen=True, slots=True)
class Join:
    """Tables of a second file become content: `column` names each record's table, shown under `key`.

    id_column: the tables' own names, guessed if None; a ZIP has file names instead.
    """

    column: str
    key: str = "table"
    id_column: str | None = None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """source: how the file is read. new_revisions: known items become what the file says they are now.

    query: the second file is a database, and this is what each record asks of it; without a column nothing is asked.

    Of answers: repeats is a key of REPEATS; ground_truth_as_gold: what the file marks as right becomes gold;
    stage_title: of the stage that is made for them where none is chosen.
    """

    source: Detected
    join: Join | None = None
    new_revisions: bool = False
    repeats: str = "times"
    ground_truth_as_gold: bool = False
    stage_title: str = ""
    query: Query | None = None

    @property
    def asked(self) -> Query | None:
        return self.query if self.query and self.query.column else None

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source.to_json(),
            "join": asdict(self.join) if self.join else None,
            "new_revisions": self.new_revisions,
            "repeats": self.repeats,
            "ground_truth_as_gold": self.ground_truth_as_gold,
            "stage_title": self.stage_title,
            "query": asdict(self.query) if self.query else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ImportOptions:
        join, query = data.get("join"), data.get("query")
        return cls(
            source=Detected.from_json(data["source"]),
            join=Join(**join) if join else None,
            new_revisions=bool(data.get("new_revisions")),
            repeats=data["repeats"] if data.get("repeats") in REPEATS else "times",
            ground_truth_as_gold=bool(data.get("ground_truth_as_gold")),
            stage_title=str(data.get("stage_title") or ""),
            query=Query(**query) if query else None,
        )


def options_of(job: ImportJob) -> ImportOptions:
    return ImportOptions.from_json(job.options)


def mapping_of(job: ImportJob) -> Mapping:
    return Mapping.from_json(job.mapping)
