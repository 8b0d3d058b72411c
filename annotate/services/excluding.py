"""Leaving answers and items out of every figure, and taking that back: decisions with a reason, a date, an author.

"Exclude and collect again" also frees the places of the answers, so that others are asked. What was freed is kept: when
the decision is lifted, an answer gets its place back where nobody has taken it.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.models import Annotation, Assignment, Exclusion, FreedPlace, Item, Person, Project, Stage, StageItem
from annotate.querysets import COUNTED_PURPOSES
from annotate.services import assigning


@transaction.atomic
def exclude_person(
    *,
    project: Project,
    person: Person,
    by: Person,
    reason: str,
    rule: str = "",
    collects_again: bool = False,
) -> Exclusion:
    """Leave out everything the person answered and will answer in this project, until the decision is lifted.

    collects_again: others are asked instead. A standing decision stays what it is: lift it to decide otherwise.
    """
    # Twice the same decision would need lifting twice.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    standing: Exclusion | None = Exclusion.objects.standing().filter(project=project, person=person).first()
    if standing:
        return standing
    exclusion = Exclusion.objects.create(
        project=project, person=person, decided_by=by, reason=reason, rule=rule, collects_again=collects_again
    )
    _lock_answers(exclusion)
    n_freed = _free_places(exclusion)
    events.record(
        actor=by,
        verb="person.excluded",
        subject=exclusion,
        project_id=project.pk,
        person=person.pseudonym,
        rule=rule,
        **({"n_freed": n_freed} if collects_again else {}),
    )
    _count_again(exclusion)
    return exclusion


@transaction.atomic
def exclude_annotation(
    *, annotation: Annotation, by: Person, reason: str, rule: str = "", collects_again: bool = False
) -> Exclusion:
    """Leave out one answer, whichever of its revisions is named. collects_again: somebody else is asked instead."""
    project = annotation.assignment.stage.project
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    standing: Exclusion | None = Exclusion.objects.standing().of_answer(annotation).first()
    if standing:
        return standing
    exclusion = Exclusion.objects.create(
        project=project,
        annotation=annotation,
        decided_by=by,
        reason=reason,
        rule=rule,
        collects_again=collects_again,
    )
    _lock_answers(exclusion)
    n_freed = _free_places(exclusion)
    events.record(
        actor=by,
        verb="annotation.excluded",
        subject=exclusion,
        project_id=project.pk,
        annotation=annotation.pk,
        rule=rule,
        **({"n_freed": n_freed} if collects_again else {}),
    )
    _count_again(exclusion)
    return exclusion


@transaction.atomic
def exclude_item(*, item: Item, by: Person, reason: str, rule: str, decided_in: StageItem | None = None) -> Exclusion:
    """Leave out an item with all its answers, predictions included, and hand it out no more.

    decided_in: the place where that was decided, which stays as it is. Each of several people who decide so has a
    decision of their own; the item counts again when all of them are lifted.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    standing: Exclusion | None = Exclusion.objects.standing().filter(item=item, decided_by=by, rule=rule).first()
    if standing:
        return standing
    exclusion = Exclusion.objects.create(project_id=item.project_id, item=item, decided_by=by, reason=reason, rule=rule)
    events.record(
        actor=by, verb="item.excluded", subject=exclusion, project_id=item.project_id, item=item.pk, rule=rule
    )
    places = StageItem.objects.filter(revision__item=item, state=StageItem.State.OPEN)
    _set_state(places.exclude(pk=decided_in.pk) if decided_in else places, StageItem.State.LEFT_OUT)
    return exclusion


def is_left_out(item: int) -> bool:
    """Whether a standing decision leaves out the item with this primary key."""
    return bool(Exclusion.objects.standing().filter(item=item).exists())


def keep_out(stage: Stage) -> None:
    """Hand out none of the stage's new places whose item is left out; they come back when it does.

    A step of the transaction that made them. A place that somebody has met stays: there it may have been decided.
    """
    left_out = Exclusion.objects.standing().filter(project=stage.project_id, item__isnull=False)
    new = stage.stage_items.filter(state=StageItem.State.OPEN, active=0, done=0)
    new.filter(revision__item__in=left_out.values("item")).update(state=StageItem.State.LEFT_OUT)


@transaction.atomic
def lift_exclusion(*, exclusion: Exclusion, by: Person) -> Exclusion:
    """Let the answers, or the item, count again; the decision stays on record with both dates.

    An answer whose place was freed gets it back if nobody has taken it; else it is surplus from now on, and its
    `freed_places` row says so.
    """
    # As whoever excludes: two decisions about one answer lifted at once would each leave its place to the other.
    Project.objects.select_for_update(no_key=True).get(pk=exclusion.project_id)
    # Without its key: counting votes, which holds places, may be writing rows that point to it.
    exclusion = Exclusion.objects.select_for_update(no_key=True).get(pk=exclusion.pk)
    if exclusion.lifted_at is None:
        if not exclusion.item_id:
            _lock_answers(exclusion)
        exclusion.lifted_at, exclusion.lifted_by = timezone.now(), by
        exclusion.save(update_fields=["lifted_at", "lifted_by"])
        n_returned, n_taken = _take_back_places(exclusion)
        events.record(
            actor=by,
            verb="exclusion.lifted",
            subject=exclusion,
            project_id=exclusion.project_id,
            **({"n_returned": n_returned, "n_taken": n_taken} if exclusion.collects_again else {}),
        )
        _count_again(exclusion)
    return exclusion


