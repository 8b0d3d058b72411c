"""How far a stage is: the one place that counts, with a name for each number.

A page never adds these numbers up differently: mine and everyone's, skipped and answered, counted and surplus are
different things.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotate.models import Assignment, FreedPlace, Participation, Person, Resolution, Stage, StageItem

# How long the work page may show everyone's progress as it was: counting reads every item of the stage, an answer
# must not.
SECONDS_KEPT = 15

# Taken back by an admin, or left out of every figure (annotate/services/excluding.py).
GONE = (StageItem.State.WITHDRAWN, StageItem.State.LEFT_OUT)
KEPT = ~Q(state__in=GONE)
# Neither a check nor an item to qualify with.
WORK = Q(purpose=StageItem.Purpose.WORK)
CHECKS = Q(purpose__in=[StageItem.Purpose.CHECK, StageItem.Purpose.COUNTED_CHECK])


@dataclass(frozen=True)
class StageCounts:
    """The numbers of one stage. Items that were withdrawn or left out are counted in n_withdrawn and nowhere else.

    n_items: items in the stage. n_short: of those, the ones that still need answers and are handed out.
    n_review: taken out of the queue because people skipped them for the same reason.
    wanted: answers that the items need in all. done: given, each in a place of its own, at most `wanted`.
    active: places held by somebody at work. waiting: wanted - done - active.
    surplus: answers that came when every place was taken. skipped: how often somebody skipped an item.
    n_complete: items with all answers they need. undecided: of those, the ones without a majority in some field.
    uncounted: items whose votes have changed and will be counted in a moment.
    n_checks: items among these that are checks; in no number above. checks_done: answers to them. checks_active: in
    somebody's hands.
    """

    n_items: int = 0
    n_short: int = 0
    n_review: int = 0
    n_withdrawn: int = 0
    wanted: int = 0
    active: int = 0
    done: int = 0
    surplus: int = 0
    skipped: int = 0
    n_complete: int = 0
    undecided: int = 0
    uncounted: int = 0
    n_checks: int = 0
    checks_done: int = 0
    checks_active: int = 0

    @property
    def waiting(self) -> int:
        return self.wanted - self.done - self.active


@dataclass(frozen=True)
class PersonCounts:
    """One person in one stage: the answers they gave, surplus included, what they skipped, how long they worked, and
    whether an item is in their hands."""

    answered: int = 0
    skipped: int = 0
    active_seconds: int = 0
    is_at_work: bool = False


@dataclass(frozen=True)
class Progress:
    """What the work page says. mine_total: my answers and those I may still give, as far as anybody knows.

    It falls while others answer what I might have answered; it is never below mine_done.
    """

    mine_done: int
    mine_total: int
    everyone_done: int
    everyone_wanted: int


def stage_counts(stages: Iterable[Stage]) -> dict[int, StageCounts]:
    """The counts of each stage by its id, in three queries for any number of stages."""
    ids = [stage.pk for stage in stages]
    # An answer that gave up its place to an exclusion did not come too late.
    freed = FreedPlace.objects.filter(assignment=OuterRef("pk"), has_returned=None)
    no_majority = Resolution.objects.without_majority().filter(stage_item=OuterRef("pk"))
    assignments = (
        Assignment.objects.filter(stage__in=ids, purpose="")
        .exclude(stage_item__state__in=GONE)
        .values("stage")
        .annotate(
            surplus=Count("pk", filter=Q(~Exists(freed), state=Assignment.State.SUBMITTED, slot__isnull=True)),
            skipped=Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
        )
    )
    undecided = (
        StageItem.objects.filter(WORK, KEPT, Exists(no_majority), stage__in=ids, done__gte=F("wanted"))
        .values("stage")
        .annotate(undecided=Count("pk"))
    )
    numbers: dict[int, dict[str, int]] = {pk: {} for pk in ids}
    for rows in (_of_items(ids), assignments, undecided):
        for row in rows:
            numbers[row.pop("stage")] |= row
    return {pk: StageCounts(**named) for pk, named in numbers.items()}


def _of_items(stage_ids: list[int]) -> QuerySet[StageItem, dict[str, Any]]:
    rows: QuerySet[StageItem, dict[str, Any]] = (
        StageItem.objects.filter(stage__in=stage_ids)
        .values("stage")
        .annotate(
            n_items=Count("pk", filter=WORK & KEPT),
            n_short=Count("pk", filter=WORK & Q(state=StageItem.State.OPEN, done__lt=F("wanted"))),
            n_review=Count("pk", filter=Q(state=StageItem.State.REVIEW)),
            n_withdrawn=Count("pk", filter=WORK & ~KEPT),
            n_complete=Count("pk", filter=WORK & KEPT & Q(done__gte=F("wanted"))),
            uncounted=Count("pk", filter=Q(due_at__isnull=False)),
            n_checks=Count("pk", filter=CHECKS & KEPT),
            checks_done=Coalesce(Sum("done", filter=CHECKS), 0),
            checks_active=Coalesce(Sum("active", filter=CHECKS & KEPT), 0),
            # Last: from here on these names mean the sums, no longer the columns that are compared above.
            wanted=Coalesce(Sum("wanted", filter=WORK & KEPT), 0),
            active=Coalesce(Sum("active", filter=WORK & KEPT), 0),
            done=Coalesce(Sum("done", filter=WORK & KEPT), 0),
        )
    )
    return rows


def person_counts(person: Person, stages: Iterable[Stage]) -> dict[int, PersonCounts]:
    """The person's counts in each stage by its id, in one query."""
    ids = [stage.pk for stage in stages]
    counts = dict.fromkeys(ids, PersonCounts())
    held = Assignment.objects.filter(stage=OuterRef("stage"), person=OuterRef("person"), state=Assignment.State.LEASED)
    rows = Participation.objects.filter(person=person, stage__in=ids)
    for stage_id, *numbers in rows.values_list("stage", "n_answered", "n_skipped", "active_seconds", Exists(held)):
        counts[stage_id] = PersonCounts(*numbers)
    return counts


