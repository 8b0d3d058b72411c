"""An adjudicator's word: taken, edited or written, what follows from it, and how it is taken back."""

from __future__ import annotations

import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connections
from django.utils import timezone

from annotate.answers import AnswerInvalid
from annotate.exceptions import AnswerBelongsElsewhere, StageNotOpen, VotesChanged
from annotate.models import Annotation, Assignment, Decision, Event, Exclusion, Gold, Resolution, StageItem
from annotate.services import adjudicating, assigning, resolving
from annotate.services.adjudicating import Ruling
from annotate.services.excluding import exclude_person
from annotate.services.exporting import answer_rows
from annotate.services.gold_proposals import accept_proposal, answer_hash
from annotate.services.submitting import revise_annotation, submit_annotation
from annotate.services.votes import votes_about
from annotate.stage_kinds import adjudication_fields
from evaluation.matrices import Standing, read_people, read_units
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def make_dispute(*votes: str, makes_gold: bool = True, overlap: int | None = None) -> SimpleNamespace:
    """Answers without a majority, and the item in the hands of an adjudicator."""
    project = make_project()
    judges = make_stage(
        project,
        kind="adjudicate",
        roles=["adjudicator"],
        form=adjudication_fields(SHORT_ANSWER),
        options={"makes_gold": makes_gold},
    )
    stage = make_stage(project, kind="answer", overlap=len(votes), adjudicated_in=judges, form=SHORT_ANSWER)
    item = make_item(project, gold={"answer": ["five"]})
    place = make_stage_item(stage, item)
    for n, vote in enumerate(votes):
        make_annotation(place, make_member(project), {"answer": vote, "why": f"because {n}"})
    resolving.resolve_due()
    judge = make_member(project, "adjudicator")
    held = assigning.claim_next(stage=judges, person=judge)
    return SimpleNamespace(project=project, stage=stage, judges=judges, item=item, place=place, judge=judge, held=held)


@pytest.fixture
def dispute() -> SimpleNamespace:
    return make_dispute("6", "six places", "2", "2 places", "7")


def votes(dispute: SimpleNamespace):
    rows = StageItem.objects.select_related("stage", "source__stage", "revision__item")
    return votes_about(rows.get(pk=dispute.held.stage_item_id))


def card_of(dispute: SimpleNamespace, answer: str) -> str:
    return next(card.id for card in votes(dispute).cards if card.answer["answer"] == answer)


def decide(dispute: SimpleNamespace, kind: str = "taken", *, revises: bool = False, key: str = "one", **fields):
    ruling = Ruling(kind=kind, **{"seen": votes(dispute).seen, "reason": "7th less 1st."} | fields)
    annotation = adjudicating.adjudicate(
        assignment=Assignment.objects.get(pk=dispute.held.pk),
        ruling=ruling,
        client_key=key,
        stage_version=dispute.judges.versions.get(is_current=True),
        revises=revises,
    )
    resolving.resolve_due()
    return annotation


def outcome(dispute: SimpleNamespace) -> tuple:
    row = Resolution.objects.get(stage_item=dispute.place)
    return row.status, row.answer


def gold(dispute: SimpleNamespace) -> tuple:
    row = Gold.objects.get(item=dispute.item, field="answer", is_current=True)
    return row.version, row.answers, row.origin, row.made_by


def test_equal_answers_are_one_card_and_the_order_tells_nothing():
    dispute = make_dispute("7 days", "365 days", "one year", "2")
    told = votes(dispute)
    assert sorted((card.n, card.answer["answer"]) for card in told.cards) == [(1, "2"), (1, "7 days"), (2, "365 days")]
    assert [card.letter for card in told.cards] == ["A", "B", "C"]
    assert told.leading is not None
    assert told.leading.n == 2
    # Whoever answers when: the cards stand where they stood.
    before = [card.id for card in told.cards]
    order = Assignment.objects.filter(stage=dispute.stage).order_by("-pk")
    for n, assignment in enumerate(order):
        Assignment.objects.filter(pk=assignment.pk).update(finished_at=timezone.now() + timedelta(seconds=n))
    assert [card.id for card in votes(dispute).cards] == before


def test_what_is_taken_outranks_the_vote_and_says_where_it_came_from(dispute):
    annotation = decide(dispute, card=card_of(dispute, "7"))
    assert outcome(dispute) == ("adjudicated", "7")
    decision = Decision.objects.get(annotation=annotation)
    assert (decision.kind, decision.taken_from.answer["answer"]) == ("taken", "7")
    assert (decision.n_votes, decision.n_alike, decision.reason) == (5, 1, "7th less 1st.")
    # The answer is taken, not the explanation that somebody else wrote.
    assert annotation.answer == {"answer": "7"}


