"""Which places cannot get their answers from the people there are, and why. Pure: plain rows in, findings out.

The bound is the simple one, and exact for it: a place is out of reach where fewer people may still get it than it has
answers to come. Each place is judged by itself, so that one which passes may still wait long: nobody's time is shared
out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Reader:
    """Somebody who may take the stage now. languages: BCP-47 tags; none means every language."""

    person: int
    languages: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True)
class Place:
    """A place that is handed out. free: answers to come that nobody is giving at this moment, of the `wanted`."""

    pk: int
    wanted: int
    free: int
    language: str = ""
    author_group: str = ""


class Why(StrEnum):
    """The first thing that makes the people too few, from the widest to the narrowest."""

    ROLE = "role"  # fewer people may take the stage than answers are wanted
    LANGUAGE = "language"  # fewer of them read the language
    GROUP = "group"  # fewer of those are of another group than the author's
    MET = "met"  # there would be enough, but too many have answered, skipped or written it


@dataclass(frozen=True)
class OutOfReach:
    """n_eligible: how many people it could still be given to, fewer than its place.free; n_able: had nobody met it."""

    place: Place
    why: Why
    n_eligible: int
    n_able: int

    @property
    def n_missing(self) -> int:
        return self.place.free - self.n_eligible


def reads(languages: Sequence[str], language: str) -> bool:
    """Whether somebody who reads these languages gets an item in that one: as annotate/claim_sql.py has it."""
    if not languages or not language:
        return True
    language = language.lower()
    return any(language == tag.lower() or language.startswith(f"{tag.lower()}-") for tag in languages)


def out_of_reach(
    places: Iterable[Place], readers: Sequence[Reader], met: Mapping[int, Collection[int]]
) -> list[OutOfReach]:
    """The places that too few people are left for, in the order given.

    met: place -> everybody who may not get it any more, readers or not: who answered or skipped it, holds it, wrote it,
    or knows its answers.
    """
    able: dict[tuple[str, str], tuple[int, frozenset[int]]] = {}
    found = []
    for place in places:
        kind = place.language, place.author_group
        if kind not in able:
            reading = [reader for reader in readers if reads(reader.languages, place.language)]
            apart = {
                reader.person for reader in reading if not place.author_group or reader.group != place.author_group
            }
            able[kind] = len(reading), frozenset(apart)
        n_reading, apart_from_author = able[kind]
        n_eligible = len(apart_from_author.difference(met.get(place.pk, ())))
        if n_eligible < place.free:
            why = _why(place, len(readers), n_reading, len(apart_from_author))
            found.append(OutOfReach(place, why, n_eligible, len(apart_from_author)))
    return found


def _why(place: Place, n_readers: int, n_reading: int, n_apart: int) -> Why:
    if n_readers < place.wanted:
        return Why.ROLE
    if n_reading < place.wanted:
        return Why.LANGUAGE
    return Why.GROUP if n_apart < place.wanted else Why.MET
