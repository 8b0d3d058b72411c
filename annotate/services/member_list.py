"""The people of a project with what they did, in a constant number of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotate.models import Annotation, CheckResult, Event, Exclusion, Membership, Participation, Person, Project
from annotate.time_spent import TimeSpent

PAGE = 100
N_EVENTS = 30
# What people's own work writes with each item: their history is what was decided about them.
OF_EACH_ITEM = ("annotation.", "assignment.")

# By name, as addresses have them; anything else there is the first one.
SORTS: dict[str, tuple[Any, ...]] = {
    "joined": ("pk",),
    "answered": ("-n_answered", "pk"),
    "skipped": ("-n_skipped", "pk"),
    "flagged": ("-n_flagged", "pk"),
    "time": ("-active_seconds", "pk"),
    "seen": (F("last_seen_at").desc(nulls_last=True), "pk"),
}
# How somebody stands: the first that is true of them.
STANDINGS = ("erased", "deactivated", "left", "paused", "invited", "active")


@dataclass(frozen=True)
class Asked:
    """Which members, and in which order; empty: all. `page` counts from 1."""

    standing: str = ""
    role: str = ""
    group: str = ""
    sort: str = "joined"
    page: int = 1


@dataclass(frozen=True)
class Page:
    """n_checks and n_right of the members are of use where the project has checks."""

    members: list[Membership]
    has_more: bool
    has_checks: bool


def members(project: Project) -> QuerySet[Membership]:
    """Memberships, oldest first, with what each did here and how each stands.

    n_answered, n_skipped, active_seconds, last_seen_at: of all stages. n_not_timed: answers whose active time is not
    known, n_not_timed_imported: those of them that were imported. n_flagged: current answers that the person flagged.
    n_checks, n_right: checks with a gold label that they answered, and of those the right ones. is_excluded: a standing
    exclusion of the person. standing: one of STANDINGS; "invited" is an annotator who has not begun.
    """
    mine = Participation.objects.filter(stage__project=project, person=OuterRef("person")).order_by()
    excluded = Exclusion.objects.standing().filter(project=project, person=OuterRef("person"))
    flagged = Annotation.objects.current().filter(
        is_flagged=True, assignment__person=OuterRef("person"), assignment__stage__project=project
    )
    not_timed = Annotation.objects.given().filter(
        active_seconds=None, assignment__person=OuterRef("person"), assignment__stage__project=project
    )
    checks = _checks(project).filter(assignment__person=OuterRef("person"))
    rows: QuerySet[Membership] = (
        Membership.objects.filter(project=project)
        .select_related("person")
        .annotate(
            **{name: _total(mine, name) for name in ("n_answered", "n_skipped", "active_seconds")},
            last_seen_at=Subquery(mine.values("person").annotate(last=Max("last_seen_at")).values("last")),
            n_not_timed=_number(not_timed, "assignment__person", "assignment"),
            n_not_timed_imported=_number(
                not_timed.filter(assignment__is_imported=True), "assignment__person", "assignment"
            ),
            n_flagged=_number(flagged, "assignment__person"),
            n_checks=_number(checks, "assignment__person"),
            n_right=_number(checks.filter(is_right=True), "assignment__person"),
            is_excluded=Exists(excluded),
            standing=Case(
                When(person__erased_at__isnull=False, then=Value("erased")),
                When(person__is_active=False, then=Value("deactivated")),
                When(state=Membership.State.LEFT, then=Value("left")),
                When(state=Membership.State.PAUSED, then=Value("paused")),
                When(~Exists(mine), role=Membership.Role.ANNOTATOR, then=Value("invited")),
                default=Value("active"),
                output_field=CharField(),
            ),
        )
        .order_by("pk")
    )
    return rows


def active_of(member: Any) -> TimeSpent:
    """The active time of a row of `members`, with what it leaves out."""
    return TimeSpent.of(member.active_seconds, member.n_not_timed, member.n_not_timed_imported)


def with_times(rows: list[Any]) -> list[Any]:
    """Rows of `members`, `active` of each its TimeSpent."""
    for row in rows:
        row.active = active_of(row)
    return rows


def page_of_members(project: Project, asked: Asked) -> Page:
    """The members that are asked for, in two queries; `active` of each is its TimeSpent."""
    begin = (asked.page - 1) * PAGE
    rows = list(asked_for(project, asked)[begin : begin + PAGE + 1])
    return Page(with_times(rows[:PAGE]), len(rows) > PAGE, _checks(project).exists())


def asked_for(project: Project, asked: Asked) -> QuerySet[Membership]:
    """All members that are asked for, in that order."""
    rows = members(project)
    for name in ("standing", "role", "group"):
        if value := getattr(asked, name):
            # "none" is the group of those without one.
            rows = rows.filter(**{name: "" if (name, value) == ("group", "none") else value})
    return rows.order_by(*SORTS.get(asked.sort, SORTS["joined"]))


HEAD = (
    *("person", "role", "state", "group", "languages", "answered", "skipped", "flagged", "checks", "checks_right"),
    *("active_seconds", "answers_not_timed", "of_them_imported", "last_seen_at", "excluded"),
)


def member_rows(project: Project, asked: Asked) -> Iterator[tuple[Any, ...]]:
    """A head and a row for each member that is asked for; pseudonyms, and neither names nor notes."""
    yield HEAD
    for row in asked_for(project, asked):
        told: Any = row
        yield (
            row.person.pseudonym,
            row.role,
            told.standing,
            row.group,
            " ".join(row.languages),
            told.n_answered,
            told.n_skipped,
            told.n_flagged,
            told.n_checks,
            # None of none is not known, and no 0.
            told.n_right if told.n_checks else None,
            active_of(row).seconds,
            told.n_not_timed,
            told.n_not_timed_imported,
            told.last_seen_at.isoformat() if told.last_seen_at else "",
            "yes" if told.is_excluded else "",
        )


def history_of(project: Project, person: Person) -> list[Event]:
    """The newest events that are about this person, or that they caused beside their answers."""
    about = Q(detail__person=person.pseudonym) | Q(detail__member=person.pseudonym) | Q(actor=person.pseudonym)
    events = Event.objects.filter(about, project=project)
    for beginning in OF_EACH_ITEM:
        events = events.exclude(verb__startswith=beginning)
    return list(events.order_by("-at", "-pk")[:N_EVENTS])


def _checks(project: Project) -> QuerySet[CheckResult]:
    """Checks that could be right or wrong; attempts to qualify are no checks."""
    return CheckResult.objects.filter(
        assignment__stage__project=project,
        assignment__purpose__in=["check", "counted_check"],
        is_right__isnull=False,
    )


def _total(rows: QuerySet[Participation], name: str) -> Coalesce:
    total = rows.values("person").annotate(total=Sum(name)).values("total")
    return Coalesce(Subquery(total, output_field=IntegerField()), 0)


def _number(rows: QuerySet[Any, Model], of: str, what: str = "pk") -> Coalesce:
    counted = rows.order_by().values(of).annotate(n=Count(what, distinct=what != "pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
