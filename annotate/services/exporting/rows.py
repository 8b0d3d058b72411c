"""Items, votes, exclusions and history on their way out, each as a head row and then its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db.models.functions import Coalesce

from annotate.csv_text import utc
from annotate.models import Event, Exclusion, Gold, ItemRevision, Project, Resolution
from annotate.services.exporting.reading import server_side_cursor

BATCH = 500
# Beyond so many keys a table has no use for a column each; they stand together in content.others.
MAX_KEYS = 500

ITEM_COLUMNS = (
    "project",
    "item",
    "revision",
    "current",
    "language",
    "content_hash",
    "root",
    "parent",
    "check",
    "strata",
    "extra",
    "gold_versions",
    "created_at",
)


def n_item_rows(project: Project) -> int:
    return ItemRevision.objects.filter(item__project=project).count()


def item_rows(*, project: Project) -> Iterator[list[object]]:
    """Every revision of every item, in order of arrival.

    gold.<field> lists the acceptable answers that count now; gold_versions has every version of every label set, with
    its origin, whose word it is and who accepted it. content.<key> is what people and models are shown, as imported.
    """
    revisions = ItemRevision.objects.filter(item__project=project).order_by("item_id", "number")
    with server_side_cursor():
        keys: dict[str, None] = {}
        for content in revisions.values_list("content", flat=True).iterator(chunk_size=BATCH):
            keys.update(dict.fromkeys(pair[0] for pair in content))
        shown = list(keys)[:MAX_KEYS]
        golds = Gold.objects.filter(item__project=project)
        fields = sorted(set(golds.filter(label_set="").values_list("field", flat=True)))
        yield [
            *ITEM_COLUMNS, *(f"content.{key}" for key in shown), "content.others", *(f"gold.{name}" for name in fields)
        ]  # fmt: skip
        rows = revisions.values_list(
            "item_id",
            "content",
            "item__external_id",
            "number",
            "is_current",
            "language",
            "content_hash",
            "item__root__external_id",
            "item__parent__external_id",
            "item__key__is_check",
            "item__key__strata",
            "item__key__extra",
            "created_at",
        ).iterator(chunk_size=BATCH)
        while batch := list(islice(rows, BATCH)):
            labels = _labels_of(sorted({row[0] for row in batch}))
            for item_id, content, item, *plain, is_check, strata, extra, created_at in batch:
                number, is_current, language, content_hash, root, parent = plain
                values = _by_key(content)
                current = {
                    one["field"]: one["answers"]
                    for one in labels[item_id]
                    if one["is_current"] and not one["label_set"]
                }
                yield [
                    project.slug, item, number, is_current, language, content_hash, root or item, parent,
                    bool(is_check), strata or [], extra or [], labels[item_id], utc(created_at),
                    *(values.pop(key, None) for key in shown), [list(pair) for pair in values.items()] or None,
                    *(current.get(name) for name in fields),
                ]  # fmt: skip


def _by_key(content: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The values of a revision by their keys; a key that stands twice has a list of them."""
    values: dict[str, list[Any]] = defaultdict(list)
    for key, value in content:
        values[key].append(value)
    return {key: found[0] if len(found) == 1 else found for key, found in values.items()}


