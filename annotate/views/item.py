"""One item with everything that is known of it: content, gold labels in their versions, what people came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotate.answers import AnswerInvalid, fields_from_json, get_field_type
from annotate.exceptions import ProposalChanged
from annotate.models import Decision, Exclusion, Gold, Item, ItemRevision, Resolution, StageItem, StageVersion
from annotate.services.gold_proposals import accept_proposal, decided_in, proposals_of, refuse_proposal
from annotate.services.submitting import DECIDED
from annotate.shown import shown_item
from annotate.views.doors import PersonRequest, project_read_by, signed_in
from annotate.views.navigation import project_page


@require_safe
@signed_in
def item(request: PersonRequest, slug: str, item_id: int) -> HttpResponse:
    project = project_read_by(request.user, slug)
    row = get_object_or_404(
        Item.objects.visible_to(request.user).filter(project=project).select_related("root", "parent", "author", "key"),
        pk=item_id,
    )
    revisions = list(ItemRevision.objects.filter(item=row).order_by("-number"))
    current = next((revision for revision in revisions if revision.is_current), None)
    golds = Gold.objects.filter(item=row).select_related("made_by", "accepted_by")
    places = list(
        StageItem.objects.filter(revision__item=row).select_related("stage", "revision").order_by("stage__position")
    )
    words = _Words([place.stage_id for place in places])
    context = project_page(project, request.user, "items") | {
        "item": row,
        "shown": _shown(row, current) if current else None,
        "revisions": revisions,
        "key": getattr(row, "key", None),
        "golds": golds.order_by("field", "label_set", "-version"),
        "places": _places(places, words),
        "proposals": _proposals(row, words),
        "may_decide": Item.objects.decided_by(request.user).filter(pk=row.pk).exists(),
        "left_out": Exclusion.objects.standing().filter(item=row).order_by("pk"),
    }
    return render(request, "annotate/item.html", context)


@require_POST
@signed_in
def item_gold(request: PersonRequest, slug: str, item_id: int) -> HttpResponse:
    """Accept what people came to as the gold label, or keep it from being proposed again."""
    project = project_read_by(request.user, slug)
    row = get_object_or_404(Item.objects.decided_by(request.user).filter(project=project), pk=item_id)
    chosen = request.POST.get("resolution", "")
    rows = decided_in(project).filter(stage_item__revision__item=row)
    resolution = (
        rows.filter(pk=int(chosen)).first() if chosen.isascii() and chosen.isdecimal() and len(chosen) < 19 else None
    )
    seen, step = request.POST.get("seen", ""), request.POST.get("step", "")
    try:
        if resolution is None or step not in ("accept", "refuse"):
            raise ProposalChanged
        if step == "accept":
            gold = accept_proposal(resolution=resolution, seen=seen, by=request.user)
            messages.success(request, _("It is version {n} of the gold label.").format(n=gold.version))
        else:
            reason = request.POST.get("reason", "").strip()
            refuse_proposal(resolution=resolution, seen=seen, by=request.user, reason=reason)
            messages.success(request, _("The gold label stays as it is; this answer is not proposed again."))
    except ProposalChanged as refusal:
        messages.error(request, str(refusal))
    return redirect("item", slug, row.pk)


class _Words:
    """Values of a field in words, as the form of its stage has them now."""

    def __init__(self, stage_ids: Sequence[int]) -> None:
        versions = StageVersion.objects.filter(stage__in=stage_ids, is_current=True)
        self._fields = {
            (version.stage_id, field.name): field for version in versions for field in fields_from_json(version.fields)
        }

    def of(self, stage_id: int, field: str, value: Any) -> str:
        spec = self._fields.get((stage_id, field))
        if value is None:
            return ""
        try:
            return str(value) if spec is None else get_field_type(spec.type).in_words(value, spec)
        except AnswerInvalid:
            return str(value)


def _shown(row: Item, revision: ItemRevision) -> Any:
    keys = [key for key, _value in revision.content]
    return shown_item(
        external_id=row.external_id, language=revision.language, content=revision.content, shown_keys=keys
    )


def _places(places: Sequence[StageItem], words: _Words) -> list[dict[str, Any]]:
    """Where the item stands, what the votes came to there, and the decision about it."""
    ids = [place.pk for place in places]
    outcomes: dict[int, list[dict[str, Any]]] = {pk: [] for pk in ids}
    for row in Resolution.objects.filter(stage_item__in=ids).select_related("stage_item").order_by("field"):
        outcomes[row.stage_item_id].append(
            {
                "field": row.field,
                "status": row.get_status_display(),
                "answer": words.of(row.stage_item.stage_id, row.field, row.answer),
                "n_votes": row.n_votes,
            }
        )
    decisions = {
        row.annotation.assignment.stage_item_id: row
        for row in Decision.objects.filter(annotation__assignment__stage_item__in=ids, annotation__is_current=True)
        .select_related("annotation__assignment__person")
        .order_by("pk")
    }
    return [
        {
            "place": place,
            "outcomes": [one for one in outcomes[place.pk] if one["answer"] or one["n_votes"]],
            "decision": decisions.get(place.pk),
            # One person decides there: how many said so is no news.
            "is_decision": place.stage.kind in DECIDED,
        }
        for place in places
    ]


def _proposals(row: Item, words: _Words) -> list[dict[str, Any]]:
    decided = list(decided_in(row.project).filter(stage_item__revision__item=row).order_by("stage_item", "field"))
    return [
        {
            "proposal": proposal,
            "answer": words.of(
                proposal.resolution.stage_item.stage_id, proposal.resolution.field, proposal.resolution.answer
            ),
            "stage": proposal.resolution.stage_item.stage,
            "status": proposal.resolution.get_status_display(),
        }
        for proposal in proposals_of(decided)
        if not proposal.is_gold
    ]
