"""The words that a page's scripts say, carried by the page in its language. English is written in the scripts."""

from __future__ import annotations

import gettext
from functools import cache

from django import template
from django.conf import settings
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language, to_locale

register = template.Library()


@register.simple_tag
def script_words() -> SafeString:
    return _script_words_in(get_language())


@cache
def _script_words_in(language: str) -> SafeString:
    """A data block for static/js/words.js: {message: translation}, or all its forms in a list where it has a number."""
    words: dict[str, str | list[str]] = {}
    for folder in settings.LOCALE_PATHS:
        if path := gettext.find("djangojs", folder, [to_locale(language)]):
            with open(path, "rb") as file:
                words |= _messages(gettext.GNUTranslations(file))
    return json_script(words, "script-words") if words else SafeString()


def _messages(catalogue: gettext.GNUTranslations) -> dict[str, str | list[str]]:
    told: dict[str, str | list[str]] = {}
    for key, text in sorted(catalogue._catalog.items(), key=str):  # type: ignore[attr-defined]
        if isinstance(key, tuple):
            forms = told.setdefault(key[0], [])
            assert isinstance(forms, list)
            forms.append(text)
        elif key:
            told[key] = text
    return told
