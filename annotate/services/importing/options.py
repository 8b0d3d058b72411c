"""How a file is read and what its columns mean, as an import job stores it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotate.models import ImportJob
from annotate.sources.detect import Detected
from annotate.sources.mapping import Mapping


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
    """source: how the file is read. new_revisions: known items become what the file says they are now."""

    source: Detected
    join: Join | None = None
    new_revisions: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source.to_json(),
            "join": asdict(self.join) if self.join else None,
            "new_revisions": self.new_revisions,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ImportOptions:
        join = data.get("join")
        return cls(
            source=Detected.from_json(data["source"]),
            join=Join(**join) if join else None,
            new_revisions=bool(data.get("new_revisions")),
        )


def options_of(job: ImportJob) -> ImportOptions:
    return ImportOptions.from_json(job.options)


def mapping_of(job: ImportJob) -> Mapping:
    return Mapping.from_json(job.mapping)
