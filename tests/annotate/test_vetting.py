"""Experts accept, edit or drop an item, and with it the proposed gold label; all of it can be changed again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.answers import AnswerInvalid
from annotate.exceptions import VotesChanged
from annotate.models import Annotation, Assignment, Event, Exclusion, Feed, Gold, ItemRevision, StageItem
from annotate.services import assigning, resolving, vetting
from annotate.services.assigning import Left
from annotate.services.votes import votes_about
from annotate.stage_kinds import review_fields
from evaluation.matrices import read_units
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

ACCEPTED = {"when": [["decision", ["accept", "edit"]]]}


@pytest.fixture
def study() -> SimpleNamespace:
    """An answered item with an author's label, in the hands of a reviewer; what is kept goes on to another stage."""
    project = make_project()
    stage = make_stage(project, kind="answer", overlap=2, form=SHORT_ANSWER)
    reviewing = make_stage(project, kind="review", roles=["adjudicator"], form=review_fields(SHORT_ANSWER))
    last = make_stage(project, kind="answer", form=SHORT_ANSWER, slug="last")
    Feed.objects.create(source=stage, target=reviewing, rule="decided")
    Feed.objects.create(source=reviewing, target=last, rule="every", recipe=ACCEPTED)
    item = make_item(project, [["question", "How many places?"], ["table", "1st, 7th"]], gold={"answer": ["five"]})
    place = make_stage_item(stage, item)
    waiting = make_stage_item(make_stage(project, kind="answer", form=SHORT_ANSWER), item)
    for _ in range(2):
        make_annotation(place, make_member(project), {"answer": "6"})
    resolving.resolve_due()
    expert = make_member(project, "adjudicator")
    held = assigning.claim_next(stage=reviewing, person=expert)
    return SimpleNamespace(
        project=project,
        reviewing=reviewing,
        last=last,
        item=item,
        place=place,
        waiting=waiting,
        expert=expert,
        held=held,
    )


def review(study, *, revises: bool = False, key: str = "one", seen: str = "", **answer) -> Annotation:
    place = StageItem.objects.select_related("stage", "source__stage", "revision__item").get(
        pk=study.held.stage_item_id
    )
    annotation = vetting.review(
        assignment=Assignment.objects.get(pk=study.held.pk),
        answer={"question": "How many places?", "answer": "five"} | answer,
        seen=seen or votes_about(place).seen,
        client_key=key,
        stage_version=study.reviewing.versions.get(),
        revises=revises,
    )
    resolving.resolve_due()
    return annotation


def wording(study) -> str:
    return ItemRevision.objects.get(item=study.item, is_current=True).content[0][1]


def gold(study) -> tuple:
    row = Gold.objects.get(item=study.item, is_current=True)
    return row.version, row.answers, row.origin


def test_what_is_accepted_stays_and_goes_on(study):
    annotation = review(study, decision="accept")
    assert annotation.answer == {"decision": "accept"}
    assert (wording(study), gold(study)) == ("How many places?", (1, ["five"], "source"))
    assert StageItem.objects.get(stage=study.last).revision.item == study.item
    assert Event.objects.get(verb="item.reviewed").detail["decision"] == "accept"


def test_accepting_makes_the_label_that_the_votes_propose(study):
    Gold.objects.all().delete()
    review(study, decision="accept", answer="6")
    assert gold(study) == (1, ["6"], "expert")
    assert Gold.objects.get(is_current=True).made_by == study.expert


def test_an_edit_rewords_the_item_where_nobody_has_answered_it(study):
    review(study, decision="edit", question="By how many places?")
    assert wording(study) == "By how many places?"
    assert StageItem.objects.get(pk=study.waiting.pk).revision.number == 2
    answered = StageItem.objects.get(pk=study.place.pk)
    assert (answered.revision.number, answered.revision.is_current) == (1, False)
    assert StageItem.objects.get(stage=study.last).revision.number == 2


def test_an_edit_corrects_the_label(study):
    review(study, decision="edit", answer="6")
    assert gold(study) == (2, ["6"], "expert")
    assert wording(study) == "How many places?"


def test_a_dropped_item_leaves_the_queues_and_every_figure(study):
    annotation = review(study, decision="drop", code="ambiguous", note="Two readings.")
    assert annotation.answer == {"decision": "drop", "code": "ambiguous", "note": "Two readings."}
    assert not StageItem.objects.filter(stage=study.last).exists()
    other = make_member(study.project)
    assert assigning.claim_next(stage=study.waiting.stage, person=other).kind == Left.DONE
    units = read_units(item_set=make_item_set(study.project, [study.item]), field="answer")
    assert units.left_out == [(study.item.external_id, "dropped: ambiguous")]
    assert Exclusion.objects.get().reason == "Two readings."


@pytest.mark.parametrize(
    ("answer", "at"),
    [
        ({}, "decision"),
        ({"decision": "edit"}, "decision"),
        ({"decision": "accept", "answer": "6"}, "decision"),
        ({"decision": "drop"}, "code"),
        ({"decision": "keep"}, "decision"),
    ],
)
def test_what_does_not_go_together_is_refused(study, answer, at):
    with pytest.raises(AnswerInvalid) as refusal:
        review(study, **answer)
    assert list(refusal.value.errors) == [at]
    assert Assignment.objects.get(pk=study.held.pk).state == "leased"
    assert gold(study)[0] == 1


def test_a_label_that_changed_meanwhile_refuses_the_decision(study):
    place = StageItem.objects.select_related("stage", "source__stage", "revision__item").get(
        pk=study.held.stage_item_id
    )
    seen = votes_about(place).seen
    Gold.objects.filter(item=study.item).update(is_current=False)
    Gold.objects.create(item=study.item, field="answer", version=2, answers=["8"])
    with pytest.raises(VotesChanged):
        review(study, decision="accept", seen=seen)


def test_a_double_click_reviews_once(study):
    first = review(study, decision="edit", answer="6")
    assert review(study, decision="edit", answer="6") == first
    assert gold(study)[0] == 2


class TestChanges:
    def test_of_an_edit_into_another(self, study):
        review(study, decision="edit", question="By how many places?", answer="6")
        review(study, revises=True, key="two", decision="edit", question="By how many?")
        assert (wording(study), gold(study)[1:]) == ("By how many?", (["five"], "source"))

    def test_of_an_edit_into_an_acceptance(self, study):
        review(study, decision="edit", question="By how many places?", answer="6")
        review(study, revises=True, key="two", decision="accept")
        assert (wording(study), gold(study)[1:]) == ("How many places?", (["five"], "source"))
        assert StageItem.objects.get(pk=study.waiting.pk).revision.content[0][1] == "How many places?"

    def test_of_a_drop_into_an_acceptance(self, study):
        review(study, decision="drop", code="trivial")
        assert Exclusion.objects.standing().get().rule == "dropped: trivial"
        review(study, revises=True, key="two", decision="drop", code="subjective")
        assert Exclusion.objects.standing().get().rule == "dropped: subjective"
        review(study, revises=True, key="three", decision="accept")
        assert not Exclusion.objects.standing().exists()
        assert StageItem.objects.get(stage=study.last).revision.item == study.item

    def test_of_an_acceptance_into_a_drop_takes_back_the_label(self, study):
        Gold.objects.all().delete()
        review(study, decision="accept", answer="6")
        review(study, revises=True, key="two", decision="drop", code="trivial", answer="6")
        assert gold(study)[1] == []
