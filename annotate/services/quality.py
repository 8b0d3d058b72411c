"""What is known of how people work: checks, signals and shares, for those who run a project. It decides nothing.

Everything is made of first answers. Nothing here is called where an annotator's request is answered, but for
`own_checks`, which says when they may hear it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotate.answers import FieldSpec, fields_from_json
from annotate.contribution import Contribution, contribution_of
from annotate.models import (
    Annotation,
    Assignment,
    CheckResult,
    Exclusion,
    Person,
    Project,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.proportions import wilson_bounds
from annotate.querysets import COUNTED_PURPOSES
from annotate.services.checks import CHECKS
from annotate.services.exporting.answers import key_reader
from annotate.signals import Given, StageSignals, signals_of

# So many checks are told of at once: fewer would say which answer was wrong.
BLOCK = 10
# So many different answers are read once each: most people give the same few.
MAX_REMEMBERED = 10_000


@dataclass(frozen=True)
class CheckFigures:
    """Of one person. n: first answers to checks that were compared; n_right of them have the gold label's meaning.

    n_skipped: checks they skipped. n_waiting: answers that a worker has not compared yet, or cannot without gold.
    """

    n: int = 0
    n_right: int = 0
    n_skipped: int = 0
    n_waiting: int = 0

    @property
    def share(self) -> float | None:
        return self.n_right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's, of 95 %; None without a check."""
        return wilson_bounds(self.n_right / self.n, self.n) if self.n else None


def check_figures(
    *, project: Project, stage: Stage | None = None, people: Iterable[int] | None = None
) -> dict[int, CheckFigures]:
    """The figures by the id of a person, over a project or one stage of it, in one query; nobody without checks.

    people: only these, such as those of one page.
    """
    # From the places, of which there are a handful and an index: not through all that people were given.
    places = StageItem.objects.filter(purpose__in=CHECKS).exclude(purpose=StageItem.Purpose.WORK)
    places = places.filter(stage__project=project) if stage is None else places.filter(stage=stage)
    rows = Assignment.objects.filter(
        stage_item__in=places,
        purpose__in=CHECKS,
        state__in=[Assignment.State.SUBMITTED, Assignment.State.SKIPPED],
    )
    if people is not None:
        rows = rows.filter(person__in=list(people))
    return {
        row.pop("person"): CheckFigures(**row) for row in rows.order_by().values("person").annotate(**_CHECK_COUNTS)
    }


_COMPARED = Q(check_result__is_right__isnull=False)
_CHECK_COUNTS = {
    "n": Count("pk", filter=_COMPARED),
    "n_right": Count("pk", filter=Q(check_result__is_right=True)),
    "n_skipped": Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
    "n_waiting": Count("pk", filter=Q(state=Assignment.State.SUBMITTED) & ~_COMPARED),
}


