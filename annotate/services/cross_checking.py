"""Cross-group re-annotation: each group labels a random sample of what the other one wrote."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import Exclusion, ItemRevision, ItemSet, ItemSetEntry, Membership, Person, Stage, StageItem
from annotate.sampling import draw_simple
from annotate.services.projects import add_items_to_stage
from annotate.wording import _

GROUPS = ("A", "B")
MAX_DRAWN = 100_000


@dataclass(frozen=True)
class Drawn:
    """Of one group: how many items its members wrote, how many were drawn of them, and by how many that falls short."""

    group: str
    n_population: int
    n_drawn: int
    n_short: int
    item_set: ItemSet | None = None


@dataclass(frozen=True)
class CrossCheck:
    """A draw that was made: by which seed, and what it gave."""

    seed: int
    groups: tuple[Drawn, ...]


def written_by(stage: Stage, group: str, written_in: Stage | None = None) -> QuerySet[ItemRevision]:
    """The population: what members of a group wrote, as it reads now, in the order of its ids.

    written_in: only what was written there. Left out is what an excluded person or a whole excluded answer wrote, an
    item that was excluded, and what its author took back before anybody answered it.
    """
    standing = Exclusion.objects.standing().filter(project=stage.project_id)
    authors = Membership.objects.filter(project=stage.project_id, group=group).values("person")
    places = StageItem.objects.filter(revision__item=OuterRef("item"))
    written = ItemRevision.objects.current().filter(item__project=stage.project_id, item__author__in=authors)
    if written_in is not None:
        written = written.filter(item__source__stage=written_in)
    gone = Q(Exists(places)) & ~Q(Exists(places.exclude(state=StageItem.State.WITHDRAWN)))
    return (
        written.exclude(Exists(standing.filter(person=OuterRef("item__author"))))
        .exclude(Exists(standing.filter(annotation__assignment=OuterRef("annotation__assignment"))))
        .exclude(Exists(standing.filter(item=OuterRef("item"))))
        .exclude(gone)
        .select_related("item")
        .order_by("item__external_id")
    )


def draw_made(stage: Stage) -> CrossCheck | None:
    """The draw that this stage was filled from, or None."""
    sets = [row for row in _sets_of(stage) if row.rule.get("stage") == stage.slug]
    if not sets:
        return None
    groups = tuple(
        Drawn(row.rule["group"], row.n_population, row.n_items, row.rule["wanted"] - row.n_items, row) for row in sets
    )
    return CrossCheck(sets[0].seed or 0, groups)


@transaction.atomic
def draw_cross_check(
    *, stage: Stage, by: Person | None, n: int, seed: int, written_in: Stage | None = None
) -> CrossCheck:
    """Draw n items of each group's, simple and without replacement, and put them into the stage.

    A group that wrote fewer is taken whole, which the result says. Each draw is an item set with its rule, its seed and
    the probability of every item. Raises WorkNotPossible for a stage that is no cross-check or was drawn before, and
    where neither group has written anything.
    """
    # Two clicks must not draw twice.
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if not stage.is_cross_group:
        raise WorkNotPossible(_("Only a stage that is a cross-check can be drawn: tick it under “How it is run”."))
    if (made := draw_made(stage)) is not None:
        raise WorkNotPossible(
            _("This stage was drawn already, by seed %(seed)s: another draw needs another stage.", seed=made.seed)
        )
    if not 1 <= n <= MAX_DRAWN:
        raise WorkNotPossible(_("Draw between 1 and %(max_drawn)s items of each group.", max_drawn=f"{MAX_DRAWN:,}"))
    drawn = [_draw(stage, group, n, seed, written_in) for group in GROUPS]
    if not any(one.n_drawn for one in drawn):
        raise WorkNotPossible(_("Nobody of group A or B has written an item yet."))
    for one in drawn:
        if one.item_set is not None:
            add_items_to_stage(stage=stage, item_set=one.item_set, by=by)
    events.record(
        actor=by,
        verb="cross_check.drawn",
        subject=stage,
        project_id=stage.project_id,
        seed=seed,
        wanted=n,
        written_in=written_in.slug if written_in else "",
        **{one.group: [one.n_drawn, one.n_population] for one in drawn},
    )
    return CrossCheck(seed, tuple(drawn))


def _draw(stage: Stage, group: str, n: int, seed: int, written_in: Stage | None) -> Drawn:
    population = list(written_by(stage, group, written_in).defer("content"))
    size = min(n, len(population))
    if not size:
        return Drawn(group, 0, 0, n)
    places = draw_simple([revision.item.external_id for revision in population], size, seed=seed)
    item_set = ItemSet.objects.create(
        project_id=stage.project_id,
        name=_free_name(stage, group),
        rule={
            "kind": "cross_check",
            "stage": stage.slug,
            "group": group,
            "method": "simple",
            "wanted": n,
            "written_in": written_in.slug if written_in else "",
        },
        seed=seed,
        n_population=len(population),
        n_items=size,
    )
    ItemSetEntry.objects.bulk_create(
        ItemSetEntry(
            item_set=item_set,
            position=position,
            revision=population[place],
            inclusion_probability=size / len(population),
        )
        for position, place in enumerate(places)
    )
    return Drawn(group, len(population), size, n - size, item_set)


def _sets_of(stage: Stage) -> list[ItemSet]:
    rows = ItemSet.objects.filter(project=stage.project_id, seed__isnull=False).order_by("pk")
    # Which rule a set has stands in JSON, which the two databases ask for differently; drawn sets are few.
    return [row for row in rows if row.rule.get("kind") == "cross_check"]


def _free_name(stage: Stage, group: str) -> str:
    base = f"{stage.title[:80]}: written by group {group}"
    taken = set(ItemSet.objects.filter(project=stage.project_id).values_list("name", flat=True))
    return next(name for k in range(1, len(taken) + 2) if (name := base if k == 1 else f"{base} ({k})") not in taken)
