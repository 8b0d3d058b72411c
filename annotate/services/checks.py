"""Items whose answer is known: set apart in a stage as checks or to qualify with, and what first answers to them are.

They are places of the stage like any other, so that no page and no response is different; only which comes when is
decided elsewhere (annotate/checking.py, claim_sql.py), and whether they count (StageItem.Purpose). A check hangs on the
root of its item: it is a question of its table, and comes with the others of it. An item to qualify with hangs on none:
it is drawn by itself.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from annotate import events
from annotate.answers import KEY_VERSION, AnswerInvalid, FieldSpec, answer_keys, fields_from_json, read_answer
from annotate.exceptions import WorkNotPossible
from annotate.models import (
    Annotation,
    Assignment,
    CheckResult,
    Gold,
    Item,
    ItemSet,
    Person,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.services.counting import GONE
from annotate.services.excluding import keep_out
from annotate.wording import _

# Kinds of stages in which an answer is compared with a gold label. What is judged is no item's gold label, and comes
# from a draw alone.
CHECKED_KINDS = frozenset({Stage.Kind.LABEL, Stage.Kind.ANSWER})
CHECKS = (StageItem.Purpose.CHECK, StageItem.Purpose.COUNTED_CHECK)
# An attempt that failed is followed by one with other items.
MAX_ATTEMPTS = 2


@dataclass(frozen=True)
class SetApart:
    """What became of the items of a set. without_gold, answered, begun: ids of those that cannot be used.

    begun: they are no items of the stage, and somebody works on its other questions about the same table already.
    """

    n_added: int
    n_moved: int
    n_known: int
    without_gold: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()


@transaction.atomic
def set_apart(*, stage: Stage, item_set: ItemSet, purpose: str, by: Person | None) -> SetApart:
    """Make the items of a set checks of a stage, or items to qualify with; as work they are handed out no more.

    Left as they are: items without a gold label of a field that decides, items that somebody answered, skipped or
    holds as work, and new questions about a table that somebody has begun. Raises WorkNotPossible for a kind of stage
    without gold labels.
    """
    if stage.kind not in CHECKED_KINDS:
        raise WorkNotPossible(_("Only stages in which people label or answer items can have checks."))
    if purpose not in StageItem.Purpose.values or purpose == StageItem.Purpose.WORK:
        raise WorkNotPossible(_("Choose whether the items are checks or to qualify with."))
    # Ranks are given out one after another, and an item has one place.
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    deciding = [field.name for field in _current_fields(stage) if field.decides]
    gold = Gold.objects.filter(item=OuterRef("revision__item"), is_current=True, label_set="", field__in=deciding)
    entries = list(
        item_set.entries.order_by("position")
        .annotate(has_gold=Exists(gold.exclude(answers=[])))
        .values_list(
            "revision_id",
            "revision__item_id",
            "revision__item__root_id",
            "revision__item__external_id",
            "revision__language",
            "has_gold",
        )
    )
    items = [item for _, item, *_ in entries]
    roots = {root for _, _, root, *_ in entries if root is not None} if purpose in CHECKS else set()
    stage.stage_items.filter(Q(revision__item__in=items) | Q(root__in=roots)).lock_in_claim_order()
    places = stage.stage_items.filter(revision__item__in=items)
    known = {
        place.item: place for place in places.annotate(item=F("revision__item"), is_met=Exists(_MET)).order_by("rank")
    }
    begun_roots = _begun(stage, roots)
    rank = _last_rank(stage)
    new, moved, n_known = [], [], 0
    without_gold, answered, begun = [], [], []
    authors = dict(Item.objects.filter(pk__in=items).values_list("pk", "author"))
    for revision, item, root, external_id, language, has_gold in _root_by_root(entries):
        place = known.get(item)
        if place is not None and place.purpose == purpose:
            n_known += 1
        elif not has_gold:
            without_gold.append(external_id)
        elif place is None and root in begun_roots:
            begun.append(external_id)
        elif place is None:
            rank += 1
            new.append(
                StageItem(
                    stage=stage,
                    revision_id=revision,
                    rank=rank,
                    root_id=root if purpose in CHECKS else None,
                    language=language,
                    author_id=authors[item],
                    wanted=StageItem.EVERYBODY,
                    purpose=purpose,
                )
            )
        elif place.is_met or place.state != StageItem.State.OPEN:
            answered.append(external_id)
        else:
            moved.append(place.pk)
    StageItem.objects.bulk_create(new, batch_size=500)
    keep_out(stage)
    own_root = Item.objects.filter(revisions=OuterRef("revision")).values("root") if purpose in CHECKS else None
    StageItem.objects.filter(pk__in=moved).update(
        purpose=purpose, wanted=StageItem.EVERYBODY, root=Subquery(own_root) if own_root is not None else None
    )
    # Offers that ran out are offers of what the place is now.
    Assignment.objects.filter(stage_item__in=moved).update(purpose=purpose)
    bring_together(stage, {place.root_id for place in new if place.root_id is not None})
    done = SetApart(len(new), len(moved), n_known, tuple(without_gold), tuple(answered), tuple(begun))
    if new or moved:
        events.record(
            actor=by,
            verb="stage.set_apart",
            subject=stage,
            project_id=stage.project_id,
            item_set=item_set.pk,
            purpose=purpose,
            n=len(new) + len(moved),
        )
    return done


def bring_together(stage: Stage, roots: Collection[int]) -> None:
    """Make checks of these roots questions of their tables: both go to the end of the queue, each check at a seeded
    place among the work.

    Roots with checks alone or work alone stay where they are, and so do those whose work somebody has met. A step of a
    transaction that holds the stage's lock.
    """
    if not roots:
        return
    of_roots = stage.stage_items.filter(root__in=roots).exclude(purpose=StageItem.Purpose.QUALIFICATION)
    of_roots.lock_in_claim_order()
    begun = _begun(stage, roots)
    by_root: dict[int, list[StageItem]] = defaultdict(list)
    for place in of_roots.select_related("revision__item").order_by("rank"):
        by_root[place.root_id].append(place)
    rank, moved = _last_rank(stage), []
    for root, places in by_root.items():
        series = [place for place in places if not place.purpose]
        if root in begun or len(series) in (0, len(places)):
            continue
        for check in (place for place in places if place.purpose):
            drawn = hashlib.sha256(f"{stage.seed}/{check.revision.item.external_id}".encode()).digest()
            series.insert(int.from_bytes(drawn[:6]) % (len(series) + 1), check)
        for place in series:
            rank += 1
            place.rank = rank
        moved += series
    StageItem.objects.bulk_update(moved, ["rank"], batch_size=500)


def n_standing_out(stage: Stage) -> int:
    """How many checks stand by themselves in a stage whose work all hangs together: whoever pays attention can tell."""
    beside = StageItem.objects.filter(stage=OuterRef("stage"), root=OuterRef("root")).exclude(pk=OuterRef("pk"))
    open_ = stage.stage_items.filter(state=StageItem.State.OPEN)
    # The usual case first, which one row answers.
    if open_.filter(purpose=StageItem.Purpose.WORK, root=None).exists():
        return 0
    alone = open_.exclude(Exists(beside.exclude(state__in=GONE)))
    n: int = alone.filter(purpose__in=CHECKS).count()
    return 0 if n == 0 or alone.filter(purpose=StageItem.Purpose.WORK).exists() else n


_MET = Assignment.objects.filter(stage_item=OuterRef("pk")).exclude(
    state__in=[Assignment.State.EXPIRED, Assignment.State.WITHDRAWN]
)


def _begun(stage: Stage, roots: Collection[int]) -> set[int]:
    """Those of the roots whose work somebody has met."""
    work = stage.stage_items.filter(root__in=roots, purpose=StageItem.Purpose.WORK)
    return set(work.filter(Exists(_MET)).values_list("root_id", flat=True))


def _last_rank(stage: Stage) -> int:
    last = stage.stage_items.aggregate(last=Max("rank"))["last"]
    return -1 if last is None else last


def _root_by_root(entries: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The entries of a set in its order, those of one root together where the first of them stands."""
    first: dict[int, int] = {}
    for position, entry in enumerate(entries):
        first.setdefault(entry[2] or entry[1], position)
    return sorted(entries, key=lambda entry: first[entry[2] or entry[1]])


