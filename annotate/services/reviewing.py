"""Items that several people skipped for the same reason: back into the queue, or out of the stage."""

from __future__ import annotations

from django.db import transaction

from annotate import events
from annotate.exceptions import ItemNotInReview
from annotate.models import Person, StageItem
from annotate.services.excluding import is_left_out


@transaction.atomic
def return_to_queue(*, stage_item: StageItem, by: Person) -> StageItem:
    """Hand the item out again, as soon as nobody leaves it out; the next skip for the same reason brings it back."""
    is_out = is_left_out(stage_item.revision.item_id)
    return _decide(stage_item, StageItem.State.LEFT_OUT if is_out else StageItem.State.OPEN, by)


@transaction.atomic
def withdraw_item(*, stage_item: StageItem, by: Person) -> StageItem:
    """Hand the item out no more. Answers it has stay, and are exported; it counts in no progress."""
    return _decide(stage_item, StageItem.State.WITHDRAWN, by)


def _decide(stage_item: StageItem, state: str, by: Person) -> StageItem:
    stage_item = StageItem.objects.select_for_update(of=("self",)).select_related("stage").get(pk=stage_item.pk)
    if stage_item.state != StageItem.State.REVIEW:
        raise ItemNotInReview
    stage_item.state = state
    stage_item.save(update_fields=["state"])
    project_id = stage_item.stage.project_id
    events.record(actor=by, verb=f"item.{state}", subject=stage_item, project_id=project_id)
    return stage_item
