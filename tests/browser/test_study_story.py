"""An admin makes a stage in the live editor, opens it, sees the funnel move as people answer, and ends a sign-in."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Stage
from annotate.services.heartbeats import hear
from tests.browser.visitors import NARROW, sign_in
from tests.factories import make_item, make_item_set, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.browser


@pytest.fixture
def admin_page(new_context, site):
    """admin_page(project): a page on which an admin of the project is signed in."""

    def open_page(project, **options) -> Page:
        context = new_context(**options)
        sign_in(context, make_member(project, "admin"), site)
        return context.new_page()

    return open_page


def made_project():
    hear(name="machine", role="worker")
    project = make_project(title="Sea and sky")
    make_item_set(project, [make_item(project, [["question", f"Is sea {n} salt?"]]) for n in range(2)], name="Seas")
    return project


SETTINGS_SHOWN = {
    "choice": ["options", "ordered"],
    "text": ["max_length", "unit"],
    "number": ["max", "min", "unit"],
    "table": ["columns", "columns_from", "max", "min", "ordered"],
    "qa_pairs": ["max", "min"],
}


def test_the_editor_shows_of_the_settings_those_that_the_field_has(admin_page):
    project = made_project()
    page = admin_page(project)
    page.goto(reverse("stage-new", args=[project.slug]) + "?kind=label")
    names = sorted({name for shown in SETTINGS_SHOWN.values() for name in shown})
    for n in (0, 1):
        for type_, shown in SETTINGS_SHOWN.items():
            page.locator(f"[name=fields-{n}-type]").select_option(type_)
            assert [name for name in names if page.locator(f"[name=fields-{n}-{name}]").is_visible()] == shown
        page.get_by_role("button", name="Add a field").click()


def test_a_stage_is_made_while_its_page_is_seen_and_the_home_follows_the_answers(admin_page, at_work, faults):
    project = made_project()
    first, second = make_member(project), make_member(project)
    page = admin_page(project)
    page.goto(reverse("stage-new", args=[project.slug]) + "?kind=label")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("Is sea 0 salt?")
    page.get_by_label("The question as people read it").or_(page.locator("[name=fields-0-caption]")).first.fill(
        "Salty?"
    )
    expect(preview).to_contain_text("Salty?")
    # Adding a field and moving it up is seen at once.
    page.get_by_role("button", name="Add a field").click()
    page.locator("[name=fields-1-name]").fill("sure")
    page.locator("[name=fields-1-type]").select_option("text")
    page.locator("[name=fields-1-caption]").fill("How sure are you?")
    page.locator("[name=fields-1-decides]").uncheck()
    page.locator("[name=fields-1-required]").uncheck()
    expect(preview).to_contain_text("How sure are you?")
    page.locator("details:has([name=fields-1-name]) [data-move=up]").click()
    expect(preview.locator("#answer-form")).to_have_text(re.compile("How sure are you.*Salty", re.DOTALL))
    expect(preview.locator("#submit-answer")).to_be_disabled()
    assert not Stage.objects.exists()
    page.locator("[name=title]").fill("Salt")
    page.locator("[name=overlap]").fill("2")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_role("button", name="Add these items").click()
    page.get_by_role("button", name="Open").first.click()
    stage = Stage.objects.get()
    assert [field["name"] for field in stage.versions.get().fields] == ["sure", "label"]

    page.goto(reverse("project", args=[project.slug]))
    funnel = page.locator(".stage-funnel")
    expect(funnel).to_contain_text("0 of 4 answers")
    for person in (first, second):
        worker = at_work(person, stage)
        for _ in range(2):
            worker.option("yes").check()
            worker.press("Control+Enter")
            worker.sees_state(re.compile("Saved|Submitted|^$"))
    page.reload()
    expect(funnel).to_contain_text("4 of 4 answers")
    expect(funnel).to_contain_text("all 2 items are done")
    page.get_by_role("button", name="Close it").click()
    stage.refresh_from_db()
    assert stage.state == "closed"


def test_somebody_who_is_deactivated_is_asked_to_sign_in_on_the_page_they_have_open(admin_page, at_work, faults):
    project = made_project()
    stage = make_stage(project)
    make_stage_item(stage)
    person = make_member(project)
    worker = at_work(person, stage)
    worker.option("yes").check()
    page = admin_page(project)
    page.goto(reverse("person", args=[project.slug, person.pseudonym]))
    page.get_by_role("button", name="Deactivate").click()
    expect(page.locator(".alert")).to_contain_text("signed out everywhere")
    faults.announce(r"^401: POST")
    worker.press("Control+Enter")
    expect(worker.page.locator("#sign-in-dialog")).to_be_visible()
    page.get_by_role("button", name="Reactivate").click()
    expect(page.get_by_role("button", name="Deactivate")).to_be_visible()


def test_on_a_phone_the_page_beside_the_editor_is_folded_until_it_is_wanted(admin_page):
    project = made_project()
    page = admin_page(project, viewport=NARROW)
    page.goto(reverse("stage-new", args=[project.slug]))
    expect(page.locator("#preview")).to_be_hidden()
    page.locator(".stage-preview > summary").click()
    expect(page.locator("#preview")).to_contain_text("Is sea 0 salt?")
    # What is docked to the edge of people's own page stands in its place here.
    assert page.locator("#preview .work-actions").evaluate("one => getComputedStyle(one).position") == "static"
