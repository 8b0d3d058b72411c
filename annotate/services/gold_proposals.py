"""Answers that people came to and that are not the gold label: accepted as one or refused, outside any stage.

What is proposed follows from the votes and is stored nowhere; what was refused is, so that nobody is asked twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from annotate import events
from annotate.answers import AnswerInvalid, FieldSpec, answer_keys, fields_from_json
from annotate.exceptions import ProposalChanged
from annotate.models import Gold, GoldRefusal, Item, Person, Project, Resolution, Stage, StageItem, StageVersion
from annotate.services.gold_labels import note_hands, write_gold
from annotate.services.passing_on import UNDECIDED

MAX_REASON = 300
# What is voted on elsewhere is no answer to an item: a rewriting, a verdict, a decision about answers.
ANSWERED = (Stage.Kind.LABEL, Stage.Kind.ANSWER)


@dataclass(frozen=True)
class GoldProposal:
    """What the votes on one field of an item came to in one stage. hash: stands for exactly this answer.

    gold: the label that counts now, or None. is_gold: whether it says the same. refusal: of this very answer, or None.
    """

    resolution: Resolution
    hash: str
    gold: Gold | None
    is_gold: bool
    refusal: GoldRefusal | None

    @property
    def is_open(self) -> bool:
        return not self.is_gold and self.refusal is None


def decided_in(project: Project) -> QuerySet[Resolution]:
    """Rows that a proposal is made of: decided, in a stage where items are answered, of items that count."""
    rows = Resolution.objects.filter(stage_item__stage__project=project, stage_item__stage__kind__in=ANSWERED)
    rows = rows.exclude(status__in=UNDECIDED).exclude(stage_item__state=StageItem.State.LEFT_OUT)
    return rows.select_related("stage_item__stage", "stage_item__revision__item", "adjudication__assignment__person")


def proposals_of(resolutions: Sequence[Resolution]) -> list[GoldProposal]:
    """Beside each decided answer the label and the refusal that there are, in a constant number of queries."""
    items = {one.stage_item.revision.item_id for one in resolutions}
    stages = {one.stage_item.stage_id for one in resolutions}
    golds = {
        (gold.item_id, gold.field): gold
        for gold in Gold.objects.current().filter(item__in=items, label_set="").select_related("made_by")
    }
    refusals = {
        (row.item_id, row.field, row.answer_hash): row
        for row in GoldRefusal.objects.filter(item__in=items).select_related("refused_by")
    }
    forms = {
        version.stage_id: fields_from_json(version.fields)
        for version in StageVersion.objects.filter(stage__in=stages, is_current=True)
    }
    found = []
    for one in resolutions:
        item, hash_ = one.stage_item.revision.item_id, answer_hash(one)
        gold = golds.get((item, one.field))
        spec = [field for field in forms[one.stage_item.stage_id] if field.name == one.field]
        is_gold = gold is not None and any(_key(spec, one.field, value) == one.answer_key for value in gold.answers)
        found.append(GoldProposal(one, hash_, gold, is_gold, refusals.get((item, one.field, hash_))))
    return found


def answer_hash(resolution: Resolution) -> str:
    return hashlib.sha256((resolution.answer_key or "").encode()).hexdigest()


@transaction.atomic
def accept_proposal(*, resolution: Resolution, seen: str, by: Person) -> Gold:
    """Make what people came to the gold label, in a new version. seen: the hash of the answer that was looked at.

    An adjudicator's word stays theirs; what was voted is the word of whoever accepts it. A refusal of it is taken back.
    Raises ProposalChanged, writing nothing, where the votes come to something else by now.
    """
    resolution, item = _locked(resolution, seen)
    GoldRefusal.objects.filter(item=item, field=resolution.field, answer_hash=seen).delete()
    adjudicator = resolution.adjudication.assignment.person if resolution.adjudication else None
    is_adjudicated = resolution.status == Resolution.Status.ADJUDICATED
    return write_gold(
        item=item,
        field=resolution.field,
        answers=[resolution.answer],
        origin=Gold.Origin.ADJUDICATOR if is_adjudicated else Gold.Origin.EXPERT,
        made_by=adjudicator if is_adjudicated else by,
        by=by,
        votes_of=None if is_adjudicated else resolution.stage_item.stage_id,
    )


@transaction.atomic
def refuse_proposal(*, resolution: Resolution, seen: str, by: Person, reason: str = "") -> GoldRefusal:
    """Keep the gold label as it is, and this answer from being proposed again. Twice is once.

    Raises ProposalChanged, writing nothing, where the votes come to something else by now.
    """
    resolution, item = _locked(resolution, seen)
    note_hands(item, by)
    refusal, is_new = GoldRefusal.objects.get_or_create(
        item=item,
        field=resolution.field,
        answer_hash=seen,
        defaults={"answer": resolution.answer, "reason": reason[:MAX_REASON], "refused_by": by},
    )
    if is_new:
        events.record(
            actor=by,
            verb="gold.refused",
            subject=refusal,
            project_id=item.project_id,
            item=item.pk,
            field=resolution.field,
        )
    return refusal


def _locked(resolution: Resolution, seen: str) -> tuple[Resolution, Item]:
    """As it is now, with its place and its item locked: no vote is counted and no label written meanwhile."""
    place = StageItem.objects.select_related("revision").get(pk=resolution.stage_item_id)
    # All of them in one order: what checks of the item came to is compared with the new label.
    StageItem.objects.filter(revision__item=place.revision.item_id).lock_in_claim_order()
    rows = Resolution.objects.exclude(status__in=UNDECIDED).filter(stage_item__stage__kind__in=ANSWERED)
    rows = rows.exclude(stage_item__state=StageItem.State.LEFT_OUT)
    rows = rows.select_related("stage_item__revision", "adjudication__assignment__person")
    now = rows.filter(pk=resolution.pk).first()
    if now is None or answer_hash(now) != seen:
        raise ProposalChanged
    return now, Item.objects.select_for_update(no_key=True).get(pk=now.stage_item.revision.item_id)


def _key(spec: Sequence[FieldSpec], name: str, value: object) -> str:
    """The key of a label as the field reads it; its own text where the field could not."""
    try:
        return answer_keys(spec, {name: value}).get(name, "")
    except AnswerInvalid:
        return json.dumps(value, ensure_ascii=False)
