"""What annotators flagged: which flags nobody has dealt with yet, and what was said of the others.

A flag belongs to an answer. An answer that is changed and keeps its flag with the same words is flagged no more than
before; other words are a new flag.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotate import events
from annotate.models import Annotation, FlagSettlement, Person, Project
from annotate.wording import _

PAGE = 50
OPEN, SETTLED = "open", "settled"
FILTERS = {OPEN: _("To be dealt with"), SETTLED: _("Dealt with"), "": _("All")}


@dataclass(frozen=True)
class FlagPage:
    """flags: current answers that are flagged, each with `settlement`, the one that stands, or None."""

    flags: list[Annotation]
    has_more: bool


def flags_of(project: Project, *, show: str = "") -> QuerySet[Annotation]:
    """The flagged answers that count by now, in every stage; show: a name of FILTERS."""
    flagged: QuerySet[Annotation] = Annotation.objects.flagged().filter(assignment__stage__project=project)
    if show == OPEN:
        return flagged.filter(~Exists(_standing()))
    return flagged.filter(Exists(_standing())) if show == SETTLED else flagged


def open_flags() -> QuerySet[Annotation]:
    """The flags that nobody has dealt with, of all projects."""
    rows: QuerySet[Annotation] = Annotation.objects.flagged().filter(~Exists(_standing()))
    return rows


def page_of_flags(project: Project, *, show: str = OPEN, after: int = 0) -> FlagPage:
    """The newest first, from the one before `after` on."""
    rows = flags_of(project, show=show)
    if after:
        rows = rows.filter(pk__lt=after)
    found = list(
        rows.select_related(
            "stage_version", "assignment__person", "assignment__stage", "assignment__stage_item__revision__item"
        ).order_by("-pk")[: PAGE + 1]
    )
    return FlagPage(with_settlements(found[:PAGE]), len(found) > PAGE)


def with_settlements(flags: list[Annotation]) -> list[Annotation]:
    """The same rows, `settlement` of each the one that stands for its flag, or None; in one query."""
    standing = FlagSettlement.objects.standing().filter(
        annotation__assignment__in={flag.assignment_id for flag in flags}
    )
    by_flag = {
        (one.annotation.assignment_id, one.annotation.flag_note): one
        for one in standing.select_related("annotation", "settled_by").order_by("pk")
    }
    for flag in flags:
        flag.settlement = by_flag.get((flag.assignment_id, flag.flag_note))  # type: ignore[attr-defined]
    return flags


@transaction.atomic
def settle_flags(*, project: Project, flags: Iterable[int], by: Person, note: str = "") -> int:
    """Say that these flags were dealt with, and what came of it; how many of them were open until now.

    flags: ids of annotations. Whatever is no open flag of the project is left alone.
    """
    # Locked, so that two who press the button at once do not both find it open.
    rows = list(
        open_flags()
        .filter(assignment__stage__project=project, pk__in=list(flags))
        .select_for_update(of=("self",))
        .select_related("assignment__person")
        .order_by("pk")
    )
    held = set(FlagSettlement.objects.standing().filter(annotation__in=rows).values_list("annotation", flat=True))
    fresh = [flag for flag in rows if flag.pk not in held]
    for flag in fresh:
        settlement = FlagSettlement.objects.create(annotation=flag, note=note, settled_by=by)
        _record("flag.settled", settlement, flag, project, by)
    return len(fresh)


@transaction.atomic
def reopen_flag(*, project: Project, flag: Annotation, by: Person) -> bool:
    """Take back that it was dealt with; False where nobody had said so."""
    standing = FlagSettlement.objects.standing().filter(
        annotation__assignment=flag.assignment_id, annotation__flag_note=flag.flag_note
    )
    rows = list(standing.select_for_update(of=("self",)).order_by("pk"))
    for settlement in rows:
        FlagSettlement.objects.filter(pk=settlement.pk).update(reopened_at=Now(), reopened_by=by)
        _record("flag.reopened", settlement, flag, project, by)
    return bool(rows)


def history_of_flag(flag: Annotation) -> list[FlagSettlement]:
    """Everything that was said about the flags of an answer, the newest first."""
    rows = FlagSettlement.objects.filter(annotation__assignment=flag.assignment_id)
    return list(rows.select_related("settled_by", "reopened_by").order_by("-pk"))


def _standing() -> QuerySet[FlagSettlement]:
    rows: QuerySet[FlagSettlement] = FlagSettlement.objects.standing().filter(
        annotation__assignment=OuterRef("assignment"), annotation__flag_note=OuterRef("flag_note")
    )
    return rows


def _record(verb: str, settlement: FlagSettlement, flag: Annotation, project: Project, by: Person) -> None:
    events.record(
        actor=by,
        verb=verb,
        subject=settlement,
        project_id=project.pk,
        annotation=flag.pk,
        person=flag.assignment.person.pseudonym,
    )
