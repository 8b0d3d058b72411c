"""How the sample people of the demonstration answer: like people, mostly right, at times wrong, undecided or late.

Everything is drawn by seed, person and item alone, so the order in which items come changes nothing. No Django.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

SEED = 2024
# The share of labels that each of the three has right, and of short answers.
SKILL = ((0.93, 0.88), (0.86, 0.82), (0.78, 0.74))
SKIPPED = 0.03
# The item whose answer the second of them changes.
CHANGED = "geo-02"
SKIP_REASONS = (
    ("cannot_tell", "I do not know anything about this."),
    ("ambiguous", "One could read it both ways."),
    ("not_my_language", ""),
)
WHY = (
    "It stands in the table.",
    "I took the difference of the two years.",
    "The last entry of the list.",
    "Counted by hand; I may be off by one.",
)


@dataclass(frozen=True)
class Reply:
    """What somebody does with an item: an answer with the seconds it took, or a reason to skip it."""

    answer: str = ""
    why: str = ""
    active_seconds: int = 0
    skip_reason: str = ""
    skip_note: str = ""


def reply(person: int, item: str, gold: Sequence[str], options: Sequence[str], seed: int = SEED) -> Reply:
    """What person 0, 1 or 2 does with the item. options: the values to choose from; empty where text is asked.

    gold: acceptable answers, the first one the usual one.
    """
    draw = random.Random(f"{seed}/{person}/{item}")
    if draw.random() < SKIPPED:
        reason, note = draw.choice(SKIP_REASONS)
        return Reply(skip_reason=reason, skip_note=note)
    seconds = max(2, round(draw.lognormvariate(2.3, 0.5)))
    is_right = draw.random() < SKILL[person][0 if options else 1]
    if options:
        others = [option for option in options if option not in gold]
        return Reply(draw.choice(list(gold)) if is_right or not others else draw.choice(others), "", seconds)
    why = draw.choice(WHY) if draw.random() < 0.4 else ""
    return Reply(_as_typed(gold, draw) if is_right else _mistaken(gold[0], draw), why, seconds + 8)


def _as_typed(gold: Sequence[str], draw: random.Random) -> str:
    """A right answer in one person's spelling: capitals and spaces differ, votes must not."""
    text = draw.choice(list(gold)) if draw.random() < 0.25 else gold[0]
    return draw.choice([text, text, text, text.lower(), f"{text} "])


def _mistaken(text: str, draw: random.Random) -> str:
    """The kind of wrong that people are: a year off, a word short, or a guess."""
    digits = "".join(character for character in text if character.isdigit())
    if digits and len(digits) <= 9:
        return text.replace(digits, str(max(0, int(digits) + draw.choice((-1, 1, 10)))), 1)
    words = text.split()
    if len(words) > 1 and draw.random() < 0.6:
        return draw.choice((words[0], words[-1]))
    return draw.choice(("none of them", "the first one", "unknown"))
