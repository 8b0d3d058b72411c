"""Samples of lm-evaluation-harness (`--log_samples`): one line for each document and filter.

What the format leaves open, and how it is read here:
- `doc_id` is a place in some order, and not always the same one: items are recognised by an id in the document, or by
  its content.
- Each filter has lines of its own with the same completions. A filter's text is what the harness scored, so it is read
  as the answer; the filter `none` only takes the first completion, which is then read as any other.
- With repeats a filter may leave one text for all of them. The completions of each repeat are then records of their
  own, and that one text is one more, over all repeats.
- Multiple choice has log-probabilities of continuations: the likeliest one is what the model chose, as the harness has
  it. The likelihood of a single text is no answer: it would be the gold label itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record
from annotate.wording import _
from evaluation.clients.logs.records import (
    OVER_ALL_REPEATS,
    LogRecord,
    LogSource,
    Notes,
    Place,
    messages_of,
    reading_of_letter,
    text_of,
)

ID_FIELDS = ("id", "external_id", "item_id", "question_id", "qid")
TAKES_FIRST = "none"
# What the harness writes where a filter's pattern was nowhere in the completion.
NOT_FOUND = "[invalid]"
_TEXT_DEPTH = 3


def read(file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
    """Raises SourceError for a line without `resps`, or with one of another shape."""
    reader = _Reader(source.id_field)
    for record in read_records(file, source.detected, limits):
        yield from reader.records(record)
    if reader.n_unnamed_filters > 1:
        notes.add(
            f"The lines do not name their filters, and documents come up to {reader.n_unnamed_filters} times with "
            "different results: each time is taken for another filter."
        )


def model_beside(path: Path) -> str:
    """The model's name from the results file of the same moment beside a file of samples, else from the only one."""
    moment = path.stem.rpartition("_")[2]
    others = sorted(path.parent.glob("results_*.json"))
    same = [other for other in others if other.stem == f"results_{moment}"]
    for other in same or (others if len(others) == 1 else []):
        try:
            results = json.loads(other.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(results, dict) and isinstance(results.get("model_name"), str):
            return text_of(results["model_name"])
    return ""


class _Reader:
    def __init__(self, id_field: str) -> None:
        self.id_fields = (id_field,) if id_field else ID_FIELDS
        self.n_unnamed_filters = 0
        self._first_filter: str | None = None
        self._unnamed: dict[str, list[int]] = {}

    def records(self, record: Record) -> Iterator[LogRecord]:
        place = Place(record.line, record.number)
        values = dict(record.values)
        responses = place.sequence(values.get("resps"), "resps")
        if not responses:
            raise place.wrong(_("there are no responses: was this written with --log_samples?"), "resps")
        requests = _requests(values.get("arguments"), place)
        name = self._filter(values, place)
        if self._first_filter is None:
            self._first_filter = name
        about = self._about(values, requests, place) | {"filter": name}
        kind = _kind(requests, responses)
        if kind == "choice":
            yield LogRecord(**about, **_chosen(values, requests, responses, place))
        elif kind == "likelihood":
            yield LogRecord(**about, error="The log has the likelihood of a text, and no answer of the model.")
        elif len(responses) > 1:
            yield LogRecord(**about, error="The log has several requests for this item: which is the answer is open.")
        else:
            yield from self._generated(values, responses[0], about, place)

    def _generated(
        self, values: Mapping[str, Any], response: object, about: dict[str, Any], place: Place
    ) -> Iterator[LogRecord]:
        completions = [text_of(text) for text in (response if isinstance(response, list) else [response])]
        filtered = place.sequence(values.get("filtered_resps"), "filtered_resps")
        kept = filtered[0] if filtered else None
        texts = [text_of(text) for text in (kept if isinstance(kept, list) else [kept] if filtered else [])]
        if len(texts) == len(completions):
            for repeat, (completion, text) in enumerate(zip(completions, texts, strict=True), start=1):
                yield LogRecord(
                    **about | {"repeat": repeat}, completion=completion, answers=_readings(completion, text)
                )
            return
        if about["filter"] == self._first_filter:
            for repeat, completion in enumerate(completions, start=1):
                yield LogRecord(**about | {"repeat": repeat, "filter": TAKES_FIRST}, completion=completion)
        if len(texts) == 1 and about["filter"] not in ("", TAKES_FIRST):
            yield LogRecord(
                **about | {"repeat": OVER_ALL_REPEATS},
                completion=texts[0],
                answers=_readings(None, texts[0]),
                note=f"the filter's one answer to {len(completions)} repeats",
            )

    def _about(self, values: Mapping[str, Any], requests: list[list[Any]], place: Place) -> dict[str, Any]:
        document = values.get("doc")
        fields = document if isinstance(document, dict) else {"doc": document}
        context = requests[0][0] if requests and requests[0] else ""
        # An id is no content: a document that has nothing else cannot tell what was asked.
        content = {name: value for name, value in fields.items() if name not in self.id_fields}
        hashed = text_of(values.get("doc_hash"))
        found = next((fields[name] for name in self.id_fields if fields.get(name) not in (None, "")), hashed)
        return {
            "number": place.number,
            "line": place.line,
            "external_id": text_of(found).strip() or None,
            "fields": fields,
            # The prompt may have other items in it, as exemplars: it tells only where there is no document.
            "texts": tuple(_texts_in(content, _TEXT_DEPTH)) or ((text_of(context),) if context else ()),
            "messages": messages_of(context),
        }

    def _filter(self, values: Mapping[str, Any], place: Place) -> str:
        """Older versions did not name filters: the same document with another result is that of another one."""
        if values.get("filter") is not None:
            return place.text(values["filter"], "filter").strip()
        document = f"{text_of(values.get('doc_id'))} {text_of(values.get('doc_hash'))}"
        results = self._unnamed.setdefault(document, [])
        result = hash((text_of(values.get("filtered_resps")), text_of(values.get("resps"))))
        if result not in results:
            results.append(result)
        self.n_unnamed_filters = max(self.n_unnamed_filters, len(results))
        number = results.index(result) + 1
        return "" if number == 1 else f"filter {number}"


def _kind(requests: Sequence[Sequence[Any]], responses: Sequence[Any]) -> str:
    """generation, choice (log-probabilities of continuations) or likelihood (of a whole text)."""
    if requests:
        if len(requests[0]) < 2:
            return "likelihood"
        return "choice" if isinstance(requests[0][1], str) else "generation"
    first = responses[0][0] if isinstance(responses[0], list) and responses[0] else responses[0]
    return "likelihood" if isinstance(first, list) else "generation"


def _requests(arguments: object, place: Place) -> list[list[Any]]:
    """The arguments of each request, in order; older versions wrote lists, newer ones objects."""
    if isinstance(arguments, dict):
        arguments = [arguments[f"gen_args_{n}"] for n in range(len(arguments)) if f"gen_args_{n}" in arguments]
    found = []
    for request in place.sequence(arguments, "arguments"):
        if isinstance(request, dict):
            request = [request[f"arg_{n}"] for n in range(len(request)) if f"arg_{n}" in request]
        found.append(request if isinstance(request, list) else [request])
    return found


def _chosen(
    values: Mapping[str, Any], requests: Sequence[Sequence[Any]], responses: Sequence[Any], place: Place
) -> dict[str, Any]:
    """The likeliest continuation as the completion, or why none can be told."""
    scored = place.sequence(values.get("filtered_resps"), "filtered_resps")
    if len(scored) != len(requests):
        scored = [response[0] if isinstance(response, list) and response else None for response in responses]
    if len(scored) != len(requests):
        raise place.wrong(_("%(n)s responses to %(n_2)s requests.", n=len(scored), n_2=len(requests)), "resps")
    contexts = [text_of(request[0]) for request in requests]
    # Requests without a context measure how likely a continuation is by itself.
    asked = [n for n, context in enumerate(contexts) if context or not any(contexts)]
    texts = [text_of(requests[n][1]) if len(requests[n]) > 1 else "" for n in asked]
    likelihoods = [_log_probability(scored[n]) for n in asked]
    if len(asked) < 2:
        return {"error": "The log has the likelihood of one continuation: nothing was chosen by the model."}
    if len(set(texts)) < len(texts):
        return {"error": "The continuations are equal: which choice was meant cannot be told from the log."}
    if any(math.isnan(likelihood) for likelihood in likelihoods):
        return {"error": "A continuation has no log-probability."}
    best = likelihoods.index(max(likelihoods))
    is_tie = likelihoods.count(likelihoods[best]) > 1
    choices = _choices(values.get("doc"))
    letter = texts[best].strip()
    return {
        "completion": texts[best],
        "answers": reading_of_letter(letter, choices) if len(choices) == len(texts) else (),
        "note": f"the {'first of equally likely ones' if is_tie else 'likeliest'} of {len(texts)} continuations",
    }


def _log_probability(pair: object) -> float:
    """Of [log-probability, is greedy] or of a bare log-probability, as numbers or texts; NaN for anything else."""
    value = pair[0] if isinstance(pair, list) and pair else pair
    try:
        return float(value)  # type: ignore[arg-type]  # whatever is no number is told below
    except (TypeError, ValueError):
        return math.nan


def _choices(document: object) -> list[str]:
    choices = document.get("choices") if isinstance(document, dict) else None
    if isinstance(choices, dict):
        choices = choices.get("text")
    return [text_of(choice) for choice in choices] if isinstance(choices, list) else []


def _readings(completion: str | None, text: str) -> tuple[str, ...]:
    """What a filter made of a completion; nothing where it only took it as it is."""
    if completion is not None and text.strip() == completion.strip():
        return ()
    return ("",) if text.strip() in ("", NOT_FOUND) else (text.strip(),)


def _texts_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield text_of(value)
    elif depth and isinstance(value, dict | list):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(element, depth - 1)
