"""Groups A and B of a cross-check: dealt at random and of one size, never by hand where chance should decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from django.db import transaction

from annotate import events
from annotate.allocation import deal
from annotate.models import Membership, Person, Project
from annotate.services.cross_checking import GROUPS


def group_sizes(project: Project) -> dict[str, int]:
    """Active annotators by group; "" are those without one."""
    counted = Counter(_annotators(project).values_list("group", flat=True))
    return {group: counted[group] for group in (*GROUPS, "")}


@transaction.atomic
def deal_groups(
    *, project: Project, by: Person | None, seed: int, people: Collection[int] | None = None
) -> dict[str, int]:
    """Give every active annotator without a group one of them, or these people alone; how many each got.

    Who has a group keeps it: what they wrote before was kept from that group, not from another.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    sizes = group_sizes(project)
    without = _annotators(project).filter(group="").select_related("person")
    if people is not None:
        without = without.filter(person__in=people)
    rows = {row.person.pseudonym: row for row in without}
    dealt = deal(list(rows), into=GROUPS, seed=seed, sizes=sizes)
    for pseudonym, row in rows.items():
        row.group = dealt[pseudonym]
    Membership.objects.bulk_update(rows.values(), ["group"])
    got = Counter(dealt.values())
    if rows:
        events.record(
            actor=by, verb="groups.dealt", subject=project, project_id=project.pk, seed=seed, n=dict(got), dealt=dealt
        )
    return {group: got[group] for group in GROUPS}


def _annotators(project: Project):  # type: ignore[no-untyped-def]
    return Membership.objects.active().filter(project=project, role=Membership.Role.ANNOTATOR).order_by("pk")
