"""Every step of somebody's work in a browser that runs no scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Annotation, Assignment, Session
from annotate.services import people
from tests.browser.queues import COLD, LARGE, SALTY, answers_of, make_queue
from tests.browser.visitors import Worker
from tests.factories import SHORT_ANSWER, make_member

pytestmark = pytest.mark.browser


def without_scripts(at_work, stage, person=None) -> Worker:
    return at_work(person or make_member(stage.project), stage, java_script_enabled=False)


def test_from_the_code_to_the_last_item(new_context, site):
    stage = make_queue(SALTY, COLD)
    person, code = people.new_annotator(project=stage.project)
    page = new_context(java_script_enabled=False).new_page()
    page.goto("/")
    page.get_by_label("Participant code").fill(code)
    page.get_by_role("button", name="Sign in", exact=True).first.click()
    page.get_by_role("link", name="Start").click()
    worker = Worker(page, person, stage)
    worker.sees_item(SALTY)

    page.get_by_text("Yes", exact=True).click()
    worker.submit.click()
    worker.sees_item(COLD)
    expect(page).to_have_url(f"{site}{worker.path}")  # Reloading sends nothing again.
    page.get_by_text("No", exact=True).click()
    worker.submit.click()

    worker.sees_item("All done")
    assert answers_of(person) == [{"label": "yes"}, {"label": "no"}]
    page.get_by_role("link", name="To my stages").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_skipping_flagging_and_reading_the_guidelines(at_work):
    worker = without_scripts(at_work, make_queue(SALTY, COLD, LARGE))
    page = worker.page
    page.get_by_text("Guidelines").click()
    expect(page.locator("#guidelines-text")).to_be_visible()

    page.locator("#skip summary").click()
    page.get_by_text("The item is broken or unreadable").click()
    page.get_by_role("button", name="Skip it").click()
    worker.sees_item(COLD)
    assert Assignment.objects.get(person=worker.person, state="skipped").skip_reason == "broken"

    page.get_by_role("checkbox", name="Flag").check()
    page.get_by_label("What is wrong with it").fill("which moon?")
    page.get_by_text("Not sure enough", exact=True).click()
    worker.submit.click()
    worker.sees_item(LARGE)
    annotation = Annotation.objects.get()
    assert (annotation.answer, annotation.flag_note) == ({"label": "not_sure"}, "which moon?")
    assert annotation.is_flagged


def test_a_missing_answer_is_asked_for_and_what_was_written_stays(at_work, faults):
    faults.announce(r"^422: POST .*/submit/")
    worker = without_scripts(at_work, make_queue(SALTY, COLD, kind="answer", form=SHORT_ANSWER))
    worker.field("why").fill("I do not know, but ...")
    worker.submit.click()

    expect(worker.page.locator("#error-answer")).to_be_visible()
    expect(worker.field("why")).to_have_value("I do not know, but ...")
    assert Annotation.objects.count() == 0


def test_the_last_answer_is_changed(at_work):
    worker = without_scripts(at_work, make_queue(SALTY, COLD))
    page = worker.page
    page.get_by_text("Yes", exact=True).click()
    worker.submit.click()
    worker.sees_item(COLD)

    page.get_by_role("link", name="change it").click()
    worker.sees_item(SALTY)
    expect(worker.option("yes")).to_be_checked()
    page.get_by_text("No", exact=True).click()
    worker.submit.click()

    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"label": "no"}]
    assert Annotation.objects.count() == 2


def test_the_back_button_stores_no_second_answer(at_work):
    worker = without_scripts(at_work, make_queue(SALTY, COLD))
    worker.page.get_by_text("Yes", exact=True).click()
    worker.submit.click()
    worker.sees_item(COLD)

    worker.page.go_back()

    # Nothing is kept by the browser: going back asks for the page, which is at the present item.
    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"label": "yes"}]


def test_an_answer_sent_without_a_session_is_carried_through_signing_in(at_work, faults):
    faults.announce(r"^401: POST .*/submit/")
    stage = make_queue(SALTY, COLD, kind="answer", form=SHORT_ANSWER)
    person, code = people.new_annotator(project=stage.project)
    worker = without_scripts(at_work, stage, person)
    page = worker.page
    worker.field("answer").fill("yes & <very>")
    Session.objects.all().delete()
    worker.submit.click()
    expect(page.get_by_role("alert")).to_contain_text("your answer was not stored")
    assert Annotation.objects.count() == 0

    page.get_by_label("Participant code").fill(code)
    page.get_by_role("button", name="Sign in", exact=True).first.click()
    expect(page.get_by_role("heading", name="You are signed in again")).to_be_visible()
    page.get_by_role("button", name="Send my answer").click()

    worker.sees_item(COLD)
    assert answers_of(person) == [{"answer": "yes & <very>"}]
