"""Labels that an audit found wrong: on to adjudicators, and what has become of them since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotate import events
from annotate.answers import FieldSpec, JsonValue, fields_from_json
from annotate.auditing import correction_key, label_key, label_words
from annotate.exceptions import WorkNotPossible
from annotate.models import Exclusion, Gold, Person, Resolution, Stage, StageItem, StageVersion
from annotate.services.auditing import WRONG, Audited, Drawn, audited_labels, draw_made
from annotate.services.passing_on import UNDECIDED
from annotate.wording import _

# Which labels go on: those that anybody calls wrong, that all do, or that all do and would put the same label there.
BY_ANY, BY_ALL, BY_ALL_ALIKE = "any", "all", "alike"
FOUND_BY = (BY_ANY, BY_ALL, BY_ALL_ALIKE)

# What has become of a label since it was drawn.
AS_IT_WAS, REPAIRED, CHANGED, TAKEN_BACK, EXCLUDED = "as_it_was", "repaired", "changed", "taken_back", "excluded"
NOT_SENT, WAITING, DECIDED = "", "waiting", "decided"


@dataclass(frozen=True)
class Repair:
    """state: as_it_was; repaired (to a label that a reviewer put there), changed (to another), taken_back (no label
    any more) or excluded (the item counts nowhere). now: the label of today in words. sent: whether it waits for an
    adjudicator, or was decided by one."""

    state: str
    now: tuple[str, ...]
    sent: str


@dataclass(frozen=True)
class Sent:
    """n_sent: labels that wait for adjudicators from now on. n_already: those that had gone there before."""

    n_sent: int
    n_already: int


def found_wrong(made: Drawn, one: Audited, by: str) -> bool:
    """Whether a label is wrong by one of FOUND_BY. All means all verdicts that it needs."""
    if by == BY_ANY or not one.wrong:
        return bool(one.wrong)
    if not one.is_complete or len(one.wrong) < len(one.verdicts):
        return False
    keys = {correction_key(made.field, verdict.correction) for verdict in one.wrong}
    return by == BY_ALL or (len(keys) == 1 and "" not in keys)


@transaction.atomic
def send_errors(*, stage: Stage, target: Stage, by: Person, found_by: str) -> Sent:
    """Let labels that were found wrong wait for adjudicators in the target, each once, whatever is asked how often.

    The adjudicator sees the verdicts as votes for labels, and none of those who audited a label decides about it.
    Raises WorkNotPossible while verdicts can still change, and for a target that does not ask for such a label.
    """
    # Two clicks must not send twice, and ranks are given out one after another.
    list(Stage.objects.filter(pk__in=[stage.pk, target.pk]).select_for_update(no_key=True).order_by("pk"))
    stage, target = Stage.objects.get(pk=stage.pk), Stage.objects.get(pk=target.pk)
    made = draw_made(stage)
    if made is None:
        raise WorkNotPossible(_("Nothing was drawn for this stage yet."))
    if stage.state != Stage.State.CLOSED:
        raise WorkNotPossible(_("Close the audit first: until then verdicts can change."))
    if found_by not in FOUND_BY:
        raise WorkNotPossible(_("There is no rule called %(found_by)s.", found_by=repr(found_by)))
    if target.project_id != stage.project_id or target.kind != Stage.Kind.ADJUDICATE:
        raise WorkNotPossible(_("Choose a stage of this project in which adjudicators decide."))
    if not _asks_for(target, made.field):
        raise WorkNotPossible(
            _(
                "“%(title)s” does not ask for %(field)s (%(type)s): adjudicators decide what was audited.",
                title=target.title,
                field=made.field.name,
                type=made.field.type,
            )
        )
    wrong = [one for one in audited_labels(made) if not one.is_gone and found_wrong(made, one, found_by)]
    places = StageItem.objects.in_bulk([one.place for one in wrong])
    known = set(
        StageItem.objects.filter(source__in=places, stage__kind=Stage.Kind.ADJUDICATE).values_list("source", flat=True)
    )
    last = target.stage_items.aggregate(last=Max("rank"))["last"]
    new = [places[one.place] for one in wrong if one.place not in known]
    StageItem.objects.bulk_create(
        StageItem(
            stage=target,
            revision_id=place.revision_id,
            rank=rank,
            language=place.language,
            author_id=place.author_id,
            source=place,
            wanted=target.overlap,
        )
        for rank, place in enumerate(new, start=0 if last is None else last + 1)
    )
    events.record(
        actor=by,
        verb="audit.errors_sent",
        subject=stage,
        project_id=stage.project_id,
        target=target.slug,
        found_by=found_by,
        n=len(new),
        n_already=len(known),
    )
    return Sent(len(new), len(known))


def targets_for(made: Drawn) -> list[Stage]:
    """Stages in which adjudicators decide what was audited."""
    stages = Stage.objects.filter(project=made.audit.stage.project_id, kind=Stage.Kind.ADJUDICATE)
    return [stage for stage in stages.order_by("position", "pk") if _asks_for(stage, made.field)]


def repairs_of(made: Drawn, audited: Sequence[Audited]) -> dict[int, Repair]:
    """What has become of each label since it was drawn, by its place."""
    now = _labels_now(made, audited)
    items = [one.item for one in audited]
    excluded = set(Exclusion.objects.standing().filter(item__in=items).values_list("item", flat=True))
    sent = _sent(audited)
    return {
        one.place: Repair(
            _state(made.field, one, now.get(one.place, ()), is_excluded=one.item in excluded),
            tuple(label_words(made.field, now.get(one.place, ()))),
            sent.get(one.place, NOT_SENT),
        )
        for one in audited
    }


def _state(spec: FieldSpec, one: Audited, now: Sequence[JsonValue], *, is_excluded: bool) -> str:
    if is_excluded:
        return EXCLUDED
    if not now:
        return TAKEN_BACK
    key = label_key(spec, now)
    if key == label_key(spec, one.labels):
        return AS_IT_WAS
    proposed = {correction_key(spec, verdict.correction) for verdict in one.verdicts if verdict.value == WRONG}
    return REPAIRED if key in proposed - {""} else CHANGED


def _labels_now(made: Drawn, audited: Sequence[Audited]) -> dict[int, Sequence[JsonValue]]:
    """The label of today by place: the gold label that counts, or what the stage decides now."""
    audit = made.audit
    if audit.label_stage_id:
        decided = Resolution.objects.filter(
            stage_item__in=[one.source for one in audited if one.source], field=made.field.name
        ).exclude(status__in=UNDECIDED)
        answers: dict[int, Any] = dict(decided.values_list("stage_item", "answer"))
        return {one.place: [answers[one.source]] for one in audited if one.source in answers}
    golds = Gold.objects.filter(
        item__in=[one.item for one in audited], field=made.field.name, label_set=audit.label_set, is_current=True
    )
    labels = dict(golds.values_list("item", "answers"))
    return {one.place: labels[one.item] for one in audited if one.item in labels}


def _sent(audited: Sequence[Audited]) -> dict[int, str]:
    rows = StageItem.objects.filter(source__in=[one.place for one in audited], stage__kind=Stage.Kind.ADJUDICATE)
    return {source: DECIDED if done else WAITING for source, done in rows.values_list("source", "done")}


def _asks_for(stage: Stage, spec: FieldSpec) -> bool:
    form = StageVersion.objects.values_list("fields", flat=True).get(stage=stage, is_current=True)
    return any(field.name == spec.name and field.type == spec.type for field in fields_from_json(form))
