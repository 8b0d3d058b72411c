"""Who gets which item next, for how long, and why somebody gets none.

A claim changes one indexed row whatever the size of the project: it counts a place of an item as taken, then writes
the assignment that holds it. `active` and `done` of a stage item always equal its assignments that hold a slot.

Who waits for whom has one order: an assignment that is leased, then its place; a place, then an assignment in it that
ran out; a person's participation last. Only a claim that passes over places may hold its participation before.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from annotate import claim_sql, events
from annotate.checking import Standing, check_is_due, order_of_checks
from annotate.models import (
    Assignment,
    Item,
    ItemRevision,
    Membership,
    Participation,
    Person,
    QualificationAttempt,
    Stage,
    StageItem,
)
from annotate.models.assignment import new_token
from annotate.services.counting import PersonCounts
from annotate.statements import one_row, row_of, run


class Left(StrEnum):
    """Why there is no item for somebody."""

    DONE = "done"  # every item has the answers it needs
    ALL_TAKEN = "all_taken"  # items are left for this person, but others hold every place at the moment
    NOBODY_ELIGIBLE = "nobody_eligible"  # items are short of answers, but not of this person's
    PAUSED = "paused"  # the stage hands nothing out: paused or closed, or the role does not take it
    NOT_QUALIFIED = "not_qualified"  # items come after an attempt to qualify, which may be under way


@dataclass(frozen=True)
class NothingLeft:
    """No item, and the numbers that explain it.

    n_short: items that still need answers. n_met: of those, the ones this person answered or skipped.
    n_held: of those, the ones this person may get when somebody gives a place back, at the earliest in
    seconds_to_return (None: nobody holds one).
    """

    kind: Left
    n_short: int = 0
    n_met: int = 0
    n_held: int = 0
    seconds_to_return: float | None = None


def claim_next(
    *, stage: Stage, person: Person, languages: Sequence[str] | None = None, standing: Standing | None = None
) -> Assignment | NothingLeft:
    """The item this person works on now: the one they hold, else the first after the one they took last.

    languages: what the person reads; standing: which kind of place comes next. None: the caller does not know it, and
    it is looked up. The assignment comes with stage_item, revision and item; its lease runs from this moment.
    """
    if held := held_lease(stage=stage, person=person):
        return held
    if stage.state != Stage.State.OPEN:
        return NothingLeft(Left.PAUSED)
    if languages is None:
        languages = _languages_of(stage, person)
    if standing is None:
        standing = standing_of(stage, person)
    if taken := _claim(stage, person, languages, standing):
        return taken
    # Another tab of the same person may have been faster.
    if held := held_lease(stage=stage, person=person):
        return held
    # Rows that others were changing were passed over, and leases that ran out still count as taken: before anybody
    # hears that nothing is left, both are looked at.
    expire_leases(stage=stage)
    return (
        _claim_waiting(stage, person, languages, standing)
        or held_lease(stage=stage, person=person)
        or (_what_is_left(stage, person, languages) if standing.is_qualified else NothingLeft(Left.NOT_QUALIFIED))
    )


def held_lease(*, stage: Stage, person: Person) -> Assignment | None:
    """The person's own lease, renewed: being looked at is a sign of work."""
    rows = Assignment.objects.filter(stage=stage, person=person, state=Assignment.State.LEASED)
    held: Assignment | None = rows.select_related("stage_item__revision__item").order_by("leased_at", "pk").first()
    if held is None or not _extend(held, stage):
        return None
    held.stage, held.person, held.stage_item.stage = stage, person, stage
    count_in_root(held.stage_item)
    return held


def count_in_root(stage_item: StageItem) -> None:
    """Find which of its root's items it is, and of how many: one query where it has a root."""
    if stage_item.root_id is None:
        return
    has_checks = bool(stage_item.stage.check_every)
    position = claim_sql.count_of_root("place", has_checks=has_checks, condition="alike.rank <= place.rank")
    row = one_row(
        f"SELECT {position}, {claim_sql.count_of_root('place', has_checks=has_checks)} "
        "FROM annotate_stageitem place WHERE place.id = %(stage_item)s",
        {"stage_item": stage_item.pk},
    )
    assert row is not None  # the caller has the row
    stage_item.in_root = (row[0], row[1])


