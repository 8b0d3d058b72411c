"""Where experts accept, edit or drop an item: with its proposed gold label and the answers it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotate.answers import FieldSpec, get_field_type
from annotate.deciding_forms import PREFIX, ReviewForm
from annotate.models import Annotation, Assignment
from annotate.services import submitting, vetting
from annotate.services.vetting import Proposal
from annotate.services.votes import votes_about
from annotate.stage_kinds import REVIEW_PARTS
from annotate.stage_options import review_options
from annotate.views.adjudication import cards_shown, place_of
from annotate.views.sheets import Sheet, Shown


def _show(
    assignment: Assignment, form: ReviewForm | None, revising: Annotation | None, answer: Mapping[str, Any]
) -> Shown:
    place = place_of(assignment)
    votes = votes_about(place)
    proposals = vetting.proposals_for(place, without=assignment.person if revising else None)
    version = place.stage.versions.get(is_current=True)
    fields = submitting.fields_asked(assignment, version)
    now = vetting.values_now(place, fields, proposals)
    context = {
        "votes": votes,
        "cards": cards_shown(votes) if review_options(place.stage.options).shows_votes else [],
        "proposals": [_proposal(proposal, fields, votes.fields) for proposal in proposals],
        "evidence": "annotate/partials/reviewed.html",
        "prefix": PREFIX,
    }
    # What can be corrected begins as it is; what was typed, or changed before, stands.
    stands = answer if form else now | dict(answer)
    return Shown(stands, context, {field.name: part for field in fields if (part := _asked_when(field.name))})


def _asked_when(name: str) -> dict[str, str]:
    """The decision that a field belongs to; without scripts all are there, and say it in words."""
    if name == vetting.CODE:
        return {"when": vetting.DROP, "when_says": _("Only if you drop it:")}
    if name in REVIEW_PARTS:
        return {}
    return {"when": vetting.EDIT, "when_says": _("Only if you edit it:")}


def _proposal(proposal: Proposal, fields: tuple[FieldSpec, ...], asked: tuple[FieldSpec, ...]) -> dict[str, Any]:
    spec = next((field for field in (*fields, *asked) if field.name == proposal.field), None)

    def words(value: Any) -> str:
        return str(value) if spec is None else get_field_type(spec.type).in_words(value, spec)

    gold, voted = proposal.gold, proposal.voted
    has_label = gold is not None and bool(gold.answers)
    return {
        "caption": proposal.field.replace("_", " "),
        "gold": " or ".join(words(value) for value in gold.answers) if gold else "",
        "origin": gold.get_origin_display() if gold else "",
        "version": gold.version if gold else None,
        "voted": words(voted.answer) if voted else "",
        "voted_how": voted.get_status_display() if voted else "",
        "n_votes": voted.n_votes if voted else 0,
        "differs": bool(gold and has_label and voted and voted.answer not in gold.answers),
    }


def _store(form: ReviewForm, stored: Mapping[str, Any], revises: bool) -> Annotation:
    return vetting.review(seen=form.cleaned_data["seen"], emptied=form.emptied, revises=revises, **stored)


SHEET = Sheet(form=ReviewForm, template="annotate/partials/item.html", store=_store, show=_show)
