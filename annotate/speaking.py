"""Pages say sentences (annotate/wording.py) in the language that is active: Django's catalogues, behind a pure door."""

from __future__ import annotations

import gettext
import re
from functools import cache, lru_cache
from typing import Any

from django.conf import settings
from django.contrib.messages.storage.session import SessionStorage
from django.utils import translation

from annotate.wording import BEHIND_ITS_PLACE, BETWEEN_PLACES, Speaker, said, speak_through

_PLACE = re.compile(r"%\((\w+)\)s")
# What stands before a sentence about a file and says where (annotate/sources/errors.py): too short to be found among
# all patterns, and looked for at the beginning alone.
_NUMBER = "[0-9]+(?:,[0-9]{3})*"
_PLACES_BEFORE = (
    ("line %(line)s", _NUMBER),
    ("column %(column)s", _NUMBER),
    ("row %(row)s", _NUMBER),
    ("field “%(field)s”", "[^”]*"),
    ("%(n)s rows", _NUMBER),
    ("first in lines %(lines)s", f"{_NUMBER}(?:, {_NUMBER})*"),
    ("In “%(name)s”", "[^”]*"),
)
# A pattern of little more than places would fit anything.
_FEWEST_CHARACTERS = 8


class PageSpeaker(Speaker):
    def one(self, pattern: str) -> str:
        return translation.gettext(pattern)

    def several(self, pattern: str, plural: str, number: int) -> str:
        return translation.ngettext(pattern, plural, number)


class SaidMessages(SessionStorage):
    """Notices are said when they are made: the session keeps texts, and the next page is for the same person."""

    def add(self, level: int, message: Any, extra_tags: str | None = "") -> None:
        super().add(level, said(message), extra_tags)


def begin() -> None:
    speak_through(PageSpeaker)


def said_again(text: object) -> str:
    """A sentence that was stored in English, in the language of the page: it is found by its pattern.

    What no pattern of the catalogue fits, such as a text of somebody's own, stays as it is.
    """
    return _said_again(str(text), translation.get_language() or settings.LANGUAGE_CODE)


@lru_cache(maxsize=4_096)
def _said_again(text: str, language: str) -> str:
    exact, patterns = _catalogue(language)
    if text in exact:
        return exact[text]
    places, sentence = _behind_its_places(text)
    said_so = _said_again(sentence, language) if places else text
    if said_so != sentence:
        return translation.gettext(BEHIND_ITS_PLACE) % {"where": places, "problem": said_so}
    for pattern, translated in patterns:
        if found := pattern.fullmatch(text):
            return translated % {name: _said_again(value, language) for name, value in found.groupdict().items()}
    return text


def _behind_its_places(text: str) -> tuple[str, str]:
    """Of "Line 3: ..." the places, in the language of the page, and the sentence; of another text "" and itself."""
    places, rest = [], text[:1].lower() + text[1:] if text.startswith(("Line", "Column", "Row", "Field")) else text
    while True:
        for pattern, values in _PLACES_BEFORE:
            if found := _as_place(pattern, values).match(rest):
                places.append(translation.gettext(pattern) % found.groupdict())
                rest = rest[found.end() :]
                break
        else:
            return "", text
        if rest.startswith(": "):
            return translation.gettext(BETWEEN_PLACES).join(places), rest[2:]
        if not rest.startswith(", "):
            return "", text
        rest = rest[2:]


@cache
def _as_place(pattern: str, values: str) -> re.Pattern[str]:
    before, name, after = _PLACE.split(pattern)
    return re.compile(f"{re.escape(before)}(?P<{name}>{values}){re.escape(after)}")


@cache
def _catalogue(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Whole sentences, and patterns of the others; those with most words of their own first."""
    exact: dict[str, str] = {}
    patterns = []
    for folder in settings.LOCALE_PATHS:
        path = gettext.find("django", folder, [translation.to_locale(language)])
        if path is None:
            continue
        with open(path, "rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        for key, translated in catalogue.items():
            message = key[0] if isinstance(key, tuple) else key
            if not message:
                continue  # the catalogue's own head
            if not _PLACE.search(message):
                exact.setdefault(message, translated)
            elif len(words := _PLACE.sub("", message).strip()) >= _FEWEST_CHARACTERS:
                patterns.append((len(words), _as_pattern(message), translated))
    patterns.sort(key=lambda entry: -entry[0])
    return exact, [(pattern, translated) for _, pattern, translated in patterns]


def _as_pattern(message: str) -> re.Pattern[str]:
    seen: set[str] = set()
    parts = []
    for position, part in enumerate(_PLACE.split(message)):
        if position % 2 == 0:
            parts.append(re.escape(part.replace("%%", "%")))
        elif part in seen:
            parts.append(f"(?P={part})")
        else:
            seen.add(part)
            parts.append(f"(?P<{part}>.*?)")
    return re.compile("".join(parts), re.DOTALL)