def test_what_is_edited_or_written_says_so(dispute):
    annotation = decide(dispute, "edited", card=card_of(dispute, "7"), answer={"answer": "8"})
    assert outcome(dispute) == ("adjudicated", "8")
    assert annotation.decision.taken_from.answer["answer"] == "7"
    annotation = decide(dispute, "own", answer={"answer": "nine"}, revises=True, key="two")
    assert outcome(dispute) == ("adjudicated", "nine")
    assert annotation.decision.taken_from is None


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"kind": "taken", "card": "nobody"}, "decision-card"),
        ({"kind": "edited", "answer": {"answer": "8"}}, "decision-card"),
        ({"kind": "own", "answer": {}}, "answer"),
        ({"kind": "own", "answer": {"answer": "8"}, "reason": ""}, "decision-reason"),
        ({"kind": "bad", "reason": ""}, "decision-reason"),
        ({"kind": "bad", "reason": "x" * 2_001}, "decision-reason"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_stored(dispute, fields, at):
    with pytest.raises(AnswerInvalid) as refusal:
        decide(dispute, **fields)
    assert list(refusal.value.errors) == [at]
    assert not Decision.objects.exists()
    assert Assignment.objects.get(pk=dispute.held.pk).state == "leased"


def test_only_whoever_takes_what_most_people_said_owes_no_reason():
    dispute = make_dispute("6", "6", "2", "7", "8")
    with pytest.raises(AnswerInvalid):
        decide(dispute, card=card_of(dispute, "2"), reason="")
    decide(dispute, card=card_of(dispute, "6"), reason="")
    assert outcome(dispute) == ("adjudicated", "6")


def test_votes_that_change_meanwhile_refuse_the_decision(dispute):
    seen, card = votes(dispute).seen, card_of(dispute, "7")
    turned = Annotation.objects.get(assignment__stage=dispute.stage, answer__answer="7")
    revise_annotation(
        assignment=turned.assignment, answer={"answer": "9"}, client_key="x", stage_version=turned.stage_version
    )
    with pytest.raises(VotesChanged):
        decide(dispute, card=card, seen=seen)
    assert not Decision.objects.exists()


def test_an_excluded_vote_refuses_the_decision(dispute):
    seen, card = votes(dispute).seen, card_of(dispute, "7")
    somebody = Annotation.objects.filter(assignment__stage=dispute.stage).first().assignment.person
    exclude_person(project=dispute.project, person=somebody, reason="a bot", by=make_member(dispute.project, "admin"))
    with pytest.raises(VotesChanged):
        decide(dispute, card=card, seen=seen)


def test_a_double_click_and_a_second_tab_store_one_decision(dispute):
    card = card_of(dispute, "7")
    first = decide(dispute, card=card)
    assert decide(dispute, card=card) == first
    assert decide(dispute, card=card_of(dispute, "6"), key="another tab") == first
    assert (Annotation.objects.filter(assignment=dispute.held).count(), Decision.objects.count()) == (1, 1)


def test_no_other_way_leads_past_the_votes(dispute):
    form = {"answer": {"answer": "7"}, "client_key": "x", "stage_version": dispute.judges.versions.get()}
    with pytest.raises(AnswerBelongsElsewhere):
        submit_annotation(assignment=dispute.held, **form)
    decide(dispute, card=card_of(dispute, "7"))
    with pytest.raises(AnswerBelongsElsewhere):
        revise_annotation(assignment=dispute.held, **form)


def exported(dispute) -> list[dict]:
    head, *rows = answer_rows(project=dispute.project)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_an_export_leads_from_the_decision_to_the_vote_it_was_taken_from(dispute):
    seen = votes(dispute).seen
    decide(dispute, card=card_of(dispute, "7"))
    decide(dispute, "bad", reason="Two 2015s.", revises=True, key="two")
    rows = exported(dispute)
    by_id = {row["answer_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    first, second = [row for row in rows if row["decision"]]
    source = by_id[first["decision_from"]]
    assert (source["stage"], source["answer.answer"], source["key.answer"]) == (dispute.stage.slug, "7", "number:7")
    assert (first["decision"], first["decision_reason"], first["votes_hash"]) == ("taken", "7th less 1st.", seen)
    assert (first["decision_votes"], first["decision_alike"], first["decision_gold"]) == (5, 1, False)
    assert (second["decision"], second["decision_from"], second["status"]) == ("bad", None, "excluded")
    assert {row["decision"] for row in rows if row["stage"] == dispute.stage.slug} == {None}


class TestBadItems:
    def test_it_has_no_answer_and_leaves_every_figure(self, dispute):
        annotation = decide(dispute, "bad", reason="The table has two 2015s.")
        assert annotation.answer == {}
        assert outcome(dispute)[0] in ("plurality", "tie")
        assert StageItem.objects.get(pk=dispute.place.pk).state == "left_out"
        units = read_units(item_set=make_item_set(dispute.project, [dispute.item]), field="answer")
        assert (len(units), units.left_out) == (0, [(dispute.item.external_id, "bad item")])

    def test_another_decision_brings_it_back(self, dispute):
        decide(dispute, "bad", reason="The table has two 2015s.")
        decide(dispute, card=card_of(dispute, "7"), revises=True, key="two")
        assert outcome(dispute) == ("adjudicated", "7")
        assert StageItem.objects.get(pk=dispute.place.pk).state == "open"
        assert not Exclusion.objects.standing().exists()
        assert [row.number for row in Annotation.objects.filter(assignment=dispute.held).order_by("number")] == [1, 2]

    def test_after_the_stage_is_closed_nothing_changes(self, dispute):
        decide(dispute, "bad", reason="The table has two 2015s.")
        dispute.judges.state = "closed"
        dispute.judges.save()
        with pytest.raises(StageNotOpen):
            decide(dispute, card=card_of(dispute, "7"), revises=True, key="two")
        assert Exclusion.objects.standing().count() == 1


class TestGold:
    def test_what_is_accepted_is_a_version_of_its_own(self, dispute):
        decide(dispute, card=card_of(dispute, "7"), is_gold=True)
        assert gold(dispute) == (2, ["7"], "adjudicator", dispute.judge)
        assert Event.objects.filter(verb="gold.made").count() == 1

    def test_it_changes_and_goes_with_the_decision(self, dispute):
        decide(dispute, card=card_of(dispute, "7"), is_gold=True)
        decide(dispute, "own", answer={"answer": "nine"}, is_gold=True, revises=True, key="two")
        assert gold(dispute)[:2] == (3, ["nine"])
        decide(dispute, "own", answer={"answer": "nine"}, revises=True, key="three")
        assert gold(dispute) == (4, ["five"], "source", None)

    def test_where_there_was_none_there_is_none_again(self, dispute):
        Gold.objects.all().delete()
        decide(dispute, card=card_of(dispute, "7"), is_gold=True)
        decide(dispute, "bad", revises=True, key="two")
        assert gold(dispute)[1] == []
        Exclusion.objects.all().delete()
        units = read_units(item_set=make_item_set(dispute.project, [dispute.item]), field="answer")
        assert units.golds == [()]

    def test_a_stage_without_that_option_leaves_it_to_admins(self):
        dispute = make_dispute("6", "2", makes_gold=False)
        with pytest.raises(AnswerInvalid, match="admins accept"):
            decide(dispute, card=card_of(dispute, "6"), is_gold=True)
        decide(dispute, card=card_of(dispute, "6"))
        admin = make_member(dispute.project, "admin")
        row = Resolution.objects.get(stage_item=dispute.place)
        accept_proposal(resolution=row, seen=answer_hash(row), by=admin)
        assert gold(dispute) == (2, ["6"], "adjudicator", dispute.judge)
        assert Event.objects.get(verb="gold.made").actor == admin.pseudonym

    def test_whoever_made_it_is_left_out_of_human_accuracy_on_it(self, dispute):
        decide(dispute, card=card_of(dispute, "7"), is_gold=True)
        other = make_stage(dispute.project, kind="answer", form=SHORT_ANSWER)
        make_annotation(make_stage_item(other, dispute.item), dispute.judge, {"answer": "7"})
        units = read_units(item_set=make_item_set(dispute.project, [dispute.item]), field="answer")
        (answer,) = read_people(stage=other, units=units, field="answer").answers
        assert answer.standing is Standing.MADE_GOLD


@pytest.mark.django_db(transaction=True)
@pytest.mark.services  # SQLite lets one writer in at a time
def test_of_a_vote_and_a_decision_at_once_neither_is_lost():
    dispute = make_dispute("6", "2", "7")
    card, seen = card_of(dispute, "7"), votes(dispute).seen
    turned = Annotation.objects.get(assignment__stage=dispute.stage, answer__answer="7")
    barrier = threading.Barrier(2)
    told: dict[str, object] = {}

    def run(name, work) -> None:
        try:
            barrier.wait()
            told[name] = work()
        except VotesChanged as refusal:
            told[name] = refusal
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=("decide", lambda: decide(dispute, card=card, seen=seen))),
        threading.Thread(
            target=run,
            args=(
                "vote",
                lambda: revise_annotation(
                    assignment=turned.assignment,
                    answer={"answer": "9"},
                    client_key="x",
                    stage_version=turned.stage_version,
                ),
            ),
        ),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(told["vote"], Annotation)
    if isinstance(told["decide"], VotesChanged):
        assert not Decision.objects.exists()
    else:
        # The decision was stored before the vote turned: it says from which vote it was taken.
        assert Decision.objects.get().taken_from.answer["answer"] == "7"
        resolving.resolve_due()
        assert outcome(dispute) == ("adjudicated", "7")
