"""How a log is read and what its runs are called, as an import stores it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.sources.detect import Detected
from annotate.sources.errors import SourceError
from annotate.wording import _
from evaluation.clients.logs import FORMATS, LogSource
from evaluation.models import LogImport


@dataclass(frozen=True, slots=True)
class LogOptions:
    """model: of records that do not name theirs. name: what runs are called, by default their model.

    accept_changed: an id counts even where the log has another text than the item.
    """

    source: LogSource
    model: str = ""
    name: str = ""
    accept_changed: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "format": self.source.format,
            "detected": self.source.detected.to_json(),
            "id_field": self.source.id_field,
            "model": self.model,
            "name": self.name,
            "accept_changed": self.accept_changed,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LogOptions:
        """Raises SourceError for a format that no reader knows."""
        if data["format"] not in FORMATS:
            raise SourceError(_("There is no such format of logs."))
        source = LogSource(data["format"], Detected.from_json(data["detected"]), data["id_field"])
        return cls(source, data["model"], data["name"], data["accept_changed"])

    def gives_same_predictions_as(self, other: LogOptions) -> bool:
        """Whether one file gives the same predictions of the same models both ways, whatever the runs are called."""
        mine = (self.source.format, self.source.id_field, self.model, self.accept_changed)
        return mine == (other.source.format, other.source.id_field, other.model, other.accept_changed)


def options_of(job: LogImport) -> LogOptions:
    return LogOptions.from_json(job.options)
