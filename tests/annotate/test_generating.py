"""Generated items: asked for on a page, by command or as an uploaded recipe, and imported like a file."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotate.models import Gold, ImportJob, Item, ItemKey, ItemRevision, ItemSet, Project, StageItem
from annotate.services import importing
from annotate.services.importing.preview import preview_of
from annotate.sources.structext import TASKS, Recipe
from tests.annotate.test_import_pages import fields_of
from tests.factories import make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

SMALL = {
    "tasks": ["tree-height", "json-first"],
    "depths": "1-2",
    "widths": "2",
    "per_cell": "2",
    "seed": "4",
    "edition": "corrected",
    "attributes_per_level": "2",
    "stage": "",
}
RECIPE = Recipe(("tree-height", "json-first"), (1, 2), (2,), 2, 4, attributes_per_level=2)


@pytest.fixture
def project() -> Project:
    return make_project(slug="texts", languages=["en"])


@pytest.fixture
def browser(project: Project) -> Client:
    client = Client()
    client.force_login(make_member(project, "admin"))
    return client


def ask(browser: Client, **changes: Any) -> Any:
    return browser.post(reverse("generate", args=["texts"]), SMALL | changes)


def test_the_page_offers_every_task_by_language(browser):
    page = browser.get(reverse("generate", args=["texts"])).content.decode()
    assert page.count('name="tasks"') == len(TASKS) == 29
    assert page.count("<legend") == 9
    assert reverse("generate", args=["texts"]) in browser.get(reverse("items", args=["texts"])).content.decode()


def test_what_is_asked_for_becomes_a_draft_with_its_first_items(browser, project):
    response = ask(browser)
    job = ImportJob.objects.get()
    assert response["Location"] == reverse("import-job", args=["texts", job.pk])
    assert (job.state, job.n_total, Item.objects.count()) == ("draft", 8, 0)
    page = browser.get(response["Location"]).content.decode()
    first = dict(next(RECIPE.records()).values)
    assert first["question"] in page
    assert page.count('class="item-meta"') == 8
    assert "All 8 rows were checked." in page


def test_items_are_stored_whole_with_gold_strata_and_provenance(browser, project):
    ask(browser)
    job = ImportJob.objects.get()
    browser.post(reverse("import-mapping", args=["texts", job.pk]), posted_of(browser, job) | {"step": "start"})
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    assert job.report["imported"] == 8
    wanted = [dict(record.values) for record in RECIPE.records()]
    items = list(Item.objects.order_by("pk"))
    assert [item.external_id for item in items] == [values["id"] for values in wanted]
    gold = Gold.objects.get(item=items[0])
    assert (gold.field, gold.answers, gold.origin) == ("answer", ["1"], "program")
    key = ItemKey.objects.get(item=items[-1])
    assert key.strata == [
        ["language", "json"], ["task", "PathWalk"], ["task_id", "json-first"], ["depth", "2"], ["width", "2"],
    ]  # fmt: skip
    assert dict(key.extra) == {
        "generator": "structext 1", "edition": "corrected", "attributes_per_level": 2, "seed": 4, "nth": 2,
    }  # fmt: skip
    revision = ItemRevision.objects.get(item=items[0])
    assert [name for name, _ in revision.content] == ["question", "reference", "format", "rule_hint"]
    assert ItemSet.objects.get().name == "structext-seed-4.json"


def posted_of(browser: Client, job: ImportJob) -> dict[str, str]:
    """What the draft's page sends when nothing was changed in it."""
    return fields_of(browser.get(reverse("import-job", args=["texts", job.pk])).content.decode())


def generate(*arguments: str) -> str:
    out = StringIO()
    call_command("generate_items", "texts", *arguments, stdout=out)
    return out.getvalue()


SMALL_ARGUMENTS = (
    *("--task", "tree-height", "--task", "json-first", "--depth", "1", "2", "--width", "2", "--per-cell", "2"),
    *("--seed", "4", "--attributes-per-level", "2"),
)


