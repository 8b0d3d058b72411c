"""On which days somebody worked: the one place that says what a day's answers and times are.

Days are those of the project's time zone. What was answered elsewhere and imported has no day here, and attempts to
qualify are no work of a stage. An answer counts on the day on which it was first given; its time, and that of every
change, on the day on which it was spent.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.models import Annotation, Person, Project
from annotate.time_spent import TimeSpent


class Day(NamedTuple):
    """n_answers: first answers. active, wall: of first and changed ones; wall goes from the offer to the answer."""

    day: date
    n_answers: int
    active: TimeSpent = TimeSpent()
    wall: TimeSpent = TimeSpent()


def days_of(project: Project, person: Person, *, n_days: int | None = None, most: int | None = None) -> list[Day]:
    """The days on which the person gave or changed answers, the last first.

    n_days: only of the last so many days of the calendar, today among them. most: no more than so many of them.
    """
    zone = ZoneInfo(project.time_zone)
    given = Annotation.objects.given_here().filter(assignment__stage__project=project, assignment__person=person)
    if n_days is not None:
        given = given.filter(created_at__gte=beginning_of(project, today_in(project) - timedelta(days=n_days - 1)))
    rows = (
        given.annotate(day=TruncDate("created_at", tzinfo=zone))
        .values("day")
        .annotate(
            n=Count("pk", filter=Q(number=1)),
            active=Sum("active_seconds"),
            not_timed=Count("assignment", filter=Q(active_seconds=None), distinct=True),
            wall=Sum("wall_seconds"),
            not_walled=Count("assignment", filter=Q(wall_seconds=None), distinct=True),
        )
        .order_by("-day")[:most]
    )
    return [
        Day(
            row["day"],
            row["n"],
            TimeSpent.of(row["active"], row["not_timed"], 0),
            TimeSpent.of(row["wall"], row["not_walled"], 0),
        )
        for row in rows
    ]


def today_of(project: Project, days: list[Day]) -> Day:
    """Today, with nothing done where it is not among the days."""
    today = today_in(project)
    return next((day for day in days if day.day == today), Day(today, 0))


def today_in(project: Project, *, now: datetime | None = None) -> date:
    return (now or timezone.now()).astimezone(ZoneInfo(project.time_zone)).date()


def beginning_of(project: Project, day: date) -> datetime:
    """The moment at which a day begins by the project's clock."""
    return datetime.combine(day, time.min, ZoneInfo(project.time_zone))
