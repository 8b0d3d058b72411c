"""Sentences that a page can say in another language. Pure: everywhere else they are plain English texts.

What is stored, logged, exported and sent to programs is the English sentence, whoever asked for it in whatever
language. A page says it in its own: templates meet `__html__`, scripts' answers are made with `said`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import Any


class Words(str):
    """An English sentence that remembers its pattern and what was filled in.

    `_` marks it for makemessages: `_("Pair %(number)s has no answer.", number=number)`.
    """

    pattern: str
    parameters: dict[str, Any]

    def __new__(cls, pattern: str, **parameters: Any) -> Words:
        made = super().__new__(cls, pattern % parameters if parameters else pattern)
        made.pattern, made.parameters = pattern, parameters
        return made

    def in_language(self, speaker: Speaker) -> str:
        return _filled(speaker.one(self.pattern), self.parameters)

    def __str__(self) -> str:
        return self  # str() of a subclass would forget the pattern

    def __html__(self) -> str:
        return html.escape(said(self))


# As gettext calls it, so that makemessages finds the sentences.
_ = Words

# Marked in `placed`.
BEHIND_ITS_PLACE, BETWEEN_PLACES = "%(where)s: %(problem)s", ", "


class Counted(Words):
    """A sentence with a number in it that decides its form."""

    plural: str
    number: int

    def in_language(self, speaker: Speaker) -> str:
        return _filled(speaker.several(self.pattern, self.plural, self.number), self.parameters)


class Listed(Words):
    """Several of them in a row."""

    parts: tuple[str, ...]

    def in_language(self, speaker: Speaker) -> str:
        return speaker.one(self.pattern).join(said(part) for part in self.parts)


class Placed(Words):
    """A sentence behind the place that it is about: "Line 3, column 4: The quote is not closed."."""

    places: Listed
    problem: str

    def in_language(self, speaker: Speaker) -> str:
        where = said(self.places)
        return _filled(speaker.one(self.pattern), {"where": _capital(where), "problem": self.problem})


class Speaker:
    """Who says sentences: in English, until somebody with a catalogue takes over."""

    def one(self, pattern: str) -> str:
        return pattern

    def several(self, pattern: str, plural: str, number: int) -> str:
        return pattern if number == 1 else plural


_speaker: Callable[[], Speaker] = Speaker


def speak_through(speaker: Callable[[], Speaker]) -> None:
    """Have sentences said by another speaker from now on; Django's is set when its apps are ready."""
    global _speaker
    _speaker = speaker


def said(text: str) -> str:
    """The sentence in the language of the page that is being made; any other text as it is."""
    return text.in_language(_speaker()) if isinstance(text, Words) else text


def ngettext(pattern: str, plural: str, number: int, **parameters: Any) -> Counted:
    """A sentence about a number. It is called as Django calls it, so that makemessages knows it."""
    chosen = pattern if number == 1 else plural
    made: Counted = Words.__new__(Counted, chosen, **parameters)  # type: ignore[assignment]
    made.pattern, made.plural, made.number = pattern, plural, number
    return made


def listed(parts: Iterable[str], between: str = ", ") -> Listed:
    kept = tuple(part for part in parts if part)
    made: Listed = str.__new__(Listed, between.join(kept))
    made.pattern, made.parameters, made.parts = between, {}, kept
    return made


def placed(places: Iterable[str], problem: str) -> str:
    """The sentence behind its places; without any, the sentence."""
    where = listed(places, BETWEEN_PLACES)
    if not where.parts:
        return problem
    made: Placed = str.__new__(Placed, f"{_capital(where)}: {problem}")
    made.pattern, made.parameters = _("%(where)s: %(problem)s", where=where, problem=problem).pattern, {}
    made.places, made.problem = where, problem
    return made


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _filled(pattern: str, parameters: dict[str, Any]) -> str:
    return pattern % {name: said(value) for name, value in parameters.items()} if parameters else pattern
