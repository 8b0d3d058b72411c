"""Where experts accept, edit or drop an item: with its proposed gold label and the answers it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.answers import FieldSpec, get_field_type
from annotate.deciding_forms import PREFIX, SeenForm
from annotate.models import Annotation, Assignment
from annotate.services import submitting, vetting
from annotate.services.vetting import Proposal
from annotate.services.votes import votes_about
from annotate.views.adjudication import cards_shown, place_of
from annotate.views.sheets import Sheet, Shown


def _show(
    assignment: Assignment, form: SeenForm | None, revising: Annotation | None, answer: Mapping[str, Any]
) -> Shown:
    place = place_of(assignment)
    votes = votes_about(place)
    proposals = vetting.proposals_for(place, without=assignment.person if revising else None)
    version = place.stage.versions.get(is_current=True)
    fields = submitting.fields_asked(assignment, version)
    now = vetting.values_now(place, fields, proposals)
    context = {
        "votes": votes,
        "cards": cards_shown(votes),
        "proposals": [_proposal(proposal, fields, votes.fields) for proposal in proposals],
        "evidence": "annotate/partials/reviewed.html",
        "prefix": PREFIX,
    }
    # What can be corrected begins as it is; what was typed, or changed before, stands.
    return Shown(answer if form else now | dict(answer), context)


def _proposal(proposal: Proposal, fields: tuple[FieldSpec, ...], asked: tuple[FieldSpec, ...]) -> dict[str, Any]:
    spec = next((field for field in (*fields, *asked) if field.name == proposal.field), None)

    def words(value: Any) -> str:
        return str(value) if spec is None else get_field_type(spec.type).in_words(value, spec)

    gold, voted = proposal.gold, proposal.voted
    return {
        "caption": proposal.field.replace("_", " "),
        "gold": " or ".join(words(value) for value in gold.answers) if gold else "",
        "origin": gold.get_origin_display() if gold else "",
        "version": gold.version if gold else None,
        "voted": words(voted.answer) if voted else "",
        "voted_how": voted.get_status_display() if voted else "",
        "n_votes": voted.n_votes if voted else 0,
        "differs": bool(gold and voted and gold.answers and voted.answer not in gold.answers),
    }


def _store(form: SeenForm, stored: Mapping[str, Any], revises: bool) -> Annotation:
    return vetting.review(seen=form.cleaned_data["seen"], revises=revises, **stored)


SHEET = Sheet(form=SeenForm, template="annotate/partials/item.html", store=_store, show=_show)