def progress(stage: Stage, person: Person, mine: PersonCounts | None = None, *, is_at_work: bool = False) -> Progress:
    """Mine as of now (`mine`, if the caller knows it), everyone's as of at most SECONDS_KEPT ago."""
    everyone = cache.get_or_set(f"everyone-{stage.pk}", lambda: _everyone(stage), timeout=SECONDS_KEPT)
    mine = mine or person_counts(person, [stage])[stage.pk]
    mine = replace(mine, is_at_work=mine.is_at_work or is_at_work)
    return progress_of(everyone or StageCounts(), mine, check_every=stage.check_every)


def _everyone(stage: Stage) -> StageCounts:
    """The numbers that progress needs, in one query."""
    for row in _of_items([stage.pk]):
        return StageCounts(**{name: number for name, number in row.items() if name != "stage"})
    return StageCounts()


def progress_of(everyone: StageCounts, mine: PersonCounts, *, check_every: int = 0) -> Progress:
    """Progress from numbers that the caller has: as many items are left to me as are short of answers and new to me."""
    if check_every:
        return _progress_with_checks(check_every, everyone, mine)
    unmet = max(0, everyone.n_items - mine.answered - mine.skipped)
    return Progress(
        mine_done=mine.answered,
        mine_total=mine.answered + min(everyone.n_short, unmet),
        everyone_done=everyone.done,
        everyone_wanted=everyone.wanted,
    )


def _progress_with_checks(every: int, everyone: StageCounts, mine: PersonCounts) -> Progress:
    """Progress in which an answer to a check moves every number as any other answer does.

    Exact numbers would tell which item was one: the answers that are wanted would not go down. So the checks to be
    expected are counted with what is wanted, and those answered with what is done.
    """
    wanted = everyone.wanted + everyone.wanted // (every - 1)
    done = min(everyone.done + everyone.checks_done, wanted)
    # The last question about a table may be a check that comes when all work is done: it is the one that is left.
    in_hand = int(mine.is_at_work)
    if everyone.n_short == 0:
        wanted = done + min(1, max(everyone.checks_active, in_hand))
    unmet = everyone.n_items + min(everyone.n_checks, everyone.n_items // (every - 1)) - mine.answered - mine.skipped
    return Progress(
        mine_done=mine.answered,
        mine_total=mine.answered + max(in_hand, min(wanted - done, max(0, unmet))),
        everyone_done=done,
        everyone_wanted=wanted,
    )
