"""A number with what it is of: money, per cent, kilometres. A unit is never converted, added or left out."""

import re
from decimal import Decimal

from annotate.answers.meaning.durations import UNIT_WORDS, read_duration
from annotate.answers.meaning.number_words import SCALES
from annotate.answers.meaning.numbers import number_text, read_cardinal, read_ordinal, read_unsigned
from annotate.answers.meaning.spelling import without_capitals

# "$" says dollars without saying whose; "pounds" may be money or weight: each stays its own unit.
_CURRENCIES = {
    "dollar": ("$", "dollar", "dollars"),
    "usd": ("us$", "usd", "us dollar", "us dollars", "u.s. dollar", "u.s. dollars", "american dollars"),
    "aud": ("a$", "au$", "aud", "australian dollars"),
    "cad": ("c$", "ca$", "cad", "canadian dollars"),
    "hkd": ("hk$", "hkd", "hong kong dollars"),
    "euro": ("€", "euro", "euros", "eur"),
    "gbp": ("£", "gbp", "pound sterling", "pounds sterling", "british pounds"),
    "pound": ("pound", "pounds"),
    "¥": ("¥",),
    "jpy": ("jpy", "yen", "japanese yen", "日元", "円"),
    "cny": ("cny", "rmb", "yuan", "renminbi", "元", "人民币"),
    "inr": ("₹", "inr", "indian rupees", "रुपये"),
    "rupee": ("rupee", "rupees", "rs", "rs."),
    "chf": ("chf", "swiss francs"),
    "rub": ("₽", "rub", "roubles", "rubles"),
    "krw": ("₩", "krw", "won"),
    "cent": ("¢", "cent", "cents"),
}
_UNITS = {
    "%": ("%", "percent", "per cent", "pct", "prozent"),
    "‰": ("‰", "per mille", "permille"),
    "percentage points": ("percentage points", "percentage point", "pp"),
    "km": ("km", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"),
    "m": ("m", "metre", "metres", "meter", "meters", "米"),
    "cm": ("cm", "centimetre", "centimetres", "centimeter", "centimeters", "厘米"),
    "mm": ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    "mi": ("mi", "mile", "miles"),
    "ft": ("ft", "ft.", "foot", "feet"),
    "in": ("inch", "inches"),
    "kg": ("kg", "kilogram", "kilograms", "kilo", "kilos", "公斤", "千克"),
    "g": ("g", "gram", "grams"),
    "lb": ("lb", "lbs"),
    "t": ("tonne", "tonnes"),
    "km^2": ("km^2", "sq km", "sq. km", "square kilometre", "square kilometres", "square kilometers"),
    "m^2": ("m^2", "sq m", "square metre", "square metres", "square meters"),
    "km/h": ("km/h", "kph", "kmh", "kilometres per hour", "kilometers per hour"),
    "mph": ("mph", "miles per hour"),
    "°c": ("°c", "degrees celsius"),
    "°f": ("°f", "degrees fahrenheit"),
    **{
        f"{noun}s": (noun, f"{noun}s")
        for noun in (
            *("time", "medal", "goal", "point", "vote", "seat", "episode", "season", "game", "match", "album", "win"),
            *("term", "member", "child", "title", "song", "film", "book", "player", "team", "place", "rank"),
        )
        if noun not in {"child", "match"}
    },
    "people": ("people", "persons", "person"),
    "children": ("child", "children"),
    "matches": ("match", "matches"),
}
CURRENCY_OF = {word: unit for unit, words in _CURRENCIES.items() for word in words}
UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}
_PREFIXES = sorted(CURRENCY_OF, key=len, reverse=True)
# Where money is meant, m is a million and b a billion.
_SHORT_SCALE = re.compile(r"([\d.,' ]{1,60}?) ?(m|b)")
_ATTACHED = re.compile(r"(.{0,60}[\d.])([a-z%‰°¢€$£¥₹₽₩^/\u4e00-\u9fff][a-z°^/\d.\u4e00-\u9fff]{0,20})")
_MAX_UNIT_WORDS = 3
# What has a third one: a season, a year.
_IN_ORDER = UNIT_OF | UNIT_WORDS
_SCALED_UNIT = re.compile(rf"({'|'.join(SCALES)})s?(?: of)?(?: (.{{1,60}}))?")


