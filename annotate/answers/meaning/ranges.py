"""Spans from one value to another: 2010-2015, from March to June 2012, 5-10 years."""

import re
from collections.abc import Callable
from decimal import Decimal

_BETWEEN = re.compile(r"between (.{1,80}?) and (.{1,80})")
_FROM_TO = re.compile(r"(?:from )?(.{1,80}?) (?:to|until|till|through) (.{1,80})")
_DASH = re.compile(r"(.{1,80}?) ?[-~] ?(.{1,80})")
_SPACED_DASH = re.compile(r"(.{1,80}?) [-~] (.{1,80})")
_OPEN_ENDS = {"present": "present", "the present": "present", "now": "present", "today": "present", "date": "present"}
_BARE = re.compile(r"[+-]?\d[\d.,]{0,30}")
_UNIT_AFTER = re.compile(r"[\d.,]{1,30}([^\d.,].{0,40})")
_UNIT_BEFORE = re.compile(r"([^\d.,+-]{1,20})[\d.,]{1,30}(?: .{1,20})?")


def read_range(text: str, key_of: Callable[[str], str | None]) -> str | None:
    """range: of two keys of one kind, the first not above the second; None for anything else.

    key_of: reads each end. A unit that only one end has ("10-20 %", "$5-10") counts for both. 5-3 is a score, 2010-11 a
    season or a month: neither is read.
    """
    for pattern in (_BETWEEN, _FROM_TO, _SPACED_DASH, _DASH):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        first, last = match.groups()
        if pattern is _DASH and not (first[0].isdigit() or first[-1].isdigit()):
            continue
        if key := _range(first, last, key_of):
            return key
    return None


def _range(first: str, last: str, key_of: Callable[[str], str | None]) -> str | None:
    if last in _OPEN_ENDS:
        start = key_of(first)
        return None if start is None else f"range:{start}..present"
    if _BARE.fullmatch(first) and (unit := _UNIT_AFTER.fullmatch(last)):
        first = f"{first}{unit.group(1)}"
    elif _BARE.fullmatch(last) and (unit := _UNIT_BEFORE.fullmatch(first)):
        last = f"{unit.group(1)}{last}"
    start, end = key_of(first), key_of(last)
    if start is None or end is None or start.partition(":")[0] != end.partition(":")[0]:
        return None
    return f"range:{start}..{end}" if _is_rising(start, end) else None


def _is_rising(start: str, end: str) -> bool:
    kind, _, first = start.partition(":")
    last = end.partition(":")[2]
    if kind == "number":
        (a, _, unit_a), (b, _, unit_b) = first.partition(" "), last.partition(" ")
        return unit_a == unit_b and Decimal(a) <= Decimal(b)
    # Written with the largest part first, dates sort as text; other kinds have no order here.
    return first <= last if kind in {"date", "month"} else True
