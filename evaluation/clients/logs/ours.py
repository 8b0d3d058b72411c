"""Our own log format: one answer a record, in JSONL, JSON, CSV or TSV. docs/logs.md lists the columns.

Columns are found by name. What has another name is the item's content, which tells whether an id means the same item.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record
from annotate.wording import _
from evaluation.clients.logprobs import TokenLogprob, read_logprobs
from evaluation.clients.logs.records import LogRecord, LogSource, Notes, Place, error_of, messages_of, text_of

ID = ("id", "external_id", "item_id", "item")
COMPLETION = ("completion", "response", "output")
PARSED_ANSWER = ("parsed_answer",)
# Many files call the gold label so: it is a model's answer only where there is no completion it could be read from.
ANSWER = ("answer", "prediction")
REPEAT = ("repeat", "epoch")
_SINGLE = (
    *("content_hash", "error", "model", "filter", "finish_reason", "reasoning", "prompt"),
    *("prompt_tokens", "completion_tokens", "logprobs", "latency_ms", "finished_at"),
)
KNOWN = frozenset((*ID, *COMPLETION, *PARSED_ANSWER, *ANSWER, *REPEAT, *_SINGLE))


def read(file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
    """Raises SourceError for a record with neither completion nor answer nor error."""
    others: dict[str, None] = {}
    for record in read_records(file, source.detected, limits):
        found = _read(record, source.id_field, notes)
        others |= dict.fromkeys(found.fields)
        yield found
    if others:
        names = ", ".join(f"“{text_of(name)[:60]}”" for name in list(others)[:20])
        notes.add(f"Read only to recognise items, never as an answer: {names}.")


def _read(record: Record, id_field: str, notes: Notes) -> LogRecord:
    place = Place(record.line, record.number)
    values = dict(record.values)
    id_columns = (id_field,) if id_field else ID
    completion, answer = _present(values, COMPLETION), _present(values, PARSED_ANSWER)
    if completion is None:
        answer = answer or _present(values, ANSWER)
    elif _present(values, ANSWER):
        notes.add(
            "“answer” and “prediction” were not read, because there are completions to read answers from. If they are "
            "what the completions were read as, and no gold labels, call the column “parsed_answer”."
        )
    error = error_of(values.get("error"))
    if completion is None and answer is None and not error:
        raise place.wrong(
            _("there is no completion, no answer and no error: name the columns as docs/logs.md has them."),
            COMPLETION[0],
        )
    said = place.text(values[completion], completion) if completion else ""
    read_as = place.text(values[answer], answer) if answer else ""
    prompt = messages_of(values.get("prompt"))
    repeat = _first(values, REPEAT)
    external_id = _first(values, id_columns)
    return LogRecord(
        number=record.number,
        line=record.line,
        external_id=(place.text(values[external_id], external_id).strip() or None) if external_id else None,
        content_hash=place.text(values.get("content_hash"), "content_hash").strip().lower(),
        fields={name: value for name, value in values.items() if name not in KNOWN and name != id_field},
        texts=tuple(turn["content"] for turn in prompt if turn["role"] == "user"),
        messages=prompt,
        completion=said if completion else read_as,
        reasoning=place.text(values.get("reasoning"), "reasoning"),
        # An answer that is left empty says nothing: then the completion is read.
        answers=(read_as.strip(),) if read_as.strip() else (),
        filter=place.text(values.get("filter"), "filter").strip(),
        repeat=(place.whole(values[repeat], repeat, least=1) or 1) if repeat else 1,
        model=place.text(values.get("model"), "model").strip(),
        finish_reason=place.text(values.get("finish_reason"), "finish_reason").strip(),
        prompt_tokens=place.whole(values.get("prompt_tokens"), "prompt_tokens"),
        completion_tokens=place.whole(values.get("completion_tokens"), "completion_tokens"),
        logprobs=_logprobs(values.get("logprobs"), place),
        latency_ms=place.whole(values.get("latency_ms"), "latency_ms"),
        finished_at=place.moment(values.get("finished_at"), "finished_at"),
        error=error,
    )


def _logprobs(value: object, place: Place) -> list[TokenLogprob] | None:
    """As a run's export has them, or as servers tell them; in a table, as the text of that JSON."""
    told = value
    if isinstance(value, str) and value.strip():
        try:
            told = json.loads(value)
        except (ValueError, RecursionError):
            told = ""
    read = read_logprobs(told)
    if read is None and value not in (None, "", []):
        raise place.wrong(
            _("no log probabilities of tokens: [[token, logprob, [[alternative, logprob]]]]."), "logprobs"
        )
    return read


def _present(values: dict[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in values), None)


def _first(values: dict[str, Any], names: Sequence[str]) -> str | None:
    """The first of these columns that says anything."""
    return next((name for name in names if values.get(name) not in (None, "")), None)
