"""What the stage editor shows: the keys that the items have, and an item as people will see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotate.answers import fields_for_item, fields_from_json, get_field_type
from annotate.models import GuidelineVersion, Item, ItemRevision, Project, Stage
from annotate.services.showing import given_in_preview
from annotate.shown import shown_item

# Contents that are read to learn which keys there are; all of them would be too many for a page.
LOOKED_AT = 40

# Kinds of stages whose page has an item and a form; the others show what somebody else answered, too.
SHOWN_WHOLE = (Stage.Kind.LABEL, Stage.Kind.ANSWER, Stage.Kind.REWRITE, Stage.Kind.AUTHOR)


def content_keys(project: Project) -> list[str]:
    """The content keys of some forty items from the first to the last, in the order in which they come."""
    revisions = ItemRevision.objects.filter(item__project=project, is_current=True)
    ids = list(revisions.order_by("pk").values_list("pk", flat=True))
    # Evenly, because kinds of items come in blocks: each file has its own.
    chosen = ids[:: max(1, len(ids) // LOOKED_AT)]
    contents = revisions.filter(pk__in=chosen).order_by("pk").values_list("content", flat=True)
    return list(dict.fromkeys(key for content in contents for key, _ in content))


def guidelines_of(stage: Stage) -> GuidelineVersion | None:
    """What people read in this stage: its own newest guidelines, else the project's."""
    rows = GuidelineVersion.objects.filter(project=stage.project_id).order_by("-number")
    return rows.filter(stage=stage).first() or rows.filter(stage=None).first()


def preview_of(
    stage: Stage, fields: Sequence[dict[str, Any]], shown_keys: Sequence[str], instruction: str = ""
) -> dict[str, Any]:
    """The first item of the stage, else of the project, else an invented one, as the work page shows it.

    stage: as it is stored, or one that is not stored yet. `missing`: shown keys that this item does not have.
    `beside`: what is judged beside it, if anything. `is_whole`: people of such a stage see this and no more.
    """
    revision = _example(stage)
    is_invented = revision is None
    if revision is None:
        revision = _invented(shown_keys)
    keys = {key for key, _ in revision.content}
    specs = fields_for_item(fields_from_json(fields), revision.content, revision.language)
    given = given_in_preview(stage, revision, specs, shown_keys)
    return {
        "item": shown_item(
            external_id=revision.item.external_id,
            language=revision.language,
            content=given.content,
            shown_keys=given.shown_keys,
            captions=given.captions,
        ),
        "instruction": instruction,
        "fields": [
            {
                "spec": spec,
                "value": get_field_type(spec.type).to_form(None, spec),
                "error": "",
                "name": spec.name,
            }
            for spec in specs
        ],
        "beside": given.beside,
        "missing": [key for key in shown_keys if key not in keys],
        "is_invented": is_invented,
        "is_whole": stage.kind in SHOWN_WHOLE,
    }


def _example(stage: Stage) -> ItemRevision | None:
    anywhere = ItemRevision.objects.filter(item__project=stage.project_id, is_current=True).order_by("pk")
    found: ItemRevision | None = None
    if stage.pk is not None:
        here = ItemRevision.objects.filter(stage_items__stage=stage).order_by("stage_items__rank")
        found = here.select_related("item").first()
    return found or anywhere.select_related("item").first()


def _invented(shown_keys: Sequence[str]) -> ItemRevision:
    """An item that is stored nowhere, with something under each key."""
    content = [[key, f"…{key}…"] for key in shown_keys or ["question"]]
    return ItemRevision(item=Item(external_id="example"), content=content, language="")
