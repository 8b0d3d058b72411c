"""What becomes of counted items: new items in the next stage, a place there, more people, or an adjudicator.

A step of the transaction that counted the votes, under the locks of the stage items. The row of a target stage gives
out ranks one after another; a target that somebody else has locked is not waited for, because they may be waiting for
these items: what is left is said, and stays due.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, Max, OuterRef

from annotate import events
from annotate.feeding import NewItem, Recipe
from annotate.models import (
    Annotation,
    Assignment,
    Feed,
    Gold,
    Item,
    ItemKey,
    ItemRevision,
    Membership,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services.excluding import is_left_out
from annotate.sources.mapping import hash_content

# Ranks that one root has for itself in a stage: questions about one table stand together however late they come.
RANKS_OF_A_ROOT = 1_000
# Ranks of items that are equally disputed, and how many votes or answers are told apart.
RANKS_OF_A_DISPUTE = 1_000_000
MOST_TOLD_APART = 40
UNDECIDED = {Resolution.Status.PLURALITY, Resolution.Status.TIE, Resolution.Status.NO_VOTES}


@dataclass(frozen=True)
class Counted:
    """A stage item with its counted annotations, in the order in which they were given, and what they come to."""

    item: StageItem
    annotations: Sequence[Annotation]
    resolutions: Sequence[Resolution]

    @property
    def is_complete(self) -> bool:
        return self.item.done >= self.item.wanted

    @property
    def is_decided(self) -> bool:
        """Every field that decides has a winner."""
        return bool(self.resolutions) and all(one.status not in UNDECIDED for one in self.resolutions)

    @property
    def dispute(self) -> int:
        """Where it stands among disputed items: the smallest margin first, then the most different answers."""
        open_ = [one for one in self.resolutions if one.status in UNDECIDED]
        margin = min((one.margin for one in open_), default=0)
        n_answers = max((len(one.counts) for one in open_), default=0)
        most = MOST_TOLD_APART - 1
        return min(margin, most) * MOST_TOLD_APART + most - min(n_answers, most)

    @property
    def decision(self) -> dict[str, Any]:
        return {one.field: one.answer for one in self.resolutions}


def pass_on(counted: Sequence[Counted]) -> set[int]:
    """Follow the feeds and the escalation of these items' stages; ids of stage items to look at again in a moment."""
    stages = Stage.objects.in_bulk({one.item.stage_id for one in counted})
    feeds: dict[int, list[Feed]] = defaultdict(list)
    for feed in Feed.objects.filter(source__in=stages).order_by("pk"):
        feeds[feed.source_id].append(feed)
    wanted = {feed.target_id for several in feeds.values() for feed in several}
    wanted |= {stage.adjudicated_in_id for stage in stages.values() if stage.adjudicated_in_id}
    if not wanted and not any(stage.escalate_by for stage in stages.values()):
        return set()
    queues = _lock_queues(wanted)
    left: set[int] = set()
    _call_off([one.item for one in counted if one.is_decided and stages[one.item.stage_id].adjudicated_in_id])
    for one in counted:
        if one.item.state == StageItem.State.LEFT_OUT:
            continue
        stage = stages[one.item.stage_id]
        for feed in feeds[stage.pk]:
            if queue := queues.get(feed.target_id):
                _feed(one, feed, queue)
            else:
                left.add(one.item.pk)
        if not _escalate(one, stage, queues):
            left.add(one.item.pk)
    for queue in queues.values():
        queue.record()
    return left


def _escalate(one: Counted, stage: Stage, queues: Mapping[int, _Queue]) -> bool:
    """Ask more people about an undecided item, in the end an adjudicator; False if that must be tried again."""
    item = one.item
    if one.is_decided or not one.is_complete or not one.resolutions or item.state != StageItem.State.OPEN:
        return True
    if stage.escalate_by and item.round <= stage.escalate_times:
        # Only from the round that was counted: a second worker that counted the same round opens no further one.
        StageItem.objects.filter(pk=item.pk, round=item.round).update(
            round=F("round") + 1, wanted=F("wanted") + stage.escalate_by
        )
        events.record(verb="item.escalated", subject=item, project_id=stage.project_id, round=item.round + 1)
        return True
    if stage.adjudicated_in_id is None:
        return True
    if queue := queues.get(stage.adjudicated_in_id):
        queue.add_dispute(one)
        return True
    return False


def _call_off(decided: Sequence[StageItem]) -> None:
    """Nobody need adjudicate what the votes have decided meanwhile. A place that somebody has met stays as it is."""
    waiting = StageItem.objects.filter(
        source__in=decided, stage__kind=Stage.Kind.ADJUDICATE, state=StageItem.State.OPEN, active=0, done=0
    )
    # Not waited for: whoever takes a place at this moment may have it.
    free = (
        list(waiting.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True)) if decided else []
    )
    if free:
        unmet = StageItem.objects.filter(pk__in=free, assignments__isnull=True).values_list("pk", flat=True)
        StageItem.objects.filter(pk__in=list(unmet)).update(state=StageItem.State.WITHDRAWN)


