"""One spelling for what is written in many ways, before anything is read out of it."""

import re
import unicodedata

from annotate.answers.equivalence import INVISIBLE
from annotate.normal_form import normal_form

# NFKC would turn 10⁶ into 106 and 5½ into 51⁄2.
_SUPERSCRIPT = re.compile("[\u207b\u207a]?[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+")
_VULGAR_FRACTION = re.compile("[\u00bc-\u00be\u2150-\u215f\u2189]")
# After a number a capital is another unit than the small letter: mega or a million, giga, kelvin. It stays apart as a
# small capital, which nothing reads where no money is meant.
_CAPITAL_UNIT = re.compile(r"(?<=\d) ?(?:MM?|G)(?!\w)|(?<=\d) K(?!\w)")
_SMALL_CAPITALS = str.maketrans("MGK", "ᴍɢᴋ")
_NO_CAPITALS = str.maketrans("ᴍɢᴋ", "mgk")
_OUTER_QUOTES = (('"', '"'), ("'", "'"), ("«", "»"), ("「", "」"), ("『", "』"))
# Accents tell words apart in many scripts; over Latin and Greek letters people leave them out.
_ACCENTED = re.compile("([a-z\u03b1-\u03c9])[\u0300-\u036f]+")
# "A major" has no article, "A 4" none that is clear, and what is nothing but articles keeps the last two.
_ARTICLES = re.compile(
    r"(?:(?:the|an|a(?! (?:major|minor|flat|sharp|levels?|side|list|league|team)\b| \S(?!\S))) "
    r"(?!(?:the|an?)(?!\S)))+(?=\S)"
)


class _OneSpelling(dict[int, str]):
    """A table for str.translate, filled as characters are met: decimal digits of every script become ASCII."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        self[code] = character if digit is None else str(digit)
        return self[code]


_ONE_SPELLING = _OneSpelling(
    dict.fromkeys([*range(0x2010, 0x2014), 0x2212, 0x2796], "-")
    # A long dash stands between words or opens a line of speech; it is no minus sign.
    | dict.fromkeys([0x2014, 0x2015], " - ")
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
    text = _CAPITAL_UNIT.sub(lambda found: found.group().translate(_SMALL_CAPITALS), text)
    folded = normal_form("NFD", text).casefold()
    folded = normal_form("NFKD", folded).casefold()
    folded = normal_form("NFKC", folded).translate(_ONE_SPELLING)
    return " ".join(folded.split())


def without_capitals(text: str) -> str:
    """A spelled text in which a capital unit is the small letter, too: for words, and where money is meant."""
    return text.translate(_NO_CAPITALS)


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
    text = without_capitals(text)
    while True:
        before = text
        text = normal_form("NFC", _ACCENTED.sub(r"\1", normal_form("NFD", text)))
        text = bare(text)
        articles = _ARTICLES.match(text)
        text = text[articles.end() :] if articles else text
        if text == before:
            return text