def free_late_places(places: Sequence[StageItem]) -> None:
    """Free the places of answers that came after their author was excluded and collected again.

    A step of counting votes: the caller holds the locks of the places. An answer that is being changed at this moment
    is left for the next time, which that change brings about; so is a decision that is being lifted.
    """
    standing = Exclusion.objects.standing().filter(collects_again=True, person__isnull=False)
    project_ids = {place.stage.project_id for place in places}
    # Held to the end, so that whoever lifts it finds what was freed here.
    held = standing.filter(project__in=project_ids).order_by("pk").select_for_update(skip_locked=True, no_key=True)
    for exclusion in held:
        late = _answers_of(exclusion).filter(stage_item__in=places, slot__isnull=False)
        rows = list(late.select_for_update(skip_locked=True, of=("self",)).order_by("pk"))
        _free(exclusion, rows)


def _lock_answers(exclusion: Exclusion) -> None:
    """Lock the answers and then all their places, before any of them changes, as whoever changes an answer does.

    At once: whoever held some of the places and went on to others would do so in an order of their own.
    """
    about = _all_answers_of(exclusion)
    list(about.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    StageItem.objects.filter(pk__in=about.values("stage_item")).lock_in_claim_order()


def _free_places(exclusion: Exclusion) -> int:
    """Have the answers give up their places, which the caller has locked; how many did."""
    if not exclusion.collects_again:
        return 0
    rows = list(_answers_of(exclusion).filter(slot__isnull=False).order_by("pk"))
    _free(exclusion, rows)
    return len(rows)


def _free(exclusion: Exclusion, rows: Sequence[Assignment]) -> None:
    FreedPlace.objects.bulk_create(FreedPlace(exclusion=exclusion, assignment=row) for row in rows)
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(slot=None)
    # One person answers a place once, so each place gets one back.
    StageItem.objects.filter(pk__in=[row.stage_item_id for row in rows]).update(done=F("done") - 1, due_at=Now())


def _take_back_places(exclusion: Exclusion) -> tuple[int, int]:
    """(answers that have their place again, answers whose place was taken). The caller has locked the places."""
    freed = list(exclusion.freed_places.filter(has_returned=None).select_related("assignment").order_by("assignment"))
    if not freed:
        return 0, 0
    others = Exclusion.objects.standing().filter(collects_again=True).exclude(pk=exclusion.pk)
    n_returned = n_taken = 0
    for row in freed:
        assignment = row.assignment
        another = others.filter(
            Q(annotation__assignment=assignment) | Q(person=assignment.person_id, project=exclusion.project_id)
        ).first()
        if another is not None:
            # Its place stays free for as long as any such decision stands.
            FreedPlace.objects.get_or_create(exclusion=another, assignment=assignment)
            row.delete()
            continue
        place = StageItem.objects.filter(pk=assignment.stage_item_id, active__lt=F("wanted") - F("done"))
        row.has_returned = bool(place.update(done=F("done") + 1, due_at=Now()))
        row.save(update_fields=["has_returned"])
        if row.has_returned:
            assigning.hold_slot(assignment=assignment)
            n_returned += 1
        else:
            n_taken += 1
    return n_returned, n_taken


def _answers_of(exclusion: Exclusion) -> QuerySet[Assignment]:
    """The answers that it leaves out of figures."""
    return _all_answers_of(exclusion).filter(purpose__in=COUNTED_PURPOSES)


def _all_answers_of(exclusion: Exclusion) -> QuerySet[Assignment]:
    """Those, and the ones that no figure counts anyhow."""
    answers = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
    if exclusion.annotation_id:
        # Whichever revision the decision names: its author may have changed the answer meanwhile.
        return answers.filter(annotations=exclusion.annotation_id)
    return answers.filter(person=exclusion.person_id, stage__project=exclusion.project_id)


def _count_again(exclusion: Exclusion) -> None:
    """Mark the items whose votes have changed, locked by the caller: what they came to is stale from now on."""
    if exclusion.item_id:
        # Only an item that nobody leaves out any more is handed out again.
        if not is_left_out(exclusion.item_id):
            places = StageItem.objects.filter(revision__item=exclusion.item_id, state=StageItem.State.LEFT_OUT)
            _set_state(places, StageItem.State.OPEN)
        return
    StageItem.objects.filter(pk__in=_all_answers_of(exclusion).values("stage_item")).update(due_at=Now())


def _set_state(places: QuerySet[StageItem], state: str) -> None:
    found = StageItem.objects.filter(pk__in=list(places.values_list("pk", flat=True)))
    found.lock_in_claim_order()
    found.update(state=state, due_at=Now())
