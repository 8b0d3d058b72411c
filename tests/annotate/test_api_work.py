"""Programs that answer in the name of a person: next, submit, draft, skip, and what they are told."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Annotation, Assignment, Membership, Stage
from annotate.services import projects
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.api_client import ApiClient
from tests.factories import SHORT_ANSWER, YES_NO, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered():
    cache.clear()


def make_queue(*questions: str, **fields) -> Stage:
    stage = make_stage(make_project(), **{"order": "sequential"} | fields)
    for n, question in enumerate(questions):
        item = make_item(
            stage.project,
            [["question", question], ["hidden", "never shown"]],
            external_id=f"00{n}",
            gold={"label": ["no"]},
        )
        make_stage_item(stage, item)
    return stage


class Program:
    """A token of somebody who works in a stage."""

    def __init__(self, stage: Stage, person=None) -> None:
        self.stage = stage
        self.person = person or make_member(stage.project)
        self.api = ApiClient(self.person, "work")

    def next(self):
        return self.api.post(f"work/{self.stage.project.slug}/{self.stage.slug}/next/")

    def submit(self, held, key="a-key", **sent):
        sent = {"form_version": held["form"]["version"], "client_key": key} | sent
        return self.api.post(f"assignments/{held['token']}/submit/", **sent)


# As it should be


def test_the_next_item_shows_what_the_stage_shows_and_asks():
    stage = make_queue("Is the sea salty?", overlap=2)
    told = Program(stage).next().json()
    assert told["held"]["item"] == {"id": "000", "language": "en", "content": [["question", "Is the sea salty?"]]}
    assert told["held"]["form"]["fields"] == [
        {
            "name": "label",
            "type": "choice",
            "caption": "Is it so?",
            "help": "",
            "required": True,
            "options": YES_NO[0]["options"],
            "max_length": None,
            "unit": "",
            "columns": [],
            "column_types": [],
            "schema": {"type": "string", "enum": ["yes", "no", "not_sure"]},
        }
    ]
    assert told["nothing_left"] is None
    assert told["progress"] == {"mine_done": 0, "mine_total": 1, "everyone_done": 0, "everyone_wanted": 2}


def test_asking_again_gives_the_same_item():
    program = Program(make_queue("One?", "Two?"))
    assert program.next().json()["held"]["token"] == program.next().json()["held"]["token"]
    assert Assignment.objects.count() == 1


def test_an_answer_is_stored_and_the_response_carries_the_next_item():
    stage = make_queue("One?", "Two?")
    program = Program(stage)
    held = program.next().json()["held"]
    told = program.submit(
        held,
        answer={"label": "no"},
        guideline_version=held["guideline_version"],
        active_seconds=10_000,
        is_flagged=True,
        flag_note="odd",
    ).json()
    annotation = Annotation.objects.get()
    assert annotation.answer == {"label": "no"}
    assert annotation.guideline_version == stage.guideline_versions.get()
    assert (annotation.is_flagged, annotation.flag_note) == (True, "odd")
    assert annotation.active_seconds == annotation.wall_seconds, "no longer than it was held"
    assert {name: told["stored"][name] for name in ("answer", "revision", "client_key")} == {
        "answer": {"label": "no"},
        "revision": 1,
        "client_key": "a-key",
    }
    assert told["held"]["item"]["content"] == [["question", "Two?"]]
    assert told["progress"]["mine_done"] == 1
    assert_queue_is_sound(stage)


def test_the_same_submission_again_stores_nothing_twice_and_says_the_same():
    stage = make_queue("One?", "Two?", "Three?")
    program = Program(stage)
    held = program.next().json()["held"]
    first = program.submit(held, answer={"label": "no"}).json()
    again = program.submit(held, answer={"label": "no"}).json()
    assert again == first
    # Whatever a confused program sends under the same key: what was acknowledged stays.
    other = program.submit(held, answer={"label": "yes"}).json()
    assert other["stored"] == first["stored"]
    assert Annotation.objects.count() == 1
    assert_queue_is_sound(stage)


def test_without_claim_next_nothing_more_is_held():
    stage = make_queue("One?", "Two?")
    program = Program(stage)
    told = program.submit(program.next().json()["held"], answer={"label": "no"}, claim_next=False).json()
    assert (told["held"], told["nothing_left"]) == (None, None)
    assert not Assignment.objects.filter(state="leased").exists()
    held = program.next().json()["held"]
    told = program.api.post(f"assignments/{held['token']}/skip/", reason="broken", claim_next=False).json()
    assert (told["held"], told["nothing_left"]) == (None, None)
    assert_queue_is_sound(stage)


def test_a_skip_gives_the_item_back_and_the_last_item_is_followed_by_why():
    stage = make_queue("One?", "Two?", overlap=2)
    program = Program(stage)
    first = program.next().json()["held"]
    told = program.api.post(f"assignments/{first['token']}/skip/", reason="ambiguous", note="two readings").json()
    skipped = Assignment.objects.get(token=first["token"])
    assert (skipped.state, skipped.skip_reason, skipped.skip_note) == ("skipped", "ambiguous", "two readings")
    assert told["held"]["item"]["id"] == "001"
    told = program.submit(told["held"], answer={"label": "yes"}).json()
    assert told["held"] is None
    assert told["nothing_left"] == {
        "kind": "nobody_eligible",
        "n_short": 2,
        "n_met": 2,
        "n_held": 0,
        "seconds_to_return": None,
    }


def test_a_draft_is_kept_with_the_item_and_an_older_one_is_refused():
    program = Program(make_queue("One?", form=SHORT_ANSWER, kind="answer"))
    held = program.next().json()["held"]
    address = f"assignments/{held['token']}/draft/"
    sent = {"form_version": held["form"]["version"], "answer": {"answer": "half a th"}}
    assert program.api.post(address, **sent, draft_version=2).json() == {"draft_version": 2}
    held = program.next().json()["held"]
    assert held["draft"]["answer"] == {"answer": "half a th"}
    assert held["draft_version"] == 2
    late = program.api.post(address, **sent | {"answer": {"answer": "half"}}, draft_version=1)
    assert (late.status_code, late.json()["error"]) == (409, "stale_draft")


def test_an_answer_can_follow_the_last_draft_there_can_be():
    # The answer raises the number of the draft, and PostgreSQL refused what is no integer of 32 bits.
    program = Program(make_queue("One?"))
    held = program.next().json()["held"]
    address = f"assignments/{held['token']}/draft/"
    sent = {"form_version": held["form"]["version"], "answer": {"label": "yes"}}
    assert program.api.post(address, **sent, draft_version=2**31 - 1).status_code == 422
    assert program.api.post(address, **sent, draft_version=2**31 - 2).status_code == 200
    assert program.submit(held, answer={"label": "no"}).status_code == 200
    assert Assignment.objects.get().draft_version == 2**31 - 1


def test_my_stages_and_what_is_asked_in_one():
    stage = make_queue("One?", is_closed_book=True, time_limit_seconds=60)
    stage.project.current_date = "December 2022"
    stage.project.save()
    other = make_stage(stage.project, state="draft")
    program = Program(stage)
    rows = program.api.rows("work/")
    assert [(row["project"], row["stage"], row["state"]) for row in rows] == [(stage.project.slug, stage.slug, "open")]
    told = program.api.get(f"work/{stage.project.slug}/{stage.slug}/").json()
    assert told["guidelines"] == "Answer what is asked."
    assert told["condition"] == {
        "is_closed_book": True,
        "time_limit_seconds": 60,
        "permitted_sources": "",
        "current_date": "December 2022",
    }
    assert program.api.get(f"work/{stage.project.slug}/{other.slug}/").status_code == 404


# Refused


def test_an_answer_that_is_none_is_refused_field_by_field():
    program = Program(make_queue("One?"))
    held = program.next().json()["held"]
    for answer, fields in (
        ({}, {"label": "Choose one answer."}),
        ({"label": "perhaps"}, {"label": "Choose one of the answers shown."}),
        ({"label": "yes", "mood": "good"}, {"mood": "This question is not asked here."}),
        ({"label": ["yes", "no"]}, {"label": "Give one answer only."}),
        ({"label": 1}, {"label": "This answer must be text."}),
    ):
        response = program.submit(held, answer=answer)
        assert response.status_code == 422
        assert response.json()["error"] == "answer_invalid"
        assert response.json()["fields"] == fields
    assert not Annotation.objects.exists()
    assert program.submit(held, answer={"label": "yes"}).status_code == 200


def test_an_answer_is_checked_against_the_form_its_author_saw():
    stage, other = make_queue("One?"), make_queue("Two?")
    program = Program(stage)
    held = program.next().json()["held"]
    seen = stage.versions.get()
    # Somebody else has answered: from now on another question is another version of the form.
    make_stage_item(stage)
    somebody = Program(stage)
    assert somebody.submit(somebody.next().json()["held"], answer={"label": "no"}).status_code == 200
    fields = [YES_NO[0] | {"name": "verdict"}]
    projects.change_form(
        stage=stage, by=make_member(stage.project, "admin"), fields=fields, shown_keys=["question"], as_new_version=True
    )
    assert program.submit(held, answer={"label": "no"}).status_code == 200
    assert Annotation.objects.get(assignment__person=program.person).stage_version == seen
    foreign = program.submit(held, answer={"label": "no"}, form_version=other.versions.get().pk)
    assert (foreign.status_code, foreign.json()["error"]) == (422, "answer_belongs_elsewhere")


def test_what_was_skipped_takes_no_answer():
    program = Program(make_queue("One?"))
    held = program.next().json()["held"]
    program.api.post(f"assignments/{held['token']}/skip/", reason="other")
    refused = program.submit(held, answer={"label": "no"})
    assert (refused.status_code, refused.json()["error"]) == (409, "assignment_not_open")


def test_nobody_answers_for_somebody_else():
    stage = make_queue("One?")
    held = Program(stage).next().json()["held"]
    for person in (make_member(stage.project), make_member(stage.project, "admin")):
        assert Program(stage, person).submit(held, answer={"label": "no"}).status_code == 404
    assert not Annotation.objects.exists()


def test_somebody_paused_meanwhile_keeps_what_they_did_and_gets_nothing_more():
    stage = make_queue("One?", "Two?")
    program = Program(stage)
    held = program.next().json()["held"]
    Membership.objects.filter(person=program.person).update(state="paused")
    told = program.submit(held, answer={"label": "no"}).json()
    assert told["stored"]["answer"] == {"label": "no"}
    assert (told["held"], told["nothing_left"]["kind"]) == (None, "paused")
    assert program.next().status_code == 404


def test_a_paused_stage_hands_out_nothing_and_says_so():
    stage = make_queue("One?")
    Stage.objects.update(state="paused")
    assert Program(stage).next().json()["nothing_left"]["kind"] == "paused"


def test_a_lease_that_ran_out_still_takes_the_answer():
    stage = make_queue("One?")
    program = Program(stage)
    held = program.next().json()["held"]
    Assignment.objects.update(state="expired", slot=None, lease_expires_at=timezone.now())
    stage.stage_items.update(active=0)
    assert program.submit(held, answer={"label": "no"}).status_code == 200
    assert_queue_is_sound(stage)


def test_an_answer_costs_as_few_statements_as_on_the_page():
    program = Program(make_queue(*(f"{n}?" for n in range(5))))
    held = program.submit(program.next().json()["held"], "first", answer={"label": "no"}).json()["held"]
    with CaptureQueriesContext(connection) as queries:
        program.submit(held, "second", answer={"label": "no"})
    # Savepoints stand in for BEGIN and COMMIT in a test; one statement more or less is nobody's business.
    assert len(queries) <= 14, "\n".join(query["sql"][:100] for query in queries)
    assert not any("annotate_gold" in query["sql"] or "annotate_itemkey" in query["sql"] for query in queries)
