"""What somebody did in a project: their own answers, days and times, and nothing about anybody else.

What was answered elsewhere and imported has no day here, and attempts to qualify are no work of a stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.answers import fields_from_json, get_field_type
from annotate.models import Annotation, Assignment, Participation, Person, Project, Stage, StageItem
from annotate.services.counting import Progress, person_counts, progress_of, stage_counts
from annotate.shown import shown_item

PAGE = 30
DAYS = 31


class Day(NamedTuple):
    """n_answers: first answers; the seconds are those of changed answers too. wall: from the offer to the answer."""

    day: date
    n_answers: int
    active_seconds: int
    wall_seconds: int


@dataclass(frozen=True)
class StageWork:
    """What the person did in one stage. n_left: what they may still get, as far as anybody knows; None if closed."""

    stage: Stage
    n_answered: int
    n_skipped: int
    n_flagged: int
    n_left: int | None
    active_seconds: int
    wall_seconds: int


class OwnAnswer(NamedTuple):
    """token: of the assignment, under which it may be changed while the stage is not closed."""

    pk: int
    external_id: str
    headline: str
    words: list[tuple[str, str]]
    answered_at: Any
    is_changed: bool
    is_flagged: bool
    token: str


def days_of(project: Project, person: Person) -> list[Day]:
    """The last days on which the person answered, today first, in the time zone of the project."""
    rows = (
        _given_by(person)
        .filter(assignment__stage__project=project, assignment__is_imported=False)
        .annotate(day=TruncDate("created_at", tzinfo=ZoneInfo(project.time_zone)))
        .values("day")
        .annotate(
            n=Count("pk", filter=Q(number=1)),
            active=Sum("active_seconds", default=0),
            wall=Sum("wall_seconds", default=0),
        )
        .order_by("-day")[:DAYS]
    )
    return [Day(row["day"], row["n"], row["active"], row["wall"]) for row in rows]


def today_of(project: Project, days: Sequence[Day]) -> Day:
    """Today, with nothing done where it is not among the days."""
    today = timezone.now().astimezone(ZoneInfo(project.time_zone)).date()
    return next((day for day in days if day.day == today), Day(today, 0, 0, 0))


def stages_of(project: Project, person: Person, role: str) -> list[StageWork]:
    """The stages in which the person did something, and those that their role takes."""
    mine = set(Participation.objects.filter(person=person, stage__project=project).values_list("stage", flat=True))
    stages = [
        stage
        for stage in project.stages.exclude(state=Stage.State.DRAFT).order_by("position", "pk")
        if stage.pk in mine or (role in stage.roles and stage.state != Stage.State.CLOSED)
    ]
    everyone, counts = stage_counts(stages), person_counts(person, stages)
    current: dict[int, Mapping[str, Any]] = {
        row["assignment__stage"]: row
        for row in _given_by(person)
        .filter(assignment__stage__in=stages)
        .values("assignment__stage")
        .annotate(flagged=Count("pk", filter=Q(is_current=True, is_flagged=True)), wall=Sum("wall_seconds", default=0))
    }
    return [
        StageWork(
            stage=stage,
            n_answered=counts[stage.pk].answered,
            n_skipped=counts[stage.pk].skipped,
            n_flagged=current.get(stage.pk, {}).get("flagged", 0),
            n_left=_left(progress_of(everyone[stage.pk], counts[stage.pk], check_every=stage.check_every), stage),
            active_seconds=counts[stage.pk].active_seconds,
            wall_seconds=current.get(stage.pk, {}).get("wall", 0),
        )
        for stage in stages
    ]


def page_of_answers(stage: Stage, person: Person, *, after: int = 0) -> tuple[list[OwnAnswer], bool]:
    """The person's answers in a stage, the newest first, from the one before `after` on; whether there are more."""
    rows = (
        _given_by(person)
        .filter(assignment__stage=stage, is_current=True)
        .select_related("assignment__stage_item__revision__item", "stage_version")
    )
    if after:
        rows = rows.filter(pk__lt=after)
    found = list(rows.order_by("-pk")[: PAGE + 1])
    return [own_answer(annotation) for annotation in found[:PAGE]], len(found) > PAGE


def own_answer(annotation: Annotation) -> OwnAnswer:
    """An answer as its author reads it. It comes with its assignment, item and form."""
    revision = annotation.assignment.stage_item.revision
    version = annotation.stage_version
    shown = shown_item(
        external_id=revision.item.external_id,
        language=revision.language,
        content=revision.content,
        shown_keys=version.shown_keys,
    )
    return OwnAnswer(
        pk=annotation.pk,
        external_id=revision.item.external_id,
        headline=shown["headline"] or revision.item.external_id,
        words=[
            (spec.caption, get_field_type(spec.type).in_words(annotation.answer[spec.name], spec))
            for spec in fields_from_json(version.fields)
            if annotation.answer.get(spec.name) is not None
        ],
        answered_at=annotation.created_at,
        is_changed=annotation.number > 1,
        is_flagged=annotation.is_flagged,
        token=annotation.assignment.token,
    )


def _given_by(person: Person) -> QuerySet[Annotation]:
    rows: QuerySet[Annotation] = Annotation.objects.filter(
        assignment__person=person, assignment__state=Assignment.State.SUBMITTED
    ).exclude(assignment__purpose=StageItem.Purpose.QUALIFICATION)
    return rows


def _left(progress: Progress, stage: Stage) -> int | None:
    return None if stage.state == Stage.State.CLOSED else progress.mine_total - progress.mine_done
