"""Qualifying, meeting checks unknowingly, being left out and taken back: one study in a browser, from both sides."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import Annotation, Assignment, Stage
from annotate.services import checks, qualifying
from annotate.services.resolving import resolve_due
from tests.annotate.test_checks import work_through
from tests.annotate.test_qualifying import study
from tests.browser.accessibility import problems_of
from tests.browser.visitors import sign_in
from tests.factories import SHORT_ANSWER, make_item, make_item_set, make_member, make_stage, make_stage_item

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def stage() -> Stage:
    """Six items of work, a check among every three, and two of four items to qualify with."""
    stage = study(size=2, mark=2, n_pool=4, n_items=6, overlap=1, title="Label claims")
    gold = [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(2)]
    checks.set_apart(stage=stage, item_set=make_item_set(stage.project, gold), purpose="check", by=None)
    checks.change_rules(
        stage=stage, by=None, check_every=3, tells_checks=False, qualification_size=2, qualification_mark=2
    )
    stage.refresh_from_db()
    return stage


def answer(worker, label: str) -> None:
    """Choose and submit, and wait until the item on the page is another one."""
    before = worker.page.locator("#item").get_attribute("data-token")
    worker.option(label).check()
    worker.submit.click()
    expect(worker.page.locator(f'#item[data-token="{before}"]')).to_have_count(0)


def test_a_study_with_checks_from_both_sides(at_work, new_context, site, stage):
    careless, careful = make_member(stage.project), make_member(stage.project)
    admin = make_member(stage.project, "admin")

    # Somebody fails once, hears a total, and passes the second time.
    worker = at_work(careless, stage)
    worker.sees_item("Before this stage")
    assert list(problems_of(worker.page, "before the stage")) == []
    worker.page.get_by_role("button", name="Begin").click()
    for _ in range(2):
        answer(worker, "no")
    worker.sees_item("Your answers are being counted")
    resolve_due()
    worker.sees_item("Not enough were right this time")
    expect(worker.page.locator("#item")).to_contain_text("0 of 2 are right; 2 are needed. One attempt is left")
    worker.page.get_by_role("button", name="Begin the second attempt").click()
    expect(worker.page.locator("#item")).to_contain_text("Before this stage: 1 of 2")
    for _ in range(2):
        answer(worker, "yes")
    worker.sees_item("Your answers are being counted")
    resolve_due()

    # The work begins by itself, and nobody sees which items are checks.
    expect(worker.submit).to_be_visible()
    pages = []
    while worker.submit.is_visible():
        pages.append(worker.page.content())
        answer(worker, "no")
    worker.sees_item("All done")
    assert Assignment.objects.filter(person=careless, purpose="check", state="submitted").count() == 2
    assert len(pages) == 8
    assert not any(re.search(r"\bcheck\b|qualif", re.sub(r"<script.*?</script>", "", page)) for page in pages)
    resolve_due()

    # An admin sees the signals, leaves the person out and has others asked.
    context = new_context()
    sign_in(context, admin, site)
    page = context.new_page()
    page.goto(reverse("quality", args=[stage.project.slug]))
    row = page.get_by_role("row").filter(has_text=careless.pseudonym).first
    expect(row).to_contain_text("0 of 2")
    expect(row).to_contain_text("passed, 2 of 2, 2 attempts")
    expect(row).to_contain_text("of 6")
    row.get_by_role("link", name=careless.pseudonym).click()
    page.get_by_label("Reason").fill("Missed every check.")
    page.get_by_label("Rule").fill("both checks missed")
    page.get_by_label("Collect again").check()
    page.get_by_role("button", name="Exclude", exact=True).click()
    expect(page.locator("main")).to_contain_text("6 places are free, and others are asked.")

    # Somebody else fills some of the places.
    qualifying.let_pass(stage=stage, person=careful, by=admin, reason="Known from another study.")
    other = at_work(careful, stage)
    while Assignment.objects.filter(person=careful, purpose="", state="submitted").count() < 2:
        answer(other, "yes")

    # Lifting says what became of the places.
    page.goto(reverse("quality", args=[stage.project.slug]))
    left_out = page.get_by_role("listitem").filter(has_text="both checks missed")
    expect(left_out).to_contain_text(f"6 answers of {careless.pseudonym}")
    left_out.get_by_role("button", name="Lift").click()
    # One more place is in the second person's hands.
    expect(page.locator("main")).to_contain_text("of 6 answers count again")
    back = Assignment.objects.filter(person=careless, purpose="", slot__isnull=False).count()
    expect(page.locator("main")).to_contain_text(
        f"Lifted. {back} of 6 answers count again; the places of {6 - back} were"
    )
    assert back in (3, 4)


def test_the_pages_are_for_everybody(new_context, site, stage):
    person, admin = make_member(stage.project), make_member(stage.project, "admin")
    qualifying.let_pass(stage=stage, person=person, by=admin, reason="Known.")
    work_through(stage, person, "no")
    resolve_due()
    context = new_context(reduced_motion="reduce")
    sign_in(context, admin, site)
    page = context.new_page()
    slug = stage.project.slug
    annotation = Annotation.objects.latest("pk")
    addresses = {
        "quality": reverse("quality", args=[slug]),
        "answer": reverse("answer", args=[slug, annotation.pk]),
        "answers of a person": reverse("person-answers", args=[slug, person.pseudonym]),
        "person": reverse("person", args=[slug, person.pseudonym]),
        "stage": reverse("stage", args=[slug, stage.slug]),
    }
    found = []
    for name, address in addresses.items():
        page.goto(address)
        found += problems_of(page, name)
    assert found == []


def test_pastes_and_absences_are_counted_and_nothing_else(at_work):
    stage = make_stage(kind="answer", form=SHORT_ANSWER, order="sequential")
    for _ in range(2):
        make_stage_item(stage)
    worker = at_work(make_member(stage.project), stage)
    worker.page.clock.install()
    worker.open()
    worker.field("answer").fill("twelve")
    worker.page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "a secret 👩🏽‍🔬");
            const field = document.querySelector("[name=why]");
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
            window.dispatchEvent(new Event("blur"));
        }"""
    )
    worker.page.clock.fast_forward(30_000)
    worker.page.evaluate("window.dispatchEvent(new Event('focus'))")
    worker.page.clock.resume()
    worker.submit.click()
    worker.sees_state(re.compile("Saved"))
    found = Annotation.objects.get()
    assert (found.n_pastes, found.pasted_characters, found.n_away) == (1, 13, 1)
    assert found.away_seconds >= 30
    assert "secret" not in str(Annotation.objects.values().get())
    # The next item begins at nought.
    assert worker.page.locator("[name=attention]").input_value() == "0,0,0,0"