@transaction.atomic(savepoint=False)
def renew_lease(*, assignment: Assignment) -> bool:
    """Keep the item for its person from now on; take its place again if the lease ran out and one is free.

    False, changing nothing, where the item is gone: then the answer is still taken when it comes, if only as surplus.
    """
    return _extend(assignment, assignment.stage) or _retake(assignment)


@transaction.atomic
def expire_leases(*, stage: Stage | None = None, limit: int = 500) -> int:
    """Give back the places of leases that ran out, in one stage or all; how many. Finished work never expires."""
    overdue = Assignment.objects.filter(state=Assignment.State.LEASED, lease_expires_at__lt=Now())
    if stage is not None:
        overdue = overdue.filter(stage=stage)
    # A lease whose person is submitting at this moment is locked, and no longer overdue when the lock is gone.
    rows = list(
        overdue.select_for_update(skip_locked=True)
        .order_by("pk")
        .values_list("pk", "stage_item_id", "stage_id")[:limit]
    )
    if not rows:
        return 0
    _free_places([(pk, stage_item) for pk, stage_item, _ in rows], Assignment.State.EXPIRED)
    for expired_in in Stage.objects.filter(pk__in={stage_id for _, _, stage_id in rows}):
        assignments = [pk for pk, _, stage_id in rows if stage_id == expired_in.pk]
        events.record(
            verb="leases.expired", subject=expired_in, project_id=expired_in.project_id, assignments=assignments
        )
    return len(rows)


def take_back_leases(*, person: Person, by: Person) -> int:
    """Give the places of everything in the person's hands to others; how many. What was typed stays with them.

    A step of the transaction in which somebody leaves: they may get the same items again when they come back.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("whoever leaves and what they held are one transaction")
    held = Assignment.objects.filter(person=person, state=Assignment.State.LEASED)
    rows = list(held.select_for_update().order_by("pk").values_list("pk", "stage_item_id", "stage_id"))
    _free_places([(pk, stage_item) for pk, stage_item, _ in rows], Assignment.State.WITHDRAWN)
    for stage in Stage.objects.filter(pk__in={stage_id for _, _, stage_id in rows}):
        assignments = [pk for pk, _, stage_id in rows if stage_id == stage.pk]
        events.record(
            actor=by,
            verb="leases.taken_back",
            subject=stage,
            project_id=stage.project_id,
            person=person.pseudonym,
            assignments=assignments,
        )
    return len(rows)


def _free_places(leases: Sequence[tuple[int, int]], state: str) -> None:
    """End these (assignment, stage item) pairs, whose assignments the caller has locked, and give their places back."""
    Assignment.objects.filter(pk__in=[pk for pk, _ in leases]).update(state=state, slot=None)
    freed = Counter(stage_item for _, stage_item in leases)
    StageItem.objects.filter(pk__in=freed).lock_in_claim_order()
    for n in set(freed.values()):
        same = [stage_item for stage_item, count in freed.items() if count == n]
        StageItem.objects.filter(pk__in=same).update(active=F("active") - n)


def standing_of(stage: Stage, person: Person) -> Standing:
    """Whether the person has qualified for the stage, how many of its items they have met, and how many checks are
    owed."""
    is_qualified, n_met, checks_owed = True, 0, 0
    if stage.qualification_size:
        passed = QualificationAttempt.objects.in_force().filter(stage=stage, person=person)
        is_qualified = passed.filter(state=QualificationAttempt.State.PASSED).exists()
    if stage.check_every:
        mine = Participation.objects.filter(stage=stage, person=person)
        n_met, checks_owed = mine.values_list(F("n_answered") + F("n_skipped"), "checks_owed").first() or (0, 0)
    return Standing(is_qualified, n_met, checks_owed)


def standing_after(before: Standing, assignment: Assignment) -> Standing:
    """Where the person stands when they have answered or skipped the item: whether a check comes due is drawn then."""
    stage = assignment.stage
    is_due = bool(stage.check_every) and check_is_due(
        seed=stage.seed, who=assignment.person.pseudonym, n_met=before.n_met + 1, every=stage.check_every
    )
    return before.after_one(is_check=bool(assignment.purpose), is_due=is_due)


def take_place(
    *,
    stage: Stage,
    person: Person,
    languages: Sequence[str],
    standing: Standing,
    wait: bool = False,
    stays_with_root: bool = True,
) -> Assignment | None:
    """Lease the next item after the person's place in the stage, once round; None if there is none at the moment.

    Before they have qualified it is the next one of their attempt. What is open of the root that they took last comes
    before others: one table's questions are given out one after another, the checks among them. A check that stands by
    itself comes when one is owed and a table is left. stays_with_root: False where the caller knows that the last item
    had no root, which saves looking.

    A step of a transaction: the caller writes `move_on` with the rank of what was taken.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a place and the assignment that holds it are one transaction")
    own = _own(stage, person, standing)
    for where in _places(stage, standing, wait=wait):
        statement, parameters = claim_sql.take_place(
            languages,
            where=where,
            wait=wait,
            stays_with_root=stays_with_root and where == claim_sql.AFTER_CURSOR,
            has_checks=_has_checks(stage, standing),
            owes_check=_owes_check(stage, standing),
        )
        place = one_row(statement, own | parameters)
        if place is not None:
            return _lease(stage, person, place)
    return None


