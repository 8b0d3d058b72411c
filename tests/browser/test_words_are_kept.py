"""No word is lost and no answer counted twice: drafts, a dead network, a dead session, double clicks, two tabs."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Route, expect

from annotate.models import Annotation, Assignment, Session
from annotate.services import people
from tests.browser.queues import COLD, LARGE, SALTY, answers_of, make_queue
from tests.browser.visitors import Worker, sign_in
from tests.factories import SHORT_ANSWER, make_member

pytestmark = pytest.mark.browser

SAVED = re.compile(r"^Saved \d\d:\d\d$")
TRYING = "Not saved, trying again"
SUBMITS = re.compile(r"/submit/$")
DRAFTS = re.compile(r"/draft/$")


@pytest.fixture
def stage():
    return make_queue(SALTY, COLD, LARGE, kind="answer", form=SHORT_ANSWER)


@pytest.fixture
def worker(at_work, stage) -> Worker:
    return at_work(make_member(stage.project), stage)


def second_tab(worker: Worker) -> Worker:
    tab = Worker(worker.page.context.new_page(), worker.person, worker.stage)
    tab.open()
    return tab


def stay_when_asked(worker: Worker) -> None:
    """Leaving the page with an unsent answer asks first; these tests mean to leave."""
    worker.page.on("dialog", lambda dialog: dialog.accept())


# Drafts


def test_typed_words_are_saved_by_themselves_and_are_there_after_a_reload(worker):
    worker.page.keyboard.type("It is")
    worker.field("why").fill("I swam in it.")
    worker.press("Escape", "f")

    worker.sees_state(SAVED)

    draft = worker.held.draft
    assert draft["answer"] == {"answer": "It is", "why": "I swam in it."}
    assert draft["is_flagged"] is True
    worker.page.evaluate("sessionStorage.clear()")  # What the server has, not what the tab has kept.
    worker.page.reload()
    expect(worker.field("answer")).to_have_value("It is")
    worker.sees_state("Saved")
    expect(worker.field("answer")).to_be_focused()
    worker.page.keyboard.type(" so")  # after what is there, not before it
    expect(worker.field("answer")).to_have_value("It is so")
    expect(worker.field("why")).to_have_value("I swam in it.")
    expect(worker.page.locator("#flag")).to_be_checked()
    assert Annotation.objects.count() == 0


def test_words_typed_before_the_page_is_ready_are_saved_and_no_key_fails(new_context, stage, site):
    person = make_member(stage.project)
    context = new_context()
    sign_in(context, person, site)
    # A machine under load lets seconds pass between the scripts and the event on which the page begins.
    context.add_init_script(
        """const add = document.addEventListener.bind(document);
        document.addEventListener = (name, act, how) =>
          add(name, name === "DOMContentLoaded" ? () => setTimeout(act, 1500) : act, how);"""
    )
    worker = Worker(context.new_page(), person, stage)
    worker.open()
    worker.press("s", "a", "?", "?")
    worker.field("answer").fill("early")
    worker.sees_state("")
    worker.sees_state(SAVED)
    assert worker.held.draft["answer"]["answer"] == "early"


def test_words_typed_just_before_a_reload_are_kept_by_the_tab(worker, faults):
    faults.announce(r"^failed: POST .*/draft/")
    worker.page.route(DRAFTS, lambda route: route.abort())
    worker.page.keyboard.type("It is salty")
    worker.sees_state(TRYING)
    worker.page.unroute(DRAFTS)

    worker.page.reload()

    expect(worker.field("answer")).to_have_value("It is salty")
    worker.sees_state(SAVED)
    assert worker.held.draft["answer"]["answer"] == "It is salty"


def test_of_two_tabs_the_later_draft_is_refused_quietly_and_its_words_stay_in_their_tab(worker, faults):
    faults.announce(r"^409: POST .*/draft/")
    other = second_tab(worker)
    worker.field("answer").fill("written here first")
    worker.sees_state(SAVED)

    other.field("answer").fill("written there")

    other.sees_state("Changed in another tab")
    expect(other.notice).to_be_hidden()
    expect(other.field("answer")).to_have_value("written there")
    assert worker.held.draft["answer"]["answer"] == "written here first"


def test_a_draft_that_arrives_after_the_answer_changes_nothing(worker, faults):
    faults.announce(r"^409: POST .*/draft/")
    late: list[Route] = []
    worker.page.route(DRAFTS, lambda route: late.append(route))
    worker.page.keyboard.type("half an ans")
    worker.sees_state("Saving")
    worker.field("answer").fill("the answer")
    worker.press("Control+Enter")
    worker.sees_item(COLD)

    with worker.page.expect_response(DRAFTS) as response:
        late[0].continue_()

    assert response.value.status == 409
    worker.sees_state(SAVED)
    submitted = Assignment.objects.get(state="submitted")
    assert submitted.draft is None
    assert answers_of(worker.person) == [{"answer": "the answer"}]


# The network and the server


def test_an_answer_given_without_a_network_is_kept_and_goes_through_once_when_it_is_back(worker, faults):
    faults.announce(r"^failed: POST .*/submit/ net::ERR_INTERNET_DISCONNECTED")
    worker.mark()
    worker.page.keyboard.type("yes, very")
    worker.sees_state(SAVED)
    worker.page.context.set_offline(True)

    worker.press("Control+Enter")

    worker.sees_state(TRYING)
    expect(worker.notice).to_contain_text("Your answer is kept on this page")
    expect(worker.field("answer")).to_have_value("yes, very")
    worker.press("Control+Enter", "Control+Enter")  # Impatience changes nothing.
    worker.sees_state(TRYING)
    assert Annotation.objects.count() == 0

    worker.page.context.set_offline(False)

    worker.sees_item(COLD)
    worker.sees_state(SAVED)
    expect(worker.notice).to_be_hidden()
    assert worker.is_same_page
    assert answers_of(worker.person) == [{"answer": "yes, very"}]
    assert worker.held.stage_item.rank == 1


def test_an_answer_whose_acknowledgement_was_lost_is_stored_once(worker, faults):
    faults.announce(r"^failed: POST .*/submit/")
    n_sent = []

    def lose_the_first(route: Route) -> None:
        n_sent.append(1)
        if len(n_sent) == 1:
            route.fetch()  # It reached the server ...
            route.abort()  # ... and nobody learnt of it.
        else:
            route.continue_()

    worker.page.route(SUBMITS, lose_the_first)
    worker.page.keyboard.type("yes")
    worker.press("Control+Enter")

    worker.sees_item(COLD)

    assert len(n_sent) == 2
    assert answers_of(worker.person) == [{"answer": "yes"}]
    assert Annotation.objects.count() == 1


def test_a_server_in_trouble_gets_the_answer_a_moment_later(worker, faults):
    faults.announce(r"^500: POST .*/submit/")
    worker.page.route(SUBMITS, lambda route: route.fulfill(status=500, body="no"), times=1)
    worker.page.keyboard.type("yes")
    worker.press("Control+Enter")
    expect(worker.notice).to_contain_text("The server has trouble")
    expect(worker.field("answer")).to_have_value("yes")

    worker.sees_item(COLD)

    worker.sees_state(SAVED)
    assert answers_of(worker.person) == [{"answer": "yes"}]


def test_an_unsent_answer_survives_a_reload_of_the_page(worker, faults):
    faults.announce(r"^failed: POST .*/submit/")
    stay_when_asked(worker)
    worker.page.route(SUBMITS, lambda route: route.abort())
    worker.page.keyboard.type("yes")
    worker.press("Control+Enter")
    worker.sees_state(TRYING)
    worker.page.unroute(SUBMITS)

    worker.page.reload()

    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "yes"}]


# The session


@pytest.fixture
def with_codes(at_work, stage):
    """Two people of the same stage and their codes; the first is at work."""
    first, first_code = people.new_annotator(project=stage.project)
    second, second_code = people.new_annotator(project=stage.project)
    return at_work(first, stage), first_code, second, second_code


def test_signing_in_again_over_the_page_sends_the_answer(with_codes, faults):
    worker, code, *_ = with_codes
    faults.announce(r"^401: POST .*/submit/")
    worker.mark()
    worker.page.keyboard.type("yes")
    worker.sees_state(SAVED)
    Session.objects.all().delete()

    worker.press("Control+Enter")

    dialog = worker.page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="You are signed out")).to_be_visible()
    expect(worker.page.locator("#sign-in-code")).to_be_focused()
    expect(worker.field("answer")).to_have_value("yes")
    assert Annotation.objects.count() == 0
    worker.page.keyboard.type(code.lower())
    worker.press("Enter")
    worker.sees_item(COLD)
    expect(dialog).to_be_hidden()
    assert worker.is_same_page
    assert answers_of(worker.person) == [{"answer": "yes"}]


def test_a_wrong_code_over_the_page_is_told_there_and_not_now_keeps_the_answer(with_codes, faults):
    worker, code, *_ = with_codes
    faults.announce(r"^401: POST .*/submit/", r"^\d+: POST /sign-in/")
    worker.page.keyboard.type("yes")
    Session.objects.all().delete()
    worker.press("Control+Enter")
    worker.page.locator("#sign-in-code").fill("0000-0000-0000")
    worker.press("Enter")
    expect(worker.page.locator("#sign-in-error")).not_to_be_empty()
    worker.press("Escape")
    expect(worker.notice).to_contain_text("Your answer is kept on this page")
    worker.sees_state("Signed out: sign in here, your answer is kept")

    worker.page.get_by_role("button", name="Signed out: sign in here").click()
    worker.page.locator("#sign-in-code").fill(code)
    worker.press("Enter")

    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "yes"}]


def test_somebody_else_who_signs_in_over_the_page_sends_nothing(with_codes, faults):
    worker, code, second, second_code = with_codes
    faults.announce(r"^401: POST .*/submit/", r"^409: POST .*/submit/")
    worker.page.keyboard.type("my own words")
    Session.objects.all().delete()
    worker.press("Control+Enter")

    worker.page.locator("#sign-in-code").fill(second_code)
    worker.press("Enter")

    title = worker.page.get_by_role("heading", name="Somebody else is signed in")
    expect(title).to_be_visible()
    expect(worker.field("answer")).to_have_value("my own words")
    assert Annotation.objects.count() == 0
    assert not Assignment.objects.filter(person=second).exists()

    worker.page.locator("#sign-in-code").fill(code)
    worker.press("Enter")
    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "my own words"}]
    assert answers_of(second) == []


def test_an_answer_from_before_the_last_sign_in_goes_through(with_codes, faults):
    worker, code, *_ = with_codes
    # Signing in anew, in another tab, changes the token that the forms of this page carry.
    faults.announce(r"^403: POST .*/submit/")
    other = worker.page.context.new_page()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_label("Participant code").fill(code)
    other.keyboard.press("Enter")
    expect(other.get_by_role("heading", name="My stages")).to_be_visible()

    worker.field("answer").fill("yes")
    worker.press("Control+Enter")

    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "yes"}]


# Once


def test_a_double_click_submits_once(worker):
    worker.page.keyboard.type("yes")

    worker.submit.dblclick()

    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "yes"}]
    expect(worker.page.locator("#item .field-error")).to_have_count(0)


def test_the_second_half_of_a_slow_double_click_does_not_submit_the_next_item(worker):
    worker.page.keyboard.type("yes")
    box = worker.submit.bounding_box()
    mouse = worker.page.mouse
    mouse.move(box["x"] + 20, box["y"] + 20)
    mouse.down(click_count=1)
    mouse.up(click_count=1)
    worker.sees_item(COLD)

    mouse.down(click_count=2)
    mouse.up(click_count=2)
    worker.page.keyboard.type("no")
    worker.sees_state(SAVED)

    expect(worker.page.locator("#item .field-error")).to_have_count(0)
    assert answers_of(worker.person) == [{"answer": "yes"}]


def test_two_tabs_with_the_same_answer_give_one(worker):
    other = second_tab(worker)
    other.sees_item(SALTY)
    for tab in (worker, other):
        tab.field("answer").fill("first")
        tab.press("Control+Enter")
        tab.sees_item(COLD)
    assert answers_of(worker.person) == [{"answer": "first"}]
    assert Annotation.objects.count() == 1


def test_other_words_in_a_second_tab_are_called_saved_only_when_they_are(worker, faults):
    faults.announce(r"^409: POST .*/submit/")
    other = second_tab(worker)
    worker.field("answer").fill("first")
    worker.press("Control+Enter")
    worker.sees_item(COLD)

    other.field("answer").fill("second")
    other.press("Control+Enter")

    expect(other.page.locator("#form-error")).to_contain_text("in another tab: “first”")
    other.sees_state("Not submitted")
    other.sees_item(SALTY)
    expect(other.field("answer")).to_have_value("second")
    assert answers_of(worker.person) == [{"answer": "first"}]
    other.press("Control+Enter")
    other.sees_item(COLD)
    other.sees_state(SAVED)
    assert answers_of(worker.person) == [{"answer": "second"}]
    assert Annotation.objects.count() == 2


def test_back_and_forward_find_the_present_item_and_store_nothing_again(worker):
    worker.page.goto(reverse("home"))
    worker.page.get_by_role("link", name="Start").click()
    worker.field("answer").fill("yes")
    worker.press("Control+Enter")
    worker.sees_item(COLD)

    worker.page.go_back()
    expect(worker.page.get_by_role("heading", name="My stages")).to_be_visible()
    worker.page.go_forward()

    worker.sees_item(COLD)
    expect(worker.field("answer")).to_have_value("")
    assert answers_of(worker.person) == [{"answer": "yes"}]
