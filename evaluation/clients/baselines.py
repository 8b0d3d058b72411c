"""Baselines: what can be scored without understanding a word. They give completions, so that everything they say goes
through the same parsing, scoring and reporting as a model's.

None of them sees an item's gold. Chance enters by the seed and the item's key alone, so neither the order of the items
nor the way a run was cut into chunks changes a single answer.
"""

import hashlib
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from annotate.normal_form import normal_form
from evaluation.clients.base import (
    ClientError,
    Completion,
    ErrorKind,
    Inbox,
    NotAsked,
    NotAskedReason,
    Outcome,
    Request,
    RequestId,
)
from evaluation.prompts.content import value_text
from evaluation.prompts.inputs import PromptInput

# A heartbeat after so many answers is often enough: a baseline needs microseconds for one.
_TICK_EVERY = 100


class Baseline(ABC):
    """A client that answers at once, from the input alone. A subclass says what its completion is."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    def answer(
        self,
        inbox: Inbox,
        *,
        stop: threading.Event,
        until: float,
        on_tick: Callable[[], None] | None = None,
    ) -> Iterator[list[tuple[RequestId, Outcome]]]:
        """See `Client.answer`; the outcomes come in the order of the requests, those of a tick together."""
        while len(inbox):
            if on_tick is not None:
                on_tick()
            yield [(request.id, self._outcome(request, stop, until)) for request in self._some_of(inbox)]
        inbox.close()

    def _some_of(self, inbox: Inbox) -> Iterator[Request]:
        for _ in range(_TICK_EVERY):
            if (request := inbox.take()) is None:
                return
            yield request

    def _outcome(self, request: Request, stop: threading.Event, until: float) -> Outcome:
        if stop.is_set():
            return NotAsked(NotAskedReason.STOPPED)
        if time.monotonic() > until:
            return NotAsked(NotAskedReason.OUT_OF_TIME)
        if request.prompt is None:
            return ClientError(ErrorKind.BAD_REQUEST, f"{self.name} needs the item, not only the chat.")
        return self.complete(request.prompt, request.item_key)

    @abstractmethod
    def complete(self, prompt: PromptInput, item_key: str) -> Completion:
        """The completion for one item; an empty one where there is nothing to choose from."""

    def _says(self, text: str, finish_reason: str = "stop") -> Completion:
        return Completion(text=text, finish_reason=finish_reason, model=f"{self.name}/{self.version}")


@dataclass(frozen=True, slots=True)
class MajorityLabel(Baseline):
    """The most frequent label, whatever is asked.

    label_counts: {option value: count} of the named list it was fitted on, which must not be the evaluated items; a
        run's manifest carries the counts. Of equally frequent labels the first option of the field wins; labels that
        are no option of the field are passed over.
    """

    label_counts: Mapping[str, int]

    name: ClassVar[str] = "majority_label"

    def __post_init__(self) -> None:
        if not any(count > 0 for count in self.label_counts.values()):
            raise ValueError("majority_label needs label counts to be fitted on.")

    def complete(self, prompt: PromptInput, item_key: str) -> Completion:
        counted = [option for option in prompt.options if self.label_counts.get(option.value, 0) > 0]
        if not counted:
            return self._says("")
        return self._says(max(counted, key=lambda option: self.label_counts[option.value]).caption)


@dataclass(frozen=True, slots=True)
class SeededRandom(Baseline):
    """A label, or for short answers a value of the item's tables, drawn uniformly by seed and item key."""

    seed: int

    name: ClassVar[str] = "seeded_random"

    def complete(self, prompt: PromptInput, item_key: str) -> Completion:
        return self._says(_drawn_answer(prompt, self.seed, item_key))


@dataclass(frozen=True, slots=True)
class LexicalOverlap(Baseline):
    """The candidate whose surroundings share most words with the question; the first of equals.

    Short answers: every value of the item's tables is a candidate, its surroundings are its key and section (infobox)
    or its column and the rest of its row (grid). Labels: the options are the candidates, the words of their captions
    their surroundings, and the item's whole text the question.
    """

    name: ClassVar[str] = "lexical_overlap"

    def complete(self, prompt: PromptInput, item_key: str) -> Completion:
        if prompt.options:
            shown = words(" ".join(value_text(value) for _, value in prompt.content))
            return self._says(
                _closest([Candidate(o.caption, frozenset(words(o.caption))) for o in prompt.options], shown)
            )
        question = words(" ".join([prompt.caption, *_plain_texts(prompt)]))
        return self._says(_closest(table_values(prompt), question))


