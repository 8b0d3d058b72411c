"""WikiTableQuestions' official rule: the same items as the gold answer, by text, number or date.

Source: Pasupat and Liang 2015, Compositional Semantic Parsing on Semi-Structured Tables, and its evaluator.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotate.normal_form import normal_form
from evaluation.scorers.answers import Takes
from evaluation.scorers.registry import Score, scorer

_QUOTES = {"\u2018": "'", "\u2019": "'", "\u00b4": "'", "`": "'", "\u201c": '"', "\u201d": '"'}
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
_PLAIN = str.maketrans({**_QUOTES, **_DASHES})
_FOOTNOTES = "\u2666\u2020\u2021*#+"
_DATE = re.compile(r"([0-9]{1,4}|x{2,4})-([0-9]{1,2}|xx)-([0-9]{1,2}|xx)")


@dataclass(frozen=True)
class Item:
    """One item as the rule sees it: its normalised text, and its number or (year, month, day) where it is one."""

    text: str
    number: float | None
    date: tuple[int, int, int] | None


@scorer("wikitablequestions", takes=Takes.ITEMS, is_published_rule=True)
def wikitablequestions(answer: Sequence[str], gold: Collection[Sequence[str]]) -> Score:
    """1.0 if both have the same number of distinct items and each gold item matches one of the answer's, else 0.0.

    Items may match one another more than one to one, as in the evaluator.
    """
    given = _distinct(answer)
    return Score(float(any(_is_right(given, _distinct(label)) for label in gold)))


def target_items(text: str) -> list[str]:
    """The items of a field of its files: joined by |, in them \\n for a line feed, \\p for | and \\ for itself."""
    unescaped = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}
    return [re.sub(r"\\[np\\]", lambda found: unescaped[found[0]], item) for item in text.split("|")]


def normalised(text: str) -> str:
    """NFKD without combining marks; quotes and dashes as ASCII; then, until nothing changes, without footnote marks,
    a final " (...)" and outer quotes; without a final dot; white space folded; lower case."""
    decomposed = normal_form("NFKD", text)
    text = "".join(character for character in decomposed if unicodedata.category(character) != "Mn").translate(_PLAIN)
    text = text.strip()
    while True:
        before = len(text)
        # A citation such as [3] stands behind what it is about; alone it is the text.
        if text.endswith("]") and (start := text.rfind("[")) > 0:
            text = text[:start].rstrip()
        text = (text.rstrip(_FOOTNOTES) or text).rstrip()
        if text.endswith(")") and (start := text.rfind(" (")) > 0 and ")" not in text[start:-1]:
            text = text[:start].rstrip()
        if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
            text = text[1:-1].strip()
        if len(text) == before:
            break
    return " ".join(text.removesuffix(".").split()).lower()


def _item(text: str) -> Item:
    plain = normalised(text)
    number, date = _number(text), _date(text)
    if date is not None and date[1] == date[2] == -1:
        # A date with only a year is a number.
        number, date = float(date[0]), None
    return Item(plain, number, date)


def _distinct(items: Sequence[str]) -> list[Item]:
    """Without repeats. A list of one text that holds | is a field of its files."""
    parts = target_items(items[0]) if len(items) == 1 and "|" in items[0] else list(items)
    return list(dict.fromkeys(_item(part) for part in parts))


def _is_right(given: Sequence[Item], wanted: Sequence[Item]) -> bool:
    return len(given) == len(wanted) and all(any(_matches(item, other) for other in given) for item in wanted)


def _matches(wanted: Item, given: Item) -> bool:
    if wanted.text == given.text:
        return True
    if wanted.number is not None and given.number is not None:
        return abs(wanted.number - given.number) < 1e-6
    return wanted.date is not None and wanted.date == given.date


def _number(text: str) -> float | None:
    text = text.strip()
    if len(text) > 100 or not re.fullmatch(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", text):
        return None
    number = float(text)
    return number if abs(number) != float("inf") else None


def _date(text: str) -> tuple[int, int, int] | None:
    """Year-month-day, xx where a part is not known (-1); None for what is no date."""
    match = _DATE.fullmatch(text.strip().lower())
    if match is None:
        return None
    year, month, day = (-1 if part.startswith("x") else int(part) for part in match.groups())
    if (month, day) == (-1, -1) and year == -1:
        return None
    if not (month == -1 or 1 <= month <= 12) or not (day == -1 or 1 <= day <= 31):
        return None
    return year, month, day
