"""Days and times of somebody's work: one definition on every page, and what is not known is said, never nought."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, Participation, Person, Project, Stage
from annotate.services import assigning, days_of_work, member_list, overview, own_work, submitting
from annotate.services.submitting import Circumstances
from annotate.time_spent import TimeSpent
from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def make_given(stage: Stage, person: Person, **fields: object) -> Annotation:
    return make_annotation(make_stage_item(stage), person, {"label": "yes"}, **fields)


def make_imported(stage: Stage, person: Person, **fields: object) -> Annotation:
    made = make_given(stage, person, **{"active_seconds": None, "wall_seconds": None} | fields)
    type(made.assignment).objects.filter(pk=made.assignment_id).update(is_imported=True)
    return made


def page(person: Person, name: str, *args: str) -> str:
    client = Client()
    client.force_login(person)
    return " ".join(client.get(reverse(name, args=args)).content.decode().split())


class World:
    """Somebody who gave a timed answer, one that nothing timed, one that was imported, and an attempt to qualify."""

    def __init__(self) -> None:
        self.project: Project = make_project(time_zone="Asia/Tokyo")
        self.stage = make_stage(self.project)
        self.admin = make_member(self.project, "admin")
        self.me = make_member(self.project)
        self.timed = make_given(self.stage, self.me, active_seconds=90, wall_seconds=120)
        self.untimed = make_given(self.stage, self.me, active_seconds=None, wall_seconds=40)
        make_imported(self.stage, self.me)
        attempt = make_given(self.stage, self.me, active_seconds=1_000, wall_seconds=1_000)
        type(attempt.assignment).objects.filter(pk=attempt.assignment_id).update(purpose="qualification")
        Participation.objects.create(stage=self.stage, person=self.me, n_answered=3, active_seconds=90)


# One definition


def test_my_page_the_admins_page_and_the_projects_bars_count_the_same_days():
    world = World()
    (mine,) = days_of_work.days_of(world.project, world.me)
    assert (mine.n_answers, mine.active, mine.wall) == (2, TimeSpent(90, 0, 1), TimeSpent(160))
    assert overview.answers_per_day(world.project)[-1].n_answers == mine.n_answers
    for words in (
        page(world.me, "my-work", world.project.slug),
        page(world.admin, "person", world.project.slug, world.me.pseudonym),
    ):
        assert f'datetime="{mine.day:%Y-%m-%d}"' in words
        assert '<td class="n">2</td><td class="n">1 min 30 s' in words
        assert "By the clock of Asia/Tokyo." in words


def test_days_begin_and_end_by_the_projects_clock_and_so_does_the_look_back(monkeypatch):
    project = make_project(time_zone="Asia/Tokyo")
    stage, me = make_stage(project), make_member(project)
    now = datetime(2026, 3, 14, 16, 0, tzinfo=UTC)  # one at night on the 15th in Tokyo
    monkeypatch.setattr(timezone, "now", lambda: now)
    midnight = datetime(2026, 3, 2, 0, 0, tzinfo=ZoneInfo("Asia/Tokyo"))
    for at in (midnight - timedelta(seconds=1), midnight):
        Annotation.objects.filter(pk=make_given(stage, me).pk).update(created_at=at)
    assert [str(one.day) for one in days_of_work.days_of(project, me)] == ["2026-03-02", "2026-03-01"]
    # Fourteen days, today among them: the 2nd to the 15th, the 2nd whole.
    assert [str(one.day) for one in days_of_work.days_of(project, me, n_days=14)] == ["2026-03-02"]
    assert str(days_of_work.today_of(project, []).day) == "2026-03-15"


# What is not known


def test_a_sum_of_nothing_known_is_not_known_and_a_sum_of_nothing_is_nought():
    assert TimeSpent.of(0, 0, 0).seconds == 0
    assert TimeSpent.of(None, 0, 0).seconds == 0
    assert TimeSpent.of(None, 2, 1) == TimeSpent(None, 1, 1)
    assert TimeSpent.of(30, 2, 0) == TimeSpent(30, 0, 2)
    assert TimeSpent(None, 1_200, 1).why == "without a time: 1,200 imported answers · not timed: 1 answer"
    assert not TimeSpent(5).why


@pytest.mark.parametrize("measured", [None, 0, 7])
def test_what_nothing_measured_is_stored_as_not_known_and_a_nought_that_was_measured_as_nought(measured):
    stage, me = make_stage(), None
    me = make_member(stage.project)
    for n in range(2):
        make_stage_item(stage, make_item(stage.project, [["question", f"Is it {n}?"]]))
    held = assigning.claim_next(stage=stage, person=me, languages=[])
    type(held).objects.update(leased_at=timezone.now() - timedelta(minutes=5))
    given = submitting.submit_and_claim_next(
        assignment=held,
        answer={"label": "yes"},
        client_key="one",
        stage_version=stage.versions.get(),
        circumstances=Circumstances(active_seconds=measured),
        languages=[],
    )
    assert Annotation.objects.get().active_seconds == measured
    assert given.mine.answered == 1, "an answer is an answer, timed or not"
    again = submitting.revise_annotation(
        assignment=held, answer={"label": "no"}, client_key="two", stage_version=stage.versions.get()
    )
    assert again.active_seconds is None
    assert Participation.objects.get().active_seconds == (measured or 0)


def test_a_page_without_scripts_sends_no_time_and_one_with_them_sends_its_own():
    stage = make_stage()
    me = make_member(stage.project)
    make_stage_item(stage)
    assert 'name="active_seconds" value=""' in page(me, "work", stage.project.slug, stage.slug)


def test_my_page_says_of_each_sum_what_it_leaves_out_and_why():
    world = World()
    (work,) = own_work.stages_of(world.project, world.me, "annotator")
    assert (work.active, work.wall) == (TimeSpent(90, 1, 1), TimeSpent(160, 1, 0))
    words = page(world.me, "my-work", world.project.slug)
    assert (
        '1 min 30 s <span class="soft-words is-left-out">without a time: 1 imported answer · not timed: 1 answer</span>'
        in words
    )
    assert '2 min 40 s <span class="soft-words is-left-out">without a time: 1 imported answer</span>' in words
    Annotation.objects.filter(pk=world.timed.pk).update(active_seconds=None)
    Participation.objects.update(active_seconds=0)
    words = page(world.me, "my-work", world.project.slug)
    assert (
        '<span class="none">not known</span> <span class="soft-words is-left-out">not timed: 2 answers</span>' in words
    )
    assert ">0 s" not in words


def test_the_admins_list_table_and_page_say_it_too():
    world = World()
    idle = make_member(world.project)
    told = {row.person: row.active for row in member_list.page_of_members(world.project, member_list.Asked()).members}
    assert (told[world.me], told[idle]) == (TimeSpent(90, 1, 1), TimeSpent(0))
    why = "without a time: 1 imported answer · not timed: 1 answer"
    assert why in page(world.admin, "people", world.project.slug)
    assert why in page(world.admin, "person", world.project.slug, world.me.pseudonym)
    Annotation.objects.update(active_seconds=None)
    Participation.objects.update(active_seconds=0)
    client = Client()
    client.force_login(world.admin)
    body = client.get(reverse("people-csv", args=[world.project.slug])).getvalue().decode("utf-8-sig")
    rows = {row["person"]: row for row in csv.DictReader(io.StringIO(body))}
    columns = ("active_seconds", "answers_not_timed", "of_them_imported")
    assert [rows[world.me.pseudonym][name] for name in columns] == ["", "3", "1"]
    assert [rows[idle.pseudonym][name] for name in columns] == ["0", "0", "0"]


def test_an_answer_that_was_changed_is_left_out_once():
    world = World()
    Annotation.objects.filter(pk=world.untimed.pk).update(is_current=False)
    Annotation.objects.create(
        assignment=world.untimed.assignment, stage_version=world.untimed.stage_version, number=2,
        answer={"label": "no"}, active_seconds=None, client_key="changed",
    )  # fmt: skip
    (work,) = own_work.stages_of(world.project, world.me, "annotator")
    assert work.active.n_unmeasured == 1
