"""A file on its way to items, in a browser: dropped, looked at, mended, imported."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Gold, ImportJob, Item
from annotate.services import importing
from tests.browser.visitors import sign_in
from tests.factories import make_member, make_project, make_stage

pytestmark = pytest.mark.browser

ROWS = "id;frage;label\n" + "".join(f"{n:03};Is {n} even, or ünëven?;{'no' if n % 2 else 'yes'}\n" for n in range(14))


@pytest.fixture
def stage():
    return make_stage(make_project(title="Numbers"), title="Is it so?", shown_keys=["question"])


@pytest.fixture
def open_page(new_context, site, stage):
    """open_page(**options): where an admin of the project imports."""

    def visit(**options) -> Page:
        context = new_context(**options)
        sign_in(context, make_member(stage.project, "admin"), site)
        page = context.new_page()
        page.goto(reverse("import", args=[stage.project.slug]))
        return page

    return visit


def upload(page: Page, content: bytes, name: str = "rows.csv") -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").first.set_input_files([file])
    page.get_by_label("Stage").select_option(index=1)
    page.get_by_role("button", name="Upload and look at it").click()


def import_what_was_started() -> None:
    """The worker's part."""
    importing.run_import(job_id=ImportJob.objects.get().pk)


def test_a_file_is_looked_at_mended_and_imported_while_the_page_follows(open_page):
    page = open_page()
    upload(page, ROWS.encode("cp1252"))

    preview = page.locator(".import-preview")
    expect(page.get_by_role("heading", name="rows.csv")).to_be_visible()
    expect(preview.locator("li").first).to_contain_text("Is 0 even, or ünëven?")  # Its encoding was seen.
    expect(preview.locator(":scope > li")).to_have_count(10)
    assert Item.objects.count() == 0
    page.evaluate("window.isSamePage = true")
    key = page.get_by_label("Shown as").first  # The stage shows "question"; the file says "frage".
    key.fill("question")
    key.blur()
    expect(preview.locator(".headline").first).to_have_text("Is 0 even, or ünëven?")
    assert page.evaluate("window.isSamePage")

    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    import_what_was_started()

    expect(page.get_by_role("status").filter(has_text="14 new items")).to_be_visible()
    assert list(Item.objects.order_by("external_id").values_list("external_id", flat=True)[:2]) == ["000", "001"]
    assert Gold.objects.count() == 14


def test_a_file_with_a_fault_names_its_place_and_imports_nothing(open_page):
    page = open_page()
    upload(page, b'id,question,label\n1,Is it?,yes\n2,"Is it not?,no\n')

    expect(page.get_by_text("line 3").first).to_be_visible()
    expect(page.get_by_role("button", name="Import the file")).to_be_disabled()
    assert Item.objects.count() == 0


def test_a_file_that_cannot_be_read_at_all_is_refused_where_it_was_chosen(open_page, faults):
    faults.announce(r"^422: POST /p/.*/import/")
    page = open_page()
    upload(page, b"PK\x03\x04" + bytes(200))

    expect(page.get_by_role("alert")).to_be_visible()
    assert ImportJob.objects.count() == 0


def test_importing_works_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    upload(page, ROWS.replace("frage", "question").encode())
    expect(page.locator(".import-preview .headline").first).to_have_text("Is 0 even, or ünëven?")

    page.get_by_role("button", name="Import the file").click()
    import_what_was_started()
    page.get_by_role("link", name="Look again").click()

    expect(page.get_by_text("14 new items")).to_be_visible()
    assert Item.objects.count() == 14


def test_answers_of_a_crowd_are_mapped_by_hand_and_counted_before_anything_is_stored(open_page):
    page = open_page()
    rows = "".join(f"w{n % 3},n{n // 3},{'yes' if n % 3 else 'no'}\n" for n in range(12))
    file = {"name": "labels.csv", "mimeType": "text/csv", "buffer": f"who,unit,said\n{rows}".encode()}
    page.locator("input[type=file]").first.set_input_files([file])
    page.get_by_label("For the stage").select_option("")
    page.get_by_role("button", name="Upload and look at it").click()

    for column, meaning in (("who", "annotator"), ("unit", "id_shown"), ("said", "new:choice")):
        page.get_by_label(column, exact=True).select_option(meaning)
        expect(page.get_by_label(column, exact=True)).to_have_value(meaning)
    answers = page.locator("section", has=page.get_by_role("heading", name="The answers"))
    expect(answers).to_contain_text("12 answers of 3 people to 4 items")
    page.get_by_label("Name of the new stage").fill("By the crowd")
    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    import_what_was_started()

    expect(page.get_by_role("status").filter(has_text="12 answers of 3 people. 4 new items")).to_be_visible()
    page.get_by_role("link", name="Look at the stage").click()
    expect(page.get_by_role("heading", name="By the crowd")).to_be_visible()
