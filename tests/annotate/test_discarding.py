"""A draw that should not have been made: taken back before anybody answers, ended with a reason after."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotate.exceptions import WorkNotPossible
from annotate.models import (
    Annotation,
    Assignment,
    Audit,
    Event,
    ItemSet,
    Participation,
    Question,
    Stage,
    StageItem,
)
from annotate.services import assigning, discarding, projects
from annotate.services.auditing import draw_made
from annotate.services.discarding import discard_audit, way_to_end
from annotate.services.questions import ask_question
from annotate.services.submitting import skip_assignment
from tests.annotate.audits import AuditStudy
from tests.api_client import ApiClient
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db) -> AuditStudy:
    study = AuditStudy()
    study.draw(k=2)
    return study


def discard(study, reason: str = "The wrong strata."):
    return discard_audit(stage=study.stage, by=study.admin, reason=reason)


def run_out(held: Assignment) -> None:
    Assignment.objects.filter(pk=held.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))


def test_before_anybody_answers_a_draw_is_taken_back_whole_and_the_history_keeps_it(study):
    n = study.stage.stage_items.count()
    discard(study)
    stage = Stage.objects.get(pk=study.stage.pk)
    assert stage.state == "draft"
    assert draw_made(stage) is None
    assert not stage.stage_items.exists()
    assert not ItemSet.objects.exists()
    event = Event.objects.get(verb="audit.discarded")
    assert (event.actor, event.detail["reason"], event.detail["before"]) == (
        study.admin.pseudonym, "The wrong strata.", "open",
    )  # fmt: skip
    assert (event.detail["n"], event.detail["seed"], event.detail["rule"]["k"]) == (n, 5, 2)
    # And the stage can be drawn for anew, by any rule.
    made = study.draw(k=1, keys=[], seed=9)
    assert stage.stage_items.count() == made.n_drawn
    with pytest.raises(WorkNotPossible, match="drawn already, by seed 9"):
        study.draw()


def test_a_lease_that_ran_out_goes_and_one_that_runs_is_not_taken_from_anybody(study):
    me, other = study.reviewers
    held = study.next_for(me)
    ask_question(project=study.project, person=me, text="Which table?", client_key="q", about=held)
    assert way_to_end(study.stage) == discarding.NOT_NOW
    with pytest.raises(WorkNotPossible, match="Somebody has an item of it before them"):
        discard(study)
    assert Audit.objects.exists()
    assert Assignment.objects.filter(pk=held.pk).exists()
    run_out(held)
    assert way_to_end(study.stage) == discarding.DISCARD
    discard(study)
    assert not Assignment.objects.exists()
    assert not Participation.objects.filter(stage=study.stage).exists()
    # What was asked stays, about the stage.
    assert (Question.objects.get().stage, Question.objects.get().stage_item) == (study.stage, None)
    study.draw(k=2)
    projects.open_stage(stage=study.stage, by=study.admin)
    for person in (me, other):
        assert isinstance(assigning.claim_next(stage=Stage.objects.get(pk=study.stage.pk), person=person), Assignment)


@pytest.mark.parametrize("what", ["answer", "skip"])
def test_after_an_answer_or_a_skip_the_draw_stays_and_closing_keeps_the_reason(study, what):
    held = study.next_for(study.reviewers[0])
    if what == "answer":
        study.say(held, "right")
    else:
        skip_assignment(assignment=held, reason="broken")
    assert way_to_end(study.stage) == discarding.CLOSE
    with pytest.raises(WorkNotPossible, match="People have answered: the draw stays"):
        discard(study)
    assert StageItem.objects.filter(stage=study.stage).exists()
    assert Annotation.objects.exists() == (what == "answer")
    closed = projects.close_stage(stage=study.stage, by=study.admin, reason="The wrong strata.")
    assert way_to_end(closed) == discarding.ENDED
    assert discarding.reason_closed(closed) == "The wrong strata."
    assert Event.objects.get(verb="stage.closed").detail == {"before": "open", "reason": "The wrong strata."}
    with pytest.raises(WorkNotPossible):
        discard(study)
    # Opened again and closed without a word, there is no reason any more.
    projects.open_stage(stage=closed, by=study.admin)
    assert discarding.reason_closed(Stage.objects.get(pk=closed.pk)) == ""
    assert discarding.reason_closed(projects.close_stage(stage=closed, by=study.admin)) == ""


def test_a_set_that_others_work_with_by_now_stays(study):
    drawn = ItemSet.objects.get()
    make_run(study.labels, drawn)
    discard(study)
    assert ItemSet.objects.get() == drawn
    assert drawn.entries.count() == drawn.n_items
    made = study.draw(k=2)
    assert made.audit.item_set.name != drawn.name


def test_a_stage_without_a_draw_has_none_to_discard(study):
    discard(study)
    with pytest.raises(WorkNotPossible, match="Nothing was drawn"):
        discard(study)
    assert Event.objects.filter(verb="audit.discarded").count() == 1


def test_the_page_and_programs_discard_with_a_reason_or_close_with_one(study):
    client = Client()
    client.force_login(study.admin)
    address = f"/p/{study.project.slug}/stages/{study.stage.slug}/"
    assert "Discard this draw" in client.get(address).text
    refused = client.post(f"{address}audit/discard/", {"reason": " "}, follow=True)
    assert "Nothing was discarded: give a reason." in refused.text
    assert Audit.objects.exists()
    done = client.post(f"{address}audit/discard/", {"reason": "By mistake."}, follow=True)
    assert "The draw is discarded, and the stage is a draft again." in done.text
    assert "Show the strata" in done.text
    study.draw(k=2)
    projects.open_stage(stage=study.stage, by=study.admin)
    held = study.next_for(study.reviewers[0])
    page = client.get(address).text
    assert "Discard this draw" not in page
    assert "somebody has an item of it before them" in page
    study.say(held, "right")
    page = client.get(address).text
    assert "End it before it is complete" in page
    api = ApiClient(study.admin, "run")
    base = f"projects/{study.project.slug}/stages/{study.stage.slug}/"
    assert api.post(f"{base}audit/discard/", reason="Late.").status_code == 409
    assert api.post(f"{base}audit/discard/").status_code == 422
    client.post(f"{address}state/", {"step": "close", "reason": "Bad <b>strata</b>."})
    told = client.get(f"{address}audit/results/").text
    assert "The stage was closed for this reason: <bdi>Bad &lt;b&gt;strata&lt;/b&gt;.</bdi>" in told
    assert "End it before" not in client.get(address).text


def test_programs_discard_and_close_with_a_reason(study):
    api = ApiClient(study.admin, "run")
    base = f"projects/{study.project.slug}/stages/{study.stage.slug}/"
    gone = api.post(f"{base}audit/discard/", reason="By mistake.")
    assert (gone.status_code, gone.json()["state"]) == (200, "draft")
    assert Event.objects.get(verb="audit.discarded").detail["reason"] == "By mistake."
    study.draw(k=2)
    projects.open_stage(stage=study.stage, by=study.admin)
    assert api.post(f"{base}state/", step="close", reason="Enough.").status_code == 200
    assert Event.objects.get(verb="stage.closed").detail["reason"] == "Enough."


@pytest.mark.django_db(transaction=True)
def test_of_a_claim_and_a_discard_at_once_one_comes_first():
    for _ in range(4):
        study = AuditStudy({("science", "yes"): 2})
        study.draw(k=1)
        start, found = threading.Barrier(2), {}

        def claim(study=study, start=start, found=found):
            start.wait(timeout=30)
            found["claimed"] = study.next_for(study.reviewers[0])
            connection.close()

        def take_back(study=study, start=start, found=found):
            start.wait(timeout=30)
            try:
                discard(study)
                found["discarded"] = True
            except WorkNotPossible:
                found["discarded"] = False
            connection.close()

        threads = [threading.Thread(target=target) for target in (claim, take_back)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        is_held = isinstance(found["claimed"], Assignment)
        assert found["discarded"] != is_held
        assert Assignment.objects.filter(stage=study.stage).exists() == is_held
        assert study.stage.stage_items.exists() == is_held
