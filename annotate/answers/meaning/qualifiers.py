"""More than, about, at least: a qualifier is part of the answer."""

import re
from collections.abc import Callable

_BEFORE = {
    ">": ("over", "more than", "greater than", "above", "exceeding", ">"),
    "<": ("under", "less than", "fewer than", "below", "<"),
    ">=": ("at least", "no less than", "no fewer than", "minimum", ">=", "≥"),
    "<=": ("at most", "up to", "no more than", "maximum", "<=", "≤"),
    "~": ("about", "around", "approximately", "approx.", "approx", "roughly", "circa", "ca.", "c.", "~", "≈"),
    "almost": ("almost", "nearly", "just under"),
    "after": ("after",),
    "before": ("before", "prior to"),
    "since": ("since",),
    "until": ("until",),
}
_AFTER = {
    ">=": ("or more", "or above", "and more", "and above", "+"),
    "<=": ("or less", "or fewer", "or below"),
    "ago": ("ago",),
}
_QUALIFIER_OF = {word: sign for sign, words in _BEFORE.items() for word in words}
_ENDING_OF = {word: sign for sign, words in _AFTER.items() for word in words}


def _alternatives(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_PREFIX = re.compile(
    rf"({_alternatives(_QUALIFIER_OF)})(?<=\W) ?(.{{1,200}})|({_alternatives(_QUALIFIER_OF)}) (.{{1,200}})"
)
_ENDING = re.compile(rf"(.{{1,200}}?) ?({_alternatives(_ENDING_OF)})")


def read_qualified(text: str, key_of: Callable[[str], str | None]) -> str | None:
    """open: the qualifier and the key of what it qualifies; None without a qualifier or with an unread rest."""
    if match := _PREFIX.fullmatch(text):
        word, rest = match.group(1, 2) if match.group(1) else match.group(3, 4)
        key = key_of(rest)
        return None if key is None else f"open:{_QUALIFIER_OF[word]} {key}"
    if match := _ENDING.fullmatch(text):
        key = key_of(match.group(1))
        return None if key is None else f"open:{_ENDING_OF[match.group(2)]} {key}"
    return None
