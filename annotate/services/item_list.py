"""One page of a project's items with everything the list shows, in a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Left

from annotate.models import Annotation, Gold, Item, ItemRevision, Project, Resolution, Stage, StageItem
from annotate.services.counting import KEPT
from annotate.services.flags import open_flags
from annotate.wording import _

PAGE = 50
PREVIEW = 180
# Filters by name; anything else in an address is ignored.
FILTERS = {
    "no-gold": _("Without gold"),
    "review": _("Waiting for review"),
    "no-majority": _("Without a majority"),
    "flagged": _("Flagged"),
    "flag-open": _("Flag not dealt with"),
}


@dataclass
class Row:
    """An item of the list. `content` holds pairs (key, beginning of the value); `stages` follows the page's stages."""

    pk: int
    external_id: str
    root: str
    language: str
    revision: int
    content: list[tuple[str, str]]
    gold: list[tuple[str, str]] = field(default_factory=list)
    stages: list[dict[str, Any] | None] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    rows: list[Row]
    stages: list[Stage]
    has_more: bool
    last_pk: int


def page_of_items(*, project: Project, show: str = "", starts_with: str = "", after: int = 0) -> Page:
    """The next items after the one with this primary key, in the order of their import.

    By key, not by page number, and without counting: page 4,000 costs what page 1 does.
    """
    items = items_of(project=project, show=show, starts_with=starts_with).filter(pk__gt=after)
    ids = list(items.order_by("pk").values_list("pk", flat=True)[: PAGE + 1])
    has_more, ids = len(ids) > PAGE, ids[:PAGE]
    rows = _rows(ids)
    _add_gold(rows)
    stages = list(project.stages.order_by("position", "pk"))
    _add_progress(rows, stages)
    return Page([rows[pk] for pk in ids if pk in rows], stages, has_more, ids[-1] if ids else after)


def items_of(*, project: Project, show: str = "", starts_with: str = "") -> QuerySet[Item]:
    """The project's items that are shown or asked about. show: a name of FILTERS; starts_with: how their ids begin."""
    # A table that questions hang together by is an item without content of its own.
    has_content = Exists(ItemRevision.objects.filter(item=OuterRef("pk"), is_current=True))
    items: QuerySet[Item] = Item.objects.filter(has_content, project=project)
    if starts_with:
        items = items.filter(external_id__startswith=starts_with)
    return _filtered(items, show)


def _filtered(items: QuerySet[Item], show: str) -> QuerySet[Item]:
    if show == "no-gold":
        return items.filter(~Exists(Gold.objects.filter(item=OuterRef("pk"), is_current=True)))
    here = StageItem.objects.filter(revision__item=OuterRef("pk"))
    if show == "review":
        return items.filter(Exists(here.filter(state=StageItem.State.REVIEW)))
    if show == "flagged":
        flagged = Annotation.objects.flagged().filter(assignment__stage_item__revision__item=OuterRef("pk"))
        return items.filter(Exists(flagged))
    if show == "flag-open":
        return items.filter(Exists(open_flags().filter(assignment__stage_item__revision__item=OuterRef("pk"))))
    if show == "no-majority":
        # As counting.py counts "undecided": with fewer answers than wanted, nothing is undecided yet.
        complete = here.filter(KEPT, done__gte=F("wanted"))
        return items.filter(Exists(complete.filter(resolutions__in=Resolution.objects.without_majority())))
    return items


def _rows(ids: list[int]) -> dict[int, Row]:
    """Items with the beginning of their first two values, cut by the database: an item may have a megabyte."""
    places: dict[str, Any] = {}
    for n in (0, 1):
        pair = KeyTransform(n, "content")
        places[f"key_{n}"] = KeyTextTransform(0, pair)
        places[f"value_{n}"] = Left(Cast(KeyTextTransform(1, pair), TextField()), PREVIEW + 1)
        places[f"title_{n}"] = Left(Cast(KeyTextTransform("title", KeyTransform(1, pair)), TextField()), PREVIEW)
    revisions = ItemRevision.objects.filter(item__in=ids, is_current=True).values(
        "item_id", "item__external_id", "item__root__external_id", "language", "number", **places
    )
    return {
        found["item_id"]: Row(
            pk=found["item_id"],
            external_id=found["item__external_id"],
            root=found["item__root__external_id"] or "",
            language=found["language"],
            revision=found["number"],
            content=[
                (found[f"key_{n}"], _preview(found[f"value_{n}"], found[f"title_{n}"]))
                for n in (0, 1)
                if found[f"key_{n}"] is not None
            ],
        )
        for found in revisions
    }


def _preview(value: str | None, title: str | None) -> str:
    """A table is called by its title; a long text ends in an ellipsis."""
    if title:
        return title
    text = " ".join((value or "").split())
    return f"{text[: PREVIEW - 1].rstrip()}…" if len(text) >= PREVIEW else text


def _add_gold(rows: dict[int, Row]) -> None:
    golds = Gold.objects.filter(item__in=rows, is_current=True).order_by("field", "label_set")
    for item_id, name, answers in golds.values_list("item_id", "field", "answers"):
        rows[item_id].gold.append((name, " or ".join(str(answer) for answer in answers)))


def _add_progress(rows: dict[int, Row], stages: list[Stage]) -> None:
    column = {stage.pk: n for n, stage in enumerate(stages)}
    for row in rows.values():
        row.stages = [None] * len(stages)
    outcomes = defaultdict(list)
    resolutions = Resolution.objects.filter(stage_item__revision__item__in=rows).order_by("field")
    for stage_item_id, name, status, answer in resolutions.values_list("stage_item_id", "field", "status", "answer"):
        outcomes[stage_item_id].append({"field": name, "status": status, "answer": answer})
    places = StageItem.objects.filter(revision__item__in=rows).values_list(
        "pk", "stage_id", "revision__item_id", "wanted", "active", "done", "state", "purpose"
    )
    for pk, stage_id, item_id, wanted, active, done, state, purpose in places:
        rows[item_id].stages[column[stage_id]] = {
            "pk": pk,
            "wanted": wanted,
            "active": active,
            "done": done,
            "state": state,
            "used_as": StageItem.Purpose(purpose).label if purpose else "",
            "outcomes": outcomes[pk],
        }
