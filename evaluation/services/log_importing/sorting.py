"""The records of a log, each given to an item and a run, and the report of what became of them.

The preview and the import go through the same sorter, so that what was seen is what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from annotate.answers import FieldSpec
from annotate.exceptions import ImportRefused
from annotate.models import ItemSetEntry
from annotate.sources.errors import shortened
from annotate.wording import _
from evaluation.clients.logs import FORMATS, OVER_ALL_REPEATS, Found, ItemIndex, LogRecord, Notes
from evaluation.models import LogImport, Prediction, Run
from evaluation.services.log_importing.options import options_of

# Of each kind a report shows so many with their places; it always has the number of all.
FIRST = 20
# A log with more is one whose filters or repeats are no such things.
MAX_RUNS = 100
MAX_NAME = 120
OTHER_TEXT = _("the log has another text than the item")
# What lm-evaluation-harness calls the filter that takes a completion as it is.
NO_FILTER = ("", "none")

Key = tuple[str, str, int]


@dataclass
class Channel:
    """What becomes one run: the answers of one model through one filter in one repeat."""

    number: int
    model: str
    filter: str
    repeat: int
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Sorted:
    """A record that becomes a prediction of its channel's run."""

    channel: Channel
    revision_id: int
    position: int
    record: LogRecord
    outcome: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    position: int
    revision_id: int
    language: str
    external_id: str
    asked: FieldSpec