def _labels_of(items: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    labels: dict[int, list[dict[str, Any]]] = defaultdict(list)
    golds = Gold.objects.filter(item__in=items).order_by("item", "field", "label_set", "version")
    for item, made_at, made_by, accepted_by, votes_of, *values in golds.values_list(
        "item_id", "created_at", "made_by__pseudonym", "accepted_by__pseudonym", "votes_of__slug",
        "field", "label_set", "version", "answers", "origin", "is_current",
    ):  # fmt: skip
        names = ("field", "label_set", "version", "answers", "origin", "is_current")
        who = {"made_by": made_by, "accepted_by": accepted_by, "votes_of": votes_of}
        labels[item].append(dict(zip(names, values, strict=True)) | who | {"created_at": utc(made_at)})
    return labels


RESOLUTION_COLUMNS = (
    "project",
    "stage",
    "item",
    "item_revision",
    "content_hash",
    "root",
    "field",
    "status",
    "answer",
    "answer_key",
    "key_version",
    "n_votes",
    "margin",
    "counts",
    "round",
    "item_state",
    "wanted",
    "computed_at",
)


def n_resolution_rows(project: Project) -> int:
    return Resolution.objects.filter(stage_item__stage__project=project).count()


def resolution_rows(*, project: Project) -> Iterator[list[object]]:
    """How the votes on each field of each item of each stage came out. counts: pairs [answer key, votes]."""
    yield list(RESOLUTION_COLUMNS)
    rows = (
        Resolution.objects.filter(stage_item__stage__project=project)
        .order_by("stage_item__stage__position", "stage_item__stage", "stage_item__rank", "stage_item", "field")
        .values_list(
            "stage_item__stage__slug",
            "stage_item__revision__item__external_id",
            "stage_item__revision__number",
            "stage_item__revision__content_hash",
            "stage_item__revision__item__root__external_id",
            "field",
            "status",
            "answer",
            "answer_key",
            "key_version",
            "n_votes",
            "margin",
            "counts",
            "round",
            "stage_item__state",
            "stage_item__wanted",
            "computed_at",
        )
    )
    with server_side_cursor():
        for stage, item, revision, content_hash, root, *plain, computed_at in rows.iterator(chunk_size=BATCH):
            yield [project.slug, stage, item, revision, content_hash, root or item, *plain, utc(computed_at)]


EXCLUSION_COLUMNS = (
    "project",
    "scope",
    "person",
    "stage",
    "item",
    "revision",
    "reason",
    "rule",
    "collects_again",
    "decided_by",
    "decided_at",
    "lifted_by",
    "lifted_at",
)


def n_exclusion_rows(project: Project) -> int:
    return Exclusion.objects.filter(project=project).count()


def exclusion_rows(*, project: Project) -> Iterator[list[object]]:
    """Every decision, in its order: of all a person did, of one revision of an answer, or of an item."""
    yield list(EXCLUSION_COLUMNS)
    rows = (
        Exclusion.objects.filter(project=project)
        .order_by("pk")
        .values_list(
            "person__pseudonym",
            "annotation__assignment__person__pseudonym",
            "annotation__assignment__stage__slug",
            Coalesce("annotation__assignment__stage_item__revision__item__external_id", "item__external_id"),
            "annotation__number",
            "reason",
            "rule",
            "collects_again",
            "decided_by__pseudonym",
            "decided_at",
            "lifted_by__pseudonym",
            "lifted_at",
        )
    )
    with server_side_cursor():
        for person, author, *plain, decided_by, decided_at, lifted_by, lifted_at in rows.iterator(chunk_size=BATCH):
            scope = "person" if person else "annotation" if author else "item"
            yield [
                project.slug, scope, person or author, *plain, decided_by, utc(decided_at), lifted_by, utc(lifted_at)
            ]  # fmt: skip


HISTORY_COLUMNS = ("project", "at", "actor", "verb", "subject", "subject_id", "detail", "restored")


def n_history_rows(project: Project) -> int:
    return Event.objects.filter(project=project).count()


def history_rows(*, project: Project) -> Iterator[list[object]]:
    """Every event in its order. actor: a pseudonym, empty for the platform itself. restored: it came with an archive;
    its ids are those of the installation where it happened."""
    yield list(HISTORY_COLUMNS)
    rows = Event.objects.filter(project=project).order_by("pk")
    with server_side_cursor():
        for at, *plain in rows.values_list(
            "at", "actor", "verb", "subject", "subject_id", "detail", "is_restored"
        ).iterator(chunk_size=BATCH):
            yield [project.slug, utc(at), *plain]
