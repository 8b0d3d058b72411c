"""What the home of a project tells: how far it is, how it moves, and what waits for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    Feed,
    ItemRevision,
    Membership,
    Participation,
    Project,
    Stage,
)
from annotate.services.counting import StageCounts, stage_counts
from annotate.services.days_of_work import beginning_of, today_in

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
class FunnelRow:
    """A stage on its way: how far it is, and which stages its items come from."""

    stage: Stage
    counts: StageCounts
    fed_by: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """What waits for the people of a role in a stage. n_items: that are short of answers; n_places: answers to come."""

    role: str
    stage: Stage
    n_items: int
    n_places: int


def funnel(project: Project) -> list[FunnelRow]:
    """The stages with their counts, each after those that its items come from; else as the project orders them."""
    stages = list(project.stages.order_by("position", "pk"))
    ways = list(Feed.objects.filter(source__project=project).order_by("pk").values_list("source", "target"))
    ways += [(stage.pk, stage.adjudicated_in_id) for stage in stages if stage.adjudicated_in_id]
    known = {stage.pk: stage for stage in stages}
    sources: dict[int, list[int]] = {pk: [] for pk in known}
    for source, target in ways:
        sources[target].append(source)
    counts = stage_counts(stages)
    return [
        FunnelRow(known[pk], counts[pk], tuple(known[source] for source in dict.fromkeys(sources[pk])))
        for pk in _after_its_sources(list(known), sources)
    ]


def _after_its_sources(order: list[int], sources: Mapping[int, Collection[int]]) -> list[int]:
    """Each after those it comes from, and otherwise in the order given; of a circle the first begins."""
    placed: list[int] = []
    left = list(order)
    while left:
        following = next((pk for pk in left if not set(sources[pk]).intersection(left)), left[0])
        left.remove(following)
        placed.append(following)
    return placed


def waiting_for(rows: Iterable[FunnelRow]) -> list[Waiting]:
    """What open stages wait for, role by role in the order of `Membership.Role`; a stage of two roles is in both."""
    found = [
        Waiting(role, row.stage, row.counts.n_short, row.counts.waiting)
        for row in rows
        if row.stage.state == Stage.State.OPEN and row.counts.n_short and row.counts.waiting > 0
        for role in row.stage.roles
    ]
    roles = list(Membership.Role.values)
    return sorted(found, key=lambda one: roles.index(one.role) if one.role in roles else len(roles))


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
    """Answers first given on each of the last seven days, today last; what a day is, days_of_work.py says."""
    first = today_in(project, now=now) - timedelta(days=N_DAYS - 1)
    begin = beginning_of(project, first)
    given = Annotation.objects.given_here()
    counted = Counter(
        dict(
            given.filter(assignment__stage__project=project, number=1, created_at__gte=begin)
            .annotate(day=TruncDate("created_at", tzinfo=ZoneInfo(project.time_zone)))
            .values_list("day")
            .annotate(n=Count("pk"))
        )
    )
    return [Day(day, counted[day]) for day in (first + timedelta(days=n) for n in range(N_DAYS))]
