"""The votes of due items are counted from counted answers, and from nothing else."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Assignment, Resolution, StageItem, StageVersion
from annotate.services import resolving
from annotate.services.excluding import exclude_person, lift_exclusion
from annotate.services.submitting import revise_annotation
from tests.factories import SHORT_ANSWER, make_annotation, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def make_voted(*labels: str, field: str = "label", **fields) -> StageItem:
    """An item with these answers, in this order."""
    stage = make_stage(make_project(), overlap=max(1, len(labels)), **fields)
    item = make_stage_item(stage)
    for label in labels:
        make_annotation(item, make_member(stage.project), {field: label})
    return item


def outcome(item: StageItem) -> tuple:
    resolving.resolve_due()
    row = Resolution.objects.get(stage_item=item)
    return row.status, row.answer, row.counts, row.n_votes, row.margin


def test_a_majority_is_stored_with_its_votes():
    assert outcome(make_voted("yes", "no", "yes")) == ("majority", "yes", [["yes", 2], ["no", 1]], 3, 1)


def test_a_tie_is_told_and_has_no_answer():
    assert outcome(make_voted("yes", "no")) == ("tie", None, [["no", 1], ["yes", 1]], 2, 0)


def test_texts_that_differ_only_in_writing_vote_together_and_the_first_wording_is_kept():
    item = make_voted("Two  Medals", "two medals", "three", field="answer", form=SHORT_ANSWER)
    status, answer, counts, n_votes, margin = outcome(item)
    assert (status, answer, n_votes, margin) == ("majority", "Two  Medals", 3, 1)
    assert counts == [["number:2 medals", 2], ["number:3", 1]]


def test_only_deciding_fields_are_resolved():
    item = make_voted("two", field="answer", form=SHORT_ANSWER)
    resolving.resolve_due()
    assert list(Resolution.objects.filter(stage_item=item).values_list("field", flat=True)) == ["answer"]


def test_counting_clears_what_is_due_and_a_change_makes_it_due_again():
    item = make_voted("yes", "yes", "no")
    assert resolving.resolve_due() == 1
    assert resolving.resolve_due() == 0
    assignment = Assignment.objects.filter(annotations__answer={"label": "no"}).get()
    revise_annotation(
        assignment=assignment,
        answer={"label": "yes"},
        client_key="second",
        stage_version=assignment.stage.versions.get(),
    )
    assert outcome(item) == ("unanimous", "yes", [["yes", 3]], 3, 3)
    assert Resolution.objects.count() == 1


def test_surplus_answers_do_not_vote():
    item = make_voted("yes")
    extra = make_member(item.stage.project)
    StageItem.objects.update(wanted=2)
    annotation = make_annotation(item, extra, {"label": "no"})
    Assignment.objects.filter(pk=annotation.assignment_id).update(slot=None)
    assert outcome(item)[2] == [["yes", 1]]


def test_excluded_answers_do_not_vote_until_the_exclusion_is_lifted():
    item = make_voted("yes", "no", "no")
    admin = make_member(item.stage.project, "admin")
    assert outcome(item)[1] == "no"
    author = Assignment.objects.filter(annotations__answer={"label": "yes"}).get().person
    exclusion = exclude_person(project=item.stage.project, person=author, by=admin, reason="clicked through")
    assert outcome(item)[2] == [["no", 2]]
    lift_exclusion(exclusion=exclusion, by=admin)
    assert outcome(item)[2] == [["no", 2], ["yes", 1]]


def test_an_item_without_counted_answers_has_no_votes():
    item = make_voted()
    StageItem.objects.update(due_at="2020-01-01T00:00:00Z")
    assert outcome(item) == ("no_votes", None, [], 0, 0)


def test_an_adjudicated_field_is_left_alone():
    item = make_voted("yes", "yes")
    Resolution.objects.create(stage_item=item, field="label", status="adjudicated", answer="no", key_version=1)
    assert outcome(item)[:2] == ("adjudicated", "no")
    item.refresh_from_db()
    assert item.due_at is None


def test_votes_counted_with_older_keys_are_counted_again():
    item = make_voted("365 days", "one year", "two years", field="answer", form=SHORT_ANSWER)
    assert outcome(item)[:2] == ("majority", "365 days")
    judged = make_stage_item(item.stage)
    Resolution.objects.create(stage_item=judged, field="answer", status="adjudicated", answer="x", key_version=1)
    assert resolving.mark_outdated() == 0
    Resolution.objects.filter(stage_item=item).update(key_version=1, status="tie", answer=None)
    assert resolving.mark_outdated() == 1
    assert outcome(item)[:2] == ("majority", "365 days")
    assert resolving.mark_outdated() == 0


def test_each_answer_is_read_with_the_form_its_author_saw():
    item = make_voted("yes", "yes")
    item.stage.versions.update(is_current=False)
    other_fields = [
        {"name": "label", "type": "long_text", "caption": "In your words", "decides": True, "required": True},
    ]
    newer = StageVersion.objects.create(stage=item.stage, number=2, fields=other_fields, shown_keys=["question"])
    StageItem.objects.update(wanted=3)
    make_annotation(item, make_member(item.stage.project), {"label": "YES"}, stage_version=newer)
    assert outcome(item) == ("unanimous", "yes", [["yes", 3]], 3, 3)


def test_many_due_items_take_constant_queries_a_batch():
    stage = make_stage(make_project())
    for _ in range(resolving.BATCH):
        make_annotation(make_stage_item(stage), make_member(stage.project), {"label": "yes"})
    with CaptureQueriesContext(
        connection,
    ) as few:
        assert resolving.resolve_due(limit=5) == 5
    with CaptureQueriesContext(connection) as many:
        assert resolving.resolve_due() == resolving.BATCH - 5
    # The second asks once more and finds nothing; SQLite writes as many rows at once as its parameters allow.
    assert len(many) <= len(few) + 5
    assert Resolution.objects.filter(status="majority").count() == resolving.BATCH


def test_what_is_answered_while_votes_are_counted_waits_for_the_next_bell(monkeypatch):
    stage = make_stage(make_project())
    voter = make_member(stage.project)
    make_annotation(make_stage_item(stage), voter, {"label": "yes"})
    count_votes = resolving.count_votes

    def answer_meanwhile(items):
        count_votes(items)
        make_annotation(make_stage_item(stage), voter, {"label": "yes"})

    monkeypatch.setattr(resolving, "count_votes", answer_meanwhile)
    # Counted one by one as they come, answers would keep the worker, and a bell would have no end.
    assert resolving.resolve_due() == 1
    assert StageItem.objects.due().count() == 1
    assert resolving.resolve_due() == 1
