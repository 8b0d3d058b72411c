"""What programs ask about people, and what somebody's own program asks about its person."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.codes import code_digest
from annotate.models import Invite, Membership, Person, Question
from annotate.services import questions
from tests.annotate.test_own_work import World as Closed
from tests.annotate.test_time_spent import World
from tests.api_client import ApiClient
from tests.factories import make_annotation, make_member, make_stage_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def people(world: World) -> str:
    return f"projects/{world.project.slug}/people/"


# The people of a project


def test_the_list_has_what_the_page_has_and_what_is_not_known_is_null(world: World):
    program = ApiClient(world.admin)
    rows = {row["person"]: row for row in program.rows(people(world))}
    mine = rows[world.me.pseudonym]
    names = ("answered", "active_seconds", "answers_not_timed", "of_them_imported", "standing", "excluded")
    assert [mine[name] for name in names] == [3, 90, 2, 1, "active", False]
    type(world.timed).objects.update(active_seconds=None)
    world.stage.participations.update(active_seconds=0)
    (mine,) = program.rows(people(world), role="annotator")
    assert (mine["active_seconds"], mine["answers_not_timed"]) == (None, 3)


def test_the_list_goes_by_key_is_filtered_and_costs_the_same_for_few_and_many(world: World):
    program = ApiClient(world.admin)

    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            program.get(people(world))
        return len(queries)

    few = n_queries()
    others = [make_member(world.project, group="B") for _ in range(4)]
    assert n_queries() == few
    named = [row["person"] for row in program.rows(people(world), group="B", limit=2)]
    assert named == [person.pseudonym for person in others]
    assert [row["person"] for row in program.rows(people(world), standing="invited")] == named
    assert program.get(people(world), standing="gone").status_code == 422


def test_one_person_has_their_stages_and_days(world: World):
    told = ApiClient(world.admin).get(f"{people(world)}{world.me.pseudonym}/").json()
    (stage,) = told["stages"]
    assert (stage["stage"], stage["answered"], stage["active_seconds"]) == (world.stage.slug, 3, 90)
    (day,) = told["days"]
    assert (told["time_zone"], day["answers"], day["answers_not_timed"]) == ("Asia/Tokyo", 2, 1)
    assert ApiClient(world.admin).get(f"{people(world)}P-NOBODY/").status_code == 404


def test_codes_are_told_once_and_let_in(world: World, settings):
    program = ApiClient(world.admin)
    made = program.post(people(world), n_codes=2, role="adjudicator", group="A", languages=["ta"])
    assert made.status_code == 201
    for one in made.json()["people"]:
        person = Person.objects.get(pseudonym=one["person"])
        assert person.code_digest == code_digest(one["code"], key=settings.CODE_KEY)
        seat = person.memberships.get()
        assert (seat.role, seat.group, seat.languages) == ("adjudicator", "A", ["ta"])
        assert one["code"] not in program.get(f"{people(world)}{one['person']}/").content.decode()
    for sent in ({"role": "admin"}, {"n_codes": 0}, {"n_codes": 501}, {"name": "Ada"}):
        assert program.post(people(world), **sent).status_code == 422


@pytest.mark.parametrize(
    ("steps", "standing"),
    [(["pause"], "paused"), (["pause", "let_work"], "active"), (["deactivate"], "deactivated"),
     (["deactivate", "reactivate"], "active")],
)  # fmt: skip
def test_somebody_is_paused_deactivated_and_let_in_again(world: World, steps: list[str], standing: str):
    program = ApiClient(world.admin)
    for step in steps:
        response = program.post(f"{people(world)}{world.me.pseudonym}/state/", step=step)
    assert response.json()["standing"] == standing


def test_the_last_admin_and_oneself_are_not_locked_out(world: World):
    program = ApiClient(world.admin)
    for step in ("pause", "deactivate"):
        response = program.post(f"{people(world)}{world.admin.pseudonym}/state/", step=step)
        assert 400 <= response.status_code < 500
        assert response.json()["message"]
    assert program.get(people(world)).status_code == 200


def test_a_link_is_told_once_lets_in_and_is_revoked(world: World):
    program, slug = ApiClient(world.admin), world.project.slug
    made = program.post(f"projects/{slug}/invites/", max_uses=2, days=3, role="viewer")
    assert made.status_code == 201
    address = made.json()["address"]
    path = "/" + address.split("/", 3)[3]
    assert Client().get(path).status_code == 200
    (row,) = program.rows(f"projects/{slug}/invites/")
    assert (row["role"], row["uses"], row["max_uses"], row["revoked_at"]) == ("viewer", 0, 2, None)
    assert "address" not in row
    assert program.delete(f"projects/{slug}/invites/{row['id']}/").status_code == 204
    assert Client().get(path).status_code != 200
    assert Invite.objects.get().revoked_at is not None
    assert program.post(f"projects/{slug}/invites/", role="admin").status_code == 422


def test_an_admin_elsewhere_reaches_nobody_here(world: World):
    elsewhere = World()
    stranger, slug = ApiClient(elsewhere.admin), elsewhere.project.slug
    assert stranger.get(f"projects/{slug}/people/{world.me.pseudonym}/").status_code == 404
    response = stranger.post(f"projects/{slug}/people/{world.me.pseudonym}/state/", step="deactivate")
    assert response.status_code == 404
    assert Membership.objects.get(person=world.me).person.is_active


def test_agreement_with_the_others_is_told_by_stage(world: World):
    closed = Closed()
    told = ApiClient(closed.admin).get(f"projects/{closed.project.slug}/people-agreement/").json()
    (stage,) = told["stages"]
    figures = {row["person"]: row["figure"] for row in stage["people"]}
    assert set(figures) == {person.pseudonym for person in (closed.me, closed.second, closed.third)}
    # Of the three items the others agree on the first two; I said the same on one of them.
    assert figures[closed.me.pseudonym]["value"] == pytest.approx(0.5)


# My own work


def test_my_program_reads_my_days_times_and_stages(world: World):
    program, slug = ApiClient(world.me, "work"), world.project.slug
    told = program.get(f"projects/{slug}/my-work/").json()
    assert told["time_zone"] == "Asia/Tokyo"
    assert (told["today"]["answers"], told["today"]["active_seconds"], told["today"]["answers_not_timed"]) == (2, 90, 1)
    assert told["days"] == [told["today"]]
    (stage,) = told["stages"]
    assert (stage["answered"], stage["open_seconds"], stage["answers_without_open_time"]) == (3, 160, 1)
    rows = program.rows(f"projects/{slug}/stages/{world.stage.slug}/my-answers/", limit=2)
    assert len(rows) == 3
    assert rows[-1]["token"] == world.timed.assignment.token
    assert {row["token"] for row in rows} <= set(world.me.assignments.values_list("token", flat=True))


def test_what_was_decided_is_told_when_the_stage_is_closed_and_not_before():
    world = Closed()
    program = ApiClient(world.me, "work")
    address = f"projects/{world.project.slug}/stages/{world.stage.slug}/my-decided/"
    refused = program.get(address)
    assert 400 <= refused.status_code < 500
    assert refused.json()["error"] == "decided_not_shown"
    world.close()
    told = program.get(address).json()
    assert told["verdicts"] == {"n": 3, "same": 1, "differed": 1, "split": 1, "left_out": 0}
    assert [row["verdict"] for row in program.rows(address, limit=1)] == ["split", "differed", "same"]
    (row,) = program.rows(address, show="differed")
    (asked,) = row["fields"]
    assert (asked["is_same"], asked["n_votes"], asked["n_for"], asked["gold"]) == (False, 3, 2, [])


def test_others_answers_are_not_among_mine(world: World):
    other = make_member(world.project)
    make_annotation(make_stage_item(world.stage), other, {"label": "no"})
    rows = ApiClient(world.me).rows(f"projects/{world.project.slug}/stages/{world.stage.slug}/my-answers/")
    assert {row["answer"]["label"] for row in rows} == {"yes"}


def test_my_questions_are_asked_once_read_with_their_answers_and_marked_as_read(world: World):
    program, slug = ApiClient(world.me, "work"), world.project.slug
    for _ in range(2):
        asked = program.post(f"projects/{slug}/my-questions/", text="Does zero count?", client_key="one")
        assert asked.json()["state"] == "open"
    question = Question.objects.get()
    questions.answer_question(question=question, by=world.admin, answer="It does.")
    (row,) = program.rows(f"projects/{slug}/my-questions/", state="answered")
    assert (row["answer"], row["read_at"]) == ("It does.", None)
    assert program.post(f"projects/{slug}/my-questions/read/").json() == {"n_read": 1}
    assert program.rows(f"projects/{slug}/my-questions/")[0]["read_at"]
    assert ApiClient(make_member(world.project)).rows(f"projects/{slug}/my-questions/") == []


@pytest.mark.parametrize("scope", ["read", "run", "export"])
def test_my_own_work_needs_the_scope_to_work(world: World, scope: str):
    program = ApiClient(world.me, scope)
    for name in ("my-work", "my-questions", f"stages/{world.stage.slug}/my-answers"):
        assert program.get(f"projects/{world.project.slug}/{name}/").status_code == 403
