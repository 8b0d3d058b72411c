"""Writing questions in a browser: pairs by button and key, hints while typing, kept words, claims in any script."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import Annotation
from annotate.services import feeds, resolving
from annotate.sources.blocks import infobox
from annotate.stage_kinds import KINDS
from tests.browser.accessibility import problems_of
from tests.browser.queues import answers_of
from tests.browser.visitors import NARROW, WIDE, sign_in, where_answers_go
from tests.factories import SHORT_ANSWER, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORM = [{"name": "pairs", "type": "qa_pairs", "caption": "Questions with answers", "min": 2, "max": 4}]
TABLE = infobox(
    {"Born": "1815", "Club": "Rovers", "Career": {"Years": "1830–1840", "Cups": "12"}, "Height": "1.80 m"}, title="Ada"
)


@pytest.fixture
def stage():
    project = make_project()
    stage = make_stage(
        project,
        kind="author",
        form=FORM,
        shown_keys=["table"],
        order="sequential",
        title="Write questions",
        options={"hidden_keys": ["Born"], "is_shuffled": True},
    )
    for n in range(2):
        make_stage_item(stage, make_item(project, [["table", TABLE]], external_id=f"table-{n}"))
    return stage


def questions(worker) -> list[str]:
    return [one.input_value() for one in worker.field("'pairs.question'").all()]


def test_pairs_are_written_moved_added_and_removed_by_hand_and_key(at_work, stage):
    worker = at_work(make_member(stage.project), stage)
    first = worker.field("'pairs.question'").first
    expect(first).to_be_focused()
    first.fill("Which club did Ada play for?")
    worker.field("'pairs.answer'").first.fill("Rovers")
    worker.field("'pairs.question'").nth(1).fill("How many cups did Ada win?")
    worker.press("Alt+ArrowUp")
    assert questions(worker) == ["How many cups did Ada win?", "Which club did Ada play for?"]
    expect(worker.field("'pairs.question'").first).to_be_focused()
    worker.field("'pairs.answer'").first.fill("12")
    worker.press("Alt+Enter")
    expect(worker.field("'pairs.question'")).to_have_count(3)
    expect(worker.field("'pairs.question'").nth(1)).to_be_focused()
    worker.page.keyboard.type("A third one?")
    worker.page.get_by_role("button", name="Add a pair").click()
    expect(worker.page.get_by_role("button", name="Add a pair")).to_be_disabled()
    worker.press("Alt+Delete")
    worker.page.get_by_role("button", name="Remove pair 2").click()
    assert questions(worker) == ["How many cups did Ada win?", "Which club did Ada play for?"]
    worker.press("Control+Enter")
    worker.sees_item("table-1")
    assert answers_of(worker.person)[0]["pairs"] == [
        {"question": "How many cups did Ada win?", "answer": "12"},
        {"question": "Which club did Ada play for?", "answer": "Rovers"},
    ]


def test_hints_come_while_somebody_writes_and_stand_in_nobodys_way(at_work, stage):
    worker = at_work(make_member(stage.project), stage)
    hints = worker.page.locator("#hints-pairs-0 li")
    before = worker.submit.bounding_box()
    worker.field("'pairs.question'").first.fill("Which club did Ada play for")
    expect(hints).to_have_count(1)
    assert worker.submit.bounding_box() == before  # Nothing moves away from under a pointer.
    worker.field("'pairs.question'").first.fill("Did he play for Rovers")
    expect(hints).to_have_count(3)
    expect(worker.page.locator("#announcer")).to_contain_text("yes or no")
    worker.field("'pairs.question'").first.fill("Which club did Ada play for?")
    expect(hints).to_have_count(0)
    worker.field("'pairs.answer'").first.fill("Ada")
    expect(hints).to_have_text("The answer stands in the question, word for word.")
    # The hint moves with what it is about.
    worker.page.get_by_role("button", name="Down with pair 1").click()
    expect(worker.page.locator("#hints-pairs-1 li")).to_have_count(1)
    worker.field("'pairs.question'").first.fill("How tall is Ada?")
    worker.field("'pairs.answer'").first.fill("1.80 m")
    worker.submit.click()
    worker.sees_item("table-1")
    assert len(answers_of(worker.person)[0]["pairs"]) == 2


def test_enter_in_an_answer_sends_the_form_and_moves_no_pair(at_work, stage, faults):
    faults.announce("^422: POST")
    worker = at_work(make_member(stage.project), stage)
    worker.field("'pairs.question'").first.fill("How tall is Ada?")
    worker.field("'pairs.answer'").first.fill("1.80 m")
    worker.press("Enter")
    expect(worker.page.locator("#error-pairs")).to_have_text("Write at least 2 pairs; these are 1.")
    assert questions(worker)[0] == "How tall is Ada?"
    assert not Annotation.objects.exists()


def test_tab_goes_from_pair_to_pair_and_nothing_that_is_typed_presses_a_button(at_work, stage):
    worker = at_work(make_member(stage.project), stage)
    for words in ("How tall is Ada?", "1.80 m", "For whom did Ada play?", "Rovers"):
        worker.page.keyboard.type(words)
        worker.press("Tab")
    expect(worker.page.get_by_role("button", name="Add a pair")).to_be_focused()
    worker.press("Control+Enter")  # sends the answer from anywhere: a button that has the focus is not pressed by it
    worker.sees_item("table-1")
    assert answers_of(worker.person)[0]["pairs"] == [
        {"question": "How tall is Ada?", "answer": "1.80 m"},
        {"question": "For whom did Ada play?", "answer": "Rovers"},
    ]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_what_is_missing_has_the_focus_and_the_reason_is_in_sight(at_work, stage, faults, size):
    faults.announce("^422: POST")
    stage.versions.update(fields=[FORM[0] | {"min": 4}])
    worker = at_work(make_member(stage.project), stage, viewport=size)
    for n, words in enumerate(("First?", "Second?", "Third?")):
        worker.field("'pairs.question'").nth(n).fill(words)
        worker.field("'pairs.answer'").nth(n).fill("one")
    worker.press("Control+Enter")
    expect(worker.page.locator("#error-pairs")).to_be_in_viewport(ratio=0.95)
    expect(worker.field("'pairs.question'").nth(3)).to_be_focused()
    expect(worker.field("'pairs.question'").nth(3)).to_be_in_viewport(ratio=0.95)


def test_three_pairs_are_there_again_after_a_reload_without_network(at_work, stage, faults):
    worker = at_work(make_member(stage.project), stage)
    faults.announce(rf"^failed: POST {where_answers_go()}")
    worker.page.route(f"**{where_answers_go()}**", lambda route: route.abort())
    worker.field("'pairs.question'").first.fill("First?")
    worker.page.get_by_role("button", name="Add a pair").click()
    worker.field("'pairs.question'").nth(1).fill("Second?")
    worker.field("'pairs.question'").nth(2).fill("Third?")
    worker.field("'pairs.answer'").nth(2).fill("3")
    worker.sees_state("Not saved, trying again")
    worker.page.unroute(f"**{where_answers_go()}**")
    worker.page.on("dialog", lambda dialog: dialog.accept())
    worker.open()
    expect(worker.field("'pairs.question'")).to_have_count(3)
    assert questions(worker) == ["First?", "Second?", "Third?"]
    expect(worker.field("'pairs.answer'").nth(2)).to_have_value("3")


def test_without_scripts_the_same_buttons_post_the_form(at_work, stage, faults):
    faults.announce("^422: POST")
    worker = at_work(make_member(stage.project), stage, java_script_enabled=False)
    worker.field("'pairs.question'").first.fill("Did he win")
    worker.page.get_by_role("button", name="Add a pair").click()
    expect(worker.field("'pairs.question'")).to_have_count(3)
    assert questions(worker)[0] == "Did he win"
    expect(worker.page.locator("#hints-pairs-0 li")).to_have_count(3)
    worker.page.get_by_role("button", name="Down with pair 1").click()
    assert questions(worker)[1] == "Did he win"
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(
    ("language", "claim", "question"),
    [
        ("ar", "الماء رطب عند 20 درجة (Celsius).", "هل الماء رطب عند 20 درجة؟"),
        ("zh", "水在20摄氏度时是湿的。", "水在20摄氏度时是湿的吗？"),
        ("ta", "தண்ணீர் ஈரமானது.", "தண்ணீர் ஈரமானதா?"),
    ],
)
def test_a_claim_is_rewritten_in_its_own_script(at_work, language, claim, question):
    project = make_project()
    form = [dict(field) for field in KINDS["rewrite"].fields]
    stage = make_stage(project, kind="rewrite", form=form, shown_keys=["claim"], title="Rewrite")
    label = make_stage(project)
    feeds.set_feed(source=stage, target=label, by=None, recipe=feeds.offered_recipe(stage, label))
    make_stage_item(stage, make_item(project, [["claim", claim]], language=language))
    worker = at_work(make_member(project), stage)
    worker.sees_item(claim)
    is_rtl = language == "ar"
    assert worker.headline.evaluate("e => getComputedStyle(e).direction") == ("rtl" if is_rtl else "ltr")
    worker.field("question").fill(question.rstrip("?؟？"))
    hint = worker.page.locator("#hints-question-0 li")
    expect(hint).to_have_text("A question usually ends with a question mark.")
    worker.field("question").press_sequentially(question[-1])
    expect(hint).to_have_count(0)
    assert worker.field("question").evaluate("e => getComputedStyle(e).direction") == ("rtl" if is_rtl else "ltr")
    worker.option("yes").check()
    worker.submit.click()
    expect(worker.headline).to_have_text("All done")
    resolving.resolve_due()
    assert label.stage_items.get().revision.content[0] == ["question", question]


def test_the_pages_of_writing_are_within_reach(new_context, site, stage):
    project = stage.project
    admin, author = make_member(project, "admin"), make_member(project)
    make_stage(project, kind="answer", form=SHORT_ANSWER, shown_keys=["question", "table"], title="Answer")
    check = make_stage(project, is_cross_group=True, title="Cross-check", state="draft")
    rewrite = make_stage(
        project, kind="rewrite", form=[dict(field) for field in KINDS["rewrite"].fields], shown_keys=["claim"]
    )
    problems = []
    for person, pages in (
        (author, [("work", stage)]),
        (admin, [("stage", stage), ("stage", check), ("stage", rewrite), ("cross-check-agreement", check)]),
    ):
        context = new_context()
        sign_in(context, person, site)
        page = context.new_page()
        for name, row in pages:
            page.goto(reverse(name, args=[project.slug, row.slug]))
            if name == "work":
                page.locator("[name='pairs.question']").first.fill("Did he win")
                expect(page.locator("#hints-pairs-0 li")).to_have_count(3)
            problems += problems_of(page, f"{name} {row.kind}")
    assert problems == []
