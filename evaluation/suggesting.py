"""What forms about a stage and its items propose, and whether the two fit: any set can be chosen with any stage."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.models import ItemSet, Project, Stage, StageItem

# A proposal must not read a project of hundreds of sets, or sets of a hundred thousand items.
N_LOOKED_AT = 20


def asked_together(project: Project, stage: Stage | None = None) -> tuple[Stage | None, ItemSet | None]:
    """The first stage that is asked about an item set, and the newest such set; else the first and the newest.

    stage: not the first, but this one.
    """
    stages = [stage] if stage else list(project.stages.order_by("position", "pk"))
    sets = list(project.item_sets.order_by("-pk")[:N_LOOKED_AT])
    for stage in stages:
        for item_set in sets:
            if is_asked_in(item_set, stage):
                return stage, item_set
    return next(iter(stages), None), next(iter(sets), None)


def is_asked_in(item_set: ItemSet, stage: Stage) -> bool:
    """Whether the stage has any item of the set, in whatever revision."""
    items = item_set.entries.values("revision__item")
    return bool(StageItem.objects.filter(stage=stage, revision__item__in=items).exists())


def has_any_of(item_set: ItemSet, shown_keys: Iterable[str]) -> bool:
    """Whether the first items of the set have anything under these keys of content."""
    keys = set(shown_keys)
    first = item_set.entries.order_by("position").values_list("revision__content", flat=True)[:N_LOOKED_AT]
    return any(key in keys for content in first for key, _ in content)
