"""One order of locks: answers, searches for work, decisions about people and counting never wait in a ring."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction

from annotate.exceptions import ProposalChanged
from annotate.models import Annotation, Assignment, Exclusion, Person, Resolution, Stage, StageItem, StageVersion
from annotate.services import (
    adjudicating,
    assigning,
    excluding,
    gold_proposals,
    leaving,
    projects,
    resolving,
    submitting,
    vetting,
)
from annotate.services.votes import votes_about
from annotate.stage_kinds import KINDS
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    YES_NO,
    make_annotation,
    make_assignment,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.services,  # SQLite has one writer at a time
]

PATIENCE_SECONDS = 30


@pytest.fixture
def stage() -> Stage:
    return make_stage(make_project(), overlap=2)


@pytest.fixture
def late(stage: Stage) -> Assignment:
    """The only item of the stage, by somebody whose lease ran out and was given back."""
    make_stage_item(stage)
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person, languages=[])
    assert isinstance(held, Assignment)
    Assignment.objects.filter(pk=held.pk).update(lease_expires_at="2020-01-01T00:00:00Z")
    assert assigning.expire_leases(stage=stage) == 1
    return Assignment.objects.select_related("stage", "person").get(pk=held.pk)


@pytest.fixture
def in_a_tab() -> Iterator[Callable[..., Future[Any]]]:
    """Runs something on a connection of its own, and waits until it has ended or waits for a lock."""
    with ThreadPoolExecutor(2) as pool:

        def begin(work: Callable[[], Any]) -> Future[Any]:
            begun, backend = threading.Event(), []

            def run() -> Any:
                try:
                    with connection.cursor() as cursor:
                        cursor.execute("SELECT pg_backend_pid()")
                        backend.append(cursor.fetchone()[0])
                    begun.set()
                    return work()
                finally:
                    connection.close()

            tab = pool.submit(run)
            assert begun.wait(PATIENCE_SECONDS)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not tab.done() and not _waits(backend[0]):
                assert time.monotonic() < deadline
            return tab

        yield begin


def _waits(backend: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s))", [backend])
        return bool(cursor.fetchone()[0])


def answer(assignment: Assignment) -> Any:
    return submitting.submit_annotation(
        assignment=assignment,
        answer={"label": "yes"},
        client_key="late",
        stage_version=assignment.stage.versions.get(is_current=True),
    )


def claim(stage: Stage, person: Person) -> Any:
    return assigning.claim_next(stage=stage, person=person, languages=[])


def save(assignment: Assignment) -> None:
    submitting.save_draft(assignment=assignment, draft={"label": "yes"}, version=1)


def skip(assignment: Assignment) -> None:
    submitting.skip_assignment(assignment=assignment, reason="unclear")


@pytest.mark.parametrize("step", [answer, skip, save])
@pytest.mark.parametrize("is_claim_first", [True, False])
def test_a_late_step_and_a_search_for_work_of_one_person_both_end(stage, late, in_a_tab, step, is_claim_first):
    # Both want the one place there is, and a third transaction has it until both wait. In the order of before, the
    # search held what the answer wanted next, and PostgreSQL ended one of them as a deadlock.
    works = [lambda: claim(stage, late.person), lambda: step(late)]
    with transaction.atomic():
        list(StageItem.objects.select_for_update().values_list("pk"))
        tabs = [in_a_tab(work) for work in (works if is_claim_first else works[::-1])]
    found = [tab.result(PATIENCE_SECONDS) for tab in tabs]

    late.refresh_from_db()
    assert late.state == {answer: "submitted", skip: "skipped", save: "leased"}[step]
    if step is answer:
        assert late.annotations.get() in found
    if step is save:
        assert late.draft == {"label": "yes"}
    assert_queue_is_sound(stage)


def give(place: StageItem, person: Person) -> None:
    make_annotation(place, person, {"label": "yes"})


def exclude(stage: Stage, person: Person) -> Exclusion:
    admin = make_member(stage.project, "admin")
    return excluding.exclude_person(
        project=stage.project, person=person, by=admin, reason="A test.", collects_again=True
    )


@pytest.mark.parametrize("is_lifted_first", [True, False])
def test_counting_a_late_answer_and_lifting_its_exclusion_both_end(stage, in_a_tab, is_lifted_first):
    # Counting frees the place and points to the exclusion, lifting holds the exclusion and wants the place: PostgreSQL
    # ended one as a deadlock, or the answer stayed without a place though nothing excluded it any more.
    person = make_member(stage.project)
    exclusion = exclude(stage, person)
    give(make_stage_item(stage), person)
    admin = make_member(stage.project, "admin")
    works = [lambda: excluding.lift_exclusion(exclusion=exclusion, by=admin), resolving.resolve_due]
    first, second = works if is_lifted_first else works[::-1]
    with transaction.atomic():
        first()
        tab = in_a_tab(second)
    tab.result(PATIENCE_SECONDS)
    resolving.resolve_due()

    assert Assignment.objects.get().slot is not None
    assert Annotation.objects.counted().count() == 1
    assert_queue_is_sound(stage)


@pytest.mark.parametrize("decision", ["exclude", "lift"])
def test_leaving_out_and_leaving_lock_places_in_one_order(stage, in_a_tab, decision):
    # The answer to the first item is surplus and the second one holds a place, so deciding about them reached for the
    # second before the first; whoever gives both back reaches for the first before the second.
    person, leaver, admin = make_member(stage.project), make_member(stage.project), make_member(stage.project, "admin")
    places = [make_stage_item(stage), make_stage_item(stage)]
    for place in places:
        give(place, person)
    first = Assignment.objects.get(stage_item=places[0])
    Assignment.objects.filter(pk=first.pk).update(slot=None)
    StageItem.objects.filter(pk=places[0].pk).update(done=0)
    if decision == "lift":
        exclusion = exclude(stage, person)
    for place in StageItem.objects.order_by("rank"):
        make_assignment(place, leaver)

    def decide() -> object:
        if decision == "exclude":
            return exclude(stage, person)
        return excluding.lift_exclusion(exclusion=exclusion, by=admin)

    with transaction.atomic():
        list(StageItem.objects.filter(pk=places[0].pk).select_for_update().values_list("pk"))
        tabs = [
            in_a_tab(lambda: leaving.deactivate_person(person=leaver, by=admin)),
            in_a_tab(decide),
        ]
    for tab in tabs:
        tab.result(PATIENCE_SECONDS)
    resolving.resolve_due()
    assert_queue_is_sound(stage)


def accept_as_gold(study: SimpleNamespace) -> None:
    resolution = Resolution.objects.get(stage_item=study.place)
    seen = gold_proposals.answer_hash(resolution)
    gold_proposals.accept_proposal(resolution=resolution, seen=seen, by=study.admin)


def adjudicate_as_gold(study: SimpleNamespace) -> None:
    judges = make_stage(study.project, kind="adjudicate", roles=["adjudicator"], options={"makes_gold": True})
    judged = make_stage_item(judges, study.item, source=study.place)
    adjudicating.adjudicate(
        assignment=make_assignment(judged, make_member(study.project, "adjudicator")),
        ruling=adjudicating.Ruling("own", votes_about(judged).seen, answer={"label": "no"}, reason="So.", is_gold=True),
        client_key="one",
        stage_version=judges.versions.get(),
    )


def review_with_an_edit(study: SimpleNamespace) -> None:
    form = [dict(field) for field in KINDS["review"].fields]
    reviewing = make_stage(study.project, kind="review", form=form, roles=["adjudicator"])
    reviewed = make_stage_item(reviewing, study.item, source=study.place)
    vetting.review(
        assignment=make_assignment(reviewed, make_member(study.project, "adjudicator")),
        answer={"decision": "edit", "question": "Is it so, then?"},
        seen=votes_about(reviewed).seen,
        client_key="one",
        stage_version=reviewing.versions.get(),
    )


@pytest.mark.parametrize("decide", [accept_as_gold, adjudicate_as_gold, review_with_an_edit])
def test_deciding_about_an_item_and_leaving_it_out_lock_its_places_in_one_order(in_a_tab, decide):
    # Who decides about the second place goes on to the first: a check whose answers are compared anew, or a place that
    # nobody has answered and that gets the new words. Who leaves the item out locks the first and then the second.
    project = make_project()
    item = make_item(project, gold={"label": ["yes"]})
    admin = make_member(project, "admin")
    purpose = "" if decide is review_with_an_edit else "check"
    first = make_stage_item(make_stage(project, position=0), item, purpose=purpose)
    place = make_stage_item(make_stage(project, position=1), item)
    make_annotation(place, make_member(project), {"label": "no"})
    resolving.resolve_due()
    study = SimpleNamespace(project=project, item=item, place=place, admin=admin)
    with transaction.atomic():
        list(StageItem.objects.filter(pk=first.pk).select_for_update().values_list("pk"))
        tabs = [
            in_a_tab(lambda: excluding.exclude_item(item=item, by=admin, reason="Two readings.", rule="bad item")),
            in_a_tab(lambda: decide(study)),
        ]
    found = [tab.exception(PATIENCE_SECONDS) for tab in tabs]
    # Whoever comes later may hear that the item is left out by now.
    assert [type(one) for one in found if one] in ([], [ProposalChanged])


def test_two_decisions_about_one_answer_lifted_at_once_leave_its_place_to_neither(stage, in_a_tab):
    person, admin = make_member(stage.project), make_member(stage.project, "admin")
    give(make_stage_item(stage), person)
    of_person = exclude(stage, person)
    of_answer = excluding.exclude_annotation(
        annotation=Annotation.objects.get(), by=admin, reason="A slip.", collects_again=True
    )
    with transaction.atomic():
        excluding.lift_exclusion(exclusion=of_person, by=admin)
        tab = in_a_tab(lambda: excluding.lift_exclusion(exclusion=of_answer, by=admin))
    tab.result(PATIENCE_SECONDS)
    assert Annotation.objects.counted().count() == 1
    assert_queue_is_sound(stage)


def test_a_form_that_is_saved_twice_at_once_is_changed_once_after_the_other(stage, in_a_tab):
    # The second waited for the version that was current, which the first had replaced: there was none any more.
    give(make_stage_item(stage), make_member(stage.project))
    admin = make_member(stage.project, "admin")

    def save(caption: str) -> StageVersion:
        fields = [YES_NO[0], {"name": "why", "type": "text", "caption": caption, "decides": False, "required": False}]
        return projects.change_form(stage=stage, by=admin, fields=fields, shown_keys=["question"], as_new_version=True)

    with transaction.atomic():
        save("Why?")
        tab = in_a_tab(lambda: save("Why so?"))
    tab.result(PATIENCE_SECONDS)
    newest = stage.versions.get(is_current=True)
    assert newest.fields[1]["caption"] == "Why so?"
    # Only words are other than in the version before, with which nobody has answered.
    assert stage.versions.count() == newest.number
