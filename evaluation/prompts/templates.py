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

    system, user: see `strategies.template_values` for what they may use; assistant: the same and `answer`, for the
    turn in which an exemplar is answered.
    """

    system: str
    user: str
    assistant: str = "{{ answer }}"

    def to_json(self) -> dict[str, str]:
        return {"system": self.system, "user": self.user, "assistant": self.assistant}

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> "ChatTemplate":
        return cls(system=data["system"], user=data["user"], assistant=data["assistant"])


@cache
def default_template(kind: AnswerKind) -> ChatTemplate:
    """Our wording for label questions, for short answers, and for answers of a form."""
    return ChatTemplate(
        system=(_DEFAULTS / f"{kind}.system.jinja").read_text(encoding="utf-8"),
        user=(_DEFAULTS / f"{kind}.user.jinja").read_text(encoding="utf-8"),
    )


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
