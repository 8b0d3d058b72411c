"""Text from outside in a form that every database takes: pure, and shared by clients and prompts."""

import re

MAX_ERROR_CHARS = 500

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with NUL and lone surrogates as U+FFFD: PostgreSQL stores neither, and one would fail a whole chunk."""
    return _UNSTORABLE.sub("\ufffd", text)


def shorten(message: str, limit: int = MAX_ERROR_CHARS) -> str:
    """The message on one line, storable, at most `limit` characters."""
    folded = " ".join(storable(message).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
