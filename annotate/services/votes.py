"""The answers to an item as those see them who decide about them: grouped by meaning, without a word about who."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from annotate.answers import FieldSpec, answer_keys, fields_for_item, fields_from_json
from annotate.auditing import label_said, label_words, labels_in, verdict_in
from annotate.models import Annotation, Assignment, Audit, Exclusion, Gold, ItemRevision, Project, Stage, StageItem
from annotate.services.candidates import content_beside


@dataclass(frozen=True)
class Card:
    """Equal answers. id: what the form sends; it stays when other votes come and go. votes: the earliest first."""

    id: str
    letter: str
    votes: tuple[Annotation, ...]

    @property
    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.votes[0].answer
        return answer

    @property
    def n(self) -> int:
        return len(self.votes)


@dataclass(frozen=True)
class Votes:
    """What was answered in the place that is decided about.

    audited: where the votes are verdicts of an audit: the label that it was about, in words; right is a vote for it,
    wrong one for the label that the reviewer put there. others: (verdict, note) of those who named no label.
    fields: those that decide, as they are asked beside the item; supporting: the others. leading: the card with more
    votes than any other, or None. seen: stands for exactly these votes and this wording of the item.
    skips: (reason, how many) of those who had no answer.
    """

    fields: tuple[FieldSpec, ...]
    supporting: tuple[FieldSpec, ...]
    cards: tuple[Card, ...]
    leading: Card | None
    seen: str
    skips: tuple[tuple[str, int], ...]
    audited: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()

    @property
    def n(self) -> int:
        return sum(card.n for card in self.cards)

    def card(self, id_: str) -> Card | None:
        return next((card for card in self.cards if card.id == id_), None)


def lock_place(assignment: Assignment, *, may_leave_out: bool) -> StageItem:
    """The place of an assignment, locked with all others of its item: a vote that arrives now comes after the decision.

    A decision may reword the item, or repair its gold label and with it what checks came to; places that are locked as
    they are come to would be locked in no order. may_leave_out: it may take the item out of every figure, or back.
    Always in the order of all services: the project, its exclusions, the assignment, places as the queue does.
    """
    rows = StageItem.objects.select_related("stage__project", "source__stage", "revision__item")
    place: StageItem = rows.get(pk=assignment.stage_item_id)
    standing = Exclusion.objects.standing().filter(item=place.revision.item_id, decided_by=assignment.person_id)
    if may_leave_out or standing.exists():
        Project.objects.select_for_update(no_key=True).get(pk=place.stage.project_id)
        list(standing.order_by("pk").select_for_update().values_list("pk"))
    # One that ran out is locked after its place, as whoever offers the item again does (services/submitting.py).
    live = Assignment.objects.filter(pk=assignment.pk).exclude(state=Assignment.State.EXPIRED)
    list(live.select_for_update().values_list("pk"))
    StageItem.objects.filter(revision__item=place.revision.item_id).lock_in_claim_order()
    return place


def votes_about(place: StageItem) -> Votes:
    """The votes that a place to decide is about; none where its item came from no other stage.

    The order of the cards is drawn from the stage's seed and what is answered: it says nothing about who or when.
    """
    source = place.source
    if source is None:
        return Votes((), (), (), None, _seen(place, []), ())
    fields = fields_for_item(
        fields_from_json(source.stage.versions.get(is_current=True).fields),
        place.revision.content,
        place.revision.language,
    )
    rows = Annotation.objects.counted().filter(assignment__stage_item=source)
    given = list(rows.select_related("stage_version").order_by("assignment__finished_at", "pk"))
    seed = f"{place.stage.seed}/{place.revision.content_hash}"
    supporting = tuple(field for field in fields if not field.decides)
    if source.stage.kind == Stage.Kind.AUDIT:
        return _votes_for_labels(place, source, given, supporting, seed)
    cards = _cards(given, seed=seed)
    return Votes(
        fields=tuple(field for field in fields if field.decides),
        supporting=supporting,
        cards=cards,
        leading=_leading(cards),
        seen=_seen(place, given),
        skips=_skips(source),
    )


def _votes_for_labels(
    place: StageItem, source: StageItem, given: Sequence[Annotation], supporting: tuple[FieldSpec, ...], seed: str
) -> Votes:
    """The verdicts of an audit as votes for labels."""
    (audited,) = fields_for_item(
        [FieldSpec.from_json(Audit.objects.values_list("field", flat=True).get(stage=source.stage_id))],
        place.revision.content,
        place.revision.language,
    )
    labels = labels_in(content_beside(source.pk))
    votes, others = [], []
    for annotation in given:
        verdict, correction = verdict_in(fields_from_json(annotation.stage_version.fields), annotation.answer)
        said = label_said(audited, labels, verdict, correction)
        notes = {field.name: annotation.answer.get(field.name) for field in supporting}
        if said is None:
            others.append((verdict, "; ".join(str(note) for note in notes.values() if note)))
        else:
            # In memory alone: the row keeps the verdict.
            annotation.answer = notes | {audited.name: said}
            votes.append(annotation)
    cards = _cards(votes, seed=seed, fields=(audited,))
    return Votes(
        fields=(audited,),
        supporting=supporting,
        cards=cards,
        leading=_leading(cards),
        seen=_seen(place, given),
        skips=_skips(source),
        audited=tuple(label_words(audited, labels)),
        others=tuple(sorted(others)),
    )


def _leading(cards: Sequence[Card]) -> Card | None:
    by_size = sorted(cards, key=lambda card: -card.n)
    is_ahead = bool(by_size) and (len(by_size) == 1 or by_size[0].n > by_size[1].n)
    return by_size[0] if is_ahead else None


def _cards(given: Sequence[Annotation], *, seed: str, fields: tuple[FieldSpec, ...] | None = None) -> tuple[Card, ...]:
    """fields: of all answers; None: each is read with the form its author saw."""
    asked, forms = fields, dict[int, tuple[FieldSpec, ...]]()
    groups: dict[str, list[Annotation]] = {}
    for annotation in given:
        version = annotation.stage_version
        fields = asked or forms.setdefault(version.pk, fields_from_json(version.fields))
        key = json.dumps(sorted(answer_keys(fields, annotation.answer).items()), ensure_ascii=False)
        groups.setdefault(hashlib.sha256(f"{seed}/{key}".encode()).hexdigest()[:16], []).append(annotation)
    return tuple(Card(id_, _letter(n), tuple(groups[id_])) for n, id_ in enumerate(sorted(groups)))


def _letter(n: int) -> str:
    return ascii_uppercase[n] if n < len(ascii_uppercase) else str(n + 1)


def _seen(place: StageItem, given: Sequence[Annotation]) -> str:
    """Changes with every vote that comes, goes or is revised, and with the item's wording.

    Where the gold label is shown, with that and later wordings too; nobody else's request reads them.
    """
    told: list[Any] = [place.revision_id, *sorted(annotation.pk for annotation in given)]
    if place.stage.kind == Stage.Kind.REVIEW:
        item = place.revision.item_id
        golds = Gold.objects.filter(item=item, is_current=True).order_by("pk").values_list("pk", flat=True)
        told = [
            told,
            list(golds),
            ItemRevision.objects.filter(item=item, is_current=True).values_list("pk", flat=True)[0],
        ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def _skips(source: StageItem) -> tuple[tuple[str, int], ...]:
    rows = Assignment.objects.filter(stage_item=source, state=Assignment.State.SKIPPED)
    reasons = Counter(rows.values_list("skip_reason", flat=True))
    return tuple((str(label), reasons[value]) for value, label in Assignment.SkipReason.choices if reasons[value])
