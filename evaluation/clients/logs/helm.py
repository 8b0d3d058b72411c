"""Files of a HELM run: `scenario_state.json`, which has prompts and completions, or `display_predictions.json`.

What the format leaves open, and how it is read here:
- An instance comes once for each perturbation and each draw of exemplars (`train_trial_index`): a perturbation is a
  filter, a draw is a repeat.
- In joint multiple choice the model answers with a letter, and `output_mapping` says what it stands for.
- In separate multiple choice each reference is a request of its own, and the likeliest one was chosen. The requests
  of one instance stand together.
- Of several completions HELM takes the first, and so is it here.
- `per_instance_stats.json` and `stats.json` hold scores and no answers, and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError
from annotate.sources.json_window import JsonWindow
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record
from annotate.wording import _
from evaluation.clients.logprobs import TokenLogprob, read_logprobs
from evaluation.clients.logs.records import LogRecord, LogSource, Notes, Place, error_of, messages_of, spoken, text_of

STATES = "request_states"
# Requests beside the real ones, by which likelihoods are corrected.
_ORIGINAL = "original"


def read(file: BinaryFile, source: LogSource, limits: Limits, notes: Notes) -> Iterator[LogRecord]:
    """Raises SourceError for a file without requests or predictions."""
    file.seek(0)
    window = JsonWindow(file, source.detected.encoding, limits)
    if window.peek() == "[":
        for record in read_records(file, source.detected, limits):
            yield _prediction(record)
        return
    is_empty = True
    states = _Requests(notes)
    for key, __ in window.members():
        if key == STATES and window.peek() == "[":
            for record in window.records():
                is_empty = False
                yield from states.records(record)
        else:
            window.value(row=None)
    window.expect_end()
    yield from states.rest()
    if is_empty:
        raise SourceError(_("The file holds no request_states: was the run ended before its first?"))


def _prediction(record: Record) -> LogRecord:
    """Of display_predictions.json, which has the completion and not what was asked."""
    place = Place(record.line, record.number)
    values = dict(record.values)
    if "predicted_text" not in values:
        raise place.wrong(
            _(
                "there is no predicted_text. HELM's scenario_state.json and display_predictions.json hold what a model "
                "said; its stats only hold scores."
            ),
            "predicted_text",
        )
    about: dict[str, Any] = {
        "number": record.number,
        "line": record.line,
        "external_id": place.text(values.get("instance_id"), "instance_id").strip() or None,
        "filter": _perturbation(values, place),
        "repeat": (place.whole(values.get("train_trial_index"), "train_trial_index") or 0) + 1,
    }
    if values.get("reference_index") is not None:
        return LogRecord(**about, error="The file has the likelihood of one reference: scenario_state.json has all.")
    mapped = text_of(values.get("mapped_output")).strip()
    return LogRecord(
        **about,
        completion=text_of(values["predicted_text"]),
        answers=(mapped,) if mapped else (),
        reasoning=text_of(values.get("thinking_text")),
    )


class _Requests:
    """Requests one after another; those of the references of one instance are held until the next one begins."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._key: tuple[Any, ...] | None = None
        self._about: dict[str, Any] = {}
        self._likelihoods: list[tuple[float, str]] = []

    def records(self, record: Record) -> Iterator[LogRecord]:
        place = Place(record.line, record.number)
        values = dict(record.values)
        instance = place.mapping(values.get("instance"), "instance")
        about = _about(values, instance, place)
        key = (about["external_id"], about["texts"], about["filter"], about["repeat"])
        is_reference = values.get("reference_index") is not None
        if self._key is not None and not (is_reference and key == self._key):
            yield from self.rest()
        if text_of(values.get("request_mode")) not in ("", _ORIGINAL):
            return
        result = place.mapping(values.get("result"), "result")
        error = _error(result)
        completions = place.sequence(result.get("completions"), "result.completions")
        first = completions[0] if completions and isinstance(completions[0], dict) else {}
        if is_reference:
            self._key, self._about = key, self._about or about
            if error:
                self._about["error"] = error
            number = place.whole(values["reference_index"], "reference_index") or 0
            self._likelihoods.append((_likelihood(first), _reference(instance, number, place)))
            return
        if error or not first:
            yield LogRecord(**about, error=error or "The request has no completion.")
            return
        if len(completions) > 1:
            self._notes.add("Some requests have several completions: the first is taken, as HELM takes it.")
        completion = text_of(first.get("text"))
        yield LogRecord(
            **about,
            completion=completion,
            answers=_meant(completion, place.mapping(values.get("output_mapping"), "output_mapping")),
            reasoning=_reasoning(first),
            finish_reason=_finish_reason(first),
            logprobs=_logprobs(first),
        )

    def rest(self) -> Iterator[LogRecord]:
        """The answer to the instance whose references came last, if any did."""
        if self._key is None:
            return
        about, likelihoods = self._about, self._likelihoods
        self._key, self._about, self._likelihoods = None, {}, []
        if not about.get("error") and any(math.isnan(likelihood) for likelihood, _ in likelihoods):
            about["error"] = "A reference has no log-probability."
        if about.get("error"):
            yield LogRecord(**about)
            return
        best = max(likelihood for likelihood, _ in likelihoods)
        texts = [text for likelihood, text in likelihoods if likelihood == best]
        yield LogRecord(
            **about,
            completion=texts[0],
            note=f"the {'first of equally likely ones' if len(texts) > 1 else 'likeliest'} of {len(likelihoods)} "
            "references",
        )


