"""My work: my answers by day and stage, and after a stage is closed where they differ from what was decided."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.exceptions import DecidedNotShown
from annotate.models import Annotation, Decision, Exclusion, Participation, Stage, StageItem
from annotate.services import days_of_work, decided, excluding, own_work, projects
from annotate.services.resolving import resolve_due
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

WITH_REASON = [*YES_NO, {"name": "why", "type": "long_text", "caption": "Why", "decides": False, "required": False}]


class World:
    """Three items with three answers each: I agree on the first, differ on the second, and the third is a tie."""

    def __init__(self, **fields) -> None:
        self.project = make_project()
        self.stage = make_stage(self.project, overlap=3, form=WITH_REASON, **fields)
        self.admin = make_member(self.project, "admin")
        self.me, self.second, self.third = (make_member(self.project) for _ in range(3))
        labels = (("yes", "yes", "yes"), ("no", "yes", "yes"), ("no", "yes", "not_sure"))
        self.items = [make_item(self.project, [["question", f"Item {n}?"]], gold={"label": ["yes"]}) for n in range(3)]
        self.places = [make_stage_item(self.stage, item) for item in self.items]
        for place, three in zip(self.places, labels, strict=True):
            for person, label in zip((self.me, self.second, self.third), three, strict=True):
                answer = {"label": label, "why": f"because of {label}" if person != self.me else "mine"}
                make_annotation(place, person, answer)
        Participation.objects.create(stage=self.stage, person=self.me, n_answered=3, n_skipped=1, active_seconds=50)
        resolve_due(limit=100)

    def close(self) -> None:
        Stage.objects.filter(pk=self.stage.pk).update(state="closed")
        self.stage.refresh_from_db()

    def get(self, name: str, person=None, **query):
        client = Client()
        client.force_login(person or self.me)
        args = [self.project.slug] if name == "my-work" else [self.project.slug, self.stage.slug]
        return client.get(reverse(name, args=args), query)

    def verdicts(self) -> list[str]:
        return [verdict for _pk, verdict in reversed(decided.verdicts_of(self.stage, self.me))]


@pytest.fixture
def world() -> World:
    return World()


def test_days_are_those_of_the_projects_time_zone_and_changes_add_time_but_no_answer():
    project = make_project(time_zone="Asia/Tokyo")
    stage, person = make_stage(project), make_member(project)
    # 16:30 in London is the next day in Tokyo.
    for hour, minute in ((14, 0), (16, 30)):
        given = make_annotation(make_stage_item(stage), person, {"label": "yes"}, active_seconds=10, wall_seconds=60)
        Annotation.objects.filter(pk=given.pk).update(created_at=datetime(2026, 3, 1, hour, minute, tzinfo=UTC))
    Annotation.objects.filter(pk=given.pk).update(is_current=False)
    changed = Annotation.objects.create(
        assignment=given.assignment, stage_version=given.stage_version, number=2, answer={"label": "no"},
        active_seconds=5, wall_seconds=20, client_key="changed",
    )  # fmt: skip
    Annotation.objects.filter(pk=changed.pk).update(created_at=datetime(2026, 3, 1, 17, 0, tzinfo=UTC))
    make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"})
    days = days_of_work.days_of(project, person)
    told = [(str(day.day), day.n_answers, day.active.seconds, day.wall.seconds) for day in days]
    assert told == [("2026-03-02", 1, 15, 80), ("2026-03-01", 1, 10, 60)]


def test_the_page_counts_what_is_mine_and_says_what_is_left(world):
    Annotation.objects.filter(assignment__person=world.me, assignment__stage_item=world.places[0]).update(
        is_flagged=True
    )
    make_stage_item(world.stage)
    make_stage_item(world.stage)
    (work,) = own_work.stages_of(world.project, world.me, "annotator")
    # Five items, three answered, one skipped: one is left.
    assert (work.n_answered, work.n_skipped, work.n_flagged, work.n_left, work.active.seconds) == (3, 1, 1, 1, 50)
    page = world.get("my-work").content.decode()
    assert "look or change" in page
    assert "when the stage is closed" in page
    world.close()
    (work,) = own_work.stages_of(world.project, world.me, "annotator")
    assert work.n_left is None
    assert "compare with mine" in world.get("my-work").content.decode()


def test_my_answers_are_listed_by_key_with_the_way_to_change_them_while_that_is_possible(world):
    for _ in range(own_work.PAGE + 2):
        make_annotation(make_stage_item(world.stage), world.me, {"label": "no"})
    page = world.get("my-answers").content.decode()
    assert page.count("/revise/") == own_work.PAGE
    following = re.search(r'href="\?after=(\d+)" rel="next"', page)[1]
    rest = world.get("my-answers", after=following).content.decode()
    assert rest.count("/revise/") == 5
    assert "because of" not in page + rest
    world.close()
    assert "/revise/" not in world.get("my-answers").content.decode()


@pytest.mark.parametrize("name", ["my-work", "my-answers", "my-decided"])
def test_each_page_costs_the_same_for_few_answers_and_many(name):
    costs = []
    for n in (0, 15):
        world = World()
        for _ in range(n):
            place = make_stage_item(world.stage)
            for person in (world.me, world.second):
                make_annotation(place, person, {"label": "yes", "why": "so"})
        resolve_due(limit=100)
        world.close()
        with CaptureQueriesContext(connection) as queries:
            assert world.get(name).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_an_answer_is_the_same_differs_or_was_split_and_ties_are_said_so(world):
    world.close()
    assert world.verdicts() == ["same", "differed", "split"]
    counts = decided.count_verdicts(decided.verdicts_of(world.stage, world.me))
    assert (counts.n, counts.n_decided, counts.same, counts.differed, counts.split) == (3, 2, 1, 1, 1)
    page = world.get("my-decided").content.decode()
    assert "nothing: a tie" in page
    assert "2 of 3 votes" in page
    assert page.count("because of yes") == 5  # two at the first item, two at the second, one at the third


def test_only_those_that_differed_can_be_listed(world):
    world.close()
    page = world.get("my-decided", show="differed").content.decode()
    assert "Item 1?" in page
    assert "Item 0?" not in page
    assert "Item 2?" not in page


def test_answers_that_mean_the_same_do_not_differ():
    world = World()
    stage = make_stage(world.project, overlap=3, kind="answer", form=SHORT_ANSWER, state="open")
    place = make_stage_item(stage, make_item(world.project))
    for person, words in ((world.me, "365 days"), (world.second, "one year"), (world.third, "12 months")):
        make_annotation(place, person, {"answer": words})
    resolve_due(limit=100)
    assert [verdict for _pk, verdict in decided.verdicts_of(stage, world.me)] == ["same"]


def test_nobody_is_named_and_gold_is_not_told_unless_the_stage_says_so(world):
    world.close()
    with CaptureQueriesContext(connection) as queries:
        page = world.get("my-decided").content.decode()
    assert world.second.pseudonym not in page
    assert world.third.pseudonym not in page
    assert "gold label" not in page
    assert not [query for query in queries if re.search(r"annotate_(gold|itemkey)\b", query["sql"])]
    Stage.objects.update(shows_gold=True)
    assert "gold label" in world.get("my-decided").content.decode()


def adjudicate(world: World, place: StageItem, label: str, reason: str) -> Stage:
    judges = make_stage(world.project, kind="adjudicate", roles=["adjudicator"], form=YES_NO)
    Stage.objects.filter(pk=world.stage.pk).update(adjudicated_in=judges)
    at = make_stage_item(judges, place.revision.item, source=place)
    given = make_annotation(at, make_member(world.project, "adjudicator"), {"label": label})
    Decision.objects.create(annotation=given, kind="own", reason=reason, n_votes=3)
    StageItem.objects.filter(pk=place.pk).update(due_at=given.created_at)
    resolve_due(limit=100)
    resolve_due(limit=100)
    return judges


def test_an_adjudicators_word_is_shown_with_its_reason(world):
    judges = adjudicate(world, world.places[2], "no", "The moon is no cheese.")
    Stage.objects.filter(pk=judges.pk).update(state="closed")
    world.close()
    assert world.verdicts() == ["same", "differed", "same"]
    page = world.get("my-decided").content.decode()
    assert "The moon is no cheese." in page
    assert "by an adjudicator" in page


def test_what_was_left_out_is_counted_apart(world):
    excluding.exclude_item(item=world.items[1], by=world.admin, reason="broken", rule="bad item")
    resolve_due(limit=100)
    world.close()
    assert world.verdicts() == ["same", "left_out", "split"]
    assert Exclusion.objects.standing().exists()
    assert "1 item was left out of every figure." in " ".join(world.get("my-decided").content.decode().split())


def test_what_an_excluded_person_wrote_is_shown_to_nobody(world):
    excluding.exclude_person(project=world.project, person=world.second, by=world.admin, reason="guessed")
    resolve_due(limit=100)
    world.close()
    assert world.get("my-decided").content.decode().count("because of yes") == 2


def refused(world: World) -> str:
    response = world.get("my-decided")
    assert response.status_code == 409
    page = response.content.decode()
    assert "because of" not in page
    assert "Item 1?" not in page
    with pytest.raises(DecidedNotShown) as refusal:
        decided.check_shows_decided(world.stage)
    return str(refusal.value)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_nothing_is_told_before_the_stage_is_closed(world, state):
    Stage.objects.filter(pk=world.stage.pk).update(state=state)
    world.stage.refresh_from_db()
    assert "when the stage is closed" in refused(world)


def test_nothing_is_told_where_the_stage_does_not_show_it(world):
    world.close()
    Stage.objects.update(shows_decided=False)
    world.stage.refresh_from_db()
    assert "does not show" in refused(world)


@pytest.mark.parametrize("state", ["draft", "open", "paused"])
@pytest.mark.parametrize("kind", ["label", "audit", "answer"])
def test_nothing_is_told_while_another_stage_asks_about_the_same_items(world, kind, state):
    world.close()
    other = make_stage(world.project, kind=kind, state=state)
    place = make_stage_item(other, world.items[0])
    assert "another stage" in refused(world)
    # An item that is out of that queue is asked about no more, and other items say nothing.
    StageItem.objects.filter(pk=place.pk).update(state="withdrawn")
    make_stage_item(other)
    assert world.get("my-decided").status_code == 200
    StageItem.objects.filter(pk=place.pk).update(state="open")
    Stage.objects.filter(pk=other.pk).update(state="closed")
    assert world.get("my-decided").status_code == 200


def test_nothing_is_told_while_an_adjudication_is_open(world):
    judges = adjudicate(world, world.places[2], "no", "So it is.")
    world.close()
    assert "another stage" in refused(world)
    Stage.objects.filter(pk=judges.pk).update(state="closed")
    assert world.get("my-decided").status_code == 200


def test_nothing_is_told_while_items_that_answers_became_are_asked_about(world):
    world.close()
    written = Annotation.objects.filter(assignment__stage=world.stage).first().assignment
    child = make_item(world.project, source=written, source_position=0)
    make_stage_item(make_stage(world.project), child)
    assert "another stage" in refused(world)


def test_nothing_is_told_while_votes_are_being_counted(world):
    world.close()
    StageItem.objects.filter(pk=world.places[0].pk).update(due_at="2026-01-01T00:00:00Z")
    assert "being counted" in refused(world)


def test_whoever_did_nothing_in_a_closed_stage_finds_nothing_there(world):
    world.close()
    assert world.get("my-decided", person=make_member(world.project)).status_code == 404
    assert world.get("my-decided", person=make_member(make_project())).status_code == 404


def test_what_the_stage_shows_is_a_setting_with_an_event(world):
    projects.change_stage(
        stage=world.stage, by=world.admin, title="T", overlap=3, lease_minutes=30, order="seeded", is_closed_book=True,
        time_limit_seconds=None, permitted_sources="", shows_decided=False, shows_gold=False,
    )  # fmt: skip
    world.stage.refresh_from_db()
    assert not world.stage.shows_decided
    # Whoever changes something else changes nothing of it.
    projects.change_stage(
        stage=world.stage, by=world.admin, title="T", overlap=3, lease_minutes=30, order="seeded", is_closed_book=True,
        time_limit_seconds=None, permitted_sources="",
    )  # fmt: skip
    world.stage.refresh_from_db()
    assert not world.stage.shows_decided