def test_the_command_makes_the_same_items_and_twice_changes_nothing(project):
    assert "8 items imported, 0 unchanged" in generate(*SMALL_ARGUMENTS)
    assert "0 items imported, 8 unchanged" in generate(*SMALL_ARGUMENTS)
    # More of the same: the old ones are known.
    more = (*SMALL_ARGUMENTS[:-6], "--per-cell", "3", *SMALL_ARGUMENTS[-4:])
    assert "4 items imported, 8 unchanged" in generate(*more)
    assert {dict(record.values)["id"] for record in RECIPE.records()} < set(
        Item.objects.values_list("external_id", flat=True)
    )


def test_the_command_prints_a_recipe_that_import_reads(project, browser):
    recipe = generate(*SMALL_ARGUMENTS, "--recipe")
    assert json.loads(recipe) == json.loads(RECIPE.as_file())
    assert Item.objects.count() == 0
    file = SimpleUploadedFile("mine.json", recipe.encode())
    response = browser.post(reverse("import", args=["texts"]), {"file": file, "stage": ""})
    assert response.status_code == 302
    job = ImportJob.objects.get()
    assert job.options["source"]["format"] == "structext"
    assert job.mapping["gold"] == [{"field": "answer", "column": "gold", "values": {}, "separator": ""}]


def test_a_dry_run_keeps_nothing(project):
    assert "8 items imported" in generate(*SMALL_ARGUMENTS, "--dry-run")
    assert (Item.objects.count(), ImportJob.objects.count()) == (0, 0)


def test_items_go_into_a_stage_under_its_keys_and_field(project):
    field = {"name": "found", "type": "long_text", "caption": "Answer", "decides": True, "required": True}
    stage = make_stage(project, slug="read", form=[field])
    stage.versions.update(shown_keys=["question", "reference"])
    generate(*SMALL_ARGUMENTS, "--stage", "read")
    assert StageItem.objects.filter(stage=stage).count() == 8
    assert set(Gold.objects.values_list("field", flat=True)) == {"found"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": []}, "This field is required"),
        ({"tasks": ["csv-cell; rm"]}, "Select a valid choice"),
        ({"depths": "2-"}, "Write whole numbers"),
        ({"depths": "1-99999999"}, "Write whole numbers"),
        ({"depths": "0"}, "Choose whole numbers from 1 to 10"),
        ({"depths": "9", "widths": "9"}, "may have"),
        ({"per_cell": "1000", "depths": "1-3", "tasks": list(TASKS)}, "87,000 items; at most 20,000"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"edition": "x"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_asked_for_is_said_and_nothing_kept(browser, changes, words):
    response = ask(browser, **changes)
    assert response.status_code == 422
    assert words in response.content.decode()
    assert ImportJob.objects.count() == 0


def test_the_page_of_large_texts_makes_a_few_of_them(project):
    # 1,365 nodes of up to 30 attributes are some 200,000 characters.
    recipe = Recipe(("json-first",), (5,), (4,), 100, 4)
    job = importing.draft_import(project=project, by=None, file=importing.recipe_file(recipe), name="large.json")
    preview = preview_of(job)
    assert 2 <= preview.n_checked <= 12
    assert not preview.is_whole
    assert preview.problems == []


def test_a_faulty_recipe_is_refused_at_the_door(browser):
    faulty = json.loads(RECIPE.as_file()) | {"per_cell": 10**6}
    file = SimpleUploadedFile("mine.json", json.dumps(faulty).encode())
    response = browser.post(reverse("import", args=["texts"]), {"file": file, "stage": ""})
    assert response.status_code == 422
    assert "from 1 to 1,000" in response.content.decode()
    assert ImportJob.objects.count() == 0


def test_the_command_says_what_is_wrong(project):
    with pytest.raises(CommandError, match="may have 24,843,338,850 lines"):
        generate("--depth", "9", "--width", "9")
    with pytest.raises(CommandError, match="no project"):
        call_command("generate_items", "nowhere")
