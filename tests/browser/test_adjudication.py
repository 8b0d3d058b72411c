"""Deciding disputed items in a browser: cards, keys, another look, and what is kept of typed words."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Decision, Resolution
from annotate.services import resolving
from annotate.stage_kinds import adjudication_fields
from tests.browser.accessibility import problems_of
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.browser

ANSWERS = (
    ("6 places", "From 1st to 7th."),
    ("6 places", "Seven less one."),
    ("dropped 2 places", "From 1st to 3rd."),
    ("nine", ""),
)
TABLE = {"columns": ["Year", "Rank"], "rows": [["2014", "1"], ["2015", "7"]]}


@pytest.fixture
def dispute():
    project = make_project()
    judges = make_stage(
        project, kind="adjudicate", roles=["adjudicator"], form=adjudication_fields(SHORT_ANSWER),
        shown_keys=["question", "table"], options={"makes_gold": True},
    )  # fmt: skip
    stage = make_stage(project, kind="answer", overlap=4, adjudicated_in=judges, form=SHORT_ANSWER)
    places = []
    for question in ("By how many places did they fall?", "By how many places did the others fall?"):
        place = make_stage_item(stage, make_item(project, [["question", question], ["table", TABLE]]))
        for answer, why in ANSWERS:
            make_annotation(place, make_member(project), {"answer": answer} | ({"why": why} if why else {}))
        places.append(place)
    resolving.resolve_due()
    return judges, places


def test_an_item_is_decided_with_keys_alone(dispute, at_work):
    judges, _ = dispute
    worker = at_work(make_member(judges.project, "adjudicator"), judges)
    page = worker.page
    expect(page.locator(".vote-card")).to_have_count(3)
    first = worker.headline.text_content()

    page.locator("#decision-reason").fill("The table says so.")
    worker.press("Escape", "2", "e")

    answer = worker.field("answer")
    expect(answer).to_be_visible()
    expect(page.locator("#decision-reason")).to_have_value("The table says so.")
    answer.fill("2 places")
    worker.press("Control+Enter")

    expect(worker.headline).not_to_have_text(first)
    decision = Decision.objects.get()
    assert (decision.kind, decision.reason, decision.annotation.answer) == (
        "edited",
        "The table says so.",
        {"answer": "2 places"},
    )
    resolving.resolve_due()
    assert Resolution.objects.filter(status="adjudicated").count() == 1

    worker.press("b")
    expect(worker.submit).to_contain_text("Mark as bad item")
    page.locator("#decision-reason").fill("Nobody can tell.")
    worker.press("Control+Enter")
    worker.sees_item("All done")
    assert set(Decision.objects.values_list("kind", flat=True)) == {"edited", "bad"}


def test_words_typed_just_before_another_look_are_those_that_stay(dispute, at_work):
    judges, _ = dispute
    worker = at_work(make_member(judges.project, "adjudicator"), judges)
    reason = worker.page.locator("#decision-reason")
    reason.press_sequentially("Because of the")
    worker.page.get_by_role("button", name="Write my own").click()
    expect(worker.field("answer")).to_be_visible()
    expect(reason).to_have_value("Because of the")
    reason.press("End")
    reason.press_sequentially(" table")
    worker.page.get_by_role("button", name="Back to the answers").click()
    expect(worker.page.locator(".vote-card input").first).to_be_visible()
    expect(reason).to_have_value("Because of the table")


def test_the_cards_are_accessible_and_fit(dispute, at_work):
    judges, _ = dispute
    worker = at_work(make_member(judges.project, "adjudicator"), judges)
    expect(worker.page.locator(".vote-card")).to_have_count(3)
    assert list(problems_of(worker.page, "adjudicate")) == []
