"""One spelling for what is written in many ways, before anything is read out of it."""

import re
import unicodedata

from annotate.answers.equivalence import INVISIBLE
from annotate.normal_form import normal_form

# NFKC would turn 10⁶ into 106 and 5½ into 51⁄2.
_SUPERSCRIPT = re.compile("[\u207b\u207a]?[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+")
_VULGAR_FRACTION = re.compile("[\u00bc-\u00be\u2150-\u215e]")
_OUTER_QUOTES = (('"', '"'), ("'", "'"), ("«", "»"), ("「", "」"), ("『", "』"))
# Accents tell words apart in many scripts; over Latin and Greek letters people leave them out.
_ACCENTED = re.compile("([a-z\u03b1-\u03c9])[\u0300-\u036f]+")
_ARTICLES = re.compile(r"(?:(?:the|an|a(?! (?:major|minor|flat|sharp|levels?|side|list|league|team)\b)) )+(?=\S)")


class _OneSpelling(dict[int, str]):
    """A table for str.translate, filled as characters are met: decimal digits of every script become ASCII."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        self[code] = character if digit is None else str(digit)
        return self[code]


_ONE_SPELLING = _OneSpelling(
    dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0x2796], "-")
    | dict.fromkeys([0x2018, 0x2019, 0x201B, 0x02BC, 0x2032, 0x00B4], "'")
    | dict.fromkeys([0x201C, 0x201D, 0x201E, 0x201F, 0x2033], '"')
    | dict.fromkeys([0x060C, 0x066C, 0x3001], ",")
    | {0x066B: ".", 0x3002: ".", 0x066A: "%", 0x061B: ";", 0x301C: "~", 0x00D7: "x"}
)


def spelled(text: str) -> str:
    """The text with one form for each digit, dash, quote, comma, case and space; the spelling of a spelling is itself.

    Exponents are kept apart from digits (10^6), fractions from whole numbers (5 1⁄2). Accents stay.
    """
    text = _SUPERSCRIPT.sub(lambda found: f"^{found.group()}", text.translate(INVISIBLE))
    text = _VULGAR_FRACTION.sub(lambda found: f" {found.group()}", text)
    folded = normal_form("NFD", text).casefold()
    folded = normal_form("NFKD", folded).casefold()
    folded = normal_form("NFKC", folded).translate(_ONE_SPELLING)
    return " ".join(folded.split())


def bare(text: str) -> str:
    """A spelled text without quotes around it and without a full stop at its end."""
    while True:
        before = text
        text = text.strip(" ").rstrip(".!").rstrip(" ") or before
        for opening, closing in _OUTER_QUOTES:
            inside = text[1:-1].strip(" ")
            if inside and text[0] == opening and text[-1] == closing and opening not in inside:
                text = inside
        if text == before:
            return text


def plain_text(text: str) -> str:
    """The words of a spelled text: without accents over Latin and Greek letters, and without a leading article.

    The plain text of a plain text is itself. A letter that only looks like an article ("A major") stays.
    """
    while True:
        before = text
        text = normal_form("NFC", _ACCENTED.sub(r"\1", normal_form("NFD", text)))
        text = bare(text)
        articles = _ARTICLES.match(text)
        text = text[articles.end() :] if articles else text
        if text == before:
            return text
