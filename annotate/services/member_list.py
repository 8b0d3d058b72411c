"""The people of a project with what they did, in a constant number of queries."""

from __future__ import annotations

from django.db.models import Exists, IntegerField, Max, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotate.models import Exclusion, Membership, Participation, Project

PAGE = 200


def members(project: Project) -> QuerySet[Membership]:
    """Memberships with n_answered, n_skipped, active_seconds, last_seen_at and is_excluded, oldest first."""
    mine = Participation.objects.filter(stage__project=project, person=OuterRef("person")).order_by()
    excluded = Exclusion.objects.standing().filter(project=project, person=OuterRef("person"))
    rows: QuerySet[Membership] = (
        Membership.objects.filter(project=project)
        .select_related("person")
        .annotate(
            **{name: _total(mine, name) for name in ("n_answered", "n_skipped", "active_seconds")},
            last_seen_at=Subquery(mine.values("person").annotate(last=Max("last_seen_at")).values("last")),
            is_excluded=Exists(excluded),
        )
        .order_by("pk")
    )
    return rows


def _total(rows: QuerySet[Participation], name: str) -> Coalesce:
    total = rows.values("person").annotate(total=Sum(name)).values("total")
    return Coalesce(Subquery(total, output_field=IntegerField()), 0)


def page_of_members(project: Project, *, after: int = 0) -> tuple[list[Membership], bool]:
    """The next members after the one with this primary key, and whether more follow."""
    rows = list(members(project).filter(pk__gt=after)[: PAGE + 1])
    return rows[:PAGE], len(rows) > PAGE
