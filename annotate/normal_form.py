"""Unicode's normal forms, in time that grows with the text and not with its square.

Python's own function moves combining marks one place at a time: a text of 100,000 marks in an unlucky order takes it
seven seconds, and a field for long texts takes 200,000. Runs of marks that no language has are put in order here first.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# No word of any language has as many marks on one letter: Unicode's stream-safe text allows 30.
_LONGEST_RUN = 30
# Characters that are no marks themselves and are taken apart into nothing else.
_TAKEN_APART = "\u0f73\u0f75\u0f81\uff9e\uff9f"


def normal_form(form: Form, text: str) -> str:
    """The same as unicodedata.normalize. Source: Unicode Standard Annex 15, Unicode Normalization Forms."""
    if _has_long_run(text):
        text = _in_order("NFD" if form in {"NFC", "NFD"} else "NFKD", text)
    return unicodedata.normalize(form, text)


def _in_order(decomposition: Form, text: str) -> str:
    """The decomposed text: every character taken apart, each run of marks sorted by class, equal classes in order."""
    apart = {character: unicodedata.normalize(decomposition, character) for character in set(text)}
    return _run_of_marks().sub(_sorted, "".join(map(apart.__getitem__, text)))


def _sorted(run: re.Match[str]) -> str:
    return "".join(sorted(run.group(), key=unicodedata.combining))


def _has_long_run(text: str) -> bool:
    # A run that is longer covers one place in so many; most texts need no closer look.
    looked_at = text[:: _LONGEST_RUN + 1]
    return not looked_at.isascii() and bool(_mark().search(looked_at) and _long_run().search(text))


@lru_cache(maxsize=1)
def _mark() -> re.Pattern[str]:
    return re.compile(f"[{_marks()}{_TAKEN_APART}]")


@lru_cache(maxsize=1)
def _long_run() -> re.Pattern[str]:
    return re.compile(f"{_mark().pattern}{{{_LONGEST_RUN + 1}}}")


@lru_cache(maxsize=1)
def _run_of_marks() -> re.Pattern[str]:
    return re.compile(f"[{_marks()}]{{2,}}")


@lru_cache(maxsize=1)
def _marks() -> str:
    """The inside of a character class: what Unicode gives a combining class, from its first such mark to its last."""
    return "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
