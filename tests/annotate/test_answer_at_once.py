"""On PostgreSQL one statement stores an answer and leases the next item: it must see what others did meanwhile."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate import claim_sql
from annotate.models import Annotation, Assignment, Event, Participation, Stage, StageItem
from annotate.services import assigning, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.statements import row_of
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.annotate.test_lock_order import in_a_tab as in_a_tab
from tests.executed import statements
from tests.factories import make_member, make_project, make_stage, make_stage_item

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


@pytest.fixture
def stage() -> Stage:
    stage = make_stage(make_project(), overlap=2, order="sequential")
    for _ in range(3):
        make_stage_item(stage)
    return stage


def take(stage: Stage, person) -> Assignment:
    taken = assigning.claim_next(stage=stage, person=person, languages=[])
    assert isinstance(taken, Assignment)
    return taken


def submit(held: Assignment, key: str = "once") -> submitting.Acknowledged:
    return submitting.submit_and_claim_next(
        assignment=held,
        answer={"label": "yes"},
        client_key=key,
        stage_version=held.stage.versions.get(is_current=True),
        circumstances=submitting.Circumstances(held_seconds=2.0, active_seconds=1),
        languages=[],
    )


def test_it_is_one_statement(stage):
    held = take(stage, make_member(stage.project))
    version = stage.versions.get(is_current=True)
    with CaptureQueriesContext(connection) as queries:
        done = submitting.submit_and_claim_next(
            assignment=held,
            answer={"label": "yes"},
            client_key="once",
            stage_version=version,
            circumstances=submitting.Circumstances(held_seconds=2.0),
            languages=[],
        )
    assert len(statements(queries)) == 1
    assert isinstance(done.next, Assignment)
    assert done.next.pk != held.pk
    assert done.mine.answered == 1
    assert Event.objects.get(verb="annotation.submitted").subject_id == done.annotation.pk
    assert_queue_is_sound(stage)


def test_a_slot_that_was_taken_since_the_statement_began_is_not_given_again(stage, in_a_tab):
    """It has begun and waits for its assignment; meanwhile somebody else takes a place of the item that comes next."""
    held = take(stage, make_member(stage.project))
    theirs = take(stage, make_member(stage.project))
    with transaction.atomic():
        Assignment.objects.select_for_update().get(pk=held.pk)
        answering = in_a_tab(lambda: submit(held))
        assert not answering.done()
        first = in_a_tab(lambda: submit(theirs, "theirs")).result(timeout=30).next
    second = answering.result(timeout=30).next
    assert first.stage_item_id == second.stage_item_id
    assert sorted(Assignment.objects.filter(state="leased").values_list("slot", flat=True)) == [0, 1]
    assert_queue_is_sound(stage)


def test_the_second_of_two_clicks_takes_nothing_and_changes_nothing(stage, in_a_tab):
    held = take(stage, make_member(stage.project))
    with transaction.atomic():
        Assignment.objects.select_for_update().get(pk=held.pk)
        clicks = [in_a_tab(lambda: submit(held)) for _ in range(2)]
    first, second = (click.result(timeout=30) for click in clicks)
    assert first.annotation.pk == second.annotation.pk
    assert Annotation.objects.count() == 1
    assert first.next.pk == second.next.pk
    assert_queue_is_sound(stage)


def test_whoever_holds_another_item_gets_that_one(stage):
    person = make_member(stage.project)
    held = take(stage, person)
    # Two tabs at once got two items.
    place = StageItem.objects.filter(stage=stage).order_by("rank")[1]
    other = Assignment.objects.create(
        stage=stage, stage_item=place, person=person, slot=0, leased_at=held.leased_at, lease_expires_at=held.leased_at
    )
    StageItem.objects.filter(pk=place.pk).update(active=1)
    done = submit(Assignment.objects.get(pk=held.pk))
    assert done.next == other
    assert done.mine.answered == 1
    assert_queue_is_sound(stage)


def test_a_place_that_ran_out_is_offered_again_with_its_draft(stage):
    person = make_member(stage.project)
    first = take(stage, person)
    following = StageItem.objects.filter(stage=stage).order_by("rank")[1]
    earlier = Assignment.objects.create(
        stage=stage,
        stage_item=following,
        person=person,
        state="expired",
        leased_at="2020-01-01T00:00:00Z",
        lease_expires_at="2020-01-01T00:30:00Z",
        draft={"answer": {"label": "no"}},
        draft_version=4,
    )
    done = submit(first)
    assert done.next == earlier
    assert (done.next.draft, done.next.draft_version) == ({"answer": {"label": "no"}}, 4)
    assert_queue_is_sound(stage)


def test_without_a_participation_the_steps_make_one(stage):
    person = make_member(stage.project)
    held = take(stage, person)
    Participation.objects.all().delete()
    done = submit(held)
    assert isinstance(done.next, Assignment)
    assert Participation.objects.get(person=person).n_answered == 1
    assert_queue_is_sound(stage)


def test_round_the_end_of_a_stage_and_to_its_end(stage):
    person = make_member(stage.project)
    held = take(stage, person)
    # They began in the middle.
    Participation.objects.update(rank=2)
    for n in range(2):
        done = submit(held, f"key-{n}")
        held = done.next
        assert isinstance(held, Assignment)
    done = submit(held, "last")
    assert done.next == NothingLeft(Left.NOBODY_ELIGIBLE, n_short=3, n_met=3)
    assert done.mine.answered == 3
    assert_queue_is_sound(stage)


def test_the_function_finds_the_slot_that_the_queue_finds(stage):
    place = StageItem.objects.filter(stage=stage).first()
    for slots in ([], [0], [1], [0, 2], [0, 1, 2]):
        for slot in slots:
            Assignment.objects.create(
                stage=stage,
                stage_item=place,
                person=make_member(stage.project),
                slot=slot,
                leased_at="2020-01-01T00:00:00Z",
                lease_expires_at="2020-01-01T00:30:00Z",
            )
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {claim_sql.FREE_SLOT_NOW}(%s)", [place.pk])
            assert cursor.fetchone()[0] == min(set(range(5)) - set(slots))
        Assignment.objects.all().delete()


def test_a_row_made_of_some_columns_reads_the_others_when_asked():
    stage = make_stage(make_project(), title="Read me")
    row = row_of(Stage, [("id", stage.pk), ("project_id", stage.project_id)], project=stage.project)
    assert row == stage
    assert row.project is stage.project
    assert not row._state.adding
    assert row.get_deferred_fields() >= {"title", "slug"}
    assert row.title == "Read me"
