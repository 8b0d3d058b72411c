"""What somebody did in a project, stage by stage: their own answers and times, and nothing about anybody else.

Their days are in days_of_work.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Sum

from annotate.answers import fields_from_json, get_field_type
from annotate.models import Annotation, Participation, Person, Project, Stage
from annotate.services.counting import Progress, person_counts, progress_of, stage_counts
from annotate.shown import shown_item
from annotate.time_spent import TimeSpent

PAGE = 30


@dataclass(frozen=True)
class StageWork:
    """What the person did in one stage. n_left: what they may still get, as far as anybody knows; None if closed."""

    stage: Stage
    n_answered: int
    n_skipped: int
    n_flagged: int
    n_left: int | None
    active: TimeSpent
    wall: TimeSpent


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
        for row in Annotation.objects.given()
        .filter(assignment__person=person, assignment__stage__in=stages)
        .values("assignment__stage")
        .annotate(
            flagged=Count("pk", filter=Q(is_current=True, is_flagged=True)),
            wall=Sum("wall_seconds"),
            **_not_known("active_seconds"),
            **_not_known("wall_seconds"),
        )
    }
    nothing: Mapping[str, Any] = defaultdict(int)
    found = []
    for stage in stages:
        row = current.get(stage.pk, nothing)
        found.append(
            StageWork(
                stage=stage,
                n_answered=counts[stage.pk].answered,
                n_skipped=counts[stage.pk].skipped,
                n_flagged=row["flagged"],
                n_left=_left(progress_of(everyone[stage.pk], counts[stage.pk], check_every=stage.check_every), stage),
                active=TimeSpent.of(
                    counts[stage.pk].active_seconds, row["no_active_seconds"], row["no_active_seconds_imported"]
                ),
                wall=TimeSpent.of(row["wall"], row["no_wall_seconds"], row["no_wall_seconds_imported"]),
            )
        )
    return found


def active_in(person: Person, stages: Iterable[Stage]) -> dict[int, TimeSpent]:
    """The person's active time in each stage by its id."""
    counts = person_counts(person, stages)
    rows = Annotation.objects.given().filter(assignment__person=person, assignment__stage__in=counts)
    unknown = {
        pk: (n, n_imported)
        for pk, n, n_imported in rows.values("assignment__stage")
        .annotate(**_not_known("active_seconds"))
        .values_list("assignment__stage", "no_active_seconds", "no_active_seconds_imported")
    }
    return {pk: TimeSpent.of(mine.active_seconds, *unknown.get(pk, (0, 0))) for pk, mine in counts.items()}


def page_of_answers(stage: Stage, person: Person, *, after: int = 0) -> tuple[list[OwnAnswer], bool]:
    """The person's answers in a stage, the newest first, from the one before `after` on; whether there are more."""
    rows = answers_in(stage, person).select_related("stage_version")
    if after:
        rows = rows.filter(pk__lt=after)
    found = list(rows.order_by("-pk")[: PAGE + 1])
    return [own_answer(annotation) for annotation in found[:PAGE]], len(found) > PAGE


def answers_in(stage: Stage, person: Person) -> QuerySet[Annotation]:
    """The person's answers in a stage as they count by now."""
    rows: QuerySet[Annotation] = Annotation.objects.given().filter(
        assignment__person=person, assignment__stage=stage, is_current=True
    )
    return rows.select_related("assignment__stage_item__revision__item")


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


def _not_known(seconds: str) -> dict[str, Count]:
    """How many answers have no such time, and how many of them were imported."""
    unknown = Q(**{seconds: None})
    return {
        f"no_{seconds}": Count("assignment", filter=unknown, distinct=True),
        f"no_{seconds}_imported": Count("assignment", filter=unknown & Q(assignment__is_imported=True), distinct=True),
    }


def _left(progress: Progress, stage: Stage) -> int | None:
    return None if stage.state == Stage.State.CLOSED else progress.mine_total - progress.mine_done