def _about(values: Mapping[str, Any], instance: Mapping[str, Any], place: Place) -> dict[str, Any]:
    request = place.mapping(values.get("request"), "request")
    asked = text_of(place.mapping(instance.get("input"), "instance.input").get("text"))
    model = text_of(request.get("model"))
    return {
        "number": place.number,
        "line": place.line,
        "external_id": place.text(instance.get("id"), "instance.id").strip() or None,
        "texts": (asked,) if asked else (),
        "messages": messages_of(request.get("messages")) or messages_of(request.get("prompt")),
        "filter": _perturbation(instance, place),
        "repeat": (place.whole(values.get("train_trial_index"), "train_trial_index") or 0) + 1,
        "model": model,
        "server_model": model,
    }


def _perturbation(values: Mapping[str, Any], place: Place) -> str:
    return text_of(place.mapping(values.get("perturbation"), "perturbation").get("name")).strip()


def _error(result: Mapping[str, Any]) -> str:
    if result.get("success") is False or result.get("error"):
        return error_of(result.get("error")) or "The request failed, and the log does not say why."
    return ""


def _reference(instance: Mapping[str, Any], number: int, place: Place) -> str:
    references = place.sequence(instance.get("references"), "instance.references")
    if number >= len(references) or not isinstance(references[number], dict):
        raise place.wrong(_("there is no reference %(number)s.", number=number), "reference_index")
    return text_of(place.mapping(references[number].get("output"), "instance.references.output").get("text"))


def _likelihood(completion: Mapping[str, Any]) -> float:
    value = completion.get("logprob")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _meant(completion: str, mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """What the letter stands for, then the letter itself; nothing where the completion is no letter of the mapping."""
    letter = completion.strip()
    return (text_of(mapping[letter]), letter) if letter in mapping else ()


def _reasoning(completion: Mapping[str, Any]) -> str:
    thinking = completion.get("thinking")
    return spoken(thinking.get("text")) if isinstance(thinking, dict) else ""


def _logprobs(completion: Mapping[str, Any]) -> list[TokenLogprob] | None:
    """HELM calls the text of a token `text`, and keeps no alternatives of newer models."""
    tokens = completion.get("tokens")
    tokens = tokens if isinstance(tokens, list) else []
    return read_logprobs([[one.get("text"), one.get("logprob"), []] for one in tokens if isinstance(one, dict)])


def _finish_reason(completion: Mapping[str, Any]) -> str:
    reason = completion.get("finish_reason")
    return text_of(reason.get("reason") if isinstance(reason, dict) else reason)
