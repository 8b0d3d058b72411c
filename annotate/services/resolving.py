"""Counting the votes of items whose answers changed, in the background."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotate.answers import KEY_VERSION, FieldSpec, answer_keys, fields_from_json
from annotate.models import Annotation, Resolution, StageItem, StageVersion
from annotate.resolution import resolve

# Small, because whoever answers one of these items waits while they are counted.
BATCH = 50


def resolve_due(*, limit: int = 1_000) -> int:
    """Count the votes of items that are due, the longest waiting first; how many were counted."""
    n_counted = 0
    while n_counted < limit:
        n = _resolve_batch(min(BATCH, limit - n_counted))
        if n == 0:
            break
        n_counted += n
    return n_counted


@transaction.atomic
def _resolve_batch(size: int) -> int:
    # Under the lock of the stage items: an answer that arrives meanwhile marks its item due when the lock is gone, so
    # no vote is missed and no older count is written over a newer one. A second worker takes other items.
    due = StageItem.objects.due().filter(due_at__lte=Now()).order_by("due_at", "pk")
    items = list(due.select_for_update(skip_locked=True, of=("self",))[:size])
    if not items:
        return 0
    count_votes(items)
    return len(items)


def count_votes(items: Sequence[StageItem]) -> None:
    """Store what the votes on these items come to; the caller holds their locks."""
    Resolution.objects.bulk_create(
        votes_on(items),
        update_conflicts=True,
        unique_fields=["stage_item", "field"],
        update_fields=[
            "status", "answer", "answer_key", "key_version", "counts", "n_votes", "margin", "round", "computed_at",
        ],
    )  # fmt: skip
    StageItem.objects.filter(pk__in=[item.pk for item in items]).update(due_at=None)


def votes_on(items: Sequence[StageItem]) -> list[Resolution]:
    """What the votes on these items come to, for each field that decides and was not adjudicated; nothing is stored."""
    forms = _Forms()
    answers: dict[int, list[Annotation]] = defaultdict(list)
    counted = Annotation.objects.counted().filter(assignment__stage_item__in=items)
    for annotation in counted.select_related("assignment").order_by("assignment__finished_at", "pk"):
        answers[annotation.assignment.stage_item_id].append(annotation)
    # What an adjudicator said outranks any vote.
    adjudicated = set(
        Resolution.objects.filter(stage_item__in=items, status=Resolution.Status.ADJUDICATED).values_list(
            "stage_item", "field"
        )
    )
    return [
        resolution
        for item in items
        for resolution in _resolutions(item, answers[item.pk], forms)
        if (item.pk, resolution.field) not in adjudicated
    ]


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


def _resolutions(item: StageItem, annotations: list[Annotation], forms: _Forms) -> list[Resolution]:
    """One for each field that decides; `annotations` in the order in which they were given."""
    # Each answer is read with the form its author saw.
    keys = [answer_keys(forms.of_version(one.stage_version_id), one.answer) for one in annotations]
    resolutions = []
    for field in forms.of_stage(item.stage_id):
        if not field.decides:
            continue
        outcome = resolve([each.get(field.name) for each in keys])
        resolutions.append(
            Resolution(
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
        )
    return resolutions


def _first_with_key(name: str, key: str | None, annotations: list[Annotation], keys: list[dict[str, str]]) -> Any:
    """The value of the earliest vote that has the winning key, as its author wrote it."""
    if key is None:
        return None
    return next(one.answer[name] for one, each in zip(annotations, keys, strict=True) if each.get(name) == key)
