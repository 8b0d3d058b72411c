"""What the first answers of a stage say about how each person works: signals, never a verdict. No Django here.

A share without anything to divide by is None, and its reason is in words elsewhere; it is never 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

# An answer that took less than this part of the usual time may have been given without reading.
FAST_PART = 1 / 3


class Given(NamedTuple):
    """One first answer. key: what was said, None without a value in the compared field. The rest may not be known."""

    person: int
    place: int
    key: str | None
    seconds: int | None = None
    n_pastes: int | None = None
    pasted_characters: int | None = None
    n_away: int | None = None
    away_seconds: int | None = None


@dataclass(frozen=True)
class Signals:
    """Of one person in one stage, each number with what it is of.

    n: first answers. seconds: the median of the n_timed whose active time is known. n_fast: of those, the ones below
    the floor. longest_run: the most equal answers in a row, of n_said that have a value. top_key, n_top: the most
    frequent one; others_top: how large its share is among everybody else's answers, of n_others. agreement: the mean
    share of the others' answers to the same item that equal this one, over n_shared items that somebody else answered.
    n_pasted: answers of n_watched into which something was pasted, pasted_characters in all. n_left: answers of
    n_watched during which the page was left, for away_seconds in all.
    """

    n: int
    seconds: float | None
    n_timed: int
    n_fast: int
    longest_run: int
    n_said: int
    top_key: str | None
    n_top: int
    others_top: float | None
    n_others: int
    agreement: float | None
    n_shared: int
    n_watched: int
    n_pasted: int
    pasted_characters: int
    n_left: int
    away_seconds: int

    @property
    def fast_share(self) -> float | None:
        return _share(self.n_fast, self.n_timed)

    @property
    def top_share(self) -> float | None:
        return _share(self.n_top, self.n_said)


@dataclass(frozen=True)
class StageSignals:
    """Everybody of a stage. seconds: the median of all n_timed answers; floor: below it an answer counts as fast."""

    n: int
    seconds: float | None
    n_timed: int
    floor: float | None
    people: Mapping[int, Signals]


def signals_of(answers: Sequence[Given], *, floor: float | None = None) -> StageSignals:
    """The signals of everybody whose first answers these are, each person's in the order in which they were given.

    floor: seconds; None: a third of the median of the stage, where that is known.
    """
    times = [one.seconds for one in answers if one.seconds is not None]
    usual = median(times) if times else None
    if floor is None and usual is not None:
        floor = usual * FAST_PART
    by_person: dict[int, list[Given]] = defaultdict(list)
    said: Counter[str] = Counter()
    by_place: dict[int, Counter[str]] = defaultdict(Counter)
    for one in answers:
        by_person[one.person].append(one)
        if one.key is not None:
            said[one.key] += 1
            by_place[one.place][one.key] += 1
    n_at = {place: counted.total() for place, counted in by_place.items()}
    n_said = said.total()
    people = {
        person: _signals(given, floor, said=said, n_said=n_said, by_place=by_place, n_at=n_at)
        for person, given in by_person.items()
    }
    return StageSignals(n=len(answers), seconds=usual, n_timed=len(times), floor=floor, people=people)


def longest_run(keys: Iterable[str]) -> int:
    """How many equal ones stand next to each other at most; 0 of none."""
    longest, current, before = 0, 0, None
    for key in keys:
        current = current + 1 if key == before else 1
        longest, before = max(longest, current), key
    return longest


def _signals(
    given: Sequence[Given],
    floor: float | None,
    *,
    said: Mapping[str, int],
    n_said: int,
    by_place: Mapping[int, Mapping[str, int]],
    n_at: Mapping[int, int],
) -> Signals:
    """said: how often each key was given in the stage, n_said times in all; by_place: the same of each place, n_at."""
    times = [one.seconds for one in given if one.seconds is not None]
    keys = [one.key for one in given if one.key is not None]
    mine = Counter(keys)
    # The first of equally frequent ones by name, so that the same answers always say the same.
    top, n_top = min(mine.items(), key=lambda item: (-item[1], item[0])) if mine else (None, 0)
    n_others = n_said - len(keys)
    agreements = [
        (by_place[one.place][one.key] - 1) / (n_at[one.place] - 1)
        for one in given
        if one.key is not None and n_at[one.place] > 1
    ]
    watched = [one for one in given if one.n_pastes is not None]
    return Signals(
        n=len(given),
        seconds=median(times) if times else None,
        n_timed=len(times),
        n_fast=sum(time < floor for time in times) if floor is not None else 0,
        longest_run=longest_run(keys),
        n_said=len(keys),
        top_key=top,
        n_top=n_top,
        others_top=_share(said[top] - n_top, n_others) if top is not None else None,
        n_others=n_others,
        agreement=sum(agreements) / len(agreements) if agreements else None,
        n_shared=len(agreements),
        n_watched=len(watched),
        n_pasted=sum(bool(one.n_pastes) for one in watched),
        pasted_characters=sum(one.pasted_characters or 0 for one in watched),
        n_left=sum(bool(one.n_away) for one in watched),
        away_seconds=sum(one.away_seconds or 0 for one in watched),
    )


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
