"""An adjudicator's word on an item that people disagree on: taken from the votes, edited, written, or "bad item".

It outranks the votes (services/resolving.py counts it) and says where it came from. Until the stage is closed it can be
changed, and whatever followed from it follows the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from annotate import events
from annotate.answers import AnswerInvalid, fields_from_json, validate_answer
from annotate.exceptions import VotesChanged
from annotate.models import (
    Annotation,
    Assignment,
    Audit,
    Decision,
    Exclusion,
    Gold,
    StageItem,
    StageVersion,
)
from annotate.services import submitting
from annotate.services.excluding import exclude_item, lift_exclusion
from annotate.services.gold_labels import take_back, write_gold
from annotate.services.submitting import Circumstances
from annotate.services.votes import Card, Votes, lock_place, votes_about
from annotate.stage_options import adjudicate_options
from annotate.wording import _

BAD_ITEM = _("bad item")
MAX_REASON = 2_000


@dataclass(frozen=True)
class Ruling:
    """What an adjudicator has decided. seen: the votes they saw. card: what was taken or edited. answer: the fields."""

    kind: str
    seen: str
    card: str = ""
    answer: Mapping[str, Any] | None = None
    reason: str = ""
    is_gold: bool = False


@transaction.atomic
def adjudicate(
    *,
    assignment: Assignment,
    ruling: Ruling,
    client_key: str,
    stage_version: StageVersion,
    circumstances: Circumstances | None = None,
    revises: bool = False,
) -> Annotation:
    """Store the decision about a leased item; revises: a newer one about an item decided before.

    The same request again returns what the first one stored. Raises AnswerInvalid, AssignmentNotOpen, StageNotOpen, or
    VotesChanged where the votes are no longer those that the adjudicator saw; nothing is written then.
    """
    place = lock_place(assignment, may_leave_out=ruling.kind == Decision.Kind.BAD)
    if earlier := given_before(assignment, client_key, revises=revises):
        return earlier
    votes = votes_about(place)
    if ruling.seen != votes.seen:
        raise VotesChanged(votes.seen)
    card = _checked(ruling, votes, stage_version)
    answer = _answer(ruling, card, stage_version)
    given = {
        "assignment": assignment,
        "answer": answer,
        "client_key": client_key,
        "stage_version": stage_version,
        "circumstances": circumstances,
        "is_decision": True,
    }
    store: Any = submitting.revise_annotation if revises else submitting.submit_annotation
    annotation: Annotation = store(**given)
    Decision.objects.create(
        annotation=annotation,
        kind=ruling.kind,
        taken_from=card.votes[0] if card else None,
        reason=ruling.reason,
        votes_hash=votes.seen,
        n_votes=votes.n,
        n_alike=card.n if card else 0,
        is_gold=ruling.is_gold,
    )
    _follow(assignment, place, ruling, annotation)
    return annotation


def needs_reason(kind: str, card: Card | None, votes: Votes) -> bool:
    """Only whoever takes what most people said owes no word about it."""
    return kind != Decision.Kind.TAKEN or card is None or card != votes.leading


def given_before(assignment: Assignment, client_key: str, *, revises: bool) -> Annotation | None:
    """What another click, or another tab, has stored already. A step under the lock of the assignment."""
    given = Annotation.objects.filter(assignment=assignment)
    earlier: Annotation | None = given.filter(client_key=client_key).first()
    return earlier or (None if revises else given.filter(is_current=True).first())


def _checked(ruling: Ruling, votes: Votes, version: StageVersion) -> Card | None:
    """The card that was taken or edited. Raises AnswerInvalid for what is missing."""
    card = None
    if ruling.kind in (Decision.Kind.TAKEN, Decision.Kind.EDITED):
        card = votes.card(ruling.card)
        if card is None:
            raise AnswerInvalid("decision-card", _("Choose one of the answers."))
    if len(ruling.reason) > MAX_REASON:
        raise AnswerInvalid(
            "decision-reason", _("Keep the reason to %(max_reason)s characters.", max_reason=f"{MAX_REASON:,}")
        )
    if not ruling.reason and needs_reason(ruling.kind, card, votes):
        raise AnswerInvalid("decision-reason", _("Say why, in a line: it is kept with the decision."))
    if ruling.is_gold and not adjudicate_options(version.stage.options).makes_gold:
        raise AnswerInvalid("decision-is_gold", _("In this stage admins accept gold labels."))
    return card


def _answer(ruling: Ruling, card: Card | None, version: StageVersion) -> dict[str, Any]:
    """The values of the stage's own fields. A bad item has none."""
    if ruling.kind == Decision.Kind.BAD:
        return {}
    fields = fields_from_json(version.fields)
    if ruling.kind != Decision.Kind.TAKEN or card is None:
        answer = dict(ruling.answer or {})
        if not any(field.decides and answer.get(field.name) is not None for field in fields):
            first = next(field for field in fields if field.decides)
            raise AnswerInvalid(first.name, _("Write the answer."))
        return answer
    # An explanation is its author's; what was taken is the answer.
    decisive = [replace(field, required=False) for field in fields if field.decides]
    return dict(validate_answer(decisive, {f.name: card.answer[f.name] for f in decisive if f.name in card.answer}))


def _follow(assignment: Assignment, place: StageItem, ruling: Ruling, annotation: Annotation) -> None:
    """A bad item leaves every figure, an accepted answer becomes gold; what an earlier decision made is undone."""
    item, person = place.revision.item, assignment.person
    if ruling.kind == Decision.Kind.BAD:
        exclude_item(item=item, by=person, reason=ruling.reason[:300], rule=BAD_ITEM, decided_in=place)
    else:
        for exclusion in Exclusion.objects.standing().filter(item=item, decided_by=person, rule=BAD_ITEM):
            lift_exclusion(exclusion=exclusion, by=person)
    fields = [field.name for field in fields_from_json(annotation.stage_version.fields) if field.decides]
    label: dict[str, Any] = {
        "item": item,
        "origin": Gold.Origin.ADJUDICATOR,
        "made_by": person,
        "label_set": _label_set(place),
    }
    if not ruling.is_gold:
        take_back(fields=fields, **label)
        return
    for field in fields:
        if (value := annotation.answer.get(field)) is not None:
            write_gold(field=field, answers=[value], **label)
    events.record(
        actor=person, verb="decision.accepted_as_gold", subject=annotation, project_id=item.project_id, item=item.pk
    )


def _label_set(place: StageItem) -> str:
    """Of the gold label that is decided about: the one that was audited, where the place came from an audit."""
    audits = Audit.objects.filter(stage__stage_items=place.source_id)
    return audits.values_list("label_set", flat=True).first() or ""
