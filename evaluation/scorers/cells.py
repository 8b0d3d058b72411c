"""When two cells of a table are the same value, or near enough.

The rules are those of RelationalFactQA's paper, with its tolerance measured in decimals (1.1 is within 10 % of 1.0,
which binary fractions deny) and with number formats read instead of stripped.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from decimal import Decimal
from functools import lru_cache

from evaluation.scorers.answers import Cell
from evaluation.scorers.folding import folded_cell
from evaluation.scorers.pairing import MAX_PAIRS, TooManyPairs

# A folded text, a number, or nothing. A number and a text never match.
CellValue = str | Decimal | None

_NULLS = frozenset({"", "null", "n/a", "nan"})
_SCALES = {"k": 3, "thousand": 3, "m": 6, "million": 6, "b": 9, "billion": 9}
_NUMBER = re.compile(r"([+-]?)([0-9][0-9.,]*|\.[0-9]+) ?(k|m|b|thousand|million|billion)?")
_GROUPS = re.compile(r"[0-9]{1,3}(?:[0-9]{3})*|[0-9]{1,2}(?:[0-9]{2})*[0-9]{3}")
_MINUS = str.maketrans({"\u2212": "-", "\u2010": "-", "\u2011": "-", "\ufe63": "-", "\uff0d": "-"})
# A longer "number" is digits by accident; it is compared as text.
_MAX_DIGITS = 60


def cell_value(cell: Cell) -> CellValue:
    """The number, the folded text, or None for a cell without a value ("", null, n/a, nan)."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return Decimal(cell)
    if isinstance(cell, float):
        return Decimal(repr(cell))
    return _text_value(cell)


@lru_cache(maxsize=50_000)
def _text_value(text: str) -> CellValue:
    folded = folded_cell(text)
    if folded in _NULLS:
        return None
    number = _number(folded.translate(_MINUS))
    return folded if number is None else number


def _number(text: str) -> Decimal | None:
    """Optional sign, digits with separators, optional thousand, million or billion; None for anything else.

    Both separators present: the last one is the decimal mark. Several equal ones: thousands. One comma before exactly
    three digits, with one to three digits other than a lone 0 before it: thousands; any other: a decimal comma.
    """
    match = _NUMBER.fullmatch(text) if len(text) <= _MAX_DIGITS else None
    if match is None:
        return None
    sign, digits, scale = match.groups()
    plain = _without_separators(digits)
    if plain is None:
        return None
    return Decimal(f"{sign}{plain}").scaleb(_SCALES.get(scale, 0))


def _without_separators(digits: str) -> str | None:
    """The digits with a dot for the decimal mark and no other separator; None if they are no number."""
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        mark = max(digits.rfind("."), digits.rfind(","))
        whole, fraction = digits[:mark], digits[mark + 1 :]
        other = "," if digits[mark] == "." else "."
        if digits.count(digits[mark]) > 1 or not fraction.isdigit():
            return None
        return f"{grouped}.{fraction}" if (grouped := _grouped(whole, other)) else None
    if dots > 1 or commas > 1:
        return _grouped(digits, "." if dots else ",")
    if commas:
        whole, fraction = digits.split(",")
        if len(fraction) == 3 and 1 <= len(whole) <= 3 and whole != "0":
            return whole + fraction
        return f"{whole}.{fraction}" if fraction else None
    return digits if not digits.endswith(".") else digits[:-1]


def _grouped(text: str, separator: str) -> str | None:
    """1,234,567 or 12,34,567 without separators; None for other groups, such as those of a date."""
    first, *groups = text.split(separator)
    if not groups or not first or len(first) > 3 or len(groups[-1]) != 3:
        return None
    widths = {len(group) for group in groups[:-1]}
    return "".join([first, *groups]) if widths <= {3} or widths <= {2} else None


def cells_match(expected: CellValue, actual: CellValue) -> bool:
    """Near enough: numbers within 10 % of the expected one, texts within 10 % of its length in edit distance."""
    if expected == actual:
        return type(expected) is type(actual)
    if isinstance(expected, Decimal) and isinstance(actual, Decimal):
        return abs(actual - expected) * 10 <= abs(expected)
    if isinstance(expected, str) and isinstance(actual, str):
        return texts_match(expected, actual)
    return False


def texts_match(expected: str, actual: str) -> bool:
    """edit distance * 10 <= length of the expected text."""
    allowed = len(expected) // 10
    if abs(len(expected) - len(actual)) > allowed:
        return False
    if expected == actual:
        return True
    if not allowed:
        return False
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(expected, actual, score_cutoff=allowed) <= allowed


def matches_among(expected: Iterable[CellValue], actual: Collection[CellValue]) -> dict[CellValue, list[CellValue]]:
    """For each distinct expected value the distinct actual ones that match it.

    The same as cells_match on every pair, without trying every pair: numbers are found by their place in order, texts
    of other lengths are not compared, and under ten characters only the same text matches. Raises TooManyPairs.
    """
    present = set(actual)
    numbers = sorted(value for value in present if isinstance(value, Decimal))
    by_length: dict[int, list[str]] = {}
    for value in present:
        if isinstance(value, str):
            by_length.setdefault(len(value), []).append(value)
    found: dict[CellValue, list[CellValue]] = {}
    n_pairs = n_compared = 0
    for wanted in set(expected):
        if isinstance(wanted, Decimal):
            reach = abs(wanted) / 10
            low, high = bisect_left(numbers, wanted - reach), bisect_right(numbers, wanted + reach)
            found[wanted] = list(numbers[low:high])
        elif isinstance(wanted, str):
            allowed = len(wanted) // 10
            if not allowed:
                found[wanted] = [wanted] if wanted in present else []
                continue
            lengths = range(len(wanted) - allowed, len(wanted) + allowed + 1)
            near = [value for length in lengths for value in by_length.get(length, ())]
            n_compared += len(near)
            if n_compared > MAX_PAIRS:
                raise TooManyPairs(f"more than {MAX_PAIRS:,} texts to compare")
            found[wanted] = [value for value in near if texts_match(wanted, value)]
        else:
            found[wanted] = [None] if None in present else []
        n_pairs += len(found[wanted])
        if n_pairs > MAX_PAIRS:
            raise TooManyPairs(f"more than {MAX_PAIRS:,} matching pairs")
    return found
