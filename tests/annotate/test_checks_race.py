"""Checks and attempts under many hands at once, with real threads, connections and commits."""

from __future__ import annotations

import pytest

from annotate.models import Assignment, Event, QualificationAttempt, QualificationPlace
from annotate.services import assigning, excluding, qualifying, submitting
from annotate.services.qualifying import Phase, told_to
from annotate.services.resolving import resolve_due
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.annotate.test_checks import study
from tests.annotate.test_qualifying import study as qualified_study
from tests.annotate.test_queue_race import in_threads
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)

N_PEOPLE = 12


def all_is_sound(stage) -> None:
    resolve_due()
    assert_queue_is_sound(stage)
    assert [str(difference) for difference in recount(repair=False)] == []


def test_people_who_claim_checks_at_once_each_get_one():
    # Of every two items one is a check, so it is everybody's second.
    stage = study(n_items=40, n_checks=4, every=2)
    people = [make_member(stage.project) for _ in range(N_PEOPLE)]
    version = stage.versions.get(is_current=True)

    def work(person) -> list[str]:
        taken = assigning.claim_next(stage=stage, person=person, languages=[])
        met = []
        for _ in range(2):
            met.append(taken.purpose)
            taken = submitting.submit_and_claim_next(
                assignment=taken, answer={"label": "yes"}, client_key=f"key-{taken.pk}", stage_version=version,
                languages=[],
            ).next  # fmt: skip
        return met

    found = in_threads(work, people)
    # A check that all others are taking at this moment may be passed over for work: never two of one item.
    assert sum(met[1] == "check" for met in found) >= 1
    assert all(met[0] == "" for met in found)
    answered = Assignment.objects.filter(state="submitted")
    assert answered.count() == 2 * N_PEOPLE
    all_is_sound(stage)


def test_ten_tabs_begin_one_attempt():
    stage = qualified_study()
    person = make_member(stage.project)
    found = in_threads(lambda same: qualifying.begin(stage=stage, person=same, languages=[]), [person] * 10)
    assert len({attempt.pk for attempt in found}) == 1
    assert QualificationPlace.objects.count() == 3
    assert Event.objects.filter(verb="qualification.begun").count() == 1


def test_two_tabs_that_finish_an_attempt_end_it_once():
    stage = qualified_study()
    person = make_member(stage.project)
    qualifying.begin(stage=stage, person=person, languages=[])
    version = stage.versions.get(is_current=True)
    held = assigning.claim_next(stage=stage, person=person, languages=[])
    for _ in range(2):
        held = submitting.submit_and_claim_next(
            assignment=held, answer={"label": "yes"}, client_key=f"key-{held.pk}", stage_version=version, languages=[]
        ).next

    def finish(_: object):
        done = submitting.submit_and_claim_next(
            assignment=Assignment.objects.select_related("stage", "person", "stage_item").get(pk=held.pk),
            answer={"label": "yes"},
            client_key="the same form",
            stage_version=version,
            languages=[],
        )
        resolve_due()
        return done

    in_threads(finish, [person] * 8)
    resolve_due()
    attempt = QualificationAttempt.objects.get()
    assert (attempt.state, attempt.n_right) == ("passed", 3)
    assert told_to(stage, person).phase == Phase.PASSED
    assert Event.objects.filter(verb="qualification.passed").count() == 1
    all_is_sound(stage)


def test_places_are_freed_while_their_author_changes_answers():
    stage = study(n_items=12, n_checks=0, every=0)
    careless, admin = make_member(stage.project), make_member(stage.project, "admin")
    version = stage.versions.get(is_current=True)
    given = []
    taken = assigning.claim_next(stage=stage, person=careless, languages=[])
    while isinstance(taken, Assignment):
        given.append(taken)
        taken = submitting.submit_and_claim_next(
            assignment=taken, answer={"label": "no"}, client_key=f"key-{taken.pk}", stage_version=version, languages=[]
        ).next

    def change_or_exclude(n: int) -> None:
        if n == 0:
            excluding.exclude_person(
                project=stage.project, person=careless, by=admin, reason="Too fast.", collects_again=True
            )
            return
        for assignment in given[n - 1 :: 3]:
            submitting.revise_annotation(
                assignment=assignment, answer={"label": "yes"}, client_key=f"again-{n}", stage_version=version
            )
        resolve_due()

    in_threads(change_or_exclude, [0, 1, 2, 3])
    resolve_due()
    assert not Assignment.objects.filter(slot__isnull=False).exists()
    all_is_sound(stage)
