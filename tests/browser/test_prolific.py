"""Somebody from Prolific in a real browser: in by the link, interrupted, back, and out with the code."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import ImportedAnnotator, ProlificStudy
from tests.browser.accessibility import problems_of
from tests.browser.visitors import NARROW, WIDE, sign_in
from tests.factories import make_member, make_stage, make_stage_item

pytestmark = pytest.mark.django_db(transaction=True)

PERSON = "5e90b1c2d3e4f5a6b7c8d9e0"


def test_a_participant_comes_is_interrupted_comes_back_and_gets_the_code(new_context, site):
    stage = make_stage(overlap=2, order="sequential")
    for _ in range(4):
        make_stage_item(stage)

    # An admin opens the stage to Prolific and finds the link.
    context = new_context()
    sign_in(context, make_member(stage.project, "admin"), site)
    page = context.new_page()
    page.goto(reverse("stage", args=[stage.project.slug, stage.slug]))
    page.get_by_text("Let people come from Prolific").click()
    page.get_by_label("Answers of each person").fill("2")
    page.get_by_label("Code when all is answered").fill("C1ABC")
    page.locator("#prolific").get_by_role("button", name="Save").click()
    link = page.get_by_label("Study link for Prolific").input_value()
    assert link.startswith(f"{site}/study/{ProlificStudy.objects.get().link}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&")
    assert list(problems_of(page, "stage")) == []
    address = (
        link.replace("{{%PROLIFIC_PID%}}", PERSON)
        .replace("{{%STUDY_ID%}}", "65f0a1")
        .replace("{{%SESSION_ID%}}", "a1b2c3")
    )

    # A participant answers one item on a phone, and the phone is gone.
    phone = new_context(viewport=NARROW).new_page()
    phone.goto(address)
    expect(phone.get_by_text("You answer 2 items.")).to_be_visible()
    assert list(problems_of(phone, "the first page")) == []
    phone.get_by_role("button", name="Begin").click()
    answer(phone, stage)

    # Elsewhere they go on where they were; the second answer is the last.
    desk = new_context(viewport=WIDE).new_page()
    desk.goto(address)
    desk.get_by_role("button", name="Begin").click()
    desk.locator("#answer-form input[value=yes]").check()
    desk.locator("#submit-answer").click()
    expect(desk.get_by_role("heading", name="Done: thank you")).to_be_visible()
    expect(desk.get_by_text("C1ABC")).to_be_visible()
    back = desk.get_by_role("link", name="Back to Prolific")
    expect(back).to_have_attribute("href", "https://app.prolific.com/submissions/complete?cc=C1ABC")
    assert list(problems_of(desk, "the end")) == []
    assert ImportedAnnotator.objects.get().name == PERSON
    assert PERSON not in desk.url

    # The phone, found again, shows the same.
    phone.reload()
    expect(phone.get_by_text("C1ABC")).to_be_visible()


def answer(page, stage) -> None:
    before = page.locator("#item").get_attribute("data-token")
    page.locator("#answer-form input[value=yes]").check()
    page.locator("#submit-answer").click()
    expect(page.locator(f'#item[data-token="{before}"]')).to_have_count(0)
    expect(page.locator("#submit-answer")).to_be_visible()
