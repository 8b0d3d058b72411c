"""What becomes of a held item: stored once, never lost, never under a leftover draft."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.answers import AnswerInvalid
from annotate.exceptions import AnswerBelongsElsewhere, AssignmentNotOpen, StageNotOpen, StaleDraft
from annotate.models import Annotation, Assignment, Event, Participation, Person, Stage, StageItem, StageVersion
from annotate.services import assigning
from annotate.services.counting import PersonCounts
from annotate.services.submitting import (
    Circumstances,
    revise_annotation,
    save_draft,
    skip_and_claim_next,
    skip_assignment,
    submit_and_claim_next,
    submit_annotation,
)
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_assignment,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def make_held(overlap: int = 1, n_items: int = 1, **fields) -> Assignment:
    """An item in the hands of an annotator."""
    stage = make_stage(make_project(), overlap=overlap, order="sequential", **fields)
    for _ in range(n_items):
        make_stage_item(stage)
    return claim(stage, make_member(stage.project))


def claim(stage: Stage, person: Person) -> Assignment:
    taken = assigning.claim_next(stage=stage, person=person)
    assert isinstance(taken, Assignment), taken
    return taken


def submit(assignment: Assignment, label: str = "yes", key: str = "first", **fields) -> Annotation:
    return submit_annotation(**asked(assignment, label, key) | fields)


def revise(assignment: Assignment, label: str, key: str, **fields) -> Annotation:
    return revise_annotation(**asked(assignment, label, key) | fields)


def asked(assignment: Assignment, label: str, key: str) -> dict:
    version = assignment.stage.versions.get(is_current=True)
    return {"assignment": assignment, "answer": {"label": label}, "client_key": key, "stage_version": version}


def run_out(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    assigning.expire_leases()


# Submitting


def test_an_answer_is_stored_counted_and_marked_for_the_recount():
    held = make_held()
    annotation = submit(held)
    assert (annotation.answer, annotation.number, annotation.is_current) == ({"label": "yes"}, 1, True)
    held.refresh_from_db()
    assert (held.state, held.slot, held.draft) == ("submitted", 0, None)
    item = StageItem.objects.get()
    assert (item.active, item.done) == (0, 1)
    assert item.due_at is not None
    assert Participation.objects.get().n_answered == 1
    event = Event.objects.get(verb="annotation.submitted")
    assert (event.actor, event.subject_id, event.detail) == (held.person.pseudonym, annotation.pk, {})
    assert_queue_is_sound(held.stage)


def test_the_same_submission_again_returns_the_same_annotation():
    held = make_held()
    assert submit(held).pk == submit(held).pk
    assert Annotation.objects.count() == 1
    assert Event.objects.filter(verb="annotation.submitted").count() == 1
    assert Participation.objects.get().n_answered == 1


def test_two_tabs_with_different_answers_keep_the_first():
    held = make_held()
    submit(held, "yes", key="one tab")
    assert submit(held, "no", key="other tab").answer == {"label": "yes"}
    assert_queue_is_sound(held.stage)


def test_a_submission_repeated_after_a_revision_returns_what_it_stored_itself():
    held = make_held()
    first = submit(held, "yes", key="first")
    revise(held, "no", key="second")
    assert submit(held, "yes", key="first").pk == first.pk
    # What counts is still the revision.
    assert Annotation.objects.get(is_current=True).answer == {"label": "no"}


def test_a_client_key_is_looked_up_within_the_assignment_only():
    stage = make_stage(make_project(), overlap=2)
    make_stage_item(stage)
    first, second = (claim(stage, make_member(stage.project)) for _ in range(2))
    assert submit(first, "yes", key="same").pk != submit(second, "no", key="same").pk


def test_a_lease_that_nobody_has_swept_yet_is_still_good():
    held = make_held()
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(hours=1))
    submit(held)
    held.refresh_from_db()
    assert held.slot == 0


def test_a_late_answer_takes_a_free_place_again():
    held = make_held()
    run_out(held)
    submit(held)
    held.refresh_from_db()
    assert (held.state, held.slot) == ("submitted", 0)
    assert StageItem.objects.get().done == 1
    assert_queue_is_sound(held.stage)


def test_a_late_answer_without_a_place_is_kept_as_surplus():
    held = make_held()
    run_out(held)
    submit(claim(held.stage, make_member(held.stage.project)), "no")
    StageItem.objects.update(due_at=None)
    annotation = submit(held, "yes")
    held.refresh_from_db()
    assert (held.state, held.slot, annotation.answer) == ("submitted", None, {"label": "yes"})
    assert Event.objects.filter(verb="annotation.submitted").last().detail == {"surplus": True}
    item = StageItem.objects.get()
    # It counts nowhere, so nothing is to be recounted.
    assert (item.active, item.done, item.due_at) == (0, 1, None)
    assert list(Annotation.objects.counted()) == [Annotation.objects.get(answer={"label": "no"})]
    assert_queue_is_sound(held.stage)


def test_a_late_answer_to_a_withdrawn_item_takes_no_place():
    held = make_held()
    run_out(held)
    StageItem.objects.update(state="withdrawn")
    submit(held)
    held.refresh_from_db()
    assert (held.state, held.slot) == ("submitted", None)


@pytest.mark.parametrize("state", ["skipped", "withdrawn"])
def test_an_item_that_was_given_back_takes_no_answer(state):
    held = make_held()
    Assignment.objects.update(state=state, slot=None, skip_reason="other")
    with pytest.raises(AssignmentNotOpen):
        submit(held)
    assert Annotation.objects.count() == 0


def test_an_invalid_answer_writes_nothing():
    held = make_held()
    with pytest.raises(AnswerInvalid):
        submit(held, "perhaps")
    held.refresh_from_db()
    assert held.state == "leased"
    assert Annotation.objects.count() == 0


def test_an_answer_is_checked_against_the_form_its_author_saw():
    held = make_held()
    seen = held.stage.versions.get()
    seen.is_current = False
    seen.save()
    newer = [YES_NO[0] | {"options": [{"value": "true", "caption": "True"}, {"value": "false", "caption": "False"}]}]
    StageVersion.objects.create(stage=held.stage, number=2, fields=newer, shown_keys=["question"])
    annotation = submit(held, "yes", stage_version=seen)
    assert annotation.stage_version == seen


def test_the_form_of_another_stage_is_refused():
    held = make_held()
    elsewhere = make_stage().versions.get()
    with pytest.raises(AnswerBelongsElsewhere):
        submit(held, stage_version=elsewhere)


def test_active_seconds_are_at_most_the_time_the_item_was_held():
    held = make_held()
    Assignment.objects.update(leased_at=timezone.now() - timedelta(seconds=100))
    annotation = submit(held, circumstances=Circumstances(active_seconds=8 * 3600))
    assert annotation.wall_seconds == pytest.approx(100, abs=5)
    assert annotation.active_seconds == annotation.wall_seconds


def test_circumstances_are_stored_with_the_answer():
    held = make_held()
    Assignment.objects.update(leased_at=timezone.now() - timedelta(seconds=100))
    guidelines = held.stage.guideline_versions.get()
    seen = Circumstances(
        guideline_version_id=guidelines.pk, active_seconds=40, is_flagged=True, flag_note="Two questions in one"
    )
    annotation = submit(held, circumstances=seen)
    assert (annotation.guideline_version, annotation.active_seconds) == (guidelines, 40)
    assert (annotation.is_flagged, annotation.flag_note) == (True, "Two questions in one")
    assert Participation.objects.get().active_seconds == 40


def test_the_response_to_an_answer_carries_the_next_item():
    held = make_held(n_items=2)
    first = submit_and_claim_next(**asked(held, "yes", "first"), languages=[])
    assert first.annotation.assignment_id == held.pk
    assert isinstance(first.next, Assignment)
    assert first.next.stage_item.rank == 1
    assert first.mine == PersonCounts(answered=1)
    # The same request again: the same answer, the same next item.
    again = submit_and_claim_next(**asked(held, "yes", "first"), languages=[])
    assert (again.annotation.pk, again.next.pk, again.mine) == (first.annotation.pk, first.next.pk, None)
    assert_queue_is_sound(held.stage)


def test_whoever_holds_another_item_goes_on_with_that():
    held = make_held(n_items=3)
    other = make_assignment(StageItem.objects.get(rank=2), held.person)
    assert submit_and_claim_next(**asked(held, "yes", "first"), languages=[]).next.pk == other.pk
    assert_queue_is_sound(held.stage)


# Changing an answer


def test_a_changed_answer_is_a_new_row_and_the_newest_counts():
    held = make_held()
    first = submit(held, "yes")
    StageItem.objects.update(due_at=None)
    second = revise(held, "no", key="second")
    first.refresh_from_db()
    assert (first.is_current, first.answer) == (False, {"label": "yes"})
    assert (second.number, second.is_current, second.answer) == (2, True, {"label": "no"})
    assert StageItem.objects.get().due_at is not None
    assert Event.objects.get(verb="annotation.revised").detail == {"number": 2}
    assert Participation.objects.get().n_answered == 1
    assert_queue_is_sound(held.stage)


def test_the_same_change_again_returns_the_same_annotation():
    held = make_held()
    submit(held)
    assert revise(held, "no", key="second").pk == revise(held, "no", key="second").pk
    assert Annotation.objects.count() == 2


def test_nothing_can_be_changed_before_it_was_submitted():
    with pytest.raises(AssignmentNotOpen):
        revise(make_held(), "no", key="first")


def test_answers_of_a_closed_stage_are_not_changed():
    held = make_held()
    submit(held)
    held.stage.state = "closed"
    with pytest.raises(StageNotOpen):
        revise(held, "no", key="second")
    assert Annotation.objects.count() == 1


def test_the_time_for_a_change_is_counted_from_the_answer_before():
    held = make_held()
    submit(held)
    Annotation.objects.update(created_at=timezone.now() - timedelta(seconds=30))
    second = revise(held, "no", key="second", circumstances=Circumstances(active_seconds=3600))
    assert second.active_seconds == second.wall_seconds == pytest.approx(30, abs=5)


# Drafts


def draft(held: Assignment, label: str, version: int) -> None:
    save_draft(assignment=held, draft={"label": label}, version=version)


def test_a_draft_is_kept_with_its_version_and_keeps_the_lease_alive():
    held = make_held()
    Assignment.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=5))
    draft(held, "no", 1)
    # One attempt was lost on the way: the number rises all the same.
    draft(held, "yes", 3)
    held.refresh_from_db()
    assert (held.draft, held.draft_version) == ({"label": "yes"}, 3)
    assert held.lease_expires_at > timezone.now() + timedelta(minutes=20)


def test_a_draft_whose_response_was_lost_can_be_sent_again():
    held = make_held()
    draft(held, "no", 1)
    draft(held, "no", 1)
    held.refresh_from_db()
    assert (held.draft, held.draft_version) == ({"label": "no"}, 1)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_draft_of_an_older_tab_is_refused(version):
    held = make_held()
    draft(held, "no", 2)
    with pytest.raises(StaleDraft):
        draft(held, "yes", version)
    held.refresh_from_db()
    assert (held.draft, held.draft_version) == ({"label": "no"}, 2)


@pytest.mark.parametrize("version", [1, 2, 1_000])
def test_a_late_draft_never_covers_an_answer(version):
    held = make_held()
    draft(held, "no", 1)
    submit(held, "yes")
    with pytest.raises(StaleDraft):
        draft(held, "no", version)
    held.refresh_from_db()
    assert (held.state, held.draft) == ("submitted", None)


def test_words_typed_after_the_lease_ran_out_take_the_place_again_where_it_is_free():
    held = make_held()
    run_out(held)
    draft(held, "no", 1)
    held.refresh_from_db()
    assert (held.state, held.slot, held.draft) == ("leased", 0, {"label": "no"})
    assert_queue_is_sound(held.stage)


def test_words_typed_when_the_place_is_gone_are_kept_all_the_same():
    held = make_held()
    run_out(held)
    claim(held.stage, make_member(held.stage.project))
    draft(held, "no", 1)
    held.refresh_from_db()
    assert (held.state, held.slot, held.draft) == ("expired", None, {"label": "no"})


# Skipping


def test_a_skip_has_a_reason_and_frees_the_place():
    held = make_held(n_items=2)
    after = skip_and_claim_next(assignment=held, reason="ambiguous", note="Which year?", languages=[])
    held.refresh_from_db()
    assert (held.state, held.slot, held.skip_reason, held.skip_note) == ("skipped", None, "ambiguous", "Which year?")
    assert StageItem.objects.get(pk=held.stage_item_id).active == 0
    assert after.next.stage_item.rank == 1
    assert after.mine == PersonCounts(skipped=1)
    assert Participation.objects.get().n_skipped == 1
    assert_queue_is_sound(held.stage)


def test_skipping_twice_counts_once():
    held = make_held()
    skip_assignment(assignment=held, reason="broken")
    skip_assignment(assignment=held, reason="broken")
    assert Participation.objects.get().n_skipped == 1
    assert Event.objects.filter(verb="assignment.skipped").count() == 1


def test_an_answered_item_is_not_skipped():
    held = make_held()
    submit(held)
    with pytest.raises(AssignmentNotOpen):
        skip_assignment(assignment=held, reason="broken")
    held.refresh_from_db()
    assert held.state == "submitted"


def test_three_equal_reasons_send_the_item_to_review():
    stage = make_stage(make_project(), overlap=5)
    item = make_stage_item(stage)
    for reason, state in [("broken", "open"), ("ambiguous", "open"), ("broken", "open"), ("broken", "review")]:
        skip_assignment(assignment=claim(stage, make_member(stage.project)), reason=reason)
        item.refresh_from_db()
        assert item.state == state
    assert_queue_is_sound(stage)


def test_an_item_whose_lease_ran_out_can_still_be_skipped():
    held = make_held()
    run_out(held)
    skip_assignment(assignment=held, reason="cannot_tell")
    held.refresh_from_db()
    assert held.state == "skipped"
    assert_queue_is_sound(held.stage)


def test_a_supporting_field_is_stored_beside_the_deciding_one():
    held = make_held(form=SHORT_ANSWER)
    version = held.stage.versions.get()
    annotation = submit_annotation(
        assignment=held,
        answer={"answer": "two", "why": "2007 and 2011"},
        client_key="k",
        stage_version=version,
    )
    assert annotation.answer == {"answer": "two", "why": "2007 and 2011"}


def test_answers_made_by_hand_in_tests_leave_the_queue_sound():
    stage = make_stage(make_project(), overlap=2)
    make_annotation(make_stage_item(stage), make_member(stage.project), {"label": "yes"})
    assert StageItem.objects.get().done == Assignment.objects.filter(slot__isnull=False).count() == 1
