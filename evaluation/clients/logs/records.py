"""What every reader of logs yields, whatever program wrote the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from annotate.sources.blocks import plain_text
from annotate.sources.decoding import BinaryFile
from annotate.sources.detect import Detected
from annotate.sources.errors import SourceError
from annotate.sources.records import Limits
from annotate.wording import _
from evaluation.clients.logprobs import TokenLogprob
from evaluation.storable import storable

# A record of a log may hold the whole transcript of an agent, where an item is a page of text at most.
LOG_LIMITS = Limits(max_item_bytes=32_000_000, max_depth=64, tolerant=True)
# The repeat of an answer that a filter drew from all repeats of an item, such as the majority of eight.
OVER_ALL_REPEATS = 0
MAX_NUMBER = 2_147_483_647
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One answer of a model as a log has it, or the error that stands in its place. Every text can be stored.

    number counts records of the file from 1, line is where the record begins, from 1.
    external_id: what the log calls the item; None where it has only a place in some order.
    content_hash: SHA-256 of the item's content by our rule, where the log has it.
    fields: the item's content by name, as far as the log has it.
    texts: what was asked, where the log has it: one of them has the item's headline in it.
    messages: the prompt as the log has it.
    answers: what the log says the completion was read as, the best reading first; ("",): that nothing could be read.
        Without any, the completion is still to be read.
    filter: what was done to the completion before it was scored. repeat: from 1, or OVER_ALL_REPEATS.
    error: why there is no completion; "" if there is one.
    """

    number: int
    line: int
    external_id: str | None
    content_hash: str = ""
    fields: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    texts: tuple[str, ...] = ()
    messages: tuple[dict[str, str], ...] = ()
    completion: str = ""
    reasoning: str = ""
    answers: tuple[str, ...] = ()
    note: str = ""
    filter: str = ""
    repeat: int = 1
    model: str = ""
    server_model: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: Sequence[TokenLogprob] | None = None
    latency_ms: int | None = None
    finished_at: datetime | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LogSource:
    """How a log is read. format: a key of FORMATS. id_field: where in a record the item's id stands, where the format
    leaves that open; "" for the usual names."""

    format: str
    detected: Detected
    id_field: str = ""


class Notes:
    """What a person should know of a log that is no fault of one record; each said once."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}

    def add(self, note: str) -> None:
        self._said[note] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)


class LogReader(Protocol):
    """A reader of one format."""

    def __call__(self, file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
        """Stream the records in the file's order; `file.tell()` tells the progress.

        Raises SourceError with line and field at the first record that cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: gives typed values, or the SourceError that names the place."""

    line: int
    number: int

    def wrong(self, problem: str, field: str | None = None) -> SourceError:
        return SourceError(problem, line=self.line, row=self.number, field=field)

    def text(self, value: object, field: str) -> str:
        """A text or number as text; null as nothing."""
        if isinstance(value, list | dict):
            raise self.wrong(_("a list or an object stands where a text is needed."), field)
        return text_of(value)

    def whole(self, value: object, field: str, *, least: int = 0) -> int | None:
        """A whole number, from text too; None for nothing."""
        text = self.text(value, field).strip()
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not number.is_integer() or not least <= number <= MAX_NUMBER:
            raise self.wrong(_("a whole number from %(least)s on is needed here.", least=least), field)
        return int(number)

    def moment(self, value: object, field: str) -> datetime | None:
        """An ISO 8601 time; one without zone is taken as UTC."""
        text = self.text(value, field).strip()
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError) as fault:
            raise self.wrong(_("a time such as 2026-08-01T10:00:00+00:00 is needed here."), field) from fault

    def mapping(self, value: object, field: str) -> dict[str, Any]:
        """An object; null as an empty one."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(_("an object in { } is needed here."), field)
        return value

    def sequence(self, value: object, field: str) -> list[Any]:
        """A list; null as an empty one."""
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(_("a list in [ ] is needed here."), field)
        return value


def text_of(value: object) -> str:
    """A JSON value as text that every database takes: numbers as they were written, null as nothing."""
    return storable(plain_text(value))


def error_of(value: object) -> str:
    """What a log says went wrong, as a text or an object with a message; "" where nothing did."""
    if not value:
        return ""
    said = value.get("message") if isinstance(value, dict) else value
    return text_of(said or value).strip()


def messages_of(value: object) -> tuple[dict[str, str], ...]:
    """A prompt as turns of a chat: a text is what the user says."""
    if isinstance(value, list):
        turns = [turn for turn in value if isinstance(turn, dict)]
        return tuple({"role": text_of(turn.get("role")), "content": spoken(turn.get("content"))} for turn in turns)
    text = text_of(value)
    return ({"role": "user", "content": text},) if text else ()


def spoken(content: object) -> str:
    """The text of a message, whose content is a text or a list of parts; what is no text is named."""
    if not isinstance(content, list):
        return text_of(content)
    parts = []
    for part in content:
        if not isinstance(part, dict):
            parts.append(text_of(part))
        elif "text" in part:
            parts.append(text_of(part["text"]))
        elif part.get("type") != "reasoning":
            parts.append(f"[{text_of(part.get('type')) or 'no text'}]")
    return "\n".join(parts)


def reading_of_letter(letter: str, choices: Sequence[str]) -> tuple[str, ...]:
    """What a letter stands for among these choices, then the letter itself; () if it is none of theirs."""
    place = ord(letter) - ord("A") if len(letter) == 1 and letter.isascii() else -1
    return (choices[place], letter) if 0 <= place < len(choices) else ()
