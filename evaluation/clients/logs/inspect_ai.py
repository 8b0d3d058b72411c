"""Logs of inspect_ai in JSON, as `inspect log convert --to json` or `inspect log dump` writes them.

Each epoch of a sample is a repeat. Scores are not taken over: answers are scored here like all others. Only where the
sample has choices, the letter that a scorer read, or that the completion gives, says which one was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError
from annotate.sources.json_window import JsonWindow
from annotate.sources.records import Limits, Record
from annotate.wording import _
from evaluation.clients.logprobs import read_logprobs
from evaluation.clients.logs.records import (
    LogRecord,
    LogSource,
    Notes,
    Place,
    error_of,
    messages_of,
    reading_of_letter,
    spoken,
    text_of,
)

# How inspect_ai calls the ends of completions -> how chat servers do, by which they are told apart here.
FINISH_REASONS = {"max_tokens": "length", "model_length": "length"}
_ATTACHMENT = "attachment://"
_LETTER = re.compile(r"ANSWER\s{0,5}:\s{0,5}\$?\(?([A-Za-z])(?![A-Za-z])", re.IGNORECASE)


def read(file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
    """Raises SourceError for a log without samples. Its head is read first, for it may stand behind them."""
    encoding = source.detected.encoding
    head = _head(JsonWindow(file, encoding, limits))
    evaluation = head.get("eval")
    model = text_of(evaluation.get("model")) if isinstance(evaluation, dict) else ""
    if head.get("status") != "success":
        status = text_of(head.get("status")) or "no state"
        notes.add(f"The log says that its evaluation ended as “{status[:40]}”: items may be missing.")
    is_empty = True
    window = JsonWindow(file, encoding, limits)
    for key, __ in window.members():
        if key == "samples" and window.peek() == "[":
            for record in window.records():
                is_empty = False
                yield _sample(record, model)
        else:
            window.value(row=None)
    window.expect_end()
    if is_empty:
        raise SourceError(
            _("The log holds no samples: it was written without them, or its evaluation ended before the first.")
        )


def _head(window: JsonWindow) -> dict[str, Any]:
    head: dict[str, Any] = {}
    for key, _line in window.members():
        if key == "samples" and window.peek() == "[":
            for _record in window.records():
                pass
            continue
        value = window.value(row=None)
        if key in ("eval", "status"):
            head[key] = value
        if len(head) == 2:
            break
    return head


def _sample(record: Record, model: str) -> LogRecord:
    place = Place(record.line, record.number)
    values = dict(record.values)
    output = place.mapping(values.get("output"), "output")
    resolve = _Attachments(place.mapping(values.get("attachments"), "attachments"))
    message = _first_message(output)
    # Older logs have the completion in the message only.
    said = output["completion"] if output.get("completion") is not None else message.get("content")
    completion = spoken(resolve(said))
    usage = place.mapping(output.get("usage"), "output.usage")
    asked = resolve(values.get("input"))
    stop = text_of(_first_choice(output).get("stop_reason"))
    return LogRecord(
        number=record.number,
        line=record.line,
        external_id=place.text(values.get("id"), "id").strip() or None,
        fields=place.mapping(values.get("metadata"), "metadata"),
        texts=tuple(text for text in _asked(asked) if text),
        messages=messages_of(_prompt(resolve(values.get("messages")))) or messages_of(asked),
        completion=completion,
        reasoning=_reasoning(resolve(message.get("content"))),
        answers=_chosen(values, completion, place),
        repeat=place.whole(values.get("epoch"), "epoch", least=1) or 1,
        model=model,
        server_model=text_of(output.get("model")),
        finish_reason=FINISH_REASONS.get(stop, stop),
        prompt_tokens=place.whole(usage.get("input_tokens"), "output.usage.input_tokens"),
        completion_tokens=place.whole(usage.get("output_tokens"), "output.usage.output_tokens"),
        logprobs=read_logprobs(_first_choice(output).get("logprobs")),
        latency_ms=_milliseconds(output.get("time")),
        finished_at=place.moment(values.get("completed_at"), "completed_at"),
        error=_error(values, output, completion, place),
    )


class _Attachments:
    """Puts texts back in place that were moved out of a sample and left as `attachment://<hash>`."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            if value.startswith(_ATTACHMENT):
                return self._texts.get(value.removeprefix(_ATTACHMENT), value)
            return value
        if isinstance(value, list):
            return [self(element) for element in value]
        if isinstance(value, dict):
            return {key: self(element) for key, element in value.items()}
        return value


def _first_choice(output: Mapping[str, Any]) -> dict[str, Any]:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _first_message(output: Mapping[str, Any]) -> dict[str, Any]:
    message = _first_choice(output).get("message")
    return message if isinstance(message, dict) else {}


def _asked(asked: Any) -> Iterator[str]:
    """What the sample asks: a text, or what the user says in a chat."""
    if not isinstance(asked, list):
        yield text_of(asked)
        return
    for message in messages_of(asked):
        if message["role"] == "user":
            yield message["content"]


def _prompt(messages: Any) -> list[Any]:
    """The chat up to the completion: without the last thing the model said, and what came after it."""
    turns = messages if isinstance(messages, list) else []
    said = [n for n, turn in enumerate(turns) if isinstance(turn, dict) and turn.get("role") == "assistant"]
    return turns[: said[-1]] if said else turns


def _reasoning(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    found = (part.get("reasoning") for part in parts if isinstance(part, dict) and part.get("type") == "reasoning")
    return "\n".join(text_of(text) for text in found)


def _chosen(values: Mapping[str, Any], completion: str, place: Place) -> tuple[str, ...]:
    choices = [text_of(choice) for choice in place.sequence(values.get("choices"), "choices")]
    for letter in (*_scored_answers(values.get("scores")), *_LETTER.findall(completion)[-1:]):
        if reading := reading_of_letter(letter.strip().upper(), choices):
            return reading
    return ()


def _scored_answers(scores: Any) -> Sequence[str]:
    entries = scores.values() if isinstance(scores, dict) else ()
    answers = (entry.get("answer") for entry in entries if isinstance(entry, dict))
    return [answer for answer in answers if isinstance(answer, str)]


def _milliseconds(seconds: Any) -> int | None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return round(seconds * 1000) if is_number and 0 <= seconds < 1_000_000 else None


def _error(values: Mapping[str, Any], output: Mapping[str, Any], completion: str, place: Place) -> str:
    """Why the sample has no answer; "" if it may have one."""
    if error := error_of(values.get("error")):
        return error
    if values.get("invalidation"):
        return "The sample was declared invalid in the log."
    if error := error_of(output.get("error")):
        return error
    limit = place.mapping(values.get("limit"), "limit")
    if limit and not completion.strip():
        return f"The sample was ended by its limit of {text_of(limit.get('type')) or 'unknown kind'}."
    return ""