def store_and_take_next(
    *,
    stage: Stage,
    person: Person,
    languages: Sequence[str],
    standing: Standing,
    stays_with_root: bool,
    annotation: dict[str, Any],
    event: dict[str, Any],
    done: dict[str, Any],
) -> tuple[int, PersonCounts, Assignment | None] | None:
    """The answer stored, the next item leased and what the person did so far, in one statement of PostgreSQL.

    Its parts are those of `take_place` and `move_on`, without the way round the end of the stage: the assignment is
    None where that is next. annotation, event: column -> value. done: what ended, and what it adds to the person's
    participation (claim_sql.store_and_take_next). None, changing nothing, where the lease of the answer is gone.
    """
    statement, parameters = claim_sql.store_and_take_next(
        tuple(annotation),
        tuple(event),
        languages=tuple(languages),
        where=_places(stage, standing)[0],
        stays_with_root=stays_with_root,
        has_checks=_has_checks(stage, standing),
        owes_check=_owes_check(stage, standing),
    )
    given = parameters | _own(stage, person, standing) | done
    given |= {"token": new_token(), "lease_minutes": stage.lease_minutes}
    given |= {f"annotation.{column}": value for column, value in annotation.items()}
    given |= {f"event.{column}": value for column, value in event.items()}
    row = one_row(statement, given)
    if row is None:
        return None
    mine, lease, place = PersonCounts(*row[1:4]), row[4:8], row[8:]
    taken = None if lease[0] is None else _leased(stage, person, lease, place)
    return row[0], mine, taken


def _places(stage: Stage, standing: Standing, *, wait: bool = False) -> list[str]:
    """Where a place is looked for, one after the other."""
    if not standing.is_qualified:
        return [claim_sql.DRAWN]
    # One that waits for rows goes through them in one order, and locks nothing on its way round. Adjudicators get the
    # most disputed item there is, also when it came after they had read on.
    from_the_front = wait or stage.kind == Stage.Kind.ADJUDICATE
    return [claim_sql.ANYWHERE] if from_the_front else [claim_sql.AFTER_CURSOR, claim_sql.UP_TO_CURSOR]


def _has_checks(stage: Stage, standing: Standing) -> bool:
    return bool(stage.check_every) and standing.is_qualified


