"""Output files of OpenAI's batch API and of gateways that copy it: one line a request, in no order.

What the format leaves open, and how it is read here:
- `custom_id` is whatever the sender chose. Up to its first `|` it is the item's id; what follows tells runs apart.
- A response may be an error of its own (`status_code`), and what was never answered stands in a second file.
- The prompt stands in the file that was sent, not in this one: items are recognised by their id alone.
- Several choices are repeats. Bodies of chat completions, of the older text completions and of responses are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record
from annotate.wording import _
from evaluation.clients.logprobs import read_logprobs
from evaluation.clients.logs.records import LogRecord, LogSource, Notes, Place, error_of, spoken, text_of

SEPARATOR = "|"
_OK = range(200, 300)
_LATEST_SECONDS = 32_503_680_000  # the year 3000
# How bodies of responses call what ended them -> how chat completions do.
_INCOMPLETE = {"max_output_tokens": "length"}


def read(file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
    """Raises SourceError for a line without `custom_id`, or with neither a response nor an error."""
    for record in read_records(file, source.detected, limits):
        yield from _records(record, notes)


def _records(record: Record, notes: Notes) -> Iterator[LogRecord]:
    place = Place(record.line, record.number)
    values = dict(record.values)
    custom_id = place.text(values.get("custom_id"), "custom_id").strip()
    if not custom_id:
        raise place.wrong(_("there is no custom_id, which says what was asked."), "custom_id")
    item, __, rest = custom_id.partition(SEPARATOR)
    about: dict[str, Any] = {
        "number": record.number,
        "line": record.line,
        "external_id": item.strip() or None,
        "filter": rest.strip(),
    }
    response = place.mapping(values.get("response"), "response")
    body = response.get("body")
    body = body if isinstance(body, dict) else {}
    error = error_of(values.get("error")) or _refusal(response, body, place)
    if error:
        yield LogRecord(**about, error=error)
        return
    if not response:
        raise place.wrong(_("there is neither a response nor an error."), "response")
    about |= _circumstances(body, place)
    answers = list(_answers(body, place))
    if not answers:
        yield LogRecord(**about, error="The response holds no text of the model: is this a batch of another kind?")
        return
    if len(answers) > 1:
        notes.add("Some requests have several choices: each is a repeat.")
    for repeat, answer in enumerate(answers, start=1):
        yield LogRecord(**about, **answer, repeat=repeat)


def _refusal(response: Mapping[str, Any], body: Mapping[str, Any], place: Place) -> str:
    """Why the server gave no answer, which may stand inside what is called a response."""
    status = place.whole(response.get("status_code"), "response.status_code")
    said = error_of(body.get("error"))
    if status is None or status in _OK:
        return said
    return f"HTTP {status}: {said}" if said else f"HTTP {status}"


def _circumstances(body: Mapping[str, Any], place: Place) -> dict[str, Any]:
    usage = place.mapping(body.get("usage"), "response.body.usage")
    sent, said = ("prompt_tokens", "completion_tokens")
    if "input_tokens" in usage:
        sent, said = ("input_tokens", "output_tokens")
    model = text_of(body.get("model"))
    return {
        "model": model,
        "server_model": model,
        "prompt_tokens": place.whole(usage.get(sent), f"response.body.usage.{sent}"),
        "completion_tokens": place.whole(usage.get(said), f"response.body.usage.{said}"),
        "finished_at": _moment(body.get("created", body.get("created_at"))),
    }


def _answers(body: Mapping[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """What the model said, once for each choice: in the order of their `index`, whatever the order they came in."""
    choices = [choice for choice in place.sequence(body.get("choices"), "response.body.choices") if choice]
    for number, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise place.wrong(_("choice %(number)s is no object.", number=number + 1), "response.body.choices")
    for choice in sorted(choices, key=_index):
        message = place.mapping(choice.get("message"), "response.body.choices.message")
        refusal = text_of(message.get("refusal"))
        said = spoken(message.get("content")) if message else text_of(choice.get("text"))
        yield {
            "completion": said or refusal,
            "reasoning": text_of(message.get("reasoning_content") or message.get("reasoning")),
            "logprobs": read_logprobs(choice.get("logprobs")),
            "finish_reason": "content_filter" if refusal and not said else text_of(choice.get("finish_reason")),
        }
    if "choices" not in body and isinstance(body.get("output"), list):
        yield from _response(body)


def _index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _response(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of a body of the responses API, whose output is a list of messages, reasoning and calls of tools."""
    output = [part for part in body["output"] if isinstance(part, dict)]
    messages = [part for part in output if part.get("type") == "message"]
    if not messages:
        return
    incomplete = body.get("incomplete_details")
    reason = text_of(incomplete.get("reason")) if isinstance(incomplete, dict) else ""
    yield {
        "completion": "\n".join(spoken(message.get("content")) for message in messages),
        "reasoning": "\n".join(spoken(part.get("summary")) for part in output if part.get("type") == "reasoning"),
        "finish_reason": _INCOMPLETE.get(reason, reason) or "stop",
    }


def _moment(seconds: Any) -> datetime | None:
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < _LATEST_SECONDS
    return datetime.fromtimestamp(seconds, UTC) if is_time else None
