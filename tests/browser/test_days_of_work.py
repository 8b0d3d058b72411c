"""What somebody needs who works for days: asking, one table at a time, guidelines at hand, their own record."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Question, Stage
from annotate.services import projects, questions
from annotate.services.resolving import resolve_due
from tests.annotate.test_own_work import World
from tests.browser.accessibility import problems_of
from tests.browser.queues import COLD, LARGE, SALTY, answers_of, make_queue
from tests.browser.visitors import NARROW, sign_in
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.browser

ROWS = [[f"Season {n}", f"{n} goals"] for n in range(120)]
TABLE = {"type": "table", "title": "Ada Rovers", "sections": [["Career", ROWS]]}


def make_table(n_questions: int = 9) -> Stage:
    stage = make_stage(make_project(), order="sequential", shown_keys=["question", "table"])
    for table in ("first", "second"):
        root = make_item(stage.project)
        content = TABLE if table == "first" else TABLE | {"title": "Bea United"}
        for n in range(n_questions if table == "first" else 1):
            question = [["question", f"The {table}: question {n + 1}?"], ["table", content]]
            make_stage_item(stage, make_item(stage.project, question, root=root, parent=root))
    return stage


def scroll(page: Page) -> int:
    return int(page.evaluate("Math.round(window.scrollY)"))


def test_a_question_is_asked_answered_pinned_and_seen(at_work, new_context, site):
    stage = make_queue(SALTY, COLD, LARGE, overlap=2)
    admin = make_member(stage.project, "admin")
    worker = at_work(make_member(stage.project), stage)
    page, dialog = worker.page, worker.page.get_by_role("dialog")
    worker.mark()

    worker.press("a")
    expect(dialog.get_by_role("heading", name="Ask the admins")).to_be_visible()
    assert worker.focused == "text"
    page.keyboard.type("Does brackish water count?")
    worker.press("Control+Enter")
    expect(dialog).to_be_hidden()
    worker.sees_state("Question sent")
    worker.sees_item(SALTY)

    office = new_context()
    sign_in(office, admin, site)
    desk = office.new_page()
    desk.goto(reverse("questions", args=[stage.project.slug]))
    expect(desk.get_by_role("heading", name="Does brackish water count?")).to_be_visible()
    expect(desk.locator("main")).to_contain_text(SALTY)
    desk.get_by_label("Answer", exact=True).fill("No: it is neither salty nor fresh.")
    desk.get_by_label("Pin to the guidelines for all").check()
    desk.get_by_role("button", name="Answer").click()
    expect(desk.locator("main")).to_contain_text("Nobody waits for an answer.")

    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    told = page.locator("#told-answers")
    expect(told).to_contain_text("No: it is neither salty nor fresh.")
    worker.press("?")
    expect(page.locator("#guidelines-text")).to_contain_text("Does brackish water count?")
    told.get_by_role("button", name="I have read it").click()
    expect(told).to_have_count(0)
    worker.sees_item(COLD)
    assert worker.is_same_page
    assert Question.objects.get().read_at is not None
    worker.press("2", "Control+Enter")
    worker.sees_item(LARGE)
    expect(page.locator("#told-answers")).to_have_count(0)
    # What is there to ask with says nothing by itself: the next item is what is read aloud.
    expect(page.locator("#announcer")).to_have_text(f"Next item: {LARGE}")

    other = at_work(make_member(stage.project), stage)
    other.press("?")
    expect(other.page.locator("#guidelines-text")).to_contain_text("Does brackish water count?")
    expect(other.page.locator("body")).not_to_contain_text(worker.person.pseudonym)


def test_the_words_of_a_question_are_kept_over_a_reload_and_sent_once_when_the_network_is_back(at_work, faults):
    stage = make_queue(SALTY, COLD)
    worker = at_work(make_member(stage.project), stage)
    faults.announce(r"ERR_INTERNET_DISCONNECTED")
    page = worker.page
    worker.press("a")
    page.keyboard.type("Is brine salty?")
    worker.press("Escape")
    page.reload()
    worker.press("a")
    expect(page.locator("#ask-text")).to_have_value("Is brine salty?")

    page.context.set_offline(True)
    worker.press("Control+Enter")
    expect(page.locator("#ask-problem")).to_contain_text("Your question is kept")
    assert not Question.objects.exists()
    page.context.set_offline(False)

    expect(page.get_by_role("dialog")).to_be_hidden()
    worker.sees_state("Question sent")
    assert [asked.text for asked in Question.objects.all()] == ["Is brine salty?"]
    worker.press("a")
    expect(page.locator("#ask-text")).to_have_value("")


def test_nine_questions_of_one_table_follow_each_other_and_the_table_stays_where_it_was(at_work):
    stage = make_table()
    worker = at_work(make_member(stage.project), stage)
    page = worker.page
    worker.mark()
    page.evaluate("window.scrollTo(0, 1500)")
    for n in range(1, 10):
        worker.sees_item(f"The first: question {n}?")
        expect(page.locator(".in-root")).to_have_text(f"Question {n} of 9 about this table")
        assert scroll(page) == 1500
        expect(worker.headline).to_be_in_viewport()
        worker.press("1", "Control+Enter")
    # Another table begins at its top, and one that stands alone is not numbered.
    worker.sees_item("The second: question 1?")
    assert scroll(page) == 0
    expect(page.locator(".in-root")).to_have_count(0)
    assert worker.is_same_page
    assert len(answers_of(worker.person)) == 9


def test_on_a_phone_the_table_stays_too(at_work):
    stage = make_table(3)
    worker = at_work(make_member(stage.project), stage, viewport=NARROW, has_touch=True, is_mobile=True)
    page = worker.page
    for n in (1, 2, 3):
        worker.sees_item(f"The first: question {n}?")
        page.locator("label.option", has_text="Yes").tap()
        before = scroll(page)
        assert before > 0
        worker.submit.tap()
        if n < 3:
            worker.sees_item(f"The first: question {n + 1}?")
            assert scroll(page) == before
            expect(worker.headline).to_be_in_viewport()
    worker.sees_item("The second: question 1?")
    assert scroll(page) == 0


def test_the_guidelines_stay_open_from_item_to_item_over_a_reload_and_for_each_stage(at_work):
    stage = make_queue(SALTY, COLD, LARGE)
    worker = at_work(make_member(stage.project), stage)
    page, panel = worker.page, worker.page.locator("#guidelines-text")
    worker.press("?")
    expect(panel).to_be_visible()
    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    expect(panel).to_be_visible()
    page.reload()
    expect(panel).to_be_visible()
    other = make_stage(stage.project, title="Another")
    make_stage_item(other)
    page.goto(reverse("work", args=[stage.project.slug, other.slug]))
    expect(page.locator("#guidelines")).to_be_visible()
    expect(panel).to_be_hidden()
    worker.open()
    expect(panel).to_be_visible()
    worker.press("?")
    expect(panel).to_be_hidden()
    page.reload()
    worker.sees_item(COLD)
    expect(panel).to_be_hidden()


def test_on_a_phone_the_guidelines_are_a_sheet_that_closes(at_work):
    stage = make_queue(SALTY, COLD)
    worker = at_work(make_member(stage.project), stage, viewport=NARROW, has_touch=True, is_mobile=True)
    page, panel = worker.page, worker.page.locator(".guidelines-panel")
    page.locator("#guidelines > summary").tap()
    expect(panel).to_be_visible()
    assert panel.bounding_box()["width"] == NARROW["width"]
    panel.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()
    page.locator("#guidelines > summary").tap()
    page.reload()
    worker.sees_item(SALTY)
    expect(panel).to_be_hidden()  # A sheet never stands before the item somebody has just come to.


def test_new_guidelines_are_told_once_on_the_page(at_work):
    stage = make_queue(SALTY, COLD, LARGE)
    worker = at_work(make_member(stage.project), stage)
    worker.sees_item(SALTY)
    projects.write_guidelines(
        project=stage.project, stage=stage, by=None, markdown="Answer what is asked. Brine counts."
    )
    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    told = worker.page.locator("#told-guidelines")
    expect(told).to_contain_text("The guidelines changed.")
    with worker.page.context.expect_page() as opened:
        told.get_by_role("link", name="What is new").click()
    expect(opened.value.locator("mark").first).to_contain_text("Brine")
    told.get_by_role("button", name="I have read it").click()
    expect(told).to_have_count(0)
    worker.press("2", "Control+Enter")
    worker.sees_item(LARGE)
    expect(told).to_have_count(0)


def test_without_scripts_a_question_and_the_guidelines_are_pages(new_context, site):
    stage = make_queue(SALTY, COLD)
    person = make_member(stage.project)
    context = new_context(java_script_enabled=False)
    sign_in(context, person, site)
    page = context.new_page()
    page.goto(reverse("work", args=[stage.project.slug, stage.slug]))
    page.locator("#ask > summary").click()
    page.locator("#ask-text").fill("Is brine salty?")
    page.get_by_role("button", name="Send the question").click()
    expect(page.locator(".alert.is-good")).to_contain_text("Your question was sent.")
    expect(page.locator("#item .headline")).to_have_text(SALTY)
    questions.answer_question(question=Question.objects.get(), by=make_member(stage.project, "admin"), answer="It is.")
    page.reload()
    expect(page.locator("#told-answers")).to_contain_text("It is.")
    page.locator("#told-answers").get_by_role("button").click()
    expect(page.locator("#told-answers")).to_have_count(0)
    page.goto(reverse("work-guidelines", args=[stage.project.slug, stage.slug]))
    expect(page.locator("#guidelines-text")).to_contain_text("Answer what is asked.")


def test_my_work_is_found_from_the_home_and_an_answer_is_changed_from_it(at_work):
    stage = make_queue(SALTY, COLD)
    worker = at_work(make_member(stage.project), stage)
    page = worker.page
    worker.press("1", "Control+Enter")
    worker.sees_item(COLD)
    page.goto("/")
    page.get_by_role("region", name="My work").get_by_role("link", name=stage.project.title, exact=True).click()
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    page.get_by_role("link", name="look or change").click()
    page.get_by_role("link", name="change").click()
    worker.sees_item(SALTY)
    worker.press("2", "Control+Enter")
    worker.sees_item(COLD)
    assert answers_of(worker.person) == [{"label": "no"}]


def test_after_closing_somebody_sees_where_they_differed_and_why(new_context, site):
    world = World()
    world.close()
    context = new_context()
    sign_in(context, world.me, site)
    page = context.new_page()
    page.goto(reverse("my-work", args=[world.project.slug]))
    page.get_by_role("link", name="compare with mine").click()
    expect(page.locator("main")).to_contain_text("compared with what was decided: 2 (the same: 1, differing: 1)")
    page.get_by_role("link", name="Differed").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(["Item 1?"])
    expect(page.locator("main")).to_contain_text("because of yes")
    expect(page.locator("main")).not_to_contain_text(world.second.pseudonym)


def test_the_pages_are_within_everybodys_reach(new_context, site):
    world = World()
    for n in range(3):
        asked = questions.ask_question(
            project=world.project, person=world.me, text=f"Why {n}?", client_key=f"k{n}", stage=world.stage
        )
        if n:
            questions.answer_question(question=asked, by=world.admin, answer="So.", is_pinned=n == 2)
    version = projects.write_guidelines(project=world.project, stage=world.stage, by=None, markdown="Answer. More.")
    assert version.number == 2
    world.places.append(
        make_stage_item(world.stage, make_item(world.project, [["question", "Item 4?"], ["text", "x"]]))
    )
    world.me.participations.update(guidelines_known=world.stage.guideline_versions.get(number=1))
    found = []
    slug, stage = world.project.slug, world.stage.slug
    for person, pages in (
        (world.me, [("home", []), ("work", [slug, stage]), ("work-guidelines", [slug, stage]), ("my-work", [slug]),
                    ("my-answers", [slug, stage]), ("my-questions", [slug])]),
        (world.admin, [("questions", [slug])]),
    ):  # fmt: skip
        context = new_context(reduced_motion="reduce")
        sign_in(context, person, site)
        page = context.new_page()
        for name, arguments in pages:
            page.goto(reverse(name, args=arguments))
            found += problems_of(page, name)
            if name == "work":
                page.keyboard.press("a")
                expect(page.get_by_role("dialog")).to_be_visible()
                found += problems_of(page, "asking")
    resolve_due(limit=100)
    world.close()
    context = new_context(reduced_motion="reduce")
    sign_in(context, world.me, site)
    page = context.new_page()
    page.goto(reverse("my-decided", args=[slug, stage]))
    found += problems_of(page, "my-decided")
    assert found == []
