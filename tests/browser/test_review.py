"""Reviewing in a browser: what is asked only after one choice, keys, and a page that fits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from annotate.models import Annotation, Exclusion, Feed, Gold, ItemRevision
from annotate.services import resolving
from annotate.sources.blocks import infobox
from annotate.stage_kinds import review_fields
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

TABLE = infobox({"2009": "1st", "2012": "3rd", "2015": "7th (tied)"}, title="Ranking")
QUESTIONS = ("How did the rank change from 2009 to 2015?", "Which was the best year?", "When was it tied?")


@pytest.fixture
def study() -> SimpleNamespace:
    project = make_project()
    stage = make_stage(project, kind="answer", overlap=3, form=SHORT_ANSWER)
    reviewing = make_stage(
        project, kind="review", roles=["adjudicator"], form=review_fields(SHORT_ANSWER), title="Review",
        shown_keys=["question", "table"], order="sequential",
    )  # fmt: skip
    Feed.objects.create(source=stage, target=reviewing, rule="decided")
    people = [make_member(project) for _ in range(3)]
    items = []
    for question in QUESTIONS:
        items.append(make_item(project, [["question", question], ["table", TABLE]], gold={"answer": ["5 places"]}))
        place = make_stage_item(stage, items[-1])
        for person, answer, why in zip(
            people, ("6 places", "6 places", "dropped 2"), ("7 less 1", "", "to 3rd"), strict=True
        ):
            make_annotation(place, person, {"answer": answer} | ({"why": why} if why else {}))
    resolving.resolve_due()
    return SimpleNamespace(
        project=project, reviewing=reviewing, items=items, expert=make_member(project, "adjudicator")
    )


def test_three_items_are_edited_dropped_and_accepted_with_keys(study, at_work):
    worker = at_work(study.expert, study.reviewing)
    page = worker.page
    worker.sees_item(QUESTIONS[0])
    # Nothing is asked that belongs to no decision yet.
    expect(worker.field("answer")).to_be_hidden()
    expect(page.get_by_role("group", name="Why is it dropped?")).to_be_hidden()
    worker.press("2")
    expect(worker.field("answer")).to_be_visible()
    expect(worker.field("question")).to_have_value(QUESTIONS[0])
    worker.field("answer").fill("6 places")
    worker.press("Control+Enter")

    worker.sees_item(QUESTIONS[1])
    worker.press("3")
    expect(worker.field("answer")).to_be_hidden()
    worker.press("6")
    expect(worker.option("trivial")).to_be_checked()
    worker.press("Control+Enter")

    worker.sees_item(QUESTIONS[2])
    # A key of a reason that is not asked chooses nothing.
    worker.press("6", "1", "Control+Enter")
    worker.sees_item("All done")

    given = Annotation.objects.filter(assignment__stage=study.reviewing).order_by("pk")
    assert [annotation.answer for annotation in given] == [
        {"decision": "edit", "answer": "6 places"},
        {"decision": "drop", "code": "trivial"},
        {"decision": "accept"},
    ]
    golds = Gold.objects.filter(item__in=study.items, is_current=True).order_by("item")
    assert [(gold.version, gold.answers, gold.origin) for gold in golds] == [
        (2, ["6 places"], "expert"),
        (1, ["5 places"], "source"),
        (1, ["5 places"], "source"),
    ]
    assert Exclusion.objects.standing().get().rule == "dropped: trivial"


def test_a_correction_that_is_put_aside_is_not_sent_and_comes_back(study, at_work, faults):
    faults.announce("^422: POST")
    worker = at_work(study.expert, study.reviewing)
    worker.press("2")
    worker.field("question").fill("By how many places did it fall?")
    worker.option("accept").click()
    expect(worker.field("question")).to_be_hidden()
    worker.option("edit").click()
    expect(worker.field("question")).to_have_value("By how many places did it fall?")
    worker.field("question").fill("")
    worker.submit.click()
    expect(worker.page.locator("#error-question")).to_have_text(
        "Nothing is left here. Write what is right, or drop the item."
    )
    worker.option("accept").click()
    worker.submit.click()
    worker.sees_item(QUESTIONS[1])
    assert ItemRevision.objects.filter(item=study.items[0]).count() == 1


def test_without_scripts_everything_is_there_and_the_rule_decides(study, at_work, faults):
    faults.announce("^422: POST")
    worker = at_work(study.expert, study.reviewing, java_script_enabled=False)
    expect(worker.field("question")).to_be_visible()
    expect(worker.page.get_by_text("Only if you drop it:")).to_be_visible()
    worker.field("answer").fill("6 places")
    worker.option("accept").check()
    worker.submit.click()
    expect(worker.page.locator("#error-decision")).to_contain_text("choose Edit, or put back what stood there")
    expect(worker.field("answer")).to_have_value("6 places")
    worker.option("edit").check()
    worker.submit.click()
    worker.sees_item(QUESTIONS[1])
    assert Gold.objects.get(item=study.items[0], is_current=True).answers == ["6 places"]


@pytest.mark.parametrize("decision", ["accept", "edit", "drop"])
def test_the_page_is_accessible_and_fits(study, at_work, decision):
    worker = at_work(study.expert, study.reviewing)
    worker.option(decision).click()
    assert list(problems_of(worker.page, f"review-{decision}")) == []