class Sorter:
    """Gives the records of one log to the items of its set. Use it once."""

    def __init__(self, job: LogImport) -> None:
        from evaluation.services.prompting import asking_of  # Jinja2: only where a log is read

        self.notes = Notes()
        self.channels: dict[Key, Channel] = {}
        self._job = job
        self._options = options_of(job)
        self._asking = asking_of(Run(project=job.project, stage_version=job.stage_version, strategy="zero_shot"))
        self._index = ItemIndex(job.stage_version.shown_keys)
        self._entries = list(self._read_items())
        self._counts: Counter[str] = Counter()
        self._first: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("unmatched", "changed", "duplicates", "errored")
        }
        # (channel, item) -> what was kept of it, and the line where it stands.
        self._kept: dict[tuple[int, int], tuple[int, int]] = {}

    def sort(self, records: Iterable[LogRecord]) -> Iterator[Sorted]:
        """The records that are kept, in the file's order. Raises ImportRefused for a log of too many runs."""
        from evaluation.services.log_importing.outcomes import outcome_of

        for record in records:
            self._counts["records"] += 1
            found = self._index.find(record)
            if found.item is None:
                self._tell("unmatched", record, reason=found.reason)
                continue
            entry = self._entries[found.item]
            if found.changed:
                self._tell("changed", record, item=entry.external_id)
                if not self._options.accept_changed:
                    continue
            channel = self._channel(record)
            if self._is_repeated(channel, found.item, record, entry):
                continue
            self._count_match(found)
            outcome = outcome_of(record, entry.asked, entry.language or self._asking.language)
            if found.changed:
                outcome["note"] = f"{outcome['note']}; {OTHER_TEXT}"[:500] if outcome["note"] else OTHER_TEXT
            if record.error:
                self._tell("errored", record, item=entry.external_id, error=shortened(record.error, 200))
            channel.outcomes[outcome["state"]] += 1
            yield Sorted(channel, entry.revision_id, entry.position, record, outcome)

    def report(self) -> dict[str, Any]:
        """What became of the records so far, as JSON.

        records = matched + unmatched + duplicates + changed, where changed ones are counted in matched, too, if ids
        count for them. errored: those of matched that stand for a failure.
        """
        counts = {
            name: self._counts[name]
            for name in (
                *("records", "matched", "by_id", "by_hash", "by_text", "unchecked", "errored"),
                *("unmatched", "changed", "duplicates", "duplicates_that_differ"),
            )
        }
        return counts | {
            "file": self._job.source.name,
            "format": FORMATS[self._options.source.format],
            "accept_changed": self._options.accept_changed,
            "n_items": len(self._index),
            "needs_model": any(not channel.model for channel in self.channels.values()),
            "first": self._first,
            "notes": list(self.notes),
            "runs": [self._run_of(channel) for channel in self.channels.values()],
        }

    def name_of(self, channel: Channel, number: int = 1) -> str:
        """The name of its run, once all records were read; number: of several runs that would be called the same."""
        models, filters, repeats = ({key[place] for key in self.channels} for place in range(3))
        name = self._options.name or channel.model or self._job.source.name
        parts = [channel.model] if self._options.name and len(models) > 1 else []
        if channel.filter not in NO_FILTER or (len(filters) > 1 and channel.filter):
            parts.append(channel.filter)
        if channel.repeat == OVER_ALL_REPEATS:
            parts.append("over all repeats")
        elif len(repeats) > 1:
            parts.append(f"repeat {channel.repeat}")
        if number > 1:
            parts.append(f"no. {number}")
        told = f" ({', '.join(parts)})" if parts else ""
        # What tells the runs of one log apart stands at the end, and must not be cut.
        return f"{name[: MAX_NAME - len(told)]}{told}" if len(told) < MAX_NAME - 20 else f"{name} {told}"[:MAX_NAME]

    def _read_items(self) -> Iterator[_Entry]:
        entries = ItemSetEntry.objects.filter(item_set=self._job.item_set).order_by("position")
        columns = ("position", "revision_id", "revision__language", "revision__item__external_id")
        rows = entries.values_list(*columns, "revision__content", "revision__content_hash")
        for position, revision_id, language, external_id, content, content_hash in rows.iterator(chunk_size=2_000):
            self._index.add(external_id=external_id, content=content, content_hash=content_hash)
            asked = self._asking.field_for(content, language)
            yield _Entry(position, revision_id, language, external_id, asked)

    def _channel(self, record: LogRecord) -> Channel:
        key = ((record.model or self._options.model)[:200], record.filter[:200], record.repeat)
        if key not in self.channels:
            if len(self.channels) == MAX_RUNS:
                raise ImportRefused(
                    _(
                        "Nothing was imported: the log would become more than %(max_runs)s runs, one for each model, "
                        "filter and repeat it names. Is one of these columns something else?",
                        max_runs=MAX_RUNS,
                    )
                )
            self.channels[key] = Channel(len(self.channels), *key)
        return self.channels[key]

    def _is_repeated(self, channel: Channel, item: int, record: LogRecord, entry: _Entry) -> bool:
        """Whether this run has an answer to the item already; the first one is kept."""
        place = (channel.number, item)
        said = hash((record.completion, record.answers, record.error))
        if place not in self._kept:
            self._kept[place] = (said, record.line)
            return False
        earlier, line = self._kept[place]
        if said != earlier:
            self._counts["duplicates_that_differ"] += 1
        self._tell("duplicates", record, item=entry.external_id, other_line=line, differs=said != earlier)
        return True

    def _count_match(self, found: Found) -> None:
        self._counts["matched"] += 1
        self._counts[f"by_{found.how}"] += 1
        self._counts["unchecked"] += not found.is_checked

    def _tell(self, kind: str, record: LogRecord, **more: Any) -> None:
        self._counts[kind] += 1
        if len(self._first[kind]) < FIRST:
            text = next((text for text in record.texts if text.strip()), record.completion)
            self._first[kind].append(
                {
                    "line": record.line,
                    "row": record.number,
                    "id": shortened(record.external_id or ""),
                    "excerpt": shortened(" ".join(text.split()), 120),
                }
                | more
            )

    def _run_of(self, channel: Channel) -> dict[str, Any]:
        n_predictions = channel.outcomes.total()
        return {
            "name": self.name_of(channel),
            "model": channel.model,
            "filter": channel.filter,
            "repeat": channel.repeat,
            "predictions": n_predictions,
            "missing": len(self._index) - n_predictions,
            # Pairs, for PostgreSQL would sort the keys of an object.
            "outcomes": [
                [str(state), channel.outcomes[state]] for state in Prediction.State if channel.outcomes[state]
            ],
        }
