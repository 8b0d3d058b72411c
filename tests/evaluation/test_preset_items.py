"""Items that the platform makes itself fit the protocols that ask about them: content, gold and strata."""

from __future__ import annotations

import io
import json

import pytest

from annotate.models import Gold, ItemRevision, ItemSet, Project, Stage, StageItem
from annotate.services import importing, projects
from annotate.sources.structext import Recipe
from evaluation.services import presets
from tests.annotate.sources.test_databases import sqlite_bytes
from tests.annotate.test_asking import QUESTIONS
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


def missing_strata(project: Project, preset: presets.Preset) -> set[str]:
    return {name for report in preset.models.reports for name in presets.missing_strata(project, report)}


def test_generated_texts_are_what_structext_eval_asks_about():
    project = make_project(languages=["en"])
    preset = presets.get_preset("structext-eval")
    stages = {stage.slug: stage for stage in presets.set_up(project=project, by=None, preset=preset)}
    recipe = Recipe(("csv-join", "json-object", "org-section"), (1, 2), (2,), 2, 3)
    importing.import_file(
        project=project, by=None, file=io.BytesIO(recipe.as_file()), name="texts.json", stage=stages["answers"]
    )
    assert StageItem.objects.filter(stage=stages["answers"]).count() == 12
    assert set(Gold.objects.values_list("field", "origin")) == {("answer", "program")}
    for stage in (stages["answers"], stages["with-hint"]):
        shown = stage.versions.get(is_current=True).shown_keys
        assert all(set(shown) <= {key for key, _ in revision.content} for revision in ItemRevision.objects.all())
    assert missing_strata(project, preset) == set()


def test_tables_from_sql_are_what_relationalfactqa_asks_for():
    project = make_project(languages=["en"])
    preset = presets.get_preset("relationalfactqa")
    presets.set_up(project=project, by=None, preset=preset)
    importing.import_file(
        project=project,
        by=None,
        file=io.BytesIO(QUESTIONS),
        name="questions.csv",
        tables=io.BytesIO(sqlite_bytes()),
        tables_name="world.sqlite",
    )
    # The first stage reviews questions; the table is the gold of the one that answers them.
    assert set(Gold.objects.values_list("field", "origin")) == {("rows", "program")}
    assert json.loads(Gold.objects.get(item__external_id="q3").answers[0])["rows"] == [["3"]]
    # Where a question comes from is known to its file alone.
    assert missing_strata(project, preset) <= {"source"}
    check = Stage.objects.get(project=project, slug="check")
    projects.add_items_to_stage(stage=check, item_set=ItemSet.objects.get(), by=make_member(project, "admin"))
    assert StageItem.objects.filter(stage=check).count() == 3
    shown = {key for key, _ in ItemRevision.objects.first().content}
    assert set(check.versions.get(is_current=True).shown_keys) <= shown
