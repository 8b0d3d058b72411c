"""What a language tag is, for items, projects and people alike. Pure."""

import re

# BCP 47 as far as it can be told without the registry: two or three letters, then subtags.
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_MAX_CHARACTERS = 35


def is_language_tag(text: str) -> bool:
    """True for en, ta, zh-Hans; not for "english", which no item would ever match."""
    return len(text) <= _MAX_CHARACTERS and _TAG.fullmatch(text) is not None