@transaction.atomic
def change_rules(
    *,
    stage: Stage,
    by: Person | None,
    check_every: int,
    tells_checks: bool,
    qualification_size: int,
    qualification_mark: int,
) -> Stage:
    """How often a check comes, and what qualifies for a stage; what people did so far stays as it was judged.

    Raises WorkNotPossible where it could not be kept: a mark above the number of items, checks without any, or too few
    items for two attempts.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if check_every == 1:
        raise WorkNotPossible(_("Every item would be a check: choose 2 or more, or 0 for none."))
    if qualification_mark > qualification_size:
        raise WorkNotPossible(_("More right answers are asked for than items are drawn."))
    if qualification_size and not qualification_mark:
        raise WorkNotPossible(_("Say how many of the items must be right."))
    rules = {
        "check_every": check_every,
        "tells_checks": tells_checks,
        "qualification_size": qualification_size,
        "qualification_mark": qualification_mark,
    }
    before = {name: getattr(stage, name) for name in rules}
    for name, value in rules.items():
        setattr(stage, name, value)
    if problem := cannot_be_kept(stage):
        raise WorkNotPossible(problem)
    changed = {name: [before[name], value] for name, value in rules.items() if before[name] != value}
    if changed:
        stage.save(update_fields=list(rules))
        events.record(actor=by, verb="stage.checks_changed", subject=stage, project_id=stage.project_id, **changed)
    return stage


def cannot_be_kept(stage: Stage) -> str:
    """Why the stage's rules about checks and qualification cannot be kept with the items it has; "" if they can."""
    if not stage.check_every and not stage.qualification_size:
        return ""
    open_ = StageItem.objects.filter(stage=stage, state=StageItem.State.OPEN)
    if stage.check_every and not open_.filter(purpose__in=CHECKS).exists():
        return _("There are no checks in this stage yet: make an item set checks first.")
    wanted = MAX_ATTEMPTS * stage.qualification_size
    n_pool = open_.filter(purpose=StageItem.Purpose.QUALIFICATION).count()
    if n_pool < wanted:
        return _(
            "Two attempts of %(size)s items each need %(wanted)s items to qualify with, and there are %(n_pool)s: make "
            "an item set items to qualify with, or draw fewer.",
            size=f"{stage.qualification_size:,}",
            wanted=f"{wanted:,}",
            n_pool=f"{n_pool:,}",
        )
    return ""


