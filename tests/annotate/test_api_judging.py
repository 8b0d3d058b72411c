"""Programs that decide about answers: what they see, what is refused, what readers are told of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.models import Annotation, Decision, Feed, Gold, GoldRefusal, Resolution
from annotate.services import resolving
from annotate.services.submitting import revise_annotation
from annotate.stage_kinds import adjudication_fields, review_fields
from tests.api_client import ApiClient
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dispute() -> SimpleNamespace:
    project = make_project()
    judges = make_stage(
        project, kind="adjudicate", roles=["adjudicator"], form=adjudication_fields(SHORT_ANSWER), slug="judge",
        options={"makes_gold": True},
    )  # fmt: skip
    stage = make_stage(project, kind="answer", overlap=4, adjudicated_in=judges, form=SHORT_ANSWER, slug="answers")
    reviewing = make_stage(
        project, kind="review", roles=["meta_reviewer"], form=review_fields(SHORT_ANSWER), slug="review"
    )
    Feed.objects.create(source=stage, target=reviewing, rule="decided")
    item = make_item(project, [["question", "By how many?"]], gold={"answer": ["GOLDEN"]}, external_id="0017")
    place = make_stage_item(stage, item)
    people = [make_member(project) for _ in range(4)]
    for person, words in zip(people, ("6 places", "6 places", "2", "nine"), strict=True):
        make_annotation(place, person, {"answer": words, "why": f"I read {words}"})
    resolving.resolve_due()
    api = ApiClient(make_member(project, "adjudicator"), "work")
    return SimpleNamespace(project=project, place=place, people=people, item=item, api=api)


def held_by(api: ApiClient, dispute, stage: str = "judge") -> dict:
    return api.post(f"work/{dispute.project.slug}/{stage}/next/").json()["held"]


def decide(api: ApiClient, held: dict, key: str = "a-key", **sent):
    sent = {"form_version": held["form"]["version"], "client_key": key} | sent
    return api.post(f"assignments/{held['token']}/decide/", **sent)


def test_the_votes_come_in_groups_without_a_word_about_who(dispute):
    held = held_by(dispute.api, dispute)
    response = dispute.api.get(f"assignments/{held['token']}/votes/")
    told = response.json()
    assert sorted((card["n"], card["answer"]["answer"]) for card in told["cards"]) == [
        (1, "2"), (1, "nine"), (2, "6 places"),
    ]  # fmt: skip
    leading = next(card for card in told["cards"] if card["id"] == told["leading"])
    assert (leading["n"], leading["notes"]) == (2, ["I read 6 places", "I read 6 places"])
    assert told["proposals"] == []
    assert "GOLDEN" not in response.text
    assert not any(person.pseudonym in response.text for person in dispute.people)


def test_a_decision_is_stored_once_and_the_next_item_comes(dispute):
    held = held_by(dispute.api, dispute)
    told = dispute.api.get(f"assignments/{held['token']}/votes/").json()
    card = next(card["id"] for card in told["cards"] if card["answer"]["answer"] == "nine")
    sent = {"votes_hash": told["votes_hash"], "kind": "taken", "card": card, "reason": "Nine it is.", "is_gold": True}
    first = decide(dispute.api, held, **sent)
    assert first.status_code == 200
    assert first.json()["stored"]["answer"] == {"answer": "nine"}
    assert first.json()["nothing_left"]["kind"] == "done"
    assert decide(dispute.api, held, **sent).json()["stored"] == first.json()["stored"]
    decision = Decision.objects.get()
    assert (decision.kind, decision.reason, decision.votes_hash) == ("taken", "Nine it is.", told["votes_hash"])
    assert Gold.objects.get(is_current=True).answers == ["nine"]
    # Changed, it is a new revision; a bad item has no answer.
    bad = decide(
        dispute.api, held, key="two", votes_hash=told["votes_hash"], kind="bad", reason="No table.", revises=True
    )
    assert (bad.status_code, bad.json()["stored"]["revision"], bad.json()["stored"]["answer"]) == (200, 2, {})


def test_votes_that_changed_are_a_409_with_the_hash_of_the_new_ones(dispute):
    held = held_by(dispute.api, dispute)
    seen = dispute.api.get(f"assignments/{held['token']}/votes/").json()["votes_hash"]
    turned = Annotation.objects.get(answer__answer="nine")
    revise_annotation(
        assignment=turned.assignment, answer={"answer": "ten"}, client_key="x", stage_version=turned.stage_version
    )
    sent = {"kind": "own", "answer": {"answer": "8"}, "reason": "Eight."}
    refused = decide(dispute.api, held, votes_hash=seen, **sent)
    assert (refused.status_code, refused.json()["error"]) == (409, "votes_changed")
    assert not Decision.objects.exists()
    now = refused.json()["votes_hash"]
    assert now == dispute.api.get(f"assignments/{held['token']}/votes/").json()["votes_hash"] != seen
    assert decide(dispute.api, held, votes_hash=now, **sent).status_code == 200


@pytest.mark.parametrize(
    ("sent", "at"),
    [
        ({}, "kind"),
        ({"kind": "own", "reason": "x"}, "answer"),
        ({"kind": "own", "answer": {"answer": "8"}}, "decision-reason"),
        ({"kind": "taken", "card": "nobody"}, "decision-card"),
        ({"kind": "own", "answer": {"other": "8"}, "reason": "x"}, "answer"),
    ],
)
def test_what_is_missing_is_said_by_its_name(dispute, sent, at):
    held = held_by(dispute.api, dispute)
    seen = dispute.api.get(f"assignments/{held['token']}/votes/").json()["votes_hash"]
    refused = decide(dispute.api, held, votes_hash=seen, **sent)
    assert refused.status_code == 422
    assert list(refused.json()["fields"]) == [at]


def test_where_nothing_is_decided_there_are_no_votes(dispute):
    stage = make_stage(dispute.project, kind="answer", form=SHORT_ANSWER, slug="other")
    make_stage_item(stage, dispute.item)
    api = ApiClient(make_member(dispute.project), "work")
    held = held_by(api, dispute, "other")
    assert api.get(f"assignments/{held['token']}/votes/").status_code == 404
    assert decide(api, held, votes_hash="0" * 32).status_code == 404


def test_a_review_tells_the_label_and_takes_only_what_is_corrected(dispute):
    held = held_by(dispute.api, dispute)
    told = dispute.api.get(f"assignments/{held['token']}/votes/").json()
    decide(dispute.api, held, votes_hash=told["votes_hash"], kind="own", answer={"answer": "9"}, reason="Nine.")
    resolving.resolve_due()
    api = ApiClient(make_member(dispute.project, "meta_reviewer"), "work")
    held = held_by(api, dispute, "review")
    told = api.get(f"assignments/{held['token']}/votes/").json()
    assert told["proposals"] == [
        {"field": "answer", "gold": ["GOLDEN"], "origin": "source", "version": 1, "voted": "9", "status": "adjudicated"}
    ]
    refused = decide(api, held, votes_hash=told["votes_hash"], answer={"decision": "edit", "answer": None})
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["answer"])
    stored = decide(api, held, votes_hash=told["votes_hash"], answer={"decision": "edit", "answer": "9"})
    assert stored.status_code == 200
    assert Gold.objects.get(is_current=True).answers == ["9"]


def test_readers_are_told_how_it_was_decided_and_no_person(dispute):
    held = held_by(dispute.api, dispute)
    told = dispute.api.get(f"assignments/{held['token']}/votes/").json()
    card = next(card["id"] for card in told["cards"] if card["answer"]["answer"] == "nine")
    decide(dispute.api, held, votes_hash=told["votes_hash"], kind="taken", card=card, reason="Nine it is.")
    viewer = ApiClient(make_member(dispute.project, "viewer"), "read")
    response = viewer.get(f"projects/{dispute.project.slug}/decisions/")
    (row,) = response.json()["results"]
    assert (row["item"], row["kind"], row["reason"], row["answer"]) == (
        "0017",
        "taken",
        "Nine it is.",
        {"answer": "nine"},
    )
    assert (row["n_votes"], row["n_alike"], row["votes_hash"]) == (4, 1, told["votes_hash"])
    assert len({row["answer_id"], row["taken_from"]}) == 2
    assert not any(person.pseudonym in response.text for person in dispute.people)


def test_proposals_are_read_accepted_and_refused(dispute):
    Resolution.objects.filter(stage_item=dispute.place).update(status="majority", answer="6", answer_key="number:6")
    admin = ApiClient(make_member(dispute.project, "admin"), "read", "run")
    address = f"projects/{dispute.project.slug}/gold-proposals/"
    (row,) = admin.rows(address, item="0017")
    assert (row["state"], row["answer"], row["gold"], row["gold_version"]) == ("open", "6", ["GOLDEN"], 1)
    refused = admin.post(f"{address}{row['id']}/", step="refuse", answer_hash=row["answer_hash"], reason="No.")
    assert (refused.status_code, refused.json()["state"]) == (200, "refused")
    assert GoldRefusal.objects.get().reason == "No."
    assert admin.post(f"{address}{row['id']}/", step="accept", answer_hash="0" * 64).status_code == 409
    accepted = admin.post(f"{address}{row['id']}/", step="accept", answer_hash=row["answer_hash"]).json()
    assert (accepted["state"], accepted["gold"], accepted["gold_version"]) == ("is_gold", ["6"], 2)
    versions = admin.rows(f"projects/{dispute.project.slug}/gold/", item="0017")
    assert [(one["version"], one["origin"], one["is_current"]) for one in versions] == [
        (1, "source", False),
        (2, "expert", True),
    ]
    # One that counts no more has none.
    type(dispute.place).objects.update(state="left_out")
    assert admin.post(f"{address}{row['id']}/", step="accept", answer_hash=row["answer_hash"]).status_code == 409
