"""A small finished study with people, two runs and a report, for the tests of reports and their pages."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.models import Item, ItemSet, Person, Project, Stage
from evaluation.models import Report, Run
from evaluation.services import reporting
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

LABELS = ["yes", "no", "not_sure"]
TEXTS = ["Lake Como", "two", "the 3rd of May 1998"]
FORMS = {"label": YES_NO, "ordered": [YES_NO[0] | {"ordered": True}, *YES_NO[1:]], "text": SHORT_ANSWER}


@dataclass
class Study:
    project: Project
    stage: Stage
    item_set: ItemSet
    items: list[Item]
    people: list[Person]
    runs: list[Run]
    admin: Person
    field: str

    def report(self, **fields: Any) -> Report:
        """A report that waits, with the last run as the primary comparison."""
        scorer = "label_accuracy" if self.field == "label" else "exact_match"
        return reporting.create_report(
            **{
                "project": self.project,
                "by": self.admin,
                "title": "People against models",
                "stage": self.stage,
                "item_set": self.item_set,
                "runs": self.runs,
                "field": self.field,
                "primary_scorer": scorer,
                "primary_run": self.runs[-1] if self.runs else None,
                "seed": 7,
                "n_resamples": 200,
            }
            | fields
        )

    def made_report(self, **fields: Any) -> Report:
        report = self.report(**fields)
        reporting.make_report(report_id=report.pk)
        report.refresh_from_db()
        return report


def make_study(
    n_items: int = 24,
    n_people: int = 3,
    *,
    form: str = "label",
    repeats: int = 1,
    seed: int = 3,
    n_runs: int = 2,
    n_of_table: int = 4,
) -> Study:
    """Seeded answers with disagreement, ties, skips, unparsed and refused completions; tables of four questions, or
    with n_of_table=0 items that are independent of each other and stand in a grid of depth and width."""
    rng = random.Random(seed)
    field, answers = ("answer", TEXTS) if form == "text" else ("label", LABELS)
    project = make_project(title="Rivers")
    stage = make_stage(project, overlap=n_people, title="Answers", form=FORMS[form])
    admin = make_member(project, "admin")
    people = [make_annotator() for _ in range(n_people)]
    n_tables = -(-n_items // n_of_table) if n_of_table else 0
    tables = [make_item(project, external_id=f"table {n}") for n in range(n_tables)]
    gold = [rng.choice(answers) for _ in range(n_items)]
    items = [
        make_item(
            project,
            [["question", f"Question {n} about rivers?"]],
            external_id=f"q{n:03}",
            gold={field: [gold[n]]},
            strata=[["domain", rng.choice(["science", "history"])], *([] if n_of_table else _in_grid(n))],
            root=tables[n // n_of_table] if n_of_table else None,
        )
        for n in range(n_items)
    ]
    for item, right in zip(items, gold, strict=True):
        stage_item = make_stage_item(stage, item)
        for person in people:
            luck = rng.random()
            if luck < 0.05:
                make_assignment(stage_item, person, state="skipped", slot=None, skip_reason="cannot_tell")
                stage_item.active -= 1
            else:
                given = {field: right if luck < 0.8 else rng.choice(answers)}
                make_annotation(stage_item, person, given | ({"why": "Row two says so."} if form == "text" else {}))
    item_set = make_item_set(project, items, name="All questions")
    runs = [_make_run(stage, item_set, items, gold, rng, n, repeats, field, answers) for n in range(n_runs)]
    return Study(project, stage, item_set, items, people, runs, admin, field)


def _in_grid(n: int) -> list[list[str]]:
    return [["depth", str(n % 3 + 1)], ["width", str(n // 3 % 2 + 1)]]


def _make_run(
    stage: Stage,
    item_set: ItemSet,
    items: list[Item],
    gold: list[str],
    rng: random.Random,
    number: int,
    repeats: int,
    field: str,
    answers: list[str],
) -> Run:
    run = make_run(stage, item_set, name=f"Model {'AB'[number]}", repeats=repeats)
    Run.objects.filter(pk=run.pk).update(state="done", frozen_at=timezone.now())
    for position, (item, right) in enumerate(zip(items, gold, strict=True)):
        for repeat in range(repeats):
            luck = rng.random()
            if luck < 0.1:
                state = "unparsed" if luck < 0.06 else "refused"
                make_prediction(run, item, None, state=state, position=position, repeat=repeat, note="no label in it")
            else:
                value = right if luck < 0.5 else rng.choice(answers)
                make_prediction(run, item, {field: value}, position=position, repeat=repeat)
    run.refresh_from_db()
    return run
