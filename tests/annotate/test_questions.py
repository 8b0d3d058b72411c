"""Questions: asked beside an item, answered by admins, read by whoever asked, pinned for all without a name."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Event, Participation, Question
from annotate.person_token import person_token
from annotate.services import assigning, projects, questions
from tests.annotate.test_queue_race import in_threads
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


class World:
    def __init__(self) -> None:
        self.project = make_project()
        self.stage = make_stage(self.project, overlap=3, order="sequential")
        for n in range(3):
            make_stage_item(self.stage, make_item(self.project, [["question", f"Is {n} even?"]]))
        self.admin, self.me, self.other = (
            make_member(self.project, role) for role in ("admin", "annotator", "annotator")
        )

    def browser(self, person) -> Client:
        client = Client()
        client.force_login(person)
        return client

    def work(self, person) -> str:
        cache.clear()
        return self.browser(person).get(reverse("work", args=[self.project.slug, self.stage.slug])).content.decode()

    def ask(self, person, text: str = "Does zero count?", key: str = "ask-1", about: str = "item", **headers):
        held = assigning.claim_next(stage=self.stage, person=person)
        form = {"person": person_token(person), "text": text, "client_key": key, "about": about}
        return self.browser(person).post(reverse("work-ask", args=[held.token]), form, headers=headers)

    def answer(self, question: Question, **given):
        form = {f"q{question.pk}-{name}": value for name, value in ({"answer": "It does."} | given).items()}
        return self.browser(self.admin).post(reverse("question-answer", args=[self.project.slug, question.pk]), form)


@pytest.fixture
def world() -> World:
    return World()


def test_a_question_is_about_the_item_in_hand_and_leaves_it_there(world):
    response = world.ask(world.me)
    assert response.status_code == 302
    asked = Question.objects.get()
    held = world.me.assignments.get()
    assert (asked.person, asked.stage, asked.stage_item) == (world.me, world.stage, held.stage_item)
    assert asked.revision == held.stage_item.revision
    assert held.state == "leased"
    assert Event.objects.get(verb="question.asked").detail == {}, "an event holds no words"


def test_a_question_in_general_names_the_stage_alone(world):
    world.ask(world.me, about="stage")
    asked = Question.objects.get()
    assert (asked.stage, asked.stage_item, asked.revision) == (world.stage, None, None)


def test_the_same_question_sent_twice_is_asked_once(world):
    first, second = (world.ask(world.me, Accept="application/json") for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert Question.objects.count() == Event.objects.filter(verb="question.asked").count() == 1
    assert first.json()["client_key"] != second.json()["client_key"], "the next question is another one"


@pytest.mark.django_db(transaction=True)
def test_ten_clicks_ask_once():
    world = World()

    def click(_):
        return questions.ask_question(project=world.project, person=world.me, text="Really?", client_key="one")

    asked = in_threads(click, [world.me] * 10)
    assert len({one.pk for one in asked}) == 1
    assert Event.objects.filter(verb="question.asked").count() == 1


@pytest.mark.parametrize("text", ["", "   ", "x" * 2_001])
def test_a_question_without_words_or_with_too_many_is_refused(world, text):
    response = world.ask(world.me, text=text, Accept="application/json")
    assert response.status_code == 422
    assert response.json()["message"]
    assert not Question.objects.exists()


def test_nobody_asks_under_another_persons_name(world):
    held = assigning.claim_next(stage=world.stage, person=world.me)
    form = {"person": person_token(world.other), "text": "Hm?", "client_key": "k"}
    assert world.browser(world.me).post(reverse("work-ask", args=[held.token]), form).status_code == 409
    assert not Question.objects.exists()


def test_an_answer_reaches_whoever_asked_once_and_nobody_else(world):
    world.ask(world.me)
    assert world.answer(Question.objects.get()).status_code == 302
    assert "It does." in world.work(world.me)
    assert "It does." not in world.work(world.other)
    assert "1 answer to your question" in world.browser(world.me).get("/").content.decode()
    read = world.browser(world.me).post(
        reverse("my-questions-read", args=[world.project.slug]), {"stage": world.stage.slug}
    )
    assert read.url == reverse("work", args=[world.project.slug, world.stage.slug])
    assert "It does." not in world.work(world.me)
    assert (
        "It does." in world.browser(world.me).get(reverse("my-questions", args=[world.project.slug])).content.decode()
    )


def test_an_answer_that_is_said_better_is_told_again_and_one_that_is_only_pinned_is_not(world):
    world.ask(world.me)
    question = Question.objects.get()
    world.answer(question)
    questions.mark_answers_read(project=world.project, person=world.me)
    world.answer(question, is_pinned="on")
    question.refresh_from_db()
    assert question.read_at is not None
    world.answer(question, answer="It does, always.", is_pinned="on")
    question.refresh_from_db()
    assert question.read_at is None


def test_what_is_pinned_stands_beside_the_guidelines_of_its_stage_without_a_name(world):
    elsewhere = make_stage(world.project)
    world.ask(world.me, text="I, Ada, wonder: does zero count?")
    question = Question.objects.get()
    world.answer(question, is_pinned="on", pinned_text="Does zero count?")
    page = world.work(world.other)
    assert "Questions and answers" in page
    assert "Does zero count?" in page
    assert "Ada" not in page
    assert world.me.pseudonym not in page
    assert questions.pinned_beside(elsewhere) == []
    world.answer(question)
    assert "Questions and answers" not in world.work(world.other)
    verbs = Event.objects.filter(subject="question").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["question.asked", "question.answered", "question.pinned", "question.unpinned"]


def test_a_question_about_the_project_is_pinned_in_all_its_stages(world):
    asked = questions.ask_question(project=world.project, person=world.me, text="When are we paid?", client_key="k")
    questions.answer_question(question=asked, by=world.admin, answer="On Fridays.", is_pinned=True)
    for stage in (world.stage, make_stage(world.project)):
        assert questions.pinned_beside(stage) == [("When are we paid?", "On Fridays.")]
    assert questions.pinned_beside(make_stage()) == []


def test_a_pin_reaches_the_page_of_somebody_at_work_with_their_next_item(world):
    page = world.work(world.other)
    form = dict(
        re.findall(r'<input type="hidden" name="([\w.]+)" value="([^"]*)">', page.partition('id="answer-form"')[2])
    )
    world.ask(world.me)
    world.answer(Question.objects.get(), is_pinned="on")
    token = world.other.assignments.get().token
    sent = form | {"label": "yes"}
    address = reverse("work-submit", args=[token])
    fragment = world.browser(world.other).post(address, sent, headers={"HX-Request": "true"}).content.decode()
    assert 'id="guidelines-text" hx-swap-oob="true"' in fragment
    assert "Does zero count?" in fragment
    # And only then: who has it already is not sent it again.
    pins = re.search(r'name="pins.seen" value="([^"]+)"', fragment)[1]
    token = world.other.assignments.get(state="leased").token
    sent |= {"client_key": "another", "pins.seen": pins}
    again = world.browser(world.other).post(reverse("work-submit", args=[token]), sent, headers={"HX-Request": "true"})
    assert again.status_code == 200
    assert "guidelines-text" not in again.content.decode()


def test_admins_see_unanswered_questions_first_with_the_item_and_who_asked(world):
    world.ask(world.me, text="The first?", key="a")
    world.answer(Question.objects.get())
    world.ask(world.other, text="The second?", key="b")
    page = world.browser(world.admin).get(reverse("questions", args=[world.project.slug])).content.decode()
    assert "1 question waits for an answer." in page
    assert page.index("The second?") < page.index("The first?")
    assert world.other.pseudonym in page
    assert "Is 0 even?" in page
    assert questions.n_unanswered(world.project) == 1


def test_an_empty_answer_is_refused_and_the_pin_is_kept_in_its_form(world):
    world.ask(world.me)
    response = world.answer(Question.objects.get(), answer=" ", is_pinned="on")
    assert response.status_code == 422
    assert "Write an answer first." in response.content.decode()
    assert Question.objects.get().state == "open"


def test_the_list_goes_on_by_key_in_a_constant_number_of_queries(world):
    def cost(n: int) -> tuple[int, str]:
        for k in range(n):
            asked = questions.ask_question(
                project=world.project,
                person=world.me,
                text=f"Question {k:03}?",
                client_key=f"{n}-{k}",
                stage=world.stage,
            )
            if k % 2:
                questions.answer_question(question=asked, by=world.admin, answer="Yes.")
        client = world.browser(world.admin)
        with CaptureQueriesContext(connection) as queries:
            response = client.get(reverse("questions", args=[world.project.slug]))
        return len(queries), response.content.decode()

    small, _ = cost(3)
    large, page = cost(70)
    assert small == large
    seen = re.findall(r"<h2[^>]*>(Question \d+\?)", page)
    while following := re.search(r'href="(\?after=[^"]+)" rel="next"', page):
        page = (
            world.browser(world.admin)
            .get(reverse("questions", args=[world.project.slug]) + following[1])
            .content.decode()
        )
        seen += re.findall(r"<h2[^>]*>(Question \d+\?)", page)
    assert len(seen) == 73
    assert len(re.findall("waiting", page)) == 0, "the last ones are answered"


@pytest.mark.parametrize("after", ["nonsense", "open-", "open-x", "answered-99999999999999999999", "draft-1", "-"])
def test_a_page_address_mended_by_hand_is_the_first_page(world, after):
    response = world.browser(world.admin).get(reverse("questions", args=[world.project.slug]), {"after": after})
    assert response.status_code == 200


def test_questions_of_another_project_are_nobodys_here(world):
    other = World()
    other.ask(other.me)
    question = Question.objects.get()
    address = reverse("question-answer", args=[world.project.slug, question.pk])
    assert world.browser(world.admin).post(address, {f"q{question.pk}-answer": "x"}).status_code == 404
    address = reverse("question-answer", args=[other.project.slug, question.pk])
    assert world.browser(world.admin).post(address, {f"q{question.pk}-answer": "x"}).status_code == 404
    assert Question.objects.get().state == "open"


def test_new_guidelines_are_told_once_with_what_is_new(world):
    world.work(world.me)
    assert "The guidelines changed" not in world.work(world.me)
    projects.write_guidelines(
        project=world.project, stage=world.stage, by=world.admin, markdown="Answer what is asked. Zero counts."
    )
    page = world.work(world.me)
    assert "The guidelines changed" in page
    address = reverse("work-guidelines", args=[world.project.slug, world.stage.slug])
    told = world.browser(world.me).get(address).content.decode()
    assert "<mark>" in told
    assert "Zero counts" in told
    version = re.search(r'name="guideline_version" value="(\d+)"', told)[1]
    world.browser(world.me).post(address, {"guideline_version": version})
    assert "The guidelines changed" not in world.work(world.me)
    assert "What is new" not in world.browser(world.me).get(address).content.decode()
    # Whoever begins now has read the newest ones, and is told nothing.
    assert "The guidelines changed" not in world.work(world.other)
    assert Participation.objects.filter(guidelines_known__number=2).count() == 2


def test_guidelines_that_changed_while_the_older_change_was_read_are_told_too(world):
    world.work(world.me)
    for text in ("Second.", "Third."):
        projects.write_guidelines(project=world.project, stage=world.stage, by=world.admin, markdown=text)
    second = world.stage.guideline_versions.get(number=2)
    address = reverse("work-guidelines", args=[world.project.slug, world.stage.slug])
    world.browser(world.me).post(address, {"guideline_version": second.pk})
    assert "The guidelines changed" in world.work(world.me)


def test_a_paused_member_asks_nothing_and_sees_no_questions(world):
    held = assigning.claim_next(stage=world.stage, person=world.me)
    projects.pause_member(membership=world.me.memberships.get(), by=world.admin)
    form = {"person": person_token(world.me), "text": "Hm?", "client_key": "k"}
    assert world.browser(world.me).post(reverse("work-ask", args=[held.token]), form).status_code == 404
    assert world.browser(world.me).get(reverse("my-questions", args=[world.project.slug])).status_code == 404