def read_quantity(text: str, expected_unit: str = "") -> str | None:
    """The key of a number, of money, or of a number with a known unit; None for anything else.

    expected_unit: what the question asks in; a number without a unit gets it, one that has a unit keeps its own. The
    third season is none of three seasons.
    """
    if (scaled := _SCALED_UNIT.fullmatch(expected_unit)) and (key := _in_scale(text, *scaled.groups())):
        return key
    value = read_cardinal(text)
    if value is not None:
        return in_unit(value, expected_unit)
    value = read_ordinal(text)
    if value is not None:
        return _in_order(value, expected_unit) if expected_unit else f"number:{number_text(value)}"
    return _money(text) or _measure(text) or _place(text)


def _in_scale(text: str, scale: str, unit: str | None) -> str | None:
    """1.5 where millions are asked for is 1.5 million, and "1.5 million" is that already."""
    value = read_cardinal(f"{text} {scale}")
    value = read_cardinal(text) if value is None else value
    return None if value is None else in_unit(value, unit or "")


def in_unit(value: Decimal, unit: str) -> str:
    """The key of a bare number, understood in the unit that the question asks for ("" for none)."""
    number = number_text(value)
    if not unit:
        return f"number:{number}"
    return read_duration(f"{number} {unit}") or _keyed(value, CURRENCY_OF.get(unit) or UNIT_OF.get(unit) or unit)


def _keyed(value: Decimal, unit: str) -> str:
    return f"number:{number_text(value)} {unit}"


def _money(text: str) -> str | None:
    sign, unsigned = _sign(text)
    for prefix in _PREFIXES:
        if unsigned.startswith(prefix):
            inner_sign, amount = _sign(unsigned[len(prefix) :].strip(" "))
            if prefix[-1].isalpha() and unsigned[len(prefix) : len(prefix) + 1].isalpha():
                continue
            value = _amount(amount) if sign * inner_sign == min(sign, inner_sign) else None
            return None if value is None else _keyed(value * sign * inner_sign, CURRENCY_OF[prefix])
    number, unit = _before_unit(unsigned, CURRENCY_OF)
    value = _amount(number) if unit else None
    return None if value is None else _keyed(value * sign, unit)


def _place(text: str) -> str | None:
    number, unit = _before_unit(text, _IN_ORDER)
    value = read_ordinal(number) if unit else None
    return None if value is None else f"ordinal:{number_text(value)} {unit}"


def _in_order(value: Decimal, unit: str) -> str:
    return f"ordinal:{number_text(value)} {_IN_ORDER.get(unit, unit)}"


def _measure(text: str) -> str | None:
    number, unit = _before_unit(text, UNIT_OF)
    value = read_cardinal(number) if unit else None
    return None if value is None else _keyed(value, unit)


def _sign(text: str) -> tuple[int, str]:
    for minus in ("-", "minus ", "negative "):
        # "- $5" is a line of a list to some.
        if text.startswith(minus) and text[len(minus) : len(minus) + 1] != " ":
            return -1, text[len(minus) :]
    return 1, text


def _amount(text: str) -> Decimal | None:
    text = without_capitals(text)
    value = read_unsigned(text)
    if value is None and (match := _SHORT_SCALE.fullmatch(text)):
        value = read_unsigned(f"{match.group(1)} {'million' if match.group(2) == 'm' else 'billion'}")
    return value


def _before_unit(text: str, units: dict[str, str]) -> tuple[str, str]:
    """What stands before a known unit at the end, and the unit; two empty texts without one."""
    words = text.split(" ")
    for n in range(min(_MAX_UNIT_WORDS, len(words) - 1), 0, -1):
        if unit := units.get(" ".join(words[-n:])):
            return " ".join(words[:-n]), unit
    if (match := _ATTACHED.fullmatch(text)) and (unit := units.get(match.group(2))):
        return match.group(1), unit
    return "", ""
