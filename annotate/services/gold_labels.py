"""New versions of gold labels: who says so, and back to what was before. The newest version counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotate import events
from annotate.models import Gold, Item, ItemHand, Person, StageItem
from annotate.services import checks


def write_gold(
    *,
    item: Item,
    field: str,
    answers: list[Any],
    origin: str,
    made_by: Person | None,
    by: Person | None = None,
    label_set: str = "",
    votes_of: int | None = None,
) -> Gold:
    """The label in a new version, where it differs from the one that counts. A step of the caller's transaction.

    made_by: whose word it is, and who is left out of human accuracy on the item. by: who accepted it. label_set: where
    an item has several labels of one field. votes_of: the stage whose votes came to it, if it is what they say.
    """
    # Two at once must not both become version 2.
    Item.objects.select_for_update(no_key=True).get(pk=item.pk)
    note_hands(item, made_by, by)
    versions = Gold.objects.filter(item=item, field=field, label_set=label_set)
    newest: Gold | None = versions.order_by("version").last()
    if newest is not None and newest.is_current and newest.answers == answers and newest.made_by == made_by:
        return newest
    checks.score_again(StageItem.objects.filter(revision__item=item))
    versions.filter(is_current=True).update(is_current=False)
    gold: Gold = Gold.objects.create(
        item=item,
        field=field,
        label_set=label_set,
        version=newest.version + 1 if newest else 1,
        answers=answers,
        origin=origin,
        made_by=made_by,
        accepted_by=by,
        votes_of_id=votes_of,
    )
    events.record(
        actor=by or made_by,
        verb="gold.made",
        subject=gold,
        project_id=item.project_id,
        item=item.pk,
        field=field,
        version=gold.version,
        origin=origin,
    )
    return gold


def take_back(*, item: Item, fields: Iterable[str], origin: str, made_by: Person, label_set: str = "") -> None:
    """Where this person's label counts, what was before it counts again, in a version of its own.

    Without an earlier one the item has no gold label any more: a version without answers says so.
    """
    Item.objects.select_for_update(no_key=True).get(pk=item.pk)
    for field in fields:
        versions = list(Gold.objects.filter(item=item, field=field, label_set=label_set).order_by("-version"))
        if not versions or not _is_of(versions[0], origin, made_by) or not versions[0].is_current:
            continue
        before = next((one for one in versions if not _is_of(one, origin, made_by)), None)
        checks.score_again(StageItem.objects.filter(revision__item=item))
        versions[0].is_current = False
        versions[0].save(update_fields=["is_current"])
        gold = Gold.objects.create(
            item=item,
            field=field,
            label_set=label_set,
            version=versions[0].version + 1,
            answers=before.answers if before else [],
            origin=before.origin if before else origin,
            made_by=before.made_by if before else made_by,
            accepted_by=before.accepted_by if before else None,
            votes_of_id=before.votes_of_id if before else None,
        )
        events.record(
            actor=made_by,
            verb="gold.taken_back",
            subject=gold,
            project_id=item.project_id,
            item=item.pk,
            field=field,
            version=gold.version,
        )


def note_hands(item: Item, *people: Person | None) -> None:
    """Who made, accepted or refused a label of the item: the queue gives it to none of them from now on."""
    hands = [ItemHand(item=item, person=person) for person in people if person is not None]
    ItemHand.objects.bulk_create(hands, ignore_conflicts=True)


def _is_of(gold: Gold, origin: str, made_by: Person) -> bool:
    return gold.origin == origin and gold.made_by_id == made_by.pk
