"""A first study from nothing: a lead makes it in one browser, somebody answers in another."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Annotation, ImportJob, Project, StageItem
from annotate.services import importing, resolving
from tests.browser.visitors import sign_in
from tests.factories import make_staff

pytestmark = pytest.mark.browser

ROWS = "id,question,label\n1,Is the sea salty?,yes\n2,Is the moon warm?,no\n"


def test_from_a_new_project_to_a_counted_vote(new_context, site):
    context = new_context()
    sign_in(context, make_staff(username="ada"), site)
    lead = context.new_page()

    lead.goto("/projects/new/")
    lead.get_by_label("Title").fill("Sea and sky")
    lead.get_by_role("button", name="Make the project").click()
    expect(lead.get_by_role("heading", name="Sea and sky")).to_be_visible()

    lead.get_by_role("link", name="New stage").first.click()
    lead.get_by_label("Title").fill("Is it so?")
    lead.get_by_label("People per item").fill("1")
    lead.get_by_label("Shown content").fill("question")
    lead.get_by_label("Name", exact=True).first.fill("label")
    lead.get_by_label("Caption").first.fill("Your answer")
    lead.get_by_label("Options").first.fill("yes | Yes\nno | No")
    lead.get_by_role("button", name="Make the draft").click()
    expect(lead.get_by_role("heading", name="Is it so?")).to_be_visible()

    lead.goto(f"/p/{Project.objects.get().slug}/import/")
    lead.locator("input[type=file]").first.set_input_files(
        [{"name": "sea.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}]
    )
    lead.get_by_label("For the stage").select_option(index=1)
    lead.get_by_role("button", name="Upload and look at it").click()
    lead.get_by_role("button", name="Import the file").click()
    expect(lead.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    importing.run_import(job_id=ImportJob.objects.get().pk)  # The worker's part.
    lead.get_by_role("link", name="Look at the stage and open it").click()
    lead.wait_for_load_state()  # The scripts of the page listen from here on.
    preview = lead.locator("#preview")
    expect(preview).to_contain_text("Is the sea salty?")
    lead.get_by_label("Caption").first.fill("Tell us")  # The page on the right follows what is typed.
    expect(preview).to_contain_text("Tell us")
    lead.get_by_role("button", name="Open", exact=True).click()
    expect(lead.get_by_role("button", name="Pause")).to_be_visible()

    lead.get_by_role("link", name="People", exact=True).click()
    lead.get_by_label("How many", exact=True).fill("1")
    lead.get_by_role("button", name="Make codes").click()
    code = lead.get_by_role("region", name="New codes").locator("code").inner_text()

    annotator = new_context().new_page()
    annotator.goto("/sign-in/")
    annotator.get_by_label("Participant code").fill(code)
    annotator.keyboard.press("Enter")
    annotator.get_by_role("link", name="Start").click()
    for _ in range(2):
        headline = annotator.locator("#item .headline")
        expect(annotator.locator("#answer-form [name=label]").first).to_be_focused()
        asked = headline.inner_text()
        annotator.keyboard.press("1" if "sea" in asked else "2")
        annotator.keyboard.press("Control+Enter")
        expect(headline).not_to_have_text(asked)
    expect(annotator.get_by_role("heading", name="All done")).to_be_visible()
    assert Annotation.objects.count() == 2

    resolving.resolve_due(limit=10)  # The scheduler's part.
    lead.get_by_role("link", name="Items").click()
    rows = lead.locator("table tbody tr")
    expect(rows).to_have_count(2)
    for row, answer in zip(rows.all(), ("yes", "no"), strict=True):
        expect(row.locator(".tag.gold")).to_have_text(answer)
        expect(row.locator(".tag.people")).to_have_text(answer)
    assert not StageItem.objects.due().exists()
