"""Items of an author stage come into its queue in batches that mix domains (annotate/allocation.py deals them)."""

from __future__ import annotations

from typing import Any, NamedTuple

from annotate.allocation import mix_domains
from annotate.models import ItemKey, ItemRevision, ItemSet, Membership, Stage, StageItem
from annotate.stage_options import author_options

# What is told of domains that are too small; a stratum with hundreds of them is none to mix by.
SHORT_TOLD = 50
WITHOUT_DOMAIN = "(none)"


class Added(NamedTuple):
    """How many items were added, and what the event of it says."""

    n: int
    detail: dict[str, Any]


def mixes_domains(stage: Stage) -> bool:
    return stage.kind == Stage.Kind.AUTHOR and bool(author_options(stage.options).domain)


def add_in_batches(*, stage: Stage, item_set: ItemSet, last_rank: int) -> Added:
    """Put the set's items behind last_rank, dealt by the stage's seed; those that it has already stay.

    A step of a transaction that holds the stage's row.
    """
    options = author_options(stage.options)
    here = ItemRevision.objects.filter(stage_items__stage=stage).values("item")
    entries = (
        item_set.entries.exclude(revision__item__in=here).select_related("revision__item").defer("revision__content")
    )
    revisions = {entry.revision.item.external_id: entry.revision for entry in entries}
    domains = _domains(item_set, revisions, options.domain)
    batches = mix_domains(domains, seed=stage.seed, n_domains=options.n_domains, per_domain=options.per_domain)
    groups = _groups(stage)
    StageItem.objects.bulk_create(
        StageItem(
            stage=stage,
            revision=revisions[key],
            rank=last_rank + place,
            language=revisions[key].language,
            author_id=revisions[key].item.author_id,
            author_group=groups.get(revisions[key].item.author_id, ""),
            wanted=stage.overlap,
        )
        for place, key in enumerate(batches.keys, start=1)
    )
    short = dict(sorted(batches.short.items(), key=lambda pair: (pair[1], pair[0]))[:SHORT_TOLD])
    detail = {
        "batches": [len(batch) for batch in batches.batches],
        "batch_domains": list(batches.n_domains),
        "domain": options.domain,
        "asked_domains": options.n_domains,
        "asked_of_each": options.per_domain,
        "short_domains": short,
        "n_without_domain": sum(domain == WITHOUT_DOMAIN for domain in domains.values()),
        "seed": stage.seed,
    }
    return Added(len(revisions), detail)


def _domains(item_set: ItemSet, revisions: dict[str, ItemRevision], stratum: str) -> dict[str, str]:
    """Item -> its first value of the stratum; items without one are one domain of their own."""
    keys = ItemKey.objects.filter(item__revisions__in=[revision.pk for revision in revisions.values()])
    strata = dict(keys.values_list("item__external_id", "strata"))
    return {
        key: next((value for name, value in strata.get(key, []) if name == stratum), WITHOUT_DOMAIN)
        for key in revisions
    }


def _groups(stage: Stage) -> dict[int | None, str]:
    if not stage.is_cross_group:
        return {}
    return dict(Membership.objects.filter(project=stage.project_id).values_list("person", "group"))