def own_checks(stage: Stage, person: Person) -> CheckFigures | None:
    """What somebody hears of their own checks: everything when the stage is closed, before that whole blocks of ten.

    None: nothing yet, or nothing to tell. Blocks are of checks in the order in which they were answered, so that no
    later answer changes what was told.
    """
    is_closed = stage.state == Stage.State.CLOSED
    if not is_closed and not stage.tells_checks:
        return None
    mine = CheckResult.objects.filter(
        assignment__stage=stage, assignment__person=person, assignment__purpose__in=CHECKS, is_right__isnull=False
    )
    right = list(mine.order_by("assignment__finished_at", "assignment").values_list("is_right", flat=True))
    told = right if is_closed else right[: len(right) // BLOCK * BLOCK]
    return CheckFigures(n=len(told), n_right=sum(told)) if told else None


@dataclass(frozen=True)
class CheckItem:
    """A check or qualification item with what came of it: many wrong answers may mean a wrong gold label."""

    place: StageItem
    n: int
    n_right: int
    n_skipped: int


def check_items(stage: Stage) -> list[CheckItem]:
    """The stage's items whose answer is known, those that most people got wrong first, in one query."""
    places: QuerySet[Any] = (
        StageItem.objects.filter(stage=stage)
        .exclude(purpose=StageItem.Purpose.WORK)
        .select_related("revision__item")
        .annotate(
            n=Count("pk", filter=Q(assignments__check_result__is_right__isnull=False)),
            n_right=Count("pk", filter=Q(assignments__check_result__is_right=True)),
            n_skipped=Count("pk", filter=Q(assignments__state=Assignment.State.SKIPPED)),
        )
    )
    found = [CheckItem(place, place.n, place.n_right, place.n_skipped) for place in places]
    return sorted(found, key=lambda one: (one.n_right / one.n if one.n else 2.0, one.place.rank))


def stage_signals(stage: Stage, *, floor: float | None = None) -> StageSignals:
    """The signals of everybody who answered items of the stage, in three queries. Checks are left out: nobody differs
    in them by the luck of the draw."""
    field = compared_field(stage)
    forms = {
        version.pk: tuple(spec for spec in fields_from_json(version.fields) if spec.name == field.name)
        for version in StageVersion.objects.filter(stage=stage)
    }
    first = Annotation.objects.filter(
        number=1,
        assignment__stage=stage,
        assignment__purpose=StageItem.Purpose.WORK,
        assignment__state=Assignment.State.SUBMITTED,
    )
    rows = first.order_by("assignment__person", "assignment__finished_at", "assignment").values_list(
        "assignment__person_id",
        "assignment__stage_item_id",
        "stage_version_id",
        # As it is stored: of sixty thousand answers few are different, and reading one costs more than its row.
        Cast("answer", TextField()),
        "active_seconds",
        "n_pastes",
        "pasted_characters",
        "n_away",
        "away_seconds",
    )
    key_of = _key_of(field.name, forms)
    return signals_of(
        [
            Given(person, place, key_of(version, answer), *seen)
            for person, place, version, answer, *seen in rows.iterator(chunk_size=2_000)
        ],
        floor=floor,
    )


def _key_of(name: str, forms: Mapping[int, Sequence[FieldSpec]]) -> Callable[[int, str], str | None]:
    """A function of the id of a form and an answer as it is stored, which reads equal answers once."""
    keys_of = key_reader()

    @lru_cache(maxsize=MAX_REMEMBERED)
    def key_of(version: int, answer: str) -> str | None:
        return keys_of(forms[version], json.loads(answer)).get(name)

    return key_of


def compared_field(stage: Stage) -> FieldSpec:
    """The field that signals compare: the first that decides, as a run answers it."""
    fields = fields_from_json(StageVersion.objects.get(stage=stage, is_current=True).fields)
    return next(field for field in fields if field.decides)


@dataclass(frozen=True)
class Contributed:
    """Who gave how many counted answers. people: (person, answers), the most first.

    n_left_out: answers that hold a place and are in no figure, because their author, they or their item is left out.
    """

    curve: Contribution
    people: list[tuple[int, int]]
    n_left_out: int


def contribution(*, project: Project, stage: Stage | None = None) -> Contributed:
    """Of a project or one stage of it, in two queries; three where something is left out."""
    # Each of them has one current answer, which needs no look.
    given = Assignment.objects.filter(
        state=Assignment.State.SUBMITTED, slot__isnull=False, purpose__in=COUNTED_PURPOSES
    )
    given = given.filter(stage__project=project) if stage is None else given.filter(stage=stage)
    by_person = dict(given.order_by().values("person").annotate(n=Count("pk")).values_list("person", "n"))
    n_given = sum(by_person.values())
    standing = Exclusion.objects.standing().filter(project=project)
    if standing.exists():
        # A list made once: asking for each answer whether its item is in one would cost more than to read them all.
        places = StageItem.objects.filter(revision__item__in=standing.filter(item__isnull=False).values("item"))
        rows = Annotation.objects.counted().exclude(assignment__stage_item__in=places)
        rows = (
            rows.filter(assignment__stage__project=project) if stage is None else rows.filter(assignment__stage=stage)
        )
        counted = rows.order_by().values("assignment__person").annotate(n=Count("pk"))
        by_person = dict(counted.values_list("assignment__person", "n"))
    counts = sorted(by_person.items(), key=lambda row: (-row[1], row[0]))
    curve = contribution_of(n for _, n in counts)
    return Contributed(curve, counts, n_given - curve.n_answers)