def _owes_check(stage: Stage, standing: Standing) -> bool:
    return _has_checks(stage, standing) and standing.checks_owed > 0


def _own(stage: Stage, person: Person, standing: Standing) -> dict[str, int]:
    """Who looks for a place and where, and the order in which checks come to them."""
    own: dict[str, int] = {"stage": stage.pk, "person": person.pk}
    if _owes_check(stage, standing):
        own["factor"], own["offset"] = order_of_checks(seed=stage.seed, who=person.pseudonym)
    return own


def move_on(
    *,
    stage: Stage,
    person: Person,
    taken: Assignment | None = None,
    answered: int = 0,
    skipped: int = 0,
    active_seconds: int = 0,
    checks_owed: int = 0,
    keeps_debt: bool = True,
) -> PersonCounts:
    """Write into the person's participation what they did and which rank they took; what they did so far.

    checks_owed: by how many more they owe now. keeps_debt: False where there was no check for what they owed: checks
    that come later must not all come at once.
    """
    parameters = {
        "stage": stage.pk,
        "person": person.pk,
        # Whoever reads on does so where the work was left, and stays with the table of a check.
        "rank": taken.stage_item.rank if taken and not taken.purpose else None,
        "last_rank": taken.stage_item.rank if taken else None,
        "checks_owed": checks_owed,
        "keeps_debt": int(keeps_debt),
        "answered": answered,
        "skipped": skipped,
        "active_seconds": active_seconds,
    }
    row = one_row(claim_sql.move_on(), parameters)
    assert row is not None  # an upsert without a condition always has a row
    return PersonCounts(*row)


def hold_slot(*, assignment: Assignment) -> None:
    """Give the assignment a slot; the caller has counted it in the stage item and so holds that row's lock."""
    with connection.cursor() as cursor:
        cursor.execute(claim_sql.hold_slot(), {"assignment": assignment.pk, "stage_item": assignment.stage_item_id})


def _claim(stage: Stage, person: Person, languages: Sequence[str], standing: Standing) -> Assignment | None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            run(
                cursor,
                claim_sql.enter(),
                {"stage": stage.pk, "person": person.pk, "draw": starting_draw(stage, person)},
            )
        taken = take_place(stage=stage, person=person, languages=languages, standing=standing)
        if taken:
            move_on(stage=stage, person=person, taken=taken)
        return taken


def _claim_waiting(stage: Stage, person: Person, languages: Sequence[str], standing: Standing) -> Assignment | None:
    """A claim that waits for places. None, changing nothing, if another tab of the person got an item meanwhile.

    It must not hold the participation while it waits: the place may be held by an answer of the same person, which
    goes on to their participation.
    """
    with transaction.atomic():
        taken = take_place(stage=stage, person=person, languages=languages, standing=standing, wait=True)
        if taken is None:
            return None
        move_on(stage=stage, person=person, taken=taken)
        # Under the lock of the participation: of two tabs the later one sees what the earlier one took.
        others = Assignment.objects.filter(stage=stage, person=person, state=Assignment.State.LEASED)
        if others.exclude(pk=taken.pk).exists():
            transaction.set_rollback(True)
            return None
        return taken


def _lease(stage: Stage, person: Person, place: tuple[Any, ...]) -> Assignment | None:
    stage_item_id, _, round_, purpose, *_ = place
    lease = one_row(
        claim_sql.lease(),
        {
            "stage": stage.pk,
            "stage_item": stage_item_id,
            "person": person.pk,
            "token": new_token(),
            "round": round_,
            "purpose": purpose,
            "lease_minutes": stage.lease_minutes,
        },
    )
    if lease is None:
        # Another request of the same person took this very item a moment ago: give the place back.
        StageItem.objects.filter(pk=stage_item_id).update(active=F("active") - 1)
        return None
    return _leased(stage, person, lease, place)


