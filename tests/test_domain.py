"""What the database itself refuses, whoever asks."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, transaction

from annotate import events
from annotate.models import Assignment, Event, GuidelineVersion
from tests.factories import (
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def record_one() -> Event:
    project = make_project()
    with transaction.atomic():
        events.record(verb="project.created", subject=project, project_id=project.pk)
    return Event.objects.get()


def test_an_event_cannot_be_changed():
    event = record_one()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.filter(pk=event.pk).update(verb="nothing.happened")
    assert Event.objects.get().verb == "project.created"


def test_an_event_cannot_be_removed():
    record_one()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.all().delete()
    assert Event.objects.count() == 1


def test_two_assignments_cannot_hold_the_same_slot():
    stage_item = make_stage_item(make_stage(overlap=2))
    make_assignment(stage_item, make_annotator(), slot=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_assignment(stage_item, make_annotator(), slot=0)
    assert Assignment.objects.count() == 1


def test_one_person_has_one_assignment_of_an_item():
    stage_item, person = make_stage_item(make_stage(overlap=2)), make_annotator()
    make_assignment(stage_item, person, slot=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_assignment(stage_item, person, slot=1)
    assert Assignment.objects.count() == 1


def test_counters_never_pass_what_is_wanted():
    stage_item = make_stage_item(make_stage(overlap=1))
    make_annotation(stage_item, make_annotator(), {"label": "yes"})
    with pytest.raises(IntegrityError), transaction.atomic():
        type(stage_item).objects.filter(pk=stage_item.pk).update(active=1)
    stage_item.refresh_from_db()
    assert (stage_item.active, stage_item.done, stage_item.wanted) == (0, 1, 1)


def test_a_person_with_answers_cannot_be_deleted():
    stage_item, person = make_stage_item(make_stage()), make_annotator()
    make_annotation(stage_item, person, {"label": "yes"})
    with pytest.raises(IntegrityError):
        person.delete()


def test_external_ids_are_text_and_unique_in_their_project():
    project = make_project()
    make_item(project, external_id="0001234567890123456789")
    make_item(make_project(), external_id="0001234567890123456789")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_item(project, external_id="0001234567890123456789")
    assert project.items.get().external_id == "0001234567890123456789"


def test_each_constraint_is_one_that_this_database_holds():
    call_command("check", databases=["default"], fail_level="WARNING")


def test_guidelines_of_one_number_are_there_once_for_a_project_and_once_for_a_stage():
    stage = make_stage()
    for of_stage in (None, stage):
        own = {"project": stage.project, "stage": of_stage, "number": 900}
        GuidelineVersion.objects.create(markdown="Read all of it.", **own)
        with pytest.raises(IntegrityError), transaction.atomic():
            GuidelineVersion.objects.create(markdown="Read some of it.", **own)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["first", "second"])
def test_events_are_append_only_with_real_commits_and_tests_still_clean_up(turn):
    event = record_one()
    with pytest.raises(DatabaseError, match="append-only"):
        Event.objects.filter(pk=event.pk).delete()
