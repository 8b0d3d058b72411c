"""Numbers written as words, in English and in Chinese characters."""

import re
from decimal import Decimal

_WORDS_BELOW_TWENTY = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_SMALL = {word: number for number, word in enumerate(_WORDS_BELOW_TWENTY)}
_WORDS_OF_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = {word: 10 * number for number, word in enumerate(_WORDS_OF_TENS, start=2)}
SCALES = {
    "thousand": Decimal(10) ** 3,
    "lakh": Decimal(10) ** 5,
    "million": Decimal(10) ** 6,
    "crore": Decimal(10) ** 7,
    "billion": Decimal(10) ** 9,
    "trillion": Decimal(10) ** 12,
}
_IRREGULAR = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine"}
_ORDINALS = (
    {f"{word}th": word for word in [*_SMALL, "hundred", *SCALES] if word not in {"one", "two", "three"}}
    | {f"{word.removesuffix('y')}ieth": word for word in _TENS}
    | _IRREGULAR
    | {"twelfth": "twelve"}
)
_CHINESE_DIGITS = {
    digit: value
    for value, digits in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for digit in digits
}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
CHINESE_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMERAL = re.compile(f"[{''.join(_CHINESE_DIGITS)}{''.join(_CHINESE_UNITS)}{''.join(CHINESE_SCALES)}]{{1,20}}")
_MAX_WORDS = 20


def number_in_words(text: str) -> Decimal | None:
    """The number that spelled English words give; None for anything else.

    "twenty twenty" and "nineteen ninety-nine" are years to some and two numbers to others: None.
    """
    half = text.removesuffix(" and a half")
    value = _whole(half.replace("-", " ").split(" "))
    return value if value is None or half == text else value + Decimal("0.5")


def ordinal_in_words(text: str) -> Decimal | None:
    """first, the twenty-second; None for anything else."""
    words = text.removeprefix("the ").replace("-", " ").split(" ")
    return _whole([*words[:-1], _ORDINALS[words[-1]]]) if words[-1] in _ORDINALS else None


def chinese_number(text: str) -> Decimal | None:
    """三百二十一, 十五, 二〇一二 (digit by digit), 一亿三千万; None for anything else."""
    if not CHINESE_NUMERAL.fullmatch(text):
        return None
    if all(character in _CHINESE_DIGITS for character in text):
        digits = "".join(str(_CHINESE_DIGITS[character]) for character in text)
        return Decimal(digits) if digits == "0" or not digits.startswith("0") else None
    total = section = 0
    digit: int | None = None
    unit, scale = 10**4, 10**12
    for character in text:
        if character in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_UNITS:
            if _CHINESE_UNITS[character] >= unit or (digit is None and (character != "十" or section)):
                return None
            unit = _CHINESE_UNITS[character]
            section += (1 if digit is None else digit) * unit
            digit = None
        else:
            section += digit or 0
            if CHINESE_SCALES[character] >= scale or not section:
                return None
            scale = CHINESE_SCALES[character]
            total, section, digit, unit = total + section * scale, 0, None, 10**4
    return Decimal(total + section + (digit or 0))


def _whole(words: list[str]) -> Decimal | None:
    """thousand and the like in falling order, each after a number below 1,000, then such a number."""
    if len(words) > _MAX_WORDS:
        return None
    if words[0] in {"a", "an"} and words[1:2] and words[1] in {"hundred", "dozen", *SCALES}:
        words = ["one", *words[1:]]
    if len(words) == 2 and words[1] == "dozen":
        count = _below_thousand(words[:1])
        return None if count is None else Decimal(12 * count)
    total = Decimal(0)
    last_scale: Decimal | None = None
    group: list[str] = []
    for word in words:
        scale = SCALES.get(word)
        if scale is None:
            group.append(word)
            continue
        count = _below_thousand(group)
        if count is None or (last_scale is not None and scale >= last_scale):
            return None
        total, last_scale, group = total + count * scale, scale, []
    if not group:
        return total if last_scale is not None else None
    if last_scale is not None and group[0] == "and":
        group = group[1:]
    rest = _below_thousand(group)
    return None if rest is None else total + rest


def _below_thousand(words: list[str]) -> int | None:
    """Also "twelve hundred"."""
    if "hundred" not in words:
        return _below_hundred(words)
    at = words.index("hundred")
    hundreds, rest = _below_hundred(words[:at]), words[at + 1 :]
    if not hundreds or "hundred" in rest:
        return None
    if not rest:
        return 100 * hundreds
    below = _below_hundred(rest[1:] if rest[0] == "and" else rest)
    return 100 * hundreds + below if below else None


def _below_hundred(words: list[str]) -> int | None:
    if len(words) == 1:
        return _SMALL.get(words[0], _TENS.get(words[0]))
    if len(words) == 2 and words[0] in _TENS and 0 < _SMALL.get(words[1], 0) < 10:
        return _TENS[words[0]] + _SMALL[words[1]]
    return None
