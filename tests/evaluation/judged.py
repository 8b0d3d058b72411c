"""Runs whose answers are judged, and what judges say of them, for the tests of judge stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.models import Annotation, Item, ItemSet, Person, Project, Stage, StageItem
from annotate.stage_kinds import first_fields
from evaluation.models import Call, CandidateOrigin, Run
from evaluation.services.judging import Draw
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
)

SEED = 11


@dataclass
class Bench:
    project: Project
    answers: Stage
    judges: Stage
    items: list[Item]
    item_set: ItemSet
    admin: Person

    def run(self, name: str, said: list[str | None], *, field: str = "answer", **others: Any) -> Run:
        """A finished run that said this of the items, in their order; None: it could not be read."""
        run = make_run(self.answers, self.item_set, name=name)
        for item, text in zip(self.items, said, strict=True):
            make_prediction(run, item, None if text is None else {field: text}, **others)
        Run.objects.filter(pk=run.pk).update(state="done", frozen_at=timezone.now())
        run.refresh_from_db()
        return run

    def draw(self, *runs: Run, **asked: Any) -> Draw:
        return Draw(**{"runs": runs, "n": len(self.items), "seed": SEED} | asked)


def make_bench(
    n: int = 4, *, form: str = "verdict", overlap: int = 1, answers: list[dict[str, Any]] | None = None, **of_items: Any
) -> Bench:
    """Items with short answers, and an open stage of judges without a draw."""
    project = make_project()
    stage = make_stage(project, kind="answer", form=answers or SHORT_ANSWER)
    judges = make_stage(project, kind="judge", form=first_fields("judge", form), overlap=overlap, seed=SEED)
    items = [
        make_item(project, [["question", f"What is {k}?"]], external_id=f"q{k}", gold={"answer": [f"a{k}"]}, **of_items)
        for k in range(n)
    ]
    return Bench(project, stage, judges, items, make_item_set(project, items), make_member(project, "admin"))


def say(run: Run, item: Item, completion: str, *, state: str = "unparsed") -> None:
    """What the model said where it gave no answer."""
    prediction = run.predictions.get(revision__item=item)
    run.predictions.filter(pk=prediction.pk).update(state=state, answer=None)
    Call.objects.filter(prediction=prediction).update(completion=completion)


def place_of(stage: Stage, run: Run, item: Item) -> StageItem:
    """Where the run's answer to the item is judged; of a pair, the answers of the first run."""
    origins = CandidateOrigin.objects.filter(sample__stage=stage, prediction__revision__item=item)
    origin = origins.filter(prediction__run=run).first() or origins.get(other__run=run)
    return stage.stage_items.get(candidate=origin.candidate)


def judge(stage: Stage, run: Run, item: Item, *said: str) -> list[Annotation]:
    """One judgement of a new person each."""
    return [make_annotation(place_of(stage, run, item), make_member(stage.project), {"judgement": one}) for one in said]
