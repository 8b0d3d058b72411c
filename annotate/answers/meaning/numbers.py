"""Numbers: digits with the separators of any country, words, ordinals, scales such as million."""

import re
from decimal import Decimal

from annotate.answers.meaning.number_words import (
    CHINESE_SCALES,
    SCALES,
    chinese_number,
    number_in_words,
    ordinal_in_words,
)

# "- 5" is a line of a list to some.
_SIGNED = re.compile(r"(\+|-|minus |negative )?(\S.{0,119})")
_DIGITS = re.compile(r"\d[\d.,' ]{0,60}|\.\d{1,30}")
_SPACED = re.compile(r"\d{1,3}(?: \d{3}){1,12}(?:[.,]\d{1,30})?|\d{1,3}(?:'\d{3}){1,12}(?:[.,]\d{1,30})?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,12}|\d{1,3}(?:\.\d{3}){1,12}|\d{1,2}(?:,\d{2}){1,12},\d{3}")
_WITH_SCALE = re.compile(r"([\d.,' ]{1,60}?) ?(thousands?|millions?|billions?|trillions?|lakhs?|crores?|mln|mn|bn|k)")
_SCALE_WORD = re.compile(r"(.{1,60}?) (thousand|million|billion|trillion|lakh|crore)")
_CHINESE_SCALE = re.compile(f"(\\d[\\d.,]{{0,20}}) ?([{''.join(CHINESE_SCALES)}])")
_POWER = re.compile(
    r"(\d{1,20}(?:\.\d{1,20})?) ?(?:x|\*) ?10 ?\^ ?(-?\d{1,2})|(\d{1,20}(?:\.\d{1,20})?)e([+-]?\d{1,2})"
)
_ORDINAL = re.compile(r"(?:the )?(\d[\d,]{0,15})( ?[a-z]{2})")
_MIXED = re.compile(r"(?:(\d{1,12}) )?(\d{1,6})⁄(\d{1,6})|(\d{1,12}) (\d{1,3})/(\d{1,3})")
_ABBREVIATED = {"k": "thousand", "mn": "million", "mln": "million", "bn": "billion"}
_MAX_EXPONENT = 30
_MAX_DIGITS = 25


def read_number(text: str) -> Decimal | None:
    """The number that a spelled text is, counted or in an order (3, 3rd); None for anything else."""
    value = read_cardinal(text)
    return read_ordinal(text) if value is None else value


def read_ordinal(text: str) -> Decimal | None:
    """3rd, the third, 第三; None for anything else: 11st is a weight."""
    if match := _ORDINAL.fullmatch(text):
        digits, ending = match.groups()
        return _digits(digits) if ending.strip(" ") == "th" or ending == _ending_of(digits) else None
    if text.startswith("第"):
        return chinese_number(text[1:]) or _digits(text[1:])
    return ordinal_in_words(text)


def read_cardinal(text: str) -> Decimal | None:
    """The number that counts something; None if it is none, or if it can be read as two different ones.

    A comma before exactly three digits separates thousands (1,500), any other single comma is a decimal one (1,5); a
    single point is a decimal one (1.500 is one and a half). With both, the last is the decimal one. Digits with a
    leading zero are a code or a part of a date, no number.
    """
    match = _SIGNED.fullmatch(text)
    if match is None:
        return None
    sign, unsigned = match.groups()
    value = read_unsigned(unsigned)
    if value is None:
        return None
    return -value if sign in {"-", "minus ", "negative "} and value else value


def read_unsigned(text: str) -> Decimal | None:
    text = text.strip(" ")
    if not text:
        return None
    if text[0].isdigit() or text[0] == ".":
        return _from_digits(text)
    chinese = chinese_number(text)
    if chinese is not None:
        return chinese
    if text.startswith(("half a ", "half an ")):
        scale = SCALES.get(text.split(" ")[-1])
        return None if scale is None or text.count(" ") != 2 else scale / 2
    words = number_in_words(text)
    if words is not None:
        return words
    match = _SCALE_WORD.fullmatch(text)
    count = number_in_words(match.group(1)) if match and match.group(1).endswith(" and a half") else None
    return None if match is None or count is None else count * SCALES[match.group(2)]


def _ending_of(digits: str) -> str:
    return "" if digits[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "")


def number_text(value: Decimal) -> str:
    """Plain digits without an exponent and without zeros at the end: equal numbers have equal texts."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


def _from_digits(text: str) -> Decimal | None:
    value = _digits(text)
    if value is not None:
        return value
    if match := _WITH_SCALE.fullmatch(text):
        scale = SCALES[_ABBREVIATED.get(match.group(2)) or match.group(2).removesuffix("s")]
        return _times(_digits(match.group(1)), scale)
    if match := _CHINESE_SCALE.fullmatch(text):
        return _times(_digits(match.group(1)), Decimal(CHINESE_SCALES[match.group(2)]))
    if match := _POWER.fullmatch(text):
        mantissa, exponent = match.group(1, 2) if match.group(1) else match.group(3, 4)
        return (
            _times(Decimal(mantissa), Decimal(1).scaleb(int(exponent))) if abs(int(exponent)) <= _MAX_EXPONENT else None
        )
    if match := _MIXED.fullmatch(text):
        whole, over, under = match.group(1, 2, 3) if match.group(2) else match.group(4, 5, 6)
        return Decimal(whole or 0) + Decimal(over) / Decimal(under) if int(under) else None
    if text.endswith(" and a half"):
        half = _digits(text.removesuffix(" and a half"))
        return None if half is None else half + Decimal("0.5")
    return None


def _digits(text: str) -> Decimal | None:
    if not _DIGITS.fullmatch(text) or not text[-1].isdigit():
        return None
    if " " in text or "'" in text:
        if not _SPACED.fullmatch(text) or text.startswith("0"):
            return None
        whole, _, fraction = text.replace(" ", "").replace("'", "").replace(",", ".").partition(".")
        return _exact(whole, fraction)
    n_commas, n_points = text.count(","), text.count(".")
    if n_commas and n_points:
        last = max(text.rfind(","), text.rfind("."))
        whole, fraction = text[:last], text[last + 1 :]
        # The other mark groups the digits before it; the decimal one occurs once.
        return (
            _exact(re.sub("[,.]", "", whole), fraction)
            if text[last] not in whole and _GROUPED.fullmatch(whole)
            else None
        )
    if n_commas + n_points > 1:
        return _exact(re.sub("[,.]", "", text)) if _GROUPED.fullmatch(text) else None
    whole, mark, fraction = text.partition("," if n_commas else ".")
    if n_commas and len(fraction) == 3 and len(whole) <= 3 and whole != "0":
        return _exact(whole + fraction)
    if n_commas and len(whole) > 3 and len(fraction) > 3:
        return None  # two years, or one odd number
    return _exact(whole, fraction) if mark else _exact(whole)


def _exact(whole: str, fraction: str = "") -> Decimal | None:
    # More digits than arithmetic keeps are an identifier.
    if (len(whole) > 1 and whole.startswith("0")) or len(whole) + len(fraction) > _MAX_DIGITS:
        return None
    return Decimal(f"{whole or '0'}.{fraction or '0'}")


def _times(value: Decimal | None, factor: Decimal) -> Decimal | None:
    return None if value is None else value * factor
