"""What a prompt is made of. There is no field for the gold of the item asked about, so no template can leak it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

AnswerKind = Literal["label", "short_answer"]
ContentPairs = Sequence[Sequence[Any]]  # [[key, value], ...] as item revisions store it


class Message(TypedDict):
    """One turn of a chat, in the form that chat endpoints take."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    caption: str


@dataclass(frozen=True, slots=True)
class Exemplar:
    """Another item, with the answer a model is to imitate (for labels: the caption of the option)."""

    content: ContentPairs
    answer: str


@dataclass(frozen=True, slots=True)
class PromptInput:
    """One item as the model may see it.

    content: the shown keys of the item in their order, nothing else.
    caption: what the answer field asks ("Is it true?").
    kind: "label" (one of `options`) or "short_answer" (a few words).
    current_date: the project's pinned date as it is shown to people, "" for none.
    """

    content: ContentPairs
    caption: str
    kind: AnswerKind
    options: tuple[Option, ...] = ()
    current_date: str = ""
    language: str = "en"
    exemplars: tuple[Exemplar, ...] = ()

    def __post_init__(self) -> None:
        if (self.kind == "label") != bool(self.options):
            raise ValueError("A label question has options, and a short answer has none.")

    def to_json(self) -> dict[str, Any]:
        return {
            "content": self.content,
            "caption": self.caption,
            "kind": self.kind,
            "options": [[option.value, option.caption] for option in self.options],
            "current_date": self.current_date,
            "language": self.language,
            "exemplars": [[exemplar.content, exemplar.answer] for exemplar in self.exemplars],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PromptInput":
        return cls(
            content=data["content"],
            caption=data["caption"],
            kind=data["kind"],
            options=tuple(Option(value, caption) for value, caption in data["options"]),
            current_date=data["current_date"],
            language=data["language"],
            exemplars=tuple(Exemplar(content, answer) for content, answer in data["exemplars"]),
        )


def shown_content(content: ContentPairs, shown_keys: Sequence[str]) -> list[list[Any]]:
    """The pairs whose keys are shown, in the order of `shown_keys`; keys that the item lacks are left out."""
    return [[key, value] for wanted in shown_keys for key, value in content if key == wanted]
