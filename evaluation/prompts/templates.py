"""Chat templates: Jinja2 source for each role, and the sandbox they run in.

A template is written by whoever leads a study and may be wrong or hostile; item text is only ever a value. The sandbox
keeps a template from reaching Python's insides; memory, time and size are `rendering`'s and its child's business.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evaluation.prompts.inputs import AnswerKind

_DEFAULTS = Path(__file__).parent / "defaults"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """The wording of a chat. An empty role is left out.

    system, user: see `strategies.template_values` for what they may use; user: also `cue`, a sentence of the strategy;
    assistant: also `answer`, for the turn in which an exemplar is answered. follow_ups: what is said to replies.
    """

    system: str
    user: str
    assistant: str = "{{ answer }}"
    follow_ups: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        # Without follow-ups no word of them, so that the fingerprints of such templates are what they always were.
        later = {"follow_ups": list(self.follow_ups)} if self.follow_ups else {}
        return {"system": self.system, "user": self.user, "assistant": self.assistant} | later

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ChatTemplate":
        return cls(data["system"], data["user"], data["assistant"], tuple(data.get("follow_ups", ())))


@cache
def default_template(kind: AnswerKind, wording: str = "") -> ChatTemplate:
    """Our words for label questions, for short answers, and for answers of a form.

    wording: a folder of words that stand before those which all strategies share.
    """
    follow_ups = (_words(kind, f"follow_up_{number}", wording) for number in (1, 2))
    return ChatTemplate(
        system=_words(kind, "system", wording),
        user=_words(kind, "user", wording),
        assistant=_words(kind, "assistant", wording) or "{{ answer }}",
        follow_ups=tuple(text for text in follow_ups if text),
    )


def _words(kind: AnswerKind, role: str, wording: str) -> str:
    """Empty where there are none."""
    for folder in (_DEFAULTS / wording, _DEFAULTS):
        if (path := folder / f"{kind}.{role}.jinja").exists():
            return path.read_text(encoding="utf-8")
    return ""


class TextTooLong(ValueError):
    """A message grew beyond its limit while it was rendered."""


def render_text(source: str, values: Mapping[str, Any], *, max_chars: int) -> str:
    """The text of a template. Raises TextTooLong, or whatever the template's own expressions raise."""
    pieces: list[str] = []
    length = 0
    for piece in _compiled(source).generate(values):
        length += len(piece)
        if length > max_chars:
            raise TextTooLong(f"A message has more than {max_chars:,} characters.")
        pieces.append(piece)
    return "".join(pieces).strip("\n")


# One environment for all: it is immutable to templates, and has neither loader nor globals of ours.
# autoescape stays off: the reader is a model, and "&lt;" is not what people saw.
_environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
_compiled = lru_cache(maxsize=64)(_environment.from_string)
