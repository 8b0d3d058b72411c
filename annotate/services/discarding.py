"""Draws that should not have been made: taken back whole before anybody has answered, ended with a reason after."""

from __future__ import annotations

from django.db import transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import Assignment, Audit, Event, Participation, Person, Question, Stage, StageItem
from annotate.wording import _

# How a draw can end: not at all at this moment, taken back, or closed.
NOT_NOW, DISCARD, CLOSE, ENDED = "not_now", "discard", "close", ""

_ANSWERED = (Assignment.State.SUBMITTED, Assignment.State.SKIPPED)


def way_to_end(stage: Stage) -> str:
    """DISCARD while nobody has answered or skipped an item of it, NOT_NOW while somebody holds one all the same; then
    CLOSE, and ENDED once it is closed."""
    given = Assignment.objects.filter(stage=stage)
    if given.filter(state__in=_ANSWERED).exists():
        return ENDED if stage.state == Stage.State.CLOSED else CLOSE
    return NOT_NOW if _held(stage) else DISCARD


def empty_queue(*, stage: Stage) -> int:
    """Take every place of a drawn stage away, which becomes a draft again; how many.

    A step of the caller's transaction. Leases that ran out go with their drafts, and questions about an item stay as
    questions about the stage. Raises WorkNotPossible, writing nothing, where somebody has answered or skipped, or holds
    an item.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a draw and its places go in one transaction")
    # As whoever submits: assignments before their places. What was claimed meanwhile is seen when places are locked.
    list(Assignment.objects.filter(stage=stage).select_for_update().order_by("pk").values_list("pk"))
    places = StageItem.objects.filter(stage=stage)
    places.lock_in_claim_order()
    way = way_to_end(stage)
    if way == NOT_NOW:
        raise WorkNotPossible(
            _("Somebody has an item of it before them. Pause the stage, and discard the draw when they have left it.")
        )
    if way != DISCARD:
        raise WorkNotPossible(_("People have answered: the draw stays. Close the stage, with a reason."))
    Question.objects.filter(stage_item__in=places).update(stage_item=None)
    Assignment.objects.filter(stage=stage).delete()
    Participation.objects.filter(stage=stage).delete()
    n = places.count()
    places.delete()
    # Nothing can be handed out, and its form may be changed for the next draw.
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.DRAFT)
    stage.state = Stage.State.DRAFT
    return n


@transaction.atomic
def discard_audit(*, stage: Stage, by: Person, reason: str) -> Stage:
    """Take a draw of labels back, so that the stage can be drawn for anew; the history keeps its rule and the reason.

    The item set goes with it, unless a run or a report uses it. Raises WorkNotPossible for a stage without a draw, and
    as `empty_queue` does.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    audit = Audit.objects.filter(stage=stage).select_related("item_set").first()
    if audit is None:
        raise WorkNotPossible(_("Nothing was drawn for this stage yet."))
    before = stage.state
    n = empty_queue(stage=stage)
    item_set = audit.item_set
    audit.delete()
    events.record(
        actor=by,
        verb="audit.discarded",
        subject=stage,
        project_id=stage.project_id,
        reason=reason,
        before=before,
        n=n,
        item_set=item_set.pk,
        seed=item_set.seed,
        rule=item_set.rule,
    )
    try:
        with transaction.atomic():
            item_set.delete()
    except ProtectedError:
        pass  # Others work with these items by now; the list is frozen and says how it was drawn.
    return stage


def reason_closed(stage: Stage) -> str:
    """Why a closed stage was closed, where somebody said so."""
    if stage.state != Stage.State.CLOSED:
        return ""
    told = Event.objects.filter(project=stage.project_id, verb="stage.closed", subject_id=stage.pk)
    detail = told.order_by("-pk").values_list("detail", flat=True).first() or {}
    return str(detail.get("reason", ""))


def _held(stage: Stage) -> bool:
    live = Assignment.objects.filter(stage=stage, state=Assignment.State.LEASED, lease_expires_at__gt=Now())
    return live.exists()
