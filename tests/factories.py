"""Real rows with plausible defaults: `make_item()` and friends. A test names only what it is about."""

from __future__ import annotations

import hashlib
import itertools
import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    Gold,
    GuidelineVersion,
    Item,
    ItemKey,
    ItemRevision,
    ItemSet,
    ItemSetEntry,
    Membership,
    Person,
    Project,
    Stage,
    StageItem,
    StageVersion,
)
from evaluation.models import Call, Endpoint, Prediction, Run

_count = itertools.count(1)

YES_NO = [
    {
        "name": "label",
        "type": "choice",
        "caption": "Is it so?",
        "decides": True,
        "required": True,
        "options": [
            {"value": "yes", "caption": "Yes"},
            {"value": "no", "caption": "No"},
            {"value": "not_sure", "caption": "Not sure enough"},
        ],
    }
]
SHORT_ANSWER = [
    {"name": "answer", "type": "text", "caption": "Answer", "decides": True, "required": True},
    {"name": "why", "type": "long_text", "caption": "Why", "decides": False, "required": False},
]


def make_project(**fields: Any) -> Project:
    n = next(_count)
    return Project.objects.create(**{"title": f"Project {n}", "slug": f"project-{n}"} | fields)


def make_annotator(**fields: Any) -> Person:
    return Person.objects.create_annotator(code_digest=hashlib.sha256(str(next(_count)).encode()).hexdigest(), **fields)


def make_staff(**fields: Any) -> Person:
    return Person.objects.create_staff(**{"username": f"staff{next(_count)}", "password": "a long password"} | fields)


def make_member(project: Project, role: str = "annotator", **fields: Any) -> Person:
    """A person with an active role in the project."""
    person = make_staff() if role == "admin" else make_annotator()
    Membership.objects.create(**{"person": person, "project": project, "role": role} | fields)
    return person


def make_stage(project: Project | None = None, *, form: list[dict[str, Any]] | None = None, **fields: Any) -> Stage:
    """An open stage with a current version of its form and first guidelines."""
    n = next(_count)
    project = project or make_project()
    shown = fields.pop("shown_keys", ["question"])
    stage = Stage.objects.create(
        **{
            "project": project,
            "kind": "label",
            "title": f"Stage {n}",
            "slug": f"stage-{n}",
            "state": "open",
            "overlap": 1,
            "roles": ["annotator"],
        }
        | fields
    )
    StageVersion.objects.create(stage=stage, fields=form or YES_NO, shown_keys=shown)
    GuidelineVersion.objects.create(project=project, stage=stage, number=1, markdown="Answer what is asked.")
    return stage


def content_hash(content: list[list[Any]]) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def make_item(
    project: Project,
    content: list[list[Any]] | None = None,
    *,
    gold: dict[str, list[str]] | None = None,
    strata: list[list[str]] | None = None,
    language: str = "en",
    **fields: Any,
) -> Item:
    """An item with one current revision, its key, and gold labels where given."""
    n = next(_count)
    content = content or [["question", f"Is {n} an even number?"]]
    item = Item.objects.create(**{"project": project, "external_id": f"item-{n}"} | fields)
    ItemRevision.objects.create(item=item, content=content, content_hash=content_hash(content), language=language)
    ItemKey.objects.create(item=item, strata=strata or [])
    for field, answers in (gold or {}).items():
        Gold.objects.create(item=item, field=field, answers=answers)
    return item


def make_stage_item(stage: Stage, item: Item | None = None, **fields: Any) -> StageItem:
    item = item or make_item(stage.project)
    rank = StageItem.objects.filter(stage=stage).count()
    return StageItem.objects.create(
        **{
            "stage": stage,
            "revision": item.revisions.get(is_current=True),
            "rank": rank,
            "root": item.root,
            "wanted": stage.overlap,
        }
        | fields
    )


def make_assignment(stage_item: StageItem, person: Person, *, minutes: int = 30, **fields: Any) -> Assignment:
    """A live lease, with the item's counters kept true."""
    now = timezone.now()
    assignment = Assignment.objects.create(
        **{
            "stage": stage_item.stage,
            "stage_item": stage_item,
            "person": person,
            "slot": stage_item.active + stage_item.done,
            "leased_at": now,
            "lease_expires_at": now + timedelta(minutes=minutes),
        }
        | fields
    )
    stage_item.active += 1
    stage_item.save(update_fields=["active"])
    return assignment


def make_annotation(stage_item: StageItem, person: Person, answer: dict[str, Any], **fields: Any) -> Annotation:
    """A submitted answer that holds a slot."""
    now = timezone.now()
    assignment = Assignment.objects.create(
        stage=stage_item.stage,
        stage_item=stage_item,
        person=person,
        state="submitted",
        slot=stage_item.active + stage_item.done,
        leased_at=now,
        lease_expires_at=now,
        finished_at=now,
    )
    stage_item.done += 1
    stage_item.due_at = now
    stage_item.save(update_fields=["done", "due_at"])
    return Annotation.objects.create(
        **{
            "assignment": assignment,
            "stage_version": stage_item.stage.versions.get(is_current=True),
            "answer": answer,
            "client_key": f"key-{next(_count)}",
        }
        | fields
    )


def make_item_set(project: Project, items: list[Item], **fields: Any) -> ItemSet:
    item_set = ItemSet.objects.create(
        **{
            "project": project,
            "name": f"set {next(_count)}",
            "n_items": len(items),
            "n_population": len(items),
        }
        | fields
    )
    ItemSetEntry.objects.bulk_create(
        ItemSetEntry(item_set=item_set, position=position, revision=item.revisions.get(is_current=True))
        for position, item in enumerate(items)
    )
    return item_set


def make_endpoint(project: Project, **fields: Any) -> Endpoint:
    return Endpoint.objects.create(
        **{"project": project, "name": f"endpoint {next(_count)}", "provider": "baseline", "model": "majority_label"}
        | fields
    )


def make_run(stage: Stage, item_set: ItemSet, **fields: Any) -> Run:
    """A run that has not started."""
    endpoint = fields.pop("endpoint", None) or make_endpoint(stage.project)
    return Run.objects.create(
        **{
            "project": stage.project,
            "name": f"run {next(_count)}",
            "item_set": item_set,
            "stage_version": stage.versions.get(is_current=True),
            "endpoint": endpoint,
            "strategy": "zero_shot",
            "state": "draft",
            "due_at": None,
        }
        | fields
    )


def make_prediction(run: Run, item: Item, answer: dict[str, Any] | None, **fields: Any) -> Prediction:
    """A finished prediction with its call: answered where an answer is given, else unparsed."""
    prediction = Prediction.objects.create(
        **{
            "run": run,
            "revision": item.revisions.get(is_current=True),
            "position": run.predictions.count(),
            "state": "unparsed" if answer is None else "answered",
            "answer": answer,
            "finished_at": timezone.now(),
        }
        | fields
    )
    Call.objects.create(
        prediction=prediction, messages=[], completion=json.dumps(answer), finished_at=prediction.finished_at
    )
    return prediction