def _leased(stage: Stage, person: Person, lease: Sequence[Any], place: Sequence[Any]) -> Assignment:
    """The assignment with its item, from what claim_sql returns."""
    assignment_id, token, draft, draft_version = lease
    stage_item_id, rank, round_, purpose, revision_id, root_id, position, n_in_root, *shown = place
    content, language, item_id, external_id = shown
    item = row_of(Item, [("id", item_id), ("external_id", external_id)])
    of_revision = {"id": revision_id, "item_id": item_id, "content": _from_json(content), "language": language}
    revision = row_of(ItemRevision, of_revision.items(), item=item)
    of_place = {"id": stage_item_id, "stage_id": stage.pk, "revision_id": revision_id}
    of_place |= {"rank": rank, "root_id": root_id, "round": round_}
    stage_item = row_of(StageItem, of_place.items(), stage=stage, revision=revision)
    stage_item.in_root = None if root_id is None or position is None else (position, n_in_root)
    own = {"id": assignment_id, "stage_id": stage.pk, "stage_item_id": stage_item_id, "person_id": person.pk}
    own |= {"token": token, "state": Assignment.State.LEASED, "purpose": purpose}
    own |= {"draft": _from_json(draft), "draft_version": draft_version}
    return row_of(Assignment, own.items(), stage=stage, stage_item=stage_item, person=person)


def _extend(assignment: Assignment, stage: Stage) -> bool:
    parameters = {"assignment": assignment.pk, "lease_minutes": stage.lease_minutes}
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE annotate_assignment SET lease_expires_at = {claim_sql.lease_end()} "
            "WHERE id = %(assignment)s AND state = 'leased'",
            parameters,
        )
        return bool(cursor.rowcount)


def _retake(assignment: Assignment) -> bool:
    """Take a place again for a lease that ran out, if the stage is open and a place is free."""
    if assignment.stage.state != Stage.State.OPEN:
        return False
    with transaction.atomic(), connection.cursor() as cursor:
        # The place first, as whoever offers the item again does: else each would wait for the other.
        place = StageItem.objects.short_of_answers().filter(pk=assignment.stage_item_id)
        if not place.update(active=F("active") + 1):
            return False
        cursor.execute(
            f"UPDATE annotate_assignment SET state = 'leased', slot = {claim_sql.SMALLEST_FREE_SLOT}, "
            f"lease_expires_at = {claim_sql.lease_end()} WHERE id = %(assignment)s AND state = 'expired'",
            {
                "assignment": assignment.pk,
                "stage_item": assignment.stage_item_id,
                "lease_minutes": assignment.stage.lease_minutes,
            },
        )
        if not cursor.rowcount:
            transaction.set_rollback(True)
        return bool(cursor.rowcount)


def _what_is_left(stage: Stage, person: Person, languages: Sequence[str]) -> NothingLeft:
    who = {"stage": stage.pk, "person": person.pk}
    statement, parameters = claim_sql.what_is_left(languages)
    row = one_row(statement, who | parameters)
    assert row is not None  # an aggregate always has a row
    n_short, n_met, n_held = row
    if n_short == 0:
        return NothingLeft(Left.DONE)
    if n_held == 0:
        return NothingLeft(Left.NOBODY_ELIGIBLE, n_short=n_short, n_met=n_met)
    statement, parameters = claim_sql.first_return(languages)
    row = one_row(statement, who | parameters)
    seconds = None if row is None or row[0] is None else max(0.0, float(row[0]))
    return NothingLeft(Left.ALL_TAKEN, n_short=n_short, n_met=n_met, n_held=n_held, seconds_to_return=seconds)


def starting_draw(stage: Stage, person: Person) -> int:
    """A number whose remainder is the person's first place: drawn from the stage's seed, the same every time."""
    if stage.order == Stage.Order.SEQUENTIAL:
        return 0
    digest = hashlib.sha256(f"{stage.seed}/{person.pseudonym}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


def _languages_of(stage: Stage, person: Person) -> list[str]:
    memberships = Membership.objects.active().filter(project=stage.project_id, person=person)
    return memberships.values_list("languages", flat=True).first() or []


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
