"""Counting the votes of items whose answers changed, and what follows from them, in the background."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.db.models.functions import Now

from annotate.answers import KEY_VERSION, FieldSpec, answer_keys, fields_from_json
from annotate.models import Annotation, CheckResult, Resolution, Stage, StageItem, StageVersion
from annotate.querysets import COUNTED_PURPOSES
from annotate.resolution import resolve
from annotate.services import checks, excluding, qualifying
from annotate.services.passing_on import Counted, pass_on

# Whoever answers one of these items waits while they are counted, a tenth of a second; a batch costs as much as eighty
# items.
BATCH = 200
# Rows that somebody else holds are not waited for while these are held.
SOON = timedelta(seconds=2)


def resolve_due(*, limit: int = 1_000) -> int:
    """Count the votes of items that are due now, the longest waiting first; how many were counted.

    What is answered meanwhile is for the next bell: while answers stream in, it would be counted one by one.
    """
    until = _due_by_now().aggregate(last=Max("due_at"))["last"]
    n_counted = 0
    while until is not None and n_counted < limit:
        n = _resolve_batch(min(BATCH, limit - n_counted), until)
        if n == 0:
            break
        n_counted += n
    return n_counted


def _due_by_now() -> QuerySet[StageItem]:
    return StageItem.objects.due().filter(due_at__lte=Now())


def mark_outdated() -> int:
    """Mark due what was counted with keys of another version, so that an upgrade leaves no mixture; how many items.

    An adjudicator's word is no count of keys, and stays.
    """
    results = CheckResult.objects.exclude(key_version=KEY_VERSION).values("assignment__stage_item")
    StageItem.objects.filter(pk__in=results, due_at=None).update(due_at=Now())
    outdated = Resolution.objects.exclude(key_version=KEY_VERSION).exclude(status=Resolution.Status.ADJUDICATED)
    return StageItem.objects.filter(pk__in=outdated.values("stage_item"), due_at=None).update(due_at=Now())


@transaction.atomic
def _resolve_batch(size: int, until: datetime) -> int:
    # Under the lock of the stage items: an answer that arrives meanwhile marks its item due when the lock is gone, so
    # no vote is missed and no older count is written over a newer one. A second worker takes other items.
    due = StageItem.objects.due().filter(due_at__lte=until).order_by("due_at", "pk")
    items = list(due.select_related("revision__item", "stage").select_for_update(skip_locked=True, of=("self",))[:size])
    if not items:
        return 0
    if apart := [item for item in items if item.purpose]:
        checks.score(apart)
        qualifying.end_attempts([item for item in apart if item.purpose == StageItem.Purpose.QUALIFICATION])
        StageItem.objects.filter(pk__in=[item.pk for item in apart]).update(due_at=None)
    voted = [item for item in items if item.purpose in COUNTED_PURPOSES]
    excluding.free_late_places(voted)
    count_votes(voted)
    return len(items)


def count_votes(items: Sequence[StageItem]) -> None:
    """Store what the votes on these items come to, and what follows from them; the caller holds their locks."""
    counted = _count(items)
    Resolution.objects.bulk_create(
        [resolution for one in counted for resolution in one.resolutions if not resolution.pk],
        update_conflicts=True,
        unique_fields=["stage_item", "field"],
        update_fields=[
            "status", "answer", "answer_key", "key_version", "counts", "n_votes", "margin", "round", "adjudication",
            "computed_at",
        ],
    )  # fmt: skip
    left = pass_on(counted) | _tell_sources(items)
    StageItem.objects.filter(pk__in=[item.pk for item in items if item.pk not in left]).update(due_at=None)
    if left:
        StageItem.objects.filter(pk__in=left).update(due_at=Now() + SOON)


def votes_on(items: Sequence[StageItem]) -> list[Resolution]:
    """What the votes on these items come to, for each field that decides; nothing is stored.

    What was adjudicated outside any stage (it has a status, but no adjudicator's answer) stays and is left out.
    """
    return [resolution for one in _count(items) for resolution in one.resolutions if not resolution.pk]


def _count(items: Sequence[StageItem]) -> list[Counted]:
    forms = _Forms()
    answers = _answers_to(items, path="assignment__stage_item")
    # An adjudicator's answer is given to a place of its own, which names the item it is about.
    decides = {"assignment__stage__kind": Stage.Kind.ADJUDICATE}
    adjudications = _answers_to(items, path="assignment__stage_item__source", **decides)
    # What an audit of these decisions found wrong is adjudicated in a place that is about the place in the audit.
    of_audits = decides | {"assignment__stage_item__source__stage__kind": Stage.Kind.AUDIT}
    for about, found in _answers_to(items, path="assignment__stage_item__source__source", **of_audits).items():
        adjudications[about] += found
    standing = {
        (row.stage_item_id, row.field): row
        for row in Resolution.objects.filter(
            stage_item__in=items, status=Resolution.Status.ADJUDICATED, adjudication=None
        )
    }
    return [
        Counted(
            item,
            answers[item.pk],
            [
                standing.get((item.pk, resolution.field), resolution)
                for resolution in _resolutions(item, answers[item.pk], adjudications[item.pk], forms)
            ],
        )
        for item in items
    ]


def _answers_to(items: Sequence[StageItem], *, path: str, **conditions: Any) -> dict[int, list[Annotation]]:
    """Counted answers by stage item, in the order in which they were given."""
    answers: dict[int, list[Annotation]] = defaultdict(list)
    rows = Annotation.objects.counted().filter(**{f"{path}__in": items}, **conditions).annotate(about=F(path))
    for annotation in rows.select_related("assignment").order_by("assignment__finished_at", "pk"):
        answers[annotation.about].append(annotation)
    return answers


def _tell_sources(items: Sequence[StageItem]) -> set[int]:
    """Have the items counted again that were adjudicated; ids of stage items whose source somebody else holds."""
    about = {item.source_id: item.pk for item in items if item.source_id}
    if not about:
        return set()
    # Decided was what an audit had found wrong: the place whose decision was audited is counted again.
    audits = StageItem.objects.filter(pk__in=about, stage__kind=Stage.Kind.AUDIT, source__isnull=False)
    audited = {source: about[pk] for pk, source in audits.values_list("pk", "source")}
    about |= audited
    sources = StageItem.objects.filter(
        Q(pk__in=about, stage__adjudicated_in__stage_items__in=items) | Q(pk__in=audited)
    ).order_by("pk")
    found = set(sources.values_list("pk", flat=True))
    # Not waited for: whoever holds a source may be waiting for one of these items.
    free = set(sources.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True))
    # As if they had waited as long as what was decided about them: one bell counts both.
    waited = [item.due_at for item in items if item.due_at]
    StageItem.objects.filter(pk__in=free).update(due_at=min(waited, default=Now()))
    return {about[pk] for pk in found - free}


class _Forms:
    """The fields of stage versions, each read once in a batch."""

    def __init__(self) -> None:
        self._by_version: dict[int, tuple[FieldSpec, ...]] = {}
        self._current: dict[int, tuple[FieldSpec, ...]] = {}

    def of_version(self, version_id: int) -> tuple[FieldSpec, ...]:
        if version_id not in self._by_version:
            self._by_version[version_id] = fields_from_json(StageVersion.objects.get(pk=version_id).fields)
        return self._by_version[version_id]

    def of_stage(self, stage_id: int) -> tuple[FieldSpec, ...]:
        if stage_id not in self._current:
            version = StageVersion.objects.get(stage=stage_id, is_current=True)
            self._current[stage_id] = self._by_version[version.pk] = fields_from_json(version.fields)
        return self._current[stage_id]


def _resolutions(
    item: StageItem, annotations: list[Annotation], adjudications: list[Annotation], forms: _Forms
) -> list[Resolution]:
    """One for each field that decides: an adjudicator's word outranks any vote."""
    # Each answer is read with the form its author saw.
    keys = [answer_keys(forms.of_version(one.stage_version_id), one.answer) for one in annotations]
    resolutions = []
    for field in forms.of_stage(item.stage_id):
        if not field.decides:
            continue
        outcome = resolve([each.get(field.name) for each in keys])
        resolution = Resolution(
            stage_item=item,
            field=field.name,
            status=outcome.status.value,
            answer=_first_with_key(field.name, outcome.key, annotations, keys),
            answer_key=outcome.key,
            key_version=KEY_VERSION,
            counts=[list(pair) for pair in outcome.counts],
            n_votes=outcome.votes,
            margin=outcome.margin,
            round=item.round,
            computed_at=Now(),
        )
        for adjudication in adjudications:
            value = adjudication.answer.get(field.name)
            if value is not None:
                resolution.status, resolution.adjudication = Resolution.Status.ADJUDICATED, adjudication
                resolution.answer, resolution.answer_key = value, answer_keys([field], {field.name: value})[field.name]
        resolutions.append(resolution)
    return resolutions


def _first_with_key(name: str, key: str | None, annotations: list[Annotation], keys: list[dict[str, str]]) -> Any:
    """The value of the earliest vote that has the winning key, as its author wrote it."""
    if key is None:
        return None
    return next(one.answer[name] for one, each in zip(annotations, keys, strict=True) if each.get(name) == key)
