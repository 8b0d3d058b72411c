"""Small open stages to work at, and what people answered in them."""

from __future__ import annotations

from typing import Any

from annotate.models import Annotation, Person, Stage
from tests.factories import make_item, make_project, make_stage, make_stage_item

SALTY, COLD, LARGE = "Is the sea salty?", "Is the moon cold?", "Is the sun large?"


def make_queue(*questions: str, **fields: Any) -> Stage:
    """An open stage that hands out these questions in this order."""
    stage = make_stage(make_project(), **{"order": "sequential", "title": "Is it so?"} | fields)
    for question in questions:
        make_stage_item(stage, make_item(stage.project, [["question", question]]))
    return stage


def answers_of(person: Person) -> list[dict[str, Any]]:
    """What counts of this person's answers, in the order in which they got the items."""
    given = Annotation.objects.filter(assignment__person=person, is_current=True)
    return [annotation.answer for annotation in given.order_by("assignment__leased_at", "pk")]
