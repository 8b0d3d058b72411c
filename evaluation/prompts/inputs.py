"""What a prompt is made of. There is no field for the gold of the item asked about, so no template can leak it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

AnswerKind = Literal["label", "short_answer", "structured"]
ContentPairs = Sequence[Sequence[Any]]  # [[key, value], ...] as item revisions store it


class Message(TypedDict):
    """One turn of a chat, in the form that chat endpoints take."""

    role: str
    content: str


# Where the model itself speaks in the middle of a chat: its completion is put here before the next turn is sent.
REPLY = Message(role="reply", content="")


def is_reply(message: Message) -> bool:
    return message["role"] == REPLY["role"]


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    caption: str


@dataclass(frozen=True, slots=True)
class Exemplar:
    """Another item, with the answer a model is to imitate (for labels: the caption of the option).

    answer_form, options: as they are beside that item, where they differ from one item to the next.
    """

    content: ContentPairs
    answer: str
    answer_form: str = ""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptInput:
    """One item as the model may see it.

    content: the shown keys of the item in their order, nothing else.
    caption: what the answer field asks ("Is it true?").
    kind: "label" (one of `options`), "short_answer" (a few words) or "structured" (as `answer_form` says).
    answer_form: how to answer, in words (answer_wording.py).
    current_date: the project's pinned date as it is shown to people, "" for none.
    """

    content: ContentPairs
    caption: str
    kind: AnswerKind
    options: tuple[Option, ...] = ()
    answer_form: str = ""
    current_date: str = ""
    language: str = "en"
    exemplars: tuple[Exemplar, ...] = ()

    def __post_init__(self) -> None:
        if (self.kind == "label") != bool(self.options):
            raise ValueError("A label question has options, and no other question has.")
        if (self.kind == "structured") != bool(self.answer_form):
            raise ValueError("A structured answer says in which form it is given, and no other does.")

    def to_json(self) -> dict[str, Any]:
        return {
            "content": self.content,
            "caption": self.caption,
            "kind": self.kind,
            "options": _options_json(self.options),
            "answer_form": self.answer_form,
            "current_date": self.current_date,
            "language": self.language,
            "exemplars": [
                [exemplar.content, exemplar.answer, exemplar.answer_form, _options_json(exemplar.options)]
                for exemplar in self.exemplars
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PromptInput":
        return cls(
            content=data["content"],
            caption=data["caption"],
            kind=data["kind"],
            options=_options(data["options"]),
            answer_form=data["answer_form"],
            current_date=data["current_date"],
            language=data["language"],
            exemplars=tuple(
                Exemplar(content, answer, form, _options(options))
                for content, answer, form, options in data["exemplars"]
            ),
        )


def _options_json(options: Iterable[Option]) -> list[list[str]]:
    return [[option.value, option.caption] for option in options]


def _options(pairs: Iterable[Sequence[str]]) -> tuple[Option, ...]:
    return tuple(Option(value, caption) for value, caption in pairs)


def shown_content(content: ContentPairs, shown_keys: Sequence[str]) -> list[list[Any]]:
    """The pairs whose keys are shown, in the order of `shown_keys`; keys that the item lacks are left out."""
    return [[key, value] for wanted in shown_keys for key, value in content if key == wanted]
