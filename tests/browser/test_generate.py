"""Items that are asked for by a recipe, in a browser: chosen, looked at, imported; wide and on a phone."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import Gold, ImportJob, Item
from annotate.services import importing
from tests.browser.visitors import sign_in
from tests.factories import make_member, make_project

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 390])
def test_texts_are_chosen_looked_at_and_imported(new_context, site, width):
    project = make_project(title="Texts", languages=["en"])
    context = new_context(viewport={"width": width, "height": 900})
    sign_in(context, make_member(project, "admin"), site)
    page = context.new_page()
    page.goto(reverse("items", args=[project.slug]))
    page.get_by_role("link", name="Generate items").click()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("checkbox")).to_have_count(29)
    for name in ("CSV", "tree", "JSON", "XML", "Markdown", "LaTeX", "Org"):
        for box in page.get_by_role("group", name=name, exact=True).get_by_role("checkbox").all():
            box.uncheck()
    page.get_by_label("Depths").fill("1-2")
    page.get_by_label("Widths").fill("2")
    page.get_by_label("Seed").fill("11")
    page.get_by_role("button", name="Look at the first items").click()

    expect(page.get_by_role("heading", name="structext-seed-11.json")).to_be_visible()
    preview = page.locator(".import-preview > li")
    expect(preview).to_have_count(10)
    expect(preview.first).to_contain_text("Copy the whole object from the YAML file")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Item.objects.count() == 0

    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    importing.run_import(job_id=ImportJob.objects.get().pk)
    expect(page.get_by_role("status").filter(has_text="10 new items")).to_be_visible()
    assert Gold.objects.filter(origin="program").count() == 10


def test_what_is_too_large_is_said_where_it_was_chosen(new_context, site, faults):
    faults.announce(r"^422: POST /p/.*/generate/")
    project = make_project(title="Texts")
    context = new_context()
    sign_in(context, make_member(project, "admin"), site)
    page = context.new_page()
    page.goto(reverse("generate", args=[project.slug]))
    page.get_by_label("Depths").fill("9")
    page.get_by_label("Widths").fill("9")
    page.get_by_role("button", name="Look at the first items").click()

    expect(page.get_by_role("alert")).to_contain_text("A text of depth 9 and width 9 may have 24,843,338,850 lines")
    expect(page.get_by_label("Depths")).to_have_value("9")
    assert ImportJob.objects.count() == 0
