"""The work page under the hands of somebody who answers: keys, the next item in place, skipping, flagging, changing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotate.models import Annotation, Assignment, Participation
from tests.browser.queues import COLD, LARGE, SALTY, answers_of, make_queue
from tests.browser.visitors import NARROW, where_answers_go
from tests.factories import SHORT_ANSWER, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.browser

MEDALS = {
    "type": "grid",
    "columns": ["Name", "Mira Halvorsen"],
    "rows": [["Gold medals", "2009 Oslo, singles; 2011 Bergen, doubles; 2015 Jakarta, doubles"], ["Country", "Norway"]],
}


def test_a_whole_stage_is_answered_with_keys_alone_and_without_leaving_the_page(at_work):
    stage = make_queue(SALTY, COLD, LARGE)
    worker = at_work(make_member(stage.project), stage)
    worker.sees_item(SALTY)
    worker.mark()
    assert worker.focused == "label"

    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    worker.press("2", "Control+Enter")
    worker.sees_item(LARGE)
    worker.press("3", "Control+Enter")

    worker.sees_item("All done")
    worker.sees_state(re.compile(r"^Saved \d\d:\d\d$"))
    assert worker.is_same_page
    assert answers_of(worker.person) == [{"label": "yes"}, {"label": "no"}, {"label": "not_sure"}]
    assert Participation.objects.get().n_answered == 3


def test_the_next_item_starts_at_its_top_with_the_focus_on_its_first_field(at_work):
    stage = make_stage(make_project(), order="sequential", shown_keys=["question", "text"])
    for n in (1, 2):
        content = [["question", f"Question {n}"], ["text", "Many words. " * 2_000]]
        make_stage_item(stage, make_item(stage.project, content))
    worker = at_work(make_member(stage.project), stage)
    worker.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    assert worker.page.evaluate("window.scrollY") > 1_000
    worker.press("2")

    worker.press("Control+Enter")

    worker.sees_item("Question 2")
    assert worker.focused == "label"
    assert worker.page.evaluate("window.scrollY") == 0
    expect(worker.headline).to_be_in_viewport()


def test_letters_open_what_is_printed_on_the_buttons_and_escape_leaves(at_work):
    stage = make_queue(SALTY, COLD)
    worker = at_work(make_member(stage.project), stage)
    page = worker.page
    guidelines, flag, dialog = page.locator("#guidelines-text"), page.locator("#flag"), page.get_by_role("dialog")

    worker.press("?")
    expect(guidelines).to_be_visible()
    expect(worker.headline).to_be_visible()  # Beside the item, not instead of it.
    panel, headline = page.locator(".guidelines-panel").bounding_box(), worker.headline.bounding_box()
    assert headline["x"] + headline["width"] <= panel["x"] or headline["y"] >= panel["y"] + panel["height"]
    worker.press("Escape")
    expect(guidelines).to_be_hidden()

    worker.press("f")
    expect(flag).to_be_checked()
    expect(page.get_by_label("What is wrong with it")).to_be_visible()
    worker.press("f")
    expect(flag).not_to_be_checked()

    worker.press("s")
    expect(dialog.get_by_role("heading", name="Skip this item")).to_be_visible()
    worker.press("Escape")
    expect(dialog).to_be_hidden()
    assert Assignment.objects.get(person=worker.person).state == "leased"


def test_an_item_is_skipped_with_a_reason_by_keys_and_the_next_one_comes(at_work):
    stage = make_queue(SALTY, COLD)
    worker = at_work(make_member(stage.project), stage)
    worker.mark()
    worker.press("s")
    expect(worker.page.get_by_role("dialog")).to_be_visible()
    worker.press("2")
    worker.page.get_by_label("A word about it").fill("salty how?")

    worker.press("Control+Enter")

    worker.sees_item(COLD)
    assert worker.is_same_page
    skipped = Assignment.objects.get(person=worker.person, state="skipped")
    assert (skipped.skip_reason, skipped.skip_note) == ("ambiguous", "salty how?")
    assert Annotation.objects.count() == 0


def test_nothing_is_skipped_without_a_reason(at_work):
    worker = at_work_alone(at_work)
    worker.press("s")
    worker.page.get_by_role("button", name="Skip it").click()

    expect(worker.page.get_by_role("dialog")).to_be_visible()
    worker.sees_item(SALTY)
    assert Assignment.objects.get().state == "leased"


def at_work_alone(at_work):
    stage = make_queue(SALTY, COLD)
    return at_work(make_member(stage.project), stage)


def test_a_flag_and_its_note_go_along_with_the_answer(at_work):
    worker = at_work_alone(at_work)
    worker.press("1", "f")
    worker.page.get_by_label("What is wrong with it").fill("which sea?")
    worker.press("Control+Enter")

    worker.sees_item(COLD)
    annotation = Annotation.objects.get()
    assert (annotation.answer, annotation.is_flagged, annotation.flag_note) == ({"label": "yes"}, True, "which sea?")
    expect(worker.page.locator("#flag")).not_to_be_checked()


def test_single_keys_are_letters_while_somebody_types(at_work):
    stage = make_queue(SALTY, COLD, kind="answer", form=SHORT_ANSWER)
    worker = at_work(make_member(stage.project), stage)
    assert worker.focused == "answer"

    worker.page.keyboard.type("1 sf?")

    expect(worker.field("answer")).to_have_value("1 sf?")
    expect(worker.page.get_by_role("dialog")).to_be_hidden()
    expect(worker.page.locator("#flag")).not_to_be_checked()
    expect(worker.page.locator("#guidelines-text")).to_be_hidden()
    worker.press("Escape", "f")  # Escape leaves the field; then a letter is a key again.
    expect(worker.page.locator("#flag")).to_be_checked()
    worker.press("Control+Enter")
    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "1 sf?"}]


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta", "Shift"])
def test_single_keys_do_nothing_with_a_modifier(at_work, modifier):
    worker = at_work_alone(at_work)
    worker.mark()
    for key in "sf":
        worker.press(f"{modifier}+{key}")
    if modifier != "Shift":  # Some keyboards have digits only with Shift.
        worker.press(f"{modifier}+1")

    expect(worker.page.get_by_role("dialog")).to_be_hidden()
    expect(worker.page.locator("#flag")).not_to_be_checked()
    expect(worker.option("yes")).not_to_be_checked()
    assert worker.is_same_page


def test_a_required_answer_that_is_missing_is_asked_for_beside_its_field(at_work, faults):
    worker = at_work_alone(at_work)
    faults.announce(rf"^422: POST {where_answers_go()}")
    worker.mark()

    worker.press("Control+Enter")

    error = worker.page.locator("#error-label")
    expect(error).to_be_visible()
    expect(worker.page.locator("#answer-form fieldset").first).to_have_attribute("aria-invalid", "true")
    worker.sees_state("Not submitted")
    assert worker.focused == "label"
    assert worker.is_same_page
    assert Annotation.objects.count() == 0
    below = worker.submit.bounding_box()
    worker.press("2")
    # The message was about what was sent. Nothing moves under the pointer when it goes.
    expect(error).to_have_count(0)
    expect(worker.page.locator("#answer-form").get_by_text("Choose one answer.")).to_be_hidden()
    expect(worker.page.locator("#answer-form [aria-invalid=true]")).to_have_count(0)
    assert worker.submit.bounding_box() == below
    worker.press("Control+Enter")
    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"label": "no"}]


def test_the_last_answer_is_changed_from_where_one_is(at_work):
    worker = at_work_alone(at_work)
    worker.mark()
    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    last = worker.page.locator(".last-answer")
    expect(last).to_contain_text("Yes")

    last.get_by_role("link").click()
    worker.sees_item(SALTY)
    expect(worker.option("yes")).to_be_checked()
    worker.press("3", "Control+Enter")
    worker.sees_item(COLD)

    # And by the key that is printed on it.
    expect(last.locator("kbd")).to_have_text("c")
    worker.press("c")
    worker.sees_item(SALTY)
    expect(worker.option("not_sure")).to_be_checked()
    worker.press("2", "Control+Enter")

    worker.sees_item(COLD)
    expect(last).to_contain_text("No")
    assert worker.is_same_page
    first, _, second = Annotation.objects.order_by("number")
    assert (first.answer, first.is_current) == ({"label": "yes"}, False)
    assert (second.answer, second.is_current) == ({"label": "no"}, True)


def test_the_head_counts_mine_and_the_empty_states_say_what_comes_next(at_work):
    stage = make_queue(SALTY, overlap=2)
    first, second = make_member(stage.project), make_member(stage.project)
    worker = at_work(first, stage)
    progress = worker.page.locator("#work-progress")
    expect(progress).to_contain_text("you 0")
    worker.press("1", "Control+Enter")
    worker.sees_item("You have done everything you can here")
    expect(progress).to_contain_text("you 1")

    other = at_work(second, stage)
    other.sees_item(SALTY)
    third = at_work(make_member(stage.project), stage)
    third.sees_item("All are taken at the moment")
    expect(third.page.locator("#item")).to_contain_text("may come back")
    other.press("1", "Control+Enter")
    other.sees_item("All done")
    third.page.get_by_role("link", name="Look again").click()
    third.sees_item("All done")


def test_on_a_phone_the_buttons_stay_at_the_lower_edge_and_taps_do_it_all(at_work):
    stage = make_stage(make_project(), order="sequential", shown_keys=["question", "text"])
    for n in (1, 2):
        make_stage_item(stage, make_item(stage.project, [["question", f"Question {n}"], ["text", "Words. " * 900]]))
    worker = at_work(make_member(stage.project), stage, viewport=NARROW, has_touch=True, is_mobile=True)
    page = worker.page
    box = worker.submit.bounding_box()
    assert box["height"] >= 44
    assert NARROW["height"] - 120 < box["y"] + box["height"] <= NARROW["height"]

    page.locator("label.option", has_text="Yes").tap()
    worker.submit.tap()

    worker.sees_item("Question 2")
    assert page.evaluate("window.scrollY") == 0  # What is given comes first, and is read from its start.
    assert answers_of(worker.person) == [{"label": "yes"}]


def test_the_buttons_stand_in_one_row_beside_a_table_and_stay_there_when_time_is_shown(at_work):
    stage = make_stage(make_project(), form=SHORT_ANSWER, shown_keys=["question", "table"], order="sequential")
    make_stage_item(stage, make_item(stage.project, [["question", SALTY], ["table", MEDALS]]))
    worker = at_work(make_member(stage.project), stage)

    def places() -> list[dict[str, float]]:
        return [one.bounding_box() for one in worker.page.locator(".work-actions .button:visible").all()]

    before = places()
    assert len(before) == 4
    assert len({one["y"] for one in before}) == 1
    worker.page.keyboard.type("yes")
    expect(worker.page.locator("#work-timer")).not_to_be_empty()
    assert places() == before


@pytest.mark.parametrize("n_more", [0, 4], ids=["two-columns", "six-columns"])
def test_a_table_of_long_texts_is_read_on_a_phone_without_scrolling_the_page(at_work, n_more):
    stage = make_stage(make_project(), shown_keys=["question", "table"], order="sequential")
    table = MEDALS | {
        "columns": [*MEDALS["columns"], *["More"] * n_more],
        "rows": [[*row, *["2009 Oslo, singles"] * n_more] for row in MEDALS["rows"]],
    }
    make_stage_item(stage, make_item(stage.project, [["question", SALTY], ["table", table]]))
    worker = at_work(make_member(stage.project), stage, viewport=NARROW, has_touch=True, is_mobile=True)
    sizes = worker.page.evaluate(
        """() => [".given .table-scroll", "html"].map((one) => document.querySelector(one))
             .map((one) => one.scrollWidth - one.clientWidth)"""
    )
    # Few columns fold; many scroll within the table, and never the page.
    assert (sizes[0] > 0) == bool(n_more)
    assert sizes[1] == 0


@pytest.mark.parametrize("state", ["Not submitted", "Changed in another tab", "Not saved, trying again"])
def test_on_a_phone_the_question_stays_below_the_head_whatever_the_head_says(at_work, faults, state):
    stage = make_stage(make_project(), form=SHORT_ANSWER, shown_keys=["question", "table"], order="sequential")
    make_stage_item(stage, make_item(stage.project, [["question", SALTY], ["table", MEDALS]]))
    worker = at_work(make_member(stage.project), stage, viewport=NARROW, has_touch=True, is_mobile=True)
    head = worker.page.locator(".site-head")
    before = head.bounding_box()["height"]
    if state == "Not submitted":
        faults.announce("^422: POST")
        worker.submit.tap()
    else:
        status = 409 if state.startswith("Changed") else 503
        faults.announce(f"^{status}: POST .*/draft/")
        worker.page.route("**/draft/", lambda route: route.fulfill(status=status, body="{}"))
        worker.field("answer").fill("yes")
    worker.sees_state(state)
    worker.page.evaluate("scrollTo(0, 200)")
    below = head.bounding_box()
    assert worker.headline.bounding_box()["y"] >= below["y"] + below["height"]
    # Trouble gets a line of its own, anything else none.
    assert (below["height"] == before) == (not state.startswith("Not saved"))