def score(places: Sequence[StageItem]) -> None:
    """Compare first answers to these places with gold labels, where that has not been done; the caller holds the locks.

    What was compared with an earlier gold label, or by earlier keys, is compared again.
    """
    done = CheckResult.objects.filter(assignment=OuterRef("pk"), key_version=KEY_VERSION)
    waiting = list(
        Assignment.objects.filter(~Exists(done), stage_item__in=places, state=Assignment.State.SUBMITTED)
        .select_related("stage_item__revision")
        .order_by("pk")
    )
    if not waiting:
        return
    # What somebody changes after having thought again, or asked around, is no check of how they work.
    first = {
        row.assignment_id: row
        for row in Annotation.objects.filter(assignment__in=waiting, number=1).select_related("stage_version")
    }
    golds: dict[int, list[Gold]] = defaultdict(list)
    for gold in Gold.objects.filter(
        item__in=[one.stage_item.revision.item_id for one in waiting], is_current=True, label_set=""
    ):
        golds[gold.item_id].append(gold)
    forms: dict[int, tuple[FieldSpec, ...]] = {}
    results = []
    for assignment in waiting:
        given = first[assignment.pk]
        fields = forms.setdefault(given.stage_version_id, fields_from_json(given.stage_version.fields))
        is_right, versions = compare(fields, given.answer, golds[assignment.stage_item.revision.item_id])
        results.append(
            CheckResult(
                assignment=assignment,
                is_right=is_right,
                gold_versions=versions,
                key_version=KEY_VERSION,
                computed_at=Now(),
            )
        )
    CheckResult.objects.bulk_create(
        results,
        update_conflicts=True,
        unique_fields=["assignment"],
        update_fields=["is_right", "gold_versions", "key_version", "computed_at"],
    )


def compare(
    fields: Iterable[FieldSpec], answer: Mapping[str, Any], golds: Iterable[Gold]
) -> tuple[bool | None, list[list[Any]]]:
    """Whether an answer means a gold answer in every field that decides and has one, and with which versions it was
    compared. None: no field has a gold label.

    Equal are answers with equal keys, as votes are counted and as the scorers label_accuracy and same_answer compare.
    """
    by_field = {gold.field: gold for gold in golds if gold.answers}
    compared = [field for field in fields if field.decides and field.name in by_field]
    if not compared:
        return None, []
    keys = answer_keys(compared, answer)
    is_right = all(
        keys.get(field.name) in {_key(field, value) for value in by_field[field.name].answers} - {None}
        for field in compared
    )
    return is_right, [[field.name, by_field[field.name].version] for field in compared]


def _key(field: FieldSpec, value: Any) -> str | None:
    """The key of an acceptable value, read as an answer is: a number may stand in a file as a text."""
    try:
        return answer_keys([field], read_answer([field], {field.name: value})).get(field.name)
    except AnswerInvalid:
        return None


def score_again(places: QuerySet[StageItem]) -> None:
    """Have the first answers to these places compared once more: gold labels have changed. A step of a transaction."""
    apart = StageItem.objects.filter(pk__in=places.values("pk")).exclude(purpose=StageItem.Purpose.WORK)
    if not apart.exists():
        return
    apart.lock_in_claim_order()
    CheckResult.objects.filter(assignment__stage_item__in=apart).update(key_version=0)
    apart.update(due_at=Now())


def _current_fields(stage: Stage) -> tuple[FieldSpec, ...]:
    return fields_from_json(StageVersion.objects.get(stage=stage, is_current=True).fields)