def _feed(one: Counted, feed: Feed, queue: _Queue) -> None:
    recipe = Recipe.from_json(feed.recipe)
    if feed.rule == Feed.Rule.DECIDED:
        if not one.is_decided:
            return
        given = [(_decisive(one), one.decision)]
    elif feed.rule == Feed.Rule.COMPLETE and not one.is_complete:
        return
    else:
        given = [(annotation, annotation.answer) for annotation in one.annotations]
    if recipe.makes_items:
        for annotation, answer in given:
            if annotation is not None:
                new = recipe.new_items(answer, one.item.revision.content)
                queue.add_children(one.item.revision, annotation, new)
    elif any(recipe.admits(answer) for _, answer in given):
        queue.add_place(one.item.revision, source=one.item)


def _decisive(one: Counted) -> Annotation | None:
    """The answer that stands for the decision: the adjudicator's, else the earliest that has the winning values."""
    for resolution in one.resolutions:
        if resolution.adjudication is not None:
            return resolution.adjudication
    alike = (
        annotation
        for annotation in one.annotations
        if all(annotation.answer.get(each.field) == each.answer for each in one.resolutions)
    )
    return next(alike, one.annotations[0] if one.annotations else None)


@dataclass
class _Queue:
    """A stage that items come into, its row locked."""

    stage: Stage
    last_rank: int
    n_places: int = 0
    n_items: int = 0
    _groups: dict[int, str] = field(default_factory=dict)

    def add_place(self, revision: ItemRevision, *, source: StageItem) -> None:
        """A place for an item that came from another stage, unless the stage has the item already."""
        known = StageItem.objects.filter(stage=self.stage)
        if known.filter(source=source).exists() or known.filter(revision__item=revision.item_id).exists():
            return
        if not revision.is_current:
            # A reviewer has reworded it: the next stage gets the words that were accepted.
            revision = ItemRevision.objects.select_related("item").get(item=revision.item_id, is_current=True)
        self._place(revision, author_id=source.author_id, source=source)

    def add_dispute(self, one: Counted) -> None:
        """A place for an item without a majority, before those that are less disputed."""
        known = StageItem.objects.filter(stage=self.stage, source=one.item).first()
        if known is None:
            rank = self._rank_of_dispute(one.dispute)
            self._place(one.item.revision, author_id=one.item.author_id, source=one.item, rank=rank)
        elif known.state == StageItem.State.WITHDRAWN and not known.assignments.exists():
            # It was called off when there was a majority; there is none any more.
            StageItem.objects.filter(pk=known.pk).update(
                state=StageItem.State.OPEN, rank=self._rank_of_dispute(one.dispute)
            )

    def add_children(self, parent: ItemRevision, annotation: Annotation, new: Sequence[NewItem]) -> None:
        """The items that an answer became; a changed answer revises them, and what it no longer has is withdrawn."""
        assignment = annotation.assignment
        known = {child.source_position: child for child in Item.objects.filter(source=assignment)}
        for one in new:
            child = known.pop(one.position, None)
            if child is None:
                revision = self._new_child(parent, annotation, one)
                self._place(revision, author_id=assignment.person_id, source=None)
            else:
                self._revise(child, annotation, one)
                self._offer_again(child)
        untouched = StageItem.objects.filter(
            stage=self.stage, revision__item__in=known.values(), done=0, active=0, state=StageItem.State.OPEN
        )
        untouched.update(state=StageItem.State.WITHDRAWN)

    def record(self) -> None:
        if self.n_places:
            events.record(
                verb="stage.fed",
                subject=self.stage,
                project_id=self.stage.project_id,
                places=self.n_places,
                items=self.n_items,
            )

    def _new_child(self, parent: ItemRevision, annotation: Annotation, new: NewItem) -> ItemRevision:
        origin = parent.item
        child = Item.objects.create(
            project_id=origin.project_id,
            external_id=_free_id(origin),
            parent=origin,
            root_id=origin.root_id or origin.pk,
            author_id=annotation.assignment.person_id,
            source=annotation.assignment,
            source_position=new.position,
        )
        revision = _revision(child, new, parent.language, annotation, number=1)
        inherited = ItemKey.objects.filter(item=origin).values_list("strata", flat=True).first() or []
        ItemKey.objects.create(item=child, strata=[*inherited, *new.strata])
        _write_gold(child, annotation, new.gold)
        self.n_items += 1
        return revision

    def _offer_again(self, child: Item) -> None:
        """What its author had taken back. Admins withdraw what people have skipped, and that stays withdrawn."""
        met = Assignment.objects.filter(stage_item=OuterRef("pk")).exclude(state__in=["expired", "withdrawn"])
        places = StageItem.objects.filter(stage=self.stage, revision__item=child, state=StageItem.State.WITHDRAWN)
        state = StageItem.State.LEFT_OUT if is_left_out(child.pk) else StageItem.State.OPEN
        places.filter(~Exists(met)).update(state=state)

    def _revise(self, child: Item, annotation: Annotation, new: NewItem) -> None:
        current = child.revisions.select_related("annotation").get(is_current=True)
        # As with gold labels: what others have worded since stays, however often the author's answer is counted.
        is_authors = current.annotation is not None and current.annotation.assignment_id == child.source_id
        if is_authors and current.content_hash != hash_content(new.content):
            child.revisions.filter(pk=current.pk).update(is_current=False)
            revision = _revision(child, new, current.language, annotation, number=current.number + 1)
            # What nobody holds or answered moves on; the others stay with what their people saw.
            StageItem.objects.filter(revision=current, candidate=None, active=0, done=0).update(revision=revision)
        _write_gold(child, annotation, new.gold)

    def _place(
        self, revision: ItemRevision, *, author_id: int | None, source: StageItem | None, rank: int | None = None
    ) -> None:
        StageItem.objects.create(
            stage=self.stage,
            revision=revision,
            rank=self._next_rank(revision.item.root_id) if rank is None else rank,
            root_id=revision.item.root_id if rank is None else None,
            language=revision.language,
            author_id=author_id,
            author_group=self._group_of(author_id),
            source=source,
            wanted=self.stage.overlap,
            # Whoever left it out may have done so in the place that it comes from.
            state=StageItem.State.LEFT_OUT if is_left_out(revision.item_id) else StageItem.State.OPEN,
        )
        self.n_places += 1

    def _next_rank(self, root_id: int | None) -> int:
        """The rank after the last one of the same root, or the first one of a block of its own."""
        places = StageItem.objects.filter(stage=self.stage)
        rank = (self.last_rank // RANKS_OF_A_ROOT + 1) * RANKS_OF_A_ROOT if root_id else self.last_rank + 1
        if root_id:
            last = places.filter(revision__item__root=root_id).aggregate(last=Max("rank"))["last"]
            beside = None if last is None else last + 1
            if beside is not None and beside % RANKS_OF_A_ROOT and not places.filter(rank=beside).exists():
                rank = beside
        self.last_rank = max(self.last_rank, rank)
        return rank

    def _rank_of_dispute(self, dispute: int) -> int:
        """The first free rank among those that are as disputed; they come in the order of their arrival."""
        first = dispute * RANKS_OF_A_DISPUTE
        alike = StageItem.objects.filter(stage=self.stage, rank__gte=first, rank__lt=first + RANKS_OF_A_DISPUTE)
        last = alike.aggregate(last=Max("rank"))["last"]
        rank = first if last is None else last + 1
        self.last_rank = max(self.last_rank, rank)
        return rank

    def _group_of(self, author_id: int | None) -> str:
        if author_id is None or not self.stage.is_cross_group:
            return ""
        if author_id not in self._groups:
            rows = Membership.objects.filter(project=self.stage.project_id, person=author_id)
            self._groups[author_id] = rows.values_list("group", flat=True).first() or ""
        return self._groups[author_id]


def _lock_queues(stage_ids: Iterable[int]) -> dict[int, _Queue]:
    rows = Stage.objects.filter(pk__in=stage_ids).order_by("pk").select_for_update(no_key=True, skip_locked=True)
    stages = {stage.pk: stage for stage in rows}
    last = dict(
        StageItem.objects.filter(stage__in=stages)
        .values("stage")
        .annotate(last=Max("rank"))
        .values_list("stage", "last")
    )
    return {pk: _Queue(stage, last.get(pk, -1)) for pk, stage in stages.items()}


def _revision(child: Item, new: NewItem, language: str, annotation: Annotation, *, number: int) -> ItemRevision:
    return ItemRevision.objects.create(
        item=child,
        number=number,
        content=new.content,
        content_hash=hash_content(new.content),
        language=language,
        annotation=annotation,
    )


def _write_gold(child: Item, annotation: Annotation, gold: Mapping[str, list[Any]]) -> None:
    """The author's gold label, in a new version where it changed; a label that others repaired stays."""
    for name, answers in gold.items():
        known = Gold.objects.filter(item=child, field=name, label_set="").order_by("version").last()
        if known is not None and (known.origin != Gold.Origin.AUTHOR or known.answers == answers):
            continue
        Gold.objects.filter(item=child, field=name, label_set="", is_current=True).update(is_current=False)
        Gold.objects.create(
            item=child,
            field=name,
            version=known.version + 1 if known else 1,
            answers=answers,
            origin=Gold.Origin.AUTHOR,
            made_by_id=annotation.assignment.person_id,
        )


def _free_id(parent: Item) -> str:
    """The parent's id and a running number; no author's name, because annotators see it."""
    # Under the lock of the parent's row: two stages may write children of one item at once.
    Item.objects.select_for_update(no_key=True).get(pk=parent.pk)
    number = Item.objects.filter(parent=parent).count() + 1
    while True:
        name = f"{parent.external_id[:180]}/{number}"
        if not Item.objects.filter(project=parent.project_id, external_id=name).exists():
            return name
        number += 1
