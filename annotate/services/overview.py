"""What the home of a project tells: how far it is, how it moves, and what waits for its admins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    ImportJob,
    Item,
    ItemRevision,
    Membership,
    Participation,
    Project,
    Stage,
)
from annotate.services.counting import StageCounts
from annotate.services.heartbeats import Hearing, last_heard

N_DAYS = 7


@dataclass(frozen=True)
class Day:
    """How many items got their answer on a day; an answer that is changed later counts on its first day."""

    date: date
    n_answers: int


@dataclass(frozen=True)
class Facts:
    """n_roots: tables, databases or duplicate groups the items hang on; n_people: answered or skipped this week.

    n_working: people who hold an item at this moment.
    """

    n_items: int
    n_roots: int
    n_people: int
    n_working: int


@dataclass(frozen=True)
class Need:
    """Something that waits for an admin: its kind has words and an action in partials/need.html."""

    kind: str
    n: int = 0
    stage: Stage | None = None
    hearing: Hearing | None = None


def facts(project: Project) -> Facts:
    """The size of the project and who is at work, in four queries."""
    now = timezone.now()
    items = ItemRevision.objects.filter(item__project=project, is_current=True)
    met = Participation.objects.filter(stage__project=project, last_seen_at__gte=now - timedelta(days=N_DAYS))
    working = Assignment.objects.filter(stage__project=project, state=Assignment.State.LEASED, lease_expires_at__gt=now)
    return Facts(
        n_items=items.count(),
        n_roots=items.exclude(item__root=None).aggregate(n=Count("item__root", distinct=True))["n"],
        n_people=met.aggregate(n=Count("person", distinct=True))["n"],
        n_working=working.aggregate(n=Count("person", distinct=True))["n"],
    )


def answers_per_day(project: Project, *, now: datetime | None = None) -> list[Day]:
    """First revisions of answers on each of the last seven days, today last, as the project's clock has it."""
    zone = ZoneInfo(project.time_zone)
    today = (now or timezone.now()).astimezone(zone).date()
    first = today - timedelta(days=N_DAYS - 1)
    begin = datetime.combine(first, time.min, zone)
    counted = Counter(
        dict(
            Annotation.objects.filter(assignment__stage__project=project, number=1, created_at__gte=begin)
            .annotate(day=TruncDate("created_at", tzinfo=zone))
            .values_list("day")
            .annotate(n=Count("pk"))
        )
    )
    return [Day(day, counted[day]) for day in (first + timedelta(days=n) for n in range(N_DAYS))]


def needs(project: Project, stages: Sequence[tuple[Stage, StageCounts]]) -> list[Need]:
    """What keeps the work from going on, in the order in which a study meets it."""
    found: list[Need] = []
    hearing = last_heard()
    waiting = ImportJob.objects.filter(project=project, state__in=["waiting", "running"]).count()
    if hearing.is_silent:
        found.append(Need("worker_silent", hearing=hearing))
    if waiting:
        found.append(Need("import_waits", n=waiting))
    elif not Item.objects.filter(project=project).exists():
        found.append(Need("no_items"))
    if not stages:
        found.append(Need("no_stage"))
    members = Counter(Membership.objects.active().filter(project=project).values_list("role", flat=True))
    for stage, counts in stages:
        eligible = sum(members[role] for role in stage.roles)
        if stage.state == Stage.State.DRAFT:
            found.append(Need("stage_draft" if counts.n_items else "stage_empty", n=counts.n_items, stage=stage))
        elif stage.state == Stage.State.OPEN and eligible < stage.overlap and counts.n_short:
            found.append(Need("too_few_people", n=eligible, stage=stage))
        if counts.n_review:
            found.append(Need("in_review", n=counts.n_review, stage=stage))
        if counts.undecided:
            found.append(Need("undecided", n=counts.undecided, stage=stage))
    if not members["annotator"] and not any(need.kind == "too_few_people" for need in found):
        # Where a stage waits for people, that is said there, with its name.
        found.append(Need("no_annotators"))
    return found
