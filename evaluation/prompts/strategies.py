"""The prompt strategies by name. A strategy decides on the turns of the chat; the template has the words."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evaluation.prompts.content import CONTENT_VERSION, content_parts
from evaluation.prompts.inputs import REPLY, AnswerKind, ContentPairs, Exemplar, Message, Option, PromptInput
from evaluation.prompts.templates import ChatTemplate, default_template, render_text

# An item may have 1 MB; with exemplars of the same kind a chat needs room, but no model reads more than this.
MAX_MESSAGE_CHARS = 4_000_000


class StrategyInputError(ValueError):
    """The strategy cannot work with this input (few-shot without exemplars, for example)."""


Turns = Callable[["Chat"], None]


@dataclass(frozen=True, slots=True)
class Strategy:
    """wording: the folder of `defaults` with its own words, before those that all share."""

    name: str
    version: int
    turns: Turns
    wording: str = ""


STRATEGIES: dict[str, Strategy] = {}


def strategy(name: str, *, version: int, wording: str = "") -> Callable[[Turns], Turns]:
    """Register the turns of a strategy. Raise the version when the same input would give another chat."""

    def register(turns: Turns) -> Turns:
        STRATEGIES[name] = Strategy(name=name, version=version, turns=turns, wording=wording)
        return turns

    return register


class Chat:
    """The chat of one item while a strategy writes it."""

    def __init__(self, prompt: PromptInput, template: ChatTemplate, *, max_chars: int) -> None:
        self.prompt = prompt
        self.messages: list[Message] = []
        self._template = template
        self._max_chars = max_chars

    def system(self) -> None:
        self._add("system", self._template.system, self.prompt.content)

    def question(self, content: ContentPairs, exemplar: Exemplar | None = None, *, cue: str = "") -> None:
        """What an exemplar asks is asked as it is beside it: its own columns, captions in its language.

        cue: a sentence of the strategy's own, which its template places.
        """
        own: dict[str, Any] = {"cue": cue}
        if exemplar is not None and exemplar.answer_form:
            own["answer_form"] = exemplar.answer_form
        if exemplar is not None and exemplar.options:
            own["options"] = option_values(exemplar.options)
        self._add("user", self._template.user, content, **own)

    def answer(self, content: ContentPairs, answer: str) -> None:
        self._add("assistant", self._template.assistant, content, answer=answer)

    def reply(self) -> None:
        """Here the model speaks, and what follows is sent together with what it said."""
        self.messages.append(REPLY)

    def follow_up(self, number: int = 0) -> None:
        """What is said to a reply."""
        self._add("user", self._template.follow_ups[number], self.prompt.content)

    def _add(self, role: str, source: str, content: ContentPairs, **more: Any) -> None:
        text = render_text(source, template_values(self.prompt, content) | more, max_chars=self._max_chars)
        if text:
            self.messages.append(Message(role=role, content=text))


def option_values(options: Iterable[Option]) -> list[dict[str, str]]:
    return [{"value": option.value, "caption": option.caption} for option in options]


def template_values(prompt: PromptInput, content: ContentPairs) -> dict[str, Any]:
    """What a template may use: plain dicts, lists and texts, and no gold.

    parts (key, text, is_block), caption, options (value, caption), answer_form, current_date, language.
    """
    return {
        "parts": content_parts(content, current_date=prompt.current_date),
        "caption": prompt.caption,
        "options": option_values(prompt.options),
        "answer_form": prompt.answer_form,
        "current_date": prompt.current_date,
        "language": prompt.language,
    }


def render(
    strategy_name: str,
    prompt: PromptInput,
    template: ChatTemplate | None = None,
    *,
    max_chars: int = MAX_MESSAGE_CHARS,
) -> list[Message]:
    """The chat of one item, without limits on time and memory: for our own templates and for the child process.

    Where the model speaks in between stands `inputs.REPLY`.

    Raises KeyError for an unknown strategy, StrategyInputError, `templates.TextTooLong`, and what Jinja2 and the
    template's expressions raise.
    """
    chat = Chat(prompt, template or default_wording(strategy_name, prompt.kind), max_chars=max_chars)
    STRATEGIES[strategy_name].turns(chat)
    return chat.messages


def default_wording(strategy_name: str, kind: AnswerKind) -> ChatTemplate:
    """Our own words for a strategy and a kind of answer."""
    return default_template(kind, STRATEGIES[strategy_name].wording)


def fingerprint(strategy_name: str, template: ChatTemplate) -> str:
    """SHA-256 (hex) of what decides the wording besides the items: strategy, its version, template, content form."""
    decided_by = {
        "strategy": strategy_name,
        "version": STRATEGIES[strategy_name].version,
        "content_version": CONTENT_VERSION,
        "template": template.to_json(),
    }
    return hashlib.sha256(json.dumps(decided_by, sort_keys=True).encode()).hexdigest()
