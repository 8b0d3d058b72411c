"""Where everybody lands, and what it costs."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Membership, Participation, Stage
from tests.factories import make_annotation, make_annotator, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def home_of(person):
    client = Client()
    client.force_login(person)
    return client.get(reverse("home"))


def test_an_annotator_sees_their_stages_with_mine_and_everyones_progress():
    stage = make_stage(make_project(title="Rivers"), title="Which is longer?", overlap=2)
    person, other = make_member(stage.project), make_member(stage.project)
    for who in (person, other):
        make_annotation(make_stage_item(stage), who, {"label": "yes"})
    response = home_of(person)
    text = response.content.decode()
    assert "Rivers" in text
    assert "Which is longer?" in text
    assert reverse("work", args=[stage.project.slug, stage.slug]) in text
    assert "2 of 4" in text, "everyone's: two answers of two times two"
    assert person.pseudonym in text
    assert not response.context["my_projects"]


@pytest.mark.parametrize(("state", "shown"), [("open", 1), ("paused", 1), ("draft", 0), ("closed", 0)])
def test_stages_that_hand_something_out_are_listed(state, shown):
    stage = make_stage(state=state)
    assert len(home_of(make_member(stage.project)).context["my_stages"]) == shown


def test_what_there_is_to_do_stands_before_what_is_done_and_has_the_first_button():
    project = make_project()
    person = make_member(project)
    for title, state in (("Done", "open"), ("Paused", "paused"), ("To do", "open"), ("To do, too", "open")):
        place = make_stage_item(make_stage(project, title=title, state=state))
        if title == "Done":
            make_annotation(place, person, {"label": "yes"})
            Participation.objects.create(stage=place.stage, person=person, n_answered=1)
    response = home_of(person)
    assert [stage["title"] for stage in response.context["my_stages"]] == ["To do", "To do, too", "Done", "Paused"]
    assert response.content.decode().count('class="button primary"') == 1


def test_an_admin_sees_the_projects_and_not_the_stages_of_annotators():
    stage = make_stage(make_project(title="Rivers"))
    response = home_of(make_member(stage.project, "admin"))
    assert [project["title"] for project in response.context["my_projects"]] == ["Rivers"]
    assert response.context["my_projects"][0]["summary"] == "1 stage, 1 open"
    assert response.context["my_stages"] == []


def test_a_stranger_sees_nothing_of_others():
    stage = make_stage(make_project(title="Rivers"))
    make_member(stage.project)
    response = home_of(make_member(make_project()))
    assert "Rivers" not in response.content.decode()
    assert "Nothing is open for you" in response.content.decode()


def test_a_paused_member_sees_nothing():
    stage = make_stage()
    person = make_member(stage.project)
    Membership.objects.filter(person=person).update(state="paused")
    assert home_of(person).context["my_stages"] == []


def test_somebody_without_any_project_is_told_so():
    assert "Nothing is open for you" in home_of(make_annotator()).content.decode()


def test_anonymous_visitors_are_led_to_sign_in():
    assert Client().get("/")["Location"] == "/sign-in/?next=/"


def test_home_is_not_kept_by_the_browser():
    assert "no-store" in home_of(make_annotator())["Cache-Control"]


def test_home_costs_the_same_for_many_stages_and_projects():
    person = make_member(make_stage().project)
    client = Client()
    client.force_login(person)
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    for role in ("annotator", "viewer") * 3:
        stage = make_stage()
        make_stage(stage.project)
        make_stage_item(stage)
        Membership.objects.create(person=person, project=stage.project, role=role)
    with CaptureQueriesContext(connection) as many:
        response = client.get("/")
    assert len(response.context["my_stages"]) == 7
    assert len(response.context["my_projects"]) == 3
    # One more: the stages of the projects that are read, all at once.
    assert len(many) <= len(few) + 1 <= 12
    assert Stage.objects.count() == 13
