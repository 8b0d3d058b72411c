"""One order of locks: a person's answer and the same person's search for work in another tab never wait in a ring."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from annotate.models import Assignment, Person, Stage, StageItem
from annotate.services import assigning, submitting
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_member, make_project, make_stage, make_stage_item

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
