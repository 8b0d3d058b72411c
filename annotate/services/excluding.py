"""Leaving answers and items out of every figure, and taking that back: decisions with a reason, a date, an author."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.models import Annotation, Assignment, Exclusion, Item, Person, Project, StageItem


@transaction.atomic
def exclude_person(*, project: Project, person: Person, by: Person, reason: str, rule: str = "") -> Exclusion:
    """Leave out everything the person answered and will answer in this project, until the decision is lifted."""
    # Twice the same decision would need lifting twice.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    standing: Exclusion | None = Exclusion.objects.standing().filter(project=project, person=person).first()
    if standing:
        return standing
    exclusion = Exclusion.objects.create(project=project, person=person, decided_by=by, reason=reason, rule=rule)
    events.record(
        actor=by, verb="person.excluded", subject=exclusion, project_id=project.pk, person=person.pseudonym, rule=rule
    )
    _count_again(exclusion)
    return exclusion


@transaction.atomic
def exclude_annotation(*, annotation: Annotation, by: Person, reason: str, rule: str = "") -> Exclusion:
    """Leave out one answer."""
    project = annotation.assignment.stage.project
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    standing: Exclusion | None = Exclusion.objects.standing().filter(annotation=annotation).first()
    if standing:
        return standing
    exclusion = Exclusion.objects.create(
        project=project, annotation=annotation, decided_by=by, reason=reason, rule=rule
    )
    events.record(
        actor=by,
        verb="annotation.excluded",
        subject=exclusion,
        project_id=project.pk,
        annotation=annotation.pk,
        rule=rule,
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


@transaction.atomic
def lift_exclusion(*, exclusion: Exclusion, by: Person) -> Exclusion:
    """Let the answers, or the item, count again; the decision stays on record with both dates."""
    exclusion = Exclusion.objects.select_for_update().get(pk=exclusion.pk)
    if exclusion.lifted_at is None:
        exclusion.lifted_at, exclusion.lifted_by = timezone.now(), by
        exclusion.save(update_fields=["lifted_at", "lifted_by"])
        events.record(actor=by, verb="exclusion.lifted", subject=exclusion, project_id=exclusion.project_id)
        _count_again(exclusion)
    return exclusion


def _count_again(exclusion: Exclusion) -> None:
    """Mark the items whose votes have changed: their resolutions are stale from this moment."""
    if exclusion.item_id:
        # Only an item that nobody leaves out any more is handed out again.
        if not Exclusion.objects.standing().filter(item=exclusion.item_id).exists():
            places = StageItem.objects.filter(revision__item=exclusion.item_id, state=StageItem.State.LEFT_OUT)
            _set_state(places, StageItem.State.OPEN)
        return
    affected: QuerySet[Assignment] = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
    if exclusion.annotation_id:
        affected = affected.filter(annotations=exclusion.annotation_id)
    else:
        affected = affected.filter(person=exclusion.person_id, stage__project=exclusion.project_id)
    stage_items = StageItem.objects.filter(pk__in=affected.values("stage_item"))
    stage_items.lock_in_claim_order()
    stage_items.update(due_at=Now())


def _set_state(places: QuerySet[StageItem], state: str) -> None:
    found = StageItem.objects.filter(pk__in=list(places.values_list("pk", flat=True)))
    found.lock_in_claim_order()
    found.update(state=state, due_at=Now())
