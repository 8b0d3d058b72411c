"""What is judged beside an item, and what judges are asked: is it right, or which of two is better. No Django here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from annotate.answers import FieldSpec

# The values of a judgement, in the order of their keys; captions are the study's own.
RIGHT, WRONG, UNSURE = "right", "wrong", "unsure"
FIRST, SECOND, TIE, BOTH_BAD = "first", "second", "tie", "both_bad"

# The content keys of a candidate.
ANSWER = "answer"
PAIR = (FIRST, SECOND)


class Judging(StrEnum):
    """verdict: one answer, right or wrong. better: two answers, the better one."""

    VERDICT = "verdict"
    BETTER = "better"


class Asked(NamedTuple):
    """The field of a judge stage's form that decides, and what it asks."""

    field: FieldSpec
    judging: Judging


def asked_of_judges(form: Iterable[FieldSpec]) -> Asked | None:
    """What the first choice that decides asks, by the values that it offers; None where it asks neither.

    A value that is not offered is never given: a form without "unsure" makes people decide.
    """
    for field in form:
        if field.decides and field.type == "choice":
            values = {option.value for option in field.options}
            if {RIGHT, WRONG} <= values <= {RIGHT, WRONG, UNSURE}:
                return Asked(field, Judging.VERDICT)
            if {FIRST, SECOND} <= values <= {FIRST, SECOND, TIE, BOTH_BAD}:
                return Asked(field, Judging.BETTER)
    return None


class Card(NamedTuple):
    """An answer as judges see it. name: "" where it stands alone, else first or second."""

    name: str
    value: Any


def cards_of(content: Iterable[Sequence[Any]]) -> list[Card]:
    """The answers of a candidate, as they are shown: nothing else of it is, and it says nothing of who gave them."""
    values = {pair[0]: pair[1] for pair in content}
    if ANSWER in values:
        return [Card("", values[ANSWER])]
    return [Card(name, values[name]) for name in PAIR if name in values]
