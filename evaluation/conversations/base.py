"""What passes between a strategy and whoever makes its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.answers import FieldSpec
from evaluation.parsing.envelope import drop_reasoning
from evaluation.prompts.inputs import Message, PromptInput


@dataclass(frozen=True, slots=True)
class Item:
    """One item as it is asked.

    field: as it is beside the item, with its columns, and captions in its language.
    chat: all that we say, in order, with `inputs.REPLY` wherever the model speaks in between.
    kind: of its strategy; n_steps: samples or rounds, where a run says how many.
    """

    name: str
    field: FieldSpec
    prompt: PromptInput
    chat: Sequence[Message]
    kind: str = "stages"
    n_steps: int = 1

    @property
    def language(self) -> str:
        return self.prompt.language


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from one completion, or from all of an item together.

    state: as a prediction's; empty where a completion is not an answer but what the next step builds on.
    answer: field name -> value, if and only if the state is "answered".
    """

    state: str
    note: str = ""
    answer: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return {"state": self.state, "note": self.note, "answer": self.answer}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reading:
        return cls(data["state"], data["note"], data["answer"])


@dataclass(frozen=True, slots=True)
class Reply:
    """A step that the model has answered."""

    text: str
    reading: Reading

    @property
    def said(self) -> str:
        """What it said aloud: without the blocks of reasoning, which a model is not shown again."""
        return drop_reasoning(self.text)[0].strip()


@dataclass(frozen=True, slots=True)
class Ask:
    """The next call. draw: which one it is of several that ask the same, from 0 on."""

    messages: Sequence[Message]
    draw: int = 0
