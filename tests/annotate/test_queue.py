"""Who gets which item: order, places, leases, and the three kinds of nothing left."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.models import Assignment, Event, Membership, Participation, Person, Stage, StageItem
from annotate.services import assigning, submitting
from annotate.services.assigning import Left, NothingLeft
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def make_queue(n_items: int = 3, **fields) -> Stage:
    """An open stage whose items are handed out from the first on."""
    stage = make_stage(make_project(), **{"order": "sequential"} | fields)
    for _ in range(n_items):
        make_stage_item(stage)
    return stage


def claim(stage: Stage, person: Person) -> Assignment:
    taken = assigning.claim_next(stage=stage, person=person)
    assert isinstance(taken, Assignment), taken
    return taken


def answer(assignment: Assignment, label: str = "yes", key: str = "") -> object:
    return submitting.submit_annotation(
        assignment=assignment,
        answer={"label": label},
        client_key=key or f"key-{assignment.pk}",
        stage_version=assignment.stage.versions.get(is_current=True),
    )


def let_run_out(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))


def rank_of(assignment: Assignment) -> int:
    return StageItem.objects.get(pk=assignment.stage_item_id).rank


def test_a_claim_brings_the_item_with_its_content():
    stage = make_queue(0)
    make_stage_item(stage, make_item(stage.project, [["question", "Is the sea salty?"]], language="en"))
    taken = claim(stage, make_member(stage.project))
    revision = taken.stage_item.revision
    assert revision.content == [["question", "Is the sea salty?"]]
    assert revision.item.external_id == stage.stage_items.get().revision.item.external_id
    assert (taken.state, taken.draft, taken.draft_version) == ("leased", None, 0)
    assert_queue_is_sound(stage)


def test_a_person_gets_the_item_they_hold_until_it_is_done():
    stage = make_queue(3)
    person = make_member(stage.project)
    first = claim(stage, person)
    again = claim(stage, person)
    assert again.pk == first.pk
    answer(first)
    assert rank_of(claim(stage, person)) == 1


def test_looking_at_the_item_renews_its_lease():
    stage = make_queue(1)
    person = make_member(stage.project)
    first = claim(stage, person)
    let_run_out(first)
    claim(stage, person)
    first.refresh_from_db()
    left = first.lease_expires_at - timezone.now()
    assert timedelta(minutes=29) < left < timedelta(minutes=31)
    assert assigning.expire_leases() == 0


def test_sequential_order_begins_at_the_first_item_and_ends_after_the_last():
    stage = make_queue(3)
    person = make_member(stage.project)
    ranks = []
    for _ in range(3):
        taken = claim(stage, person)
        ranks.append(rank_of(taken))
        answer(taken)
    assert ranks == [0, 1, 2]
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.DONE)


def test_seeded_order_begins_where_the_seed_says_and_goes_round_once():
    stage = make_queue(10, order="seeded", overlap=50, seed=7)
    starts = set()
    for _ in range(12):
        person = make_member(stage.project)
        ranks = []
        for _ in range(10):
            taken = claim(stage, person)
            ranks.append(rank_of(taken))
            answer(taken)
        # Whatever the beginning, every item comes once and in order, going round the end.
        assert ranks == [(ranks[0] + n) % 10 for n in range(10)]
        starts.add(ranks[0])
    # Twelve people who all draw the same of ten places: one in 10 ** 11.
    assert len(starts) > 1


def test_the_same_person_and_seed_begin_at_the_same_place():
    stage = make_queue(10, order="seeded", overlap=5, seed=7)
    person = make_member(stage.project)
    first = rank_of(claim(stage, person))
    Assignment.objects.all().delete()
    Participation.objects.all().delete()
    StageItem.objects.update(active=0)
    assert rank_of(claim(stage, person)) == first


def test_nobody_gets_an_item_of_their_own_writing():
    stage = make_queue(2)
    author = make_member(stage.project)
    stage.stage_items.filter(rank=0).update(author=author)
    assert rank_of(claim(stage, author)) == 1


def test_people_get_items_in_the_languages_they_read():
    stage = make_queue(4)
    for rank, language in enumerate(["de", "en-GB", "", "en"]):
        stage.stage_items.filter(rank=rank).update(language=language)
    person = make_member(stage.project, languages=["EN"])
    ranks = []
    while isinstance(taken := assigning.claim_next(stage=stage, person=person), Assignment):
        ranks.append(rank_of(taken))
        answer(taken)
    # Not German; en-GB is English; an item without a language is for everybody.
    assert ranks == [1, 2, 3]
    assert taken == NothingLeft(Left.NOBODY_ELIGIBLE, n_short=1, n_met=0)


def test_a_language_tag_with_wildcards_matches_only_itself():
    stage = make_queue(2)
    stage.stage_items.filter(rank=0).update(language="en-GB")
    stage.stage_items.filter(rank=1).update(language="%")
    assert rank_of(claim(stage, make_member(stage.project, languages=["%"]))) == 1


def test_an_item_is_taken_by_as_many_people_as_it_wants():
    stage = make_queue(1, overlap=2)
    first, second, third = (make_member(stage.project) for _ in range(3))
    assert {claim(stage, first).stage_item_id, claim(stage, second).stage_item_id} == {stage.stage_items.get().pk}
    left = assigning.claim_next(stage=stage, person=third)
    assert isinstance(left, NothingLeft)
    assert (left.kind, left.n_short, left.n_held) == (Left.ALL_TAKEN, 1, 1)
    # Both leases were given this moment, for 30 minutes.
    assert left.seconds_to_return == pytest.approx(30 * 60, abs=30)
    assert_queue_is_sound(stage)


def test_all_taken_becomes_done_when_the_others_have_answered():
    stage = make_queue(1)
    holder, waiting = make_member(stage.project), make_member(stage.project)
    held = claim(stage, holder)
    assert assigning.claim_next(stage=stage, person=waiting).kind == Left.ALL_TAKEN
    answer(held)
    assert assigning.claim_next(stage=stage, person=waiting) == NothingLeft(Left.DONE)


def test_whoever_has_answered_everything_hears_that_others_are_needed():
    stage = make_queue(2, overlap=2)
    person = make_member(stage.project)
    answer(claim(stage, person))
    submitting.skip_assignment(assignment=claim(stage, person), reason="ambiguous")
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.NOBODY_ELIGIBLE, n_short=2, n_met=2)


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_stage_that_is_not_open_hands_out_nothing_new(state):
    stage = make_queue(2)
    busy, new = make_member(stage.project), make_member(stage.project)
    held = claim(stage, busy)
    stage.state = state
    stage.save()
    assert assigning.claim_next(stage=stage, person=new) == NothingLeft(Left.PAUSED)
    # What is in somebody's hands may be finished.
    assert claim(stage, busy).pk == held.pk


def test_a_skipped_item_does_not_come_back_and_is_free_for_others():
    stage = make_queue(1)
    person, other = make_member(stage.project), make_member(stage.project)
    submitting.skip_assignment(assignment=claim(stage, person), reason="broken")
    assert assigning.claim_next(stage=stage, person=person).kind == Left.NOBODY_ELIGIBLE
    assert claim(stage, other).slot == 0
    assert_queue_is_sound(stage)


def test_a_lease_that_ran_out_is_given_to_the_next_who_asks():
    stage = make_queue(1)
    gone, other = make_member(stage.project), make_member(stage.project)
    left_behind = claim(stage, gone)
    let_run_out(left_behind)
    # No scheduler has run: asking is enough.
    assert claim(stage, other).stage_item_id == left_behind.stage_item_id
    left_behind.refresh_from_db()
    assert (left_behind.state, left_behind.slot) == ("expired", None)
    assert_queue_is_sound(stage)
    assert Event.objects.get(verb="leases.expired").detail == {"assignments": [left_behind.pk]}


def test_a_person_who_comes_back_gets_the_same_row_with_its_draft():
    stage = make_queue(1)
    person = make_member(stage.project)
    first = claim(stage, person)
    submitting.save_draft(assignment=first, draft={"label": "no"}, version=1)
    let_run_out(first)
    assert assigning.expire_leases() == 1
    again = claim(stage, person)
    assert (again.pk, again.token, again.draft, again.draft_version) == (first.pk, first.token, {"label": "no"}, 1)
    assert_queue_is_sound(stage)


def test_finished_work_never_expires():
    stage = make_queue(1)
    taken = claim(stage, make_member(stage.project))
    answer(taken)
    let_run_out(taken)
    assert assigning.expire_leases() == 0
    taken.refresh_from_db()
    assert (taken.state, taken.slot) == ("submitted", 0)


def test_a_lease_can_be_renewed_and_taken_again_only_where_a_place_is_free():
    stage = make_queue(1)
    first, second = make_member(stage.project), make_member(stage.project)
    held = claim(stage, first)
    assert assigning.renew_lease(assignment=held)
    let_run_out(held)
    assigning.expire_leases()
    assert assigning.renew_lease(assignment=held), "nobody has it: it is the first one's again"
    let_run_out(held)
    assigning.expire_leases()
    claim(stage, second)
    assert not assigning.renew_lease(assignment=held)
    assert_queue_is_sound(stage)


def test_slots_are_reused_from_below():
    stage = make_queue(1, overlap=3)
    people = [make_member(stage.project) for _ in range(4)]
    held = [claim(stage, person) for person in people[:3]]
    assert sorted(Assignment.objects.values_list("slot", flat=True)) == [0, 1, 2]
    submitting.skip_assignment(assignment=held[1], reason="other")
    assert claim(stage, people[3]).slot == 1
    assert_queue_is_sound(stage)


def test_items_under_review_or_withdrawn_are_not_handed_out():
    stage = make_queue(3)
    stage.stage_items.filter(rank=0).update(state="review")
    stage.stage_items.filter(rank=1).update(state="withdrawn")
    person = make_member(stage.project)
    taken = claim(stage, person)
    assert rank_of(taken) == 2
    answer(taken)
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.DONE)


def test_an_item_with_all_its_answers_is_passed_over():
    stage = make_queue(2)
    make_annotation(stage.stage_items.get(rank=0), make_member(stage.project), {"label": "no"})
    assert rank_of(claim(stage, make_member(stage.project))) == 1


def test_one_stage_does_not_disturb_another():
    stage = make_queue(1)
    other = make_stage(stage.project, order="sequential")
    make_stage_item(other, stage_item_source := make_item(stage.project))
    person = make_member(stage.project)
    held = claim(stage, person)
    elsewhere = claim(other, person)
    assert elsewhere.stage_item.revision.item_id == stage_item_source.pk
    assert claim(stage, person).pk == held.pk


def test_a_paused_membership_reads_no_languages_from_another_project():
    stage = make_queue(1)
    stage.stage_items.update(language="de")
    person = make_member(stage.project, languages=["en"])
    Membership.objects.create(person=person, project=make_project(), role="annotator", languages=["de"])
    assert assigning.claim_next(stage=stage, person=person).kind == Left.NOBODY_ELIGIBLE
