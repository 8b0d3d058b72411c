"""Durations and ages: 365 days, 12 months and one year have one key."""

import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from annotate.answers.meaning.number_words import chinese_number, ordinal_in_words
from annotate.answers.meaning.numbers import number_text, read_unsigned

_HOUR, _DAY = 3600, 86_400
_DAYS_OF_A_YEAR = 365
# unit: (months, seconds) of one. A month has no fixed number of days, and is never turned into days.
_MONTHS = {"millennium": 12_000, "century": 1_200, "decade": 120, "year": 12, "month": 1}
_SECONDS = {"fortnight": 14 * _DAY, "week": 7 * _DAY, "day": _DAY, "hour": _HOUR, "minute": 60, "second": 1}
_ORDER = [*_MONTHS, *_SECONDS]
UNIT_WORDS = (
    {unit: unit for unit in _ORDER}
    | {f"{unit}s": unit for unit in _ORDER if unit not in {"century", "millennium"}}
    | {"centuries": "century", "millennia": "millennium", "millenniums": "millennium"}
    | {"yr": "year", "yrs": "year", "mo": "month", "mos": "month", "mth": "month", "mths": "month"}
    | {"wk": "week", "wks": "week", "hr": "hour", "hrs": "hour", "h": "hour"}
    | {"min": "minute", "mins": "minute", "sec": "second", "secs": "second"}
)
_UNIT = re.compile(rf"(?<![a-z])({'|'.join(sorted(UNIT_WORDS, key=len, reverse=True))})\b\.?")
_AFTER = re.compile(r"(?: |-)?(?:old|of age|period|long|in duration|duration)?")
_AGE = re.compile(r"(?:at )?(?:the )?(?:age of|aged?) (.{1,60}?)(?: years?)?|(\d{1,3}) ?(?:y/o|yo|y\.o\.?)")
_COMPACT = re.compile(
    r"(?:(?P<year>\d{1,4})y)? ?(?:(?P<week>\d{1,4})w)? ?(?:(?P<day>\d{1,4})d)? ?(?:(?P<hour>\d{1,4})h)?"
    r" ?(?:(?P<minute>\d{1,4})m)? ?(?:(?P<second>\d{1,4})s)?"
)
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d))?")
_CHINESE = re.compile(
    r"(\d{1,9}(?:\.\d{1,3})?|[〇零一二两三四五六七八九十百千]{1,9})(个月|個月|小时|小時|分钟|分鐘|星期|年|岁|歲|周|天|秒)"
)
_CHINESE_UNITS = dict.fromkeys(["年", "岁", "歲"], "year") | dict.fromkeys(["个月", "個月"], "month")
_CHINESE_UNITS |= {"星期": "week", "周": "week", "天": "day", "小时": "hour", "小時": "hour"}
_CHINESE_UNITS |= {"分钟": "minute", "分鐘": "minute", "秒": "second"}
_MAX_PARTS = 8

Part = tuple[str, Fraction]


def read_duration(text: str) -> str | None:
    """duration: in months and seconds, after n x 365 days have become n years.

    Years and months count in months, everything below in seconds; 30 days are no month and 52 weeks no year. Parts
    stand from large to small ("1 year and 6 months"); "12 months and 1 year" is two durations, and is not read here.
    """
    parts = _age(text) or _in_words(text) or _compact(text) or _in_chinese(text)
    if not parts:
        return None
    ranks = [_ORDER.index(unit) for unit, _ in parts]
    if any(later <= earlier for earlier, later in pairwise(ranks)):
        return None
    months = sum((number * _MONTHS[unit] for unit, number in parts if unit in _MONTHS), Fraction(0))
    seconds = sum((number * _SECONDS[unit] for unit, number in parts if unit in _SECONDS), Fraction(0))
    years, rest = divmod(seconds, _DAYS_OF_A_YEAR * _DAY)
    if rest == 0:
        months, seconds = months + 12 * years, Fraction(0)
    shown = [f"{months} months"] if months or not seconds else []
    if seconds:
        shown.append(f"{seconds / _DAY} days" if seconds % _DAY == 0 else f"{seconds} seconds")
    return f"duration:{' '.join(shown)}"


def _age(text: str) -> list[Part] | None:
    match = _AGE.fullmatch(text)
    number = _number(match.group(1) or match.group(2)) if match else None
    return None if number is None else [("year", number)]


def _in_words(text: str) -> list[Part] | None:
    # "twenty-second" is a place, not a time.
    if text.endswith("second") and ordinal_in_words(text) is not None:
        return None
    text = text.removeprefix("for ").removeprefix("the ")
    parts: list[Part] = []
    position = 0
    found = list(_UNIT.finditer(text))
    if not 0 < len(found) <= _MAX_PARTS:
        return None
    for match in found:
        unit = UNIT_WORDS[match.group(1)]
        before = text[position : match.start()]
        number = _count(before.strip(" -"), unit, is_first=not parts)
        if number is None:
            return None
        parts.append((unit, number))
        position = match.end()
    rest = text[position:]
    if len(parts) == 1 and rest == " and a half":
        return [(parts[0][0], parts[0][1] + Fraction(1, 2))]
    return parts if _AFTER.fullmatch(rest) else None


def _count(text: str, unit: str, *, is_first: bool) -> Fraction | None:
    if not is_first:
        text = text.removeprefix(",").strip(" ").removeprefix("and ").removeprefix("& ").strip(" ")
    if text in {"a", "an"}:
        return Fraction(1)
    if text in {"half a", "half an"}:
        return Fraction(1, 2)
    if clock := _CLOCK.fullmatch(text):
        return _by_clock(clock, unit)
    # "a 12-month period"
    return _number(text.removeprefix("a ") if text[2:3].isdigit() else text)


def _by_clock(clock: re.Match[str], unit: str) -> Fraction | None:
    """1:30:00 or 1:30 hours, 45:10 minutes."""
    first, second, third = (int(group or 0) for group in clock.groups())
    if unit == "hour":
        return Fraction(first * _HOUR + second * 60 + third, _HOUR)
    return Fraction(first * 60 + second, 60) if unit == "minute" and clock.group(3) is None else None


def _compact(text: str) -> list[Part] | None:
    match = _COMPACT.fullmatch(text)
    if match is None:
        return None
    parts = [(unit, Fraction(number)) for unit, number in match.groupdict().items() if number]
    # A single "5 m" or "5 s" may be metres, or a plural; beside years or days "3 m" may be months.
    is_clear = not match["minute"] or match["hour"] or match["second"]
    return parts if len(parts) > 1 and is_clear else None


def _in_chinese(text: str) -> list[Part] | None:
    parts: list[Part] = []
    position = 0
    for match in _CHINESE.finditer(text):
        if text[position : match.start()].strip(" 零又") or len(parts) == _MAX_PARTS:
            return None
        number = chinese_number(match.group(1))
        parts.append((_CHINESE_UNITS[match.group(2)], Fraction(Decimal(match.group(1)) if number is None else number)))
        position = match.end()
    return parts if parts and not text[position:] else None


def _number(text: str) -> Fraction | None:
    value = read_unsigned(text)
    return None if value is None or len(number_text(value)) > 20 else Fraction(value)
