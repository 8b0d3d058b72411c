"""Experts accept, edit or drop items that came out of another stage, and with them the proposed gold label.

The form of a review stage says what can be corrected: a field called like a content key of the item corrects that text,
any other besides `decision`, `code` and `note` the gold label of its name. Until the stage is closed a decision can be
changed, and what followed from it follows the change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotate import events
from annotate.answers import AnswerInvalid, FieldSpec
from annotate.exceptions import VotesChanged
from annotate.models import (
    Annotation,
    Assignment,
    Exclusion,
    Gold,
    Item,
    ItemRevision,
    Person,
    Resolution,
    StageItem,
    StageVersion,
)
from annotate.services import submitting
from annotate.services.adjudicating import given_before
from annotate.services.excluding import exclude_item, lift_exclusion
from annotate.services.gold_labels import take_back, write_gold
from annotate.services.passing_on import UNDECIDED
from annotate.services.submitting import Circumstances
from annotate.services.votes import lock_place, votes_about
from annotate.sources.mapping import hash_content
from annotate.stage_kinds import DROP_CODES, REVIEW_PARTS
from annotate.wording import _

DECISION, CODE, NOTE = "decision", "code", "note"
ACCEPT, EDIT, DROP = "accept", "edit", "drop"
DROPPED = "dropped: "


@dataclass(frozen=True)
class Proposal:
    """A gold label to be accepted or corrected. gold: the one that counts now. voted: what the votes decided.

    What would be accepted is the label there is, else what the votes decided.
    """

    field: str
    gold: Gold | None
    voted: Resolution | None

    @property
    def value(self) -> Any:
        if self.gold is not None and self.gold.answers:
            return self.gold.answers[0]
        return self.voted.answer if self.voted is not None else None

    @property
    def is_new(self) -> bool:
        """Whether accepting the item makes the label."""
        return self.value is not None and not (self.gold is not None and self.gold.answers)

    def votes_for(self, value: Any) -> int | None:
        """The stage whose votes, not an adjudicator, came to this very answer."""
        voted = self.voted
        if voted is None or voted.status == Resolution.Status.ADJUDICATED or voted.answer != value:
            return None
        return voted.stage_item.stage_id


@transaction.atomic
def review(
    *,
    assignment: Assignment,
    answer: Mapping[str, Any],
    seen: str,
    client_key: str,
    stage_version: StageVersion,
    emptied: Collection[str] = (),
    circumstances: Circumstances | None = None,
    revises: bool = False,
) -> Annotation:
    """Store what becomes of a leased item; revises: something else about an item reviewed before.

    seen: the votes, label and wording that the reviewer had before them. emptied: fields that the reviewer left
    without anything; a correction that was not sent at all leaves things as they are.
    The same request again returns what the first one stored.
    Raises AnswerInvalid, AssignmentNotOpen, StageNotOpen or VotesChanged, writing nothing.
    """
    place = lock_place(assignment, may_leave_out=answer.get(DECISION) == DROP)
    if earlier := given_before(assignment, client_key, revises=revises):
        return earlier
    now = votes_about(place).seen
    if now != seen:
        raise VotesChanged(now)
    fields = submitting.fields_asked(assignment, stage_version)
    proposals = proposals_for(place, without=assignment.person if revises else None)
    known = values_now(place, fields, proposals)
    changed = {name: value for name, value in answer.items() if name in known and value != known[name]}
    _check(answer, changed, [name for name in known if name in emptied and known[name] is not None], fields)
    kept = {name: value for name, value in answer.items() if name not in known or name in changed}
    if answer.get(DECISION) != DROP:
        kept.pop(CODE, None)
    store = submitting.revise_annotation if revises else submitting.submit_annotation
    annotation = store(
        assignment=assignment,
        answer=kept,
        client_key=client_key,
        stage_version=stage_version,
        circumstances=circumstances,
        is_decision=True,
    )
    _follow(annotation, place, changed, proposals, revises=revises)
    return annotation


def proposals_for(place: StageItem, *, without: Person | None = None) -> list[Proposal]:
    """The labels of the item, and those that the votes on it decided.

    without: whoever changes a decision starts from the labels that there were before it.
    """
    golds: dict[str, Gold] = {}
    for gold in Gold.objects.filter(item=place.revision.item_id, label_set="").order_by("version"):
        if without is None or gold.origin != Gold.Origin.EXPERT or gold.made_by_id != without.pk:
            golds[gold.field] = gold
    voted = {}
    if place.source_id is not None:
        decided = Resolution.objects.filter(stage_item=place.source_id).exclude(status__in=UNDECIDED)
        voted = {resolution.field: resolution for resolution in decided.select_related("stage_item")}
    return [Proposal(name, golds.get(name), voted.get(name)) for name in sorted({*golds, *voted})]


def values_now(place: StageItem, fields: Sequence[FieldSpec], proposals: Sequence[Proposal]) -> dict[str, Any]:
    """By field that corrects something: the text or the label as it is, None where there is none."""
    content = {pair[0]: pair[1] for pair in place.revision.content}
    labels = {proposal.field: proposal.value for proposal in proposals}
    corrects = [field.name for field in fields if field.name not in REVIEW_PARTS]
    return {name: content[name] if name in content else labels.get(name) for name in corrects}


def _check(
    answer: Mapping[str, Any], changed: Mapping[str, Any], emptied: Sequence[str], fields: Sequence[FieldSpec]
) -> None:
    decision = answer.get(DECISION)
    if decision is None:
        raise AnswerInvalid(DECISION, _("Choose what becomes of the item."))
    if decision == EDIT and emptied:
        raise AnswerInvalid(emptied[0], _("Nothing is left here. Write what is right, or drop the item."))
    if decision == EDIT and not changed:
        raise AnswerInvalid(DECISION, _("Nothing is changed yet: correct the item below, or accept it as it is."))
    if decision != EDIT and (changed or emptied):
        raise AnswerInvalid(DECISION, _("You have corrected the item: choose Edit, or put back what stood there."))
    if decision == DROP and answer.get(CODE) is None and any(field.name == CODE for field in fields):
        raise AnswerInvalid(CODE, _("Say why it is dropped: choose a reason."))


def _follow(
    annotation: Annotation,
    place: StageItem,
    changed: Mapping[str, Any],
    proposals: Sequence[Proposal],
    *,
    revises: bool,
) -> None:
    """New wording, new label, or out of every figure; what an earlier decision of this person made is undone."""
    item, person = place.revision.item, annotation.assignment.person
    decision, code = annotation.answer[DECISION], annotation.answer.get(CODE, "")
    content = {pair[0] for pair in place.revision.content}
    _reword(item, place.revision, {name: value for name, value in changed.items() if name in content}, annotation)
    labels = {name: value for name, value in changed.items() if name not in content}
    if decision != DROP:
        labels = {proposal.field: proposal.value for proposal in proposals if proposal.is_new} | labels
    if revises:
        fields = Gold.objects.filter(item=item, made_by=person).order_by("field").values_list("field", flat=True)
        others = [name for name in dict.fromkeys(fields) if name not in labels]
        take_back(item=item, fields=others, origin=Gold.Origin.EXPERT, made_by=person)
    voted = {proposal.field: proposal.votes_for(labels.get(proposal.field)) for proposal in proposals}
    for name, value in labels.items():
        write_gold(
            item=item, field=name, answers=[value], origin=Gold.Origin.EXPERT, made_by=person, votes_of=voted.get(name)
        )
    _leave_out(item, place, person, decision, code, annotation.answer.get(NOTE, ""))
    events.record(
        actor=person,
        verb="item.reviewed",
        subject=annotation,
        project_id=item.project_id,
        item=item.pk,
        decision=decision,
        code=code,
    )


def _leave_out(item: Item, place: StageItem, person: Person, decision: str, code: str, note: str) -> None:
    rule = f"{DROPPED}{code or 'no code'}"
    for exclusion in Exclusion.objects.standing().filter(item=item, decided_by=person, rule__startswith=DROPPED):
        if decision != DROP or exclusion.rule != rule:
            lift_exclusion(exclusion=exclusion, by=person)
    if decision == DROP:
        reason = note or dict(DROP_CODES).get(code, code) or "Dropped in review"
        exclude_item(item=item, by=person, reason=reason[:300], rule=rule, decided_in=place)


def _reword(item: Item, shown: ItemRevision, changed: Mapping[str, Any], annotation: Annotation) -> None:
    """The item with these texts instead, as its current revision. Places that nobody holds or answered move to it.

    Those that were answered stay with what their people saw, and lists of items flag them.
    """
    current = ItemRevision.objects.select_related("annotation").get(item=item, is_current=True)
    is_mine = current.annotation is not None and current.annotation.assignment_id == annotation.assignment_id
    if not changed and not is_mine:
        return
    if changed and current.pk != shown.pk and not is_mine:
        raise AnswerInvalid(
            next(iter(changed)), _("Somebody else has edited this item meanwhile. Load the page again.")
        )
    content = [[key, changed.get(key, value)] for key, value in shown.content]
    if hash_content(content) == current.content_hash:
        return
    ItemRevision.objects.filter(pk=current.pk).update(is_current=False)
    newest = ItemRevision.objects.filter(item=item).order_by("-number").values_list("number", flat=True)[0]
    revision = ItemRevision.objects.create(
        item=item,
        number=newest + 1,
        content=content,
        content_hash=hash_content(content),
        language=current.language,
        annotation=annotation,
    )
    StageItem.objects.filter(revision__item=item, candidate=None, active=0, done=0).update(revision=revision)
    events.record(
        actor=annotation.assignment.person,
        verb="item.reworded",
        subject=revision,
        project_id=item.project_id,
        item=item.pk,
        revision=revision.number,
    )
