"""Pages say sentences (annotate/wording.py) in the language that is active: Django's catalogues, behind a pure door."""

from __future__ import annotations

from typing import Any

from django.contrib.messages.storage.session import SessionStorage
from django.utils import translation

from annotate.wording import Speaker, said, speak_through


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
