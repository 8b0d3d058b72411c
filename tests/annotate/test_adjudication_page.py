"""The page where disputed items are decided: what is seen, what is sent, what is refused."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, Assignment, Decision, Feed, Gold, Membership, Person, Resolution, Stage
from annotate.services import resolving
from annotate.services.submitting import revise_annotation
from annotate.stage_kinds import adjudication_fields, review_fields
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dispute() -> SimpleNamespace:
    project = make_project()
    judges = make_stage(
        project,
        kind="adjudicate",
        roles=["adjudicator"],
        form=adjudication_fields(SHORT_ANSWER),
        options={"makes_gold": True},
    )
    stage = make_stage(project, kind="answer", overlap=4, adjudicated_in=judges, form=SHORT_ANSWER)
    item = make_item(project, [["question", "By how many places?"]], gold={"answer": ["GOLDEN"]})
    place = make_stage_item(stage, item)
    people = [make_member(project) for _ in range(4)]
    for person, (answer, why) in zip(
        people,
        (
            ("6 places", "from 1st to 7th"),
            ("6 places", "seven less one"),
            ("dropped 2", "from 1st to 3rd"),
            ("nine", ""),
        ),
        strict=True,
    ):
        make_annotation(place, person, {"answer": answer} | ({"why": why} if why else {}))
    resolving.resolve_due()
    judge = make_member(project, "adjudicator")
    client = Client()
    client.force_login(judge)
    return SimpleNamespace(
        project=project, judges=judges, stage=stage, item=item, place=place, people=people, judge=judge, client=client,
        address=f"/work/{project.slug}/{judges.slug}/",
    )  # fmt: skip


def hidden(page: str) -> dict[str, str]:
    form = page[page.index('id="answer-form"') :].partition("</form>")[0]
    return dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', form))


def token(page: str) -> str:
    return re.search(r'data-token="([^"]+)"', page)[1]


def card(page: str, words: str) -> str:
    return re.search(rf'value="([0-9a-f]+)" data-words="{words}"', page)[1]


def post(dispute, page: str, *, fragment: bool = False, step: str = "submit", **sent):
    form = hidden(page) | {name.replace("decision_", "decision-"): value for name, value in sent.items()}
    headers = {"HX-Request": "true"} if fragment else {}
    return dispute.client.post(reverse(f"work-{step}", args=[token(page)]), form, headers=headers)


def test_the_home_page_leads_there(dispute):
    assert dispute.address in dispute.client.get("/").text


def test_answers_stand_side_by_side_with_votes_and_what_differs(dispute):
    page = dispute.client.get(dispute.address).text
    assert "2 of 4" in page
    assert len(re.findall(r'class="vote-card[ "]', page)) == 3
    assert "no majority after 4 answers" in page
    assert "from 1st to <del>7th</del><mark>3rd</mark>" in page
    assert "seven less one" in page


def test_nobody_is_named_and_no_gold_is_shown(dispute):
    page = dispute.client.get(dispute.address).text
    assert not any(person.pseudonym in page for person in dispute.people)
    assert "GOLDEN" not in page
    assert not re.search(r'value="\d+" data-words', page)


def test_what_is_taken_is_stored_and_the_next_item_comes(dispute):
    page = dispute.client.get(dispute.address).text
    response = post(dispute, page, fragment=True, decision_card=card(page, "nine"), decision_reason="They moved nine.")
    assert response.status_code == 200
    assert "All done" in response.text
    decision = Decision.objects.get()
    assert (decision.kind, decision.reason, decision.annotation.answer) == (
        "taken",
        "They moved nine.",
        {"answer": "nine"},
    )
    resolving.resolve_due()
    assert Resolution.objects.get(stage_item=dispute.place).answer == "nine"


def test_without_a_choice_or_a_reason_the_page_says_so_and_keeps_what_was_typed(dispute):
    page = dispute.client.get(dispute.address).text
    response = post(dispute, page, decision_reason="Because I say so.")
    assert response.status_code == 422
    assert "Choose one of the answers." in response.text
    assert "Because I say so." in response.text
    response = post(dispute, page, decision_card=card(page, "nine"))
    assert response.status_code == 422
    assert "Say why, in a line" in response.text
    assert not Annotation.objects.filter(assignment__stage=dispute.judges).exists()


def test_without_scripts_an_answer_is_changed_in_two_steps(dispute):
    page = dispute.client.get(dispute.address).text
    response = post(dispute, page, decision_card=card(page, "dropped 2"), decision_reason="Two.", decision_look="edit")
    assert response.status_code == 422
    assert 'name="answer" value="dropped 2"' in response.text
    assert "Two." in response.text
    response = post(dispute, response.text, answer="2 places", decision_reason="Two.")
    assert response.status_code == 302
    decision = Decision.objects.get()
    assert (decision.kind, decision.annotation.answer) == ("edited", {"answer": "2 places"})
    assert decision.taken_from.answer["answer"] == "dropped 2"


def test_with_scripts_a_look_is_no_refusal(dispute):
    page = dispute.client.get(dispute.address).text
    response = post(dispute, page, fragment=True, decision_look="bad", decision_reason="No 2015.")
    assert response.status_code == 200
    assert "Mark as bad item" in response.text
    assert post(dispute, response.text, decision_reason="No 2015.").status_code == 302
    assert Decision.objects.get().kind == "bad"


def test_to_edit_one_has_to_be_chosen(dispute):
    page = dispute.client.get(dispute.address).text
    assert "Choose the answer that you want to change." in post(dispute, page, decision_look="edit").text


def test_a_vote_that_changed_is_a_409_that_keeps_the_words_and_shows_the_new_votes(dispute):
    page = dispute.client.get(dispute.address).text
    turned = Annotation.objects.get(assignment__stage=dispute.stage, answer__answer="nine")
    revise_annotation(
        assignment=turned.assignment, answer={"answer": "ten"}, client_key="x", stage_version=turned.stage_version
    )
    response = post(dispute, page, fragment=True, decision_card=card(page, "dropped 2"), decision_reason="Two it is.")
    assert response.status_code == 409
    assert "have changed since you opened it" in response.text
    assert "Two it is." in response.text
    assert 'data-words="ten"' in response.text
    # What was chosen is still chosen, where it still is.
    assert re.search(r'data-words="dropped 2" checked', response.text)
    assert not Decision.objects.exists()
    again = post(dispute, response.text, decision_card=card(response.text, "dropped 2"), decision_reason="Two it is.")
    assert again.status_code == 302


def test_a_draft_comes_back(dispute):
    page = dispute.client.get(dispute.address).text
    sent = {"decision_card": card(page, "nine"), "decision_reason": "Half a th", "draft_version": "1"}
    assert post(dispute, page, step="draft", **sent).status_code == 200
    again = dispute.client.get(dispute.address).text
    assert "Half a th" in again
    assert re.search(r'data-words="nine" checked', again)


def test_a_decision_is_changed_until_the_stage_is_closed(dispute):
    page = dispute.client.get(dispute.address).text
    post(dispute, page, decision_card=card(page, "nine"), decision_reason="Nine.", decision_is_gold="1")
    assert Gold.objects.get(is_current=True).answers == ["nine"]
    address = reverse("work-revise", args=[token(page)])
    page = dispute.client.get(address).text
    assert "Nine." in page
    response = post(dispute, page, step="revise", decision_card=card(page, "6 places"))
    assert response.status_code == 302
    assert Decision.objects.count() == 2
    assert Gold.objects.get(is_current=True).answers == ["GOLDEN"]
    page = dispute.client.get(address).text
    dispute.judges.state = "closed"
    dispute.judges.save()
    again = {"decision_card": card(page, "nine"), "decision_reason": "Nine."}
    assert post(dispute, page, step="revise", **again).status_code == 409


def test_those_who_answered_get_nothing_to_decide_and_others_no_page(dispute):
    Membership.objects.filter(person=dispute.people[0]).update(role="adjudicator")
    client = Client()
    client.force_login(dispute.people[0])
    empty = client.get(dispute.address).text
    assert "1 item waits for the decision of somebody else" in empty
    assert "answers of other people" not in empty
    client.force_login(dispute.people[1])
    assert client.get(dispute.address).status_code == 404
    page = dispute.client.get(dispute.address).text
    # The form names the person who opened it.
    assert client.post(reverse("work-submit", args=[token(page)]), hidden(page)).status_code == 409
    assert not Decision.objects.exists()


def test_who_answered_and_what_models_said_changes_nothing_on_the_page(dispute, monkeypatch):
    run = make_run(
        dispute.stage, make_item_set(dispute.project, [dispute.item]), state="done", frozen_at=timezone.now()
    )
    prediction = make_prediction(run, dispute.item, {"answer": "6 places"})

    def look() -> str:
        return re.sub(
            r'(csrfmiddlewaretoken|client_key)" value="[^"]*"|nonce="[^"]*"',
            "",
            dispute.client.get(dispute.address).text,
        )

    before = look()
    for n, person in enumerate(dispute.people):
        Person.objects.filter(pk=person.pk).update(pseudonym=f"P-OTHER{n:03d}")
    # Two people who gave different answers change their names with one another, so to say.
    first, second = Assignment.objects.filter(stage=dispute.stage).order_by("pk")[:2]
    Assignment.objects.filter(pk=first.pk).update(finished_at=second.finished_at, leased_at=second.leased_at)
    Gold.objects.update(answers=["another label that is much longer"], origin="adjudicator")
    type(prediction).objects.update(answer={"answer": "dropped 2"})
    assert look() == before


def test_the_page_reads_no_hidden_table_and_costs_the_same_for_many_votes(dispute):
    dispute.client.get(dispute.address)
    with CaptureQueriesContext(connection) as few:
        dispute.client.get(dispute.address)
    assert not [query for query in few if re.search(r"annotate_(itemkey|gold)\b|evaluation_", query["sql"])]
    dispute.place.refresh_from_db()
    dispute.place.wanted = 10
    dispute.place.save()
    for n in range(6):
        make_annotation(dispute.place, make_member(dispute.project), {"answer": f"another {n}", "why": "x"})
    with CaptureQueriesContext(connection) as many:
        dispute.client.get(dispute.address)
    assert len(many) == len(few) <= 16


class TestReview:
    @pytest.fixture
    def reviewed(self, dispute):
        reviewing = make_stage(
            dispute.project, kind="review", roles=["meta_reviewer"], form=review_fields(SHORT_ANSWER)
        )
        Feed.objects.create(source=dispute.stage, target=reviewing, rule="decided")
        page = dispute.client.get(dispute.address).text
        post(dispute, page, decision_card=card(page, "nine"), decision_reason="Nine.")
        resolving.resolve_due()
        expert = make_member(dispute.project, "meta_reviewer")
        dispute.client.force_login(expert)
        dispute.address = f"/work/{dispute.project.slug}/{reviewing.slug}/"
        return dispute

    def test_the_label_the_answers_and_the_item_are_seen(self, reviewed):
        page = reviewed.client.get(reviewed.address).text
        assert "GOLDEN" in page
        assert "adjudicated, 4 answers" in page
        assert len(re.findall(r'class="vote-card[ "]', page)) == 3
        assert 'name="answer" value="GOLDEN"' in page
        assert not any(person.pseudonym in page for person in reviewed.people)

    def test_accept_edit_and_refusals(self, reviewed):
        page = reviewed.client.get(reviewed.address).text
        known = {"question": "By how many places?", "answer": "GOLDEN"}
        refused = post(reviewed, page, decision="drop", **known)
        assert refused.status_code == 422
        assert "choose a reason" in refused.text
        assert post(reviewed, page, decision="edit", **known | {"answer": "nine"}).status_code == 302
        assert Gold.objects.get(is_current=True).answers == ["nine"]

    def test_a_correction_that_was_not_sent_changes_nothing_and_an_empty_one_is_refused(self, reviewed):
        page = reviewed.client.get(reviewed.address).text
        refused = post(reviewed, page, decision="edit", question="", answer="nine")
        assert refused.status_code == 422
        assert "Nothing is left here" in refused.text
        assert post(reviewed, page, decision="edit", answer="nine").status_code == 302
        assert Gold.objects.get(is_current=True).answers == ["nine"]
        assert reviewed.item.revisions.count() == 1

    def test_a_stage_may_keep_the_answers_from_reviewers(self, reviewed):
        Stage.objects.filter(kind="review").update(options={"shows_votes": False})
        page = reviewed.client.get(reviewed.address).text
        assert "dropped 2" not in page
        assert "adjudicated, 4 answers" in page

    def test_each_field_says_to_which_decision_it_belongs(self, reviewed):
        page = reviewed.client.get(reviewed.address).text
        assert re.findall(r'data-when="(\w+)"', page) == ["drop", "edit", "edit"]

    def test_a_label_that_changed_is_a_409(self, reviewed):
        page = reviewed.client.get(reviewed.address).text
        Gold.objects.update(is_current=False)
        Gold.objects.create(item=reviewed.item, field="answer", version=2, answers=["eight"])
        response = post(reviewed, page, decision="accept", question="By how many places?", answer="GOLDEN")
        assert response.status_code == 409
        assert "eight" in response.text