@dataclass(frozen=True, slots=True)
class ChattyRandom(Baseline):
    """Like `seeded_random`, but with the manners of a chat model: for seeded shares of the items it explains, wavers,
    refuses, repeats the question or is cut off. For demonstrations and tests: every outcome of a real model occurs.
    """

    seed: int

    name: ClassVar[str] = "chatty_random"
    # In parts of 100; what they leave is a plain answer.
    shares: ClassVar[Mapping[str, int]] = {
        "prose": 40,
        "refusal": 8,
        "repeat": 8,
        "wavering": 6,
        "cut_off": 5,
        "empty": 3,
    }

    def complete(self, prompt: PromptInput, item_key: str) -> Completion:
        answer = _drawn_answer(prompt, self.seed, item_key)
        match self.manner(item_key):
            case "prose":
                return self._says(f"I have looked at this carefully. The answer is: {answer}.")
            case "refusal":
                return self._says("I'm sorry, but I can't help with that.")
            case "repeat":
                return self._says(f"You ask: {' '.join([*_plain_texts(prompt), prompt.caption])}")
            case "wavering":
                choices = [option.caption for option in prompt.options] or [answer, "something else"]
                return self._says(f"It could be {choices[0]}, but it could just as well be {choices[-1]}.")
            case "cut_off":
                return self._says("To answer this, let us first go through everything that we", finish_reason="length")
            case "empty":
                return self._says("")
        return self._says(answer)

    def manner(self, item_key: str) -> str:
        """Which of `shares` the item falls into, or "plain"."""
        point = _draw(100, self.seed, item_key, "manner")
        for manner, share in self.shares.items():
            if point < share:
                return manner
            point -= share
        return "plain"


BASELINES: dict[str, type[Baseline]] = {
    baseline.name: baseline for baseline in (MajorityLabel, SeededRandom, LexicalOverlap, ChattyRandom)
}


def build_baseline(name: str, *, seed: int, label_counts: Mapping[str, int]) -> Baseline:
    """The baseline of that name; it takes of the arguments what it needs.

    Raises KeyError for an unknown name, ValueError if `majority_label` has no counts to be fitted on.
    """
    baseline = BASELINES[name]
    if baseline is MajorityLabel:
        return MajorityLabel(label_counts=dict(label_counts))
    if baseline is SeededRandom:
        return SeededRandom(seed=seed)
    if baseline is ChattyRandom:
        return ChattyRandom(seed=seed)
    return LexicalOverlap()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer and the words around it."""

    text: str
    surroundings: frozenset[str]


def table_values(prompt: PromptInput) -> list[Candidate]:
    """Every value of the item's infobox tables and grids, in reading order; empty ones are no candidates."""
    candidates: list[Candidate] = []
    for _, value in prompt.content:
        match value:
            case {"type": "table", "sections": list(sections)}:
                candidates += _infobox_values(sections)
            case {"type": "grid", "columns": list(columns), "rows": list(rows)}:
                candidates += _grid_values(columns, rows)
    return [candidate for candidate in candidates if candidate.text.strip()]


def _infobox_values(sections: Sequence[Any]) -> Iterator[Candidate]:
    for heading, rows in sections:
        for key, value in rows:
            surroundings = words(f"{value_text(heading)} {value_text(key)}")
            for part in value if isinstance(value, list) else [value]:
                yield Candidate(value_text(part), surroundings)


def _grid_values(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Iterator[Candidate]:
    for row in rows:
        cells = [value_text(cell) for cell in row]
        for position, (cell, column) in enumerate(zip(cells, columns, strict=False)):
            others = cells[:position] + cells[position + 1 :]
            yield Candidate(cell, words(" ".join([value_text(column), *others])))


def _closest(candidates: Sequence[Candidate], question: frozenset[str]) -> str:
    if not candidates:
        return ""
    return max(candidates, key=lambda candidate: len(candidate.surroundings & question)).text


# Words that stand in almost every question, and would make any key with "of" in it a match.
_COMMONEST = (
    "a an and are as at be by did do does for from had has have he her him his how in is it its many much of on or she "
    "so that the their them they this to was were what when where which who whom whose why will with"
)
_EMPTY_WORDS = frozenset(_COMMONEST.split())


def words(text: str) -> frozenset[str]:
    """The distinct words of a text, NFKC and casefolded, without the commonest English ones."""
    found = re.findall(r"\w+", normal_form("NFKC", text).casefold())
    return frozenset(found) - _EMPTY_WORDS


def _plain_texts(prompt: PromptInput) -> list[str]:
    return [value for _, value in prompt.content if isinstance(value, str)]


def _drawn_answer(prompt: PromptInput, seed: int, item_key: str) -> str:
    answers = [option.caption for option in prompt.options] or [value.text for value in table_values(prompt)]
    return answers[_draw(len(answers), seed, item_key, "answer")] if answers else ""


def _draw(n: int, seed: int, item_key: str, purpose: str) -> int:
    """A number from 0 to n - 1 by SHA-256 of its circumstances: the same on every machine and in every order."""
    digest = hashlib.sha256(f"{seed}\x1f{purpose}\x1f{item_key}".encode()).digest()
    return int.from_bytes(digest[:16], "big") % n
