"""Whatever dies under people at work: what was acknowledged is there once, and every number is right."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from django.core.files.base import ContentFile

from annotate.models import ImportJob, Item, Resolution, Stage, StageItem
from annotate.services import importing
from tests.factories import make_member, make_project, make_stage, make_stage_item
from tests.people_at_work import PeopleAtWork, assert_nothing_was_lost
from tests.workers import (
    Process,
    empty_queue,
    free_port,
    processes,
    stoppable_broker,
    stoppable_postgresql,
    wait_until,
)

# Other processes see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

N_ITEMS, N_PEOPLE = 50, 3


def make_work() -> Stage:
    """Every item is for everybody."""
    stage = make_stage(make_project(), overlap=N_PEOPLE)
    for _ in range(N_ITEMS):
        make_stage_item(stage)
    return stage


def at_work(stage: Stage, port: int) -> PeopleAtWork:
    return PeopleAtWork(port, stage, [make_member(stage.project) for _ in range(N_PEOPLE)])


def everything_is_counted() -> bool:
    return not StageItem.objects.filter(due_at__isnull=False).exists()


def one_process_of(server: Process) -> psutil.Process:
    """One that answers requests, not the one that watches over them."""
    children = psutil.Process(server.child.pid).children()
    return next(child for child in children if "resource_tracker" not in " ".join(child.cmdline()))


def test_killed_web_processes_lose_no_answer_that_was_acknowledged(tmp_path: Path):
    stage, port = make_work(), free_port()
    with processes(tmp_path) as started:
        server = started.web(port=port)
        with at_work(stage, port) as people:
            assert wait_until(lambda: people.n_acknowledged > 20)
            one_process_of(server).kill()
            assert wait_until(lambda: people.n_acknowledged > 60)
            server.kill()
            failed = people.n_failed
            assert wait_until(lambda: people.n_failed > failed)
            started.web(port=port)
    assert people.n_acknowledged == N_ITEMS * N_PEOPLE
    assert_nothing_was_lost(people)


@pytest.mark.services
def test_a_database_that_restarts_and_one_that_crashes_lose_no_answer_that_was_acknowledged(tmp_path: Path):
    port = free_port()
    empty_queue()
    with stoppable_postgresql() as database, processes(tmp_path) as started:
        stage = make_work()
        server, worker, scheduler = started.web(port=port), started.worker(), started.scheduler()
        with at_work(stage, port) as people:
            for n, mode in ((20, "fast"), (60, "immediate")):
                assert wait_until(lambda n=n: people.n_acknowledged > n)
                database.restart(mode)
        assert people.n_failed > 0
        assert people.n_acknowledged == N_ITEMS * N_PEOPLE
        # Nobody had to be started again, and what waits behind an answer goes on.
        assert [process.child.poll() for process in (server, worker, scheduler)] == [None, None, None]
        assert wait_until(everything_is_counted)
        assert Resolution.objects.filter(n_votes=N_PEOPLE).count() == N_ITEMS
        assert_nothing_was_lost(people)


def test_a_broker_that_is_away_while_people_work_loses_neither_answers_nor_what_follows(tmp_path: Path):
    stage, port = make_work(), free_port()
    admin = make_member(stage.project, "admin")
    lines = b"".join(json.dumps({"id": f"new-{n}", "question": f"Is {n} even?"}).encode() + b"\n" for n in range(20))
    with stoppable_broker(tmp_path) as broker, processes(tmp_path, **broker.environment) as started:
        empty_queue()
        started.web(port=port)
        worker, scheduler = started.worker(), started.scheduler()
        with at_work(stage, port) as people:
            assert wait_until(lambda: people.n_acknowledged > 10)
            broker.stop()
            job = importing.draft_import(project=stage.project, by=admin, file=ContentFile(lines), name="new.jsonl")
            importing.start_import(job=job, by=admin)
        # Nobody at work has noticed anything.
        assert (people.n_failed, people.n_acknowledged) == (0, N_ITEMS * N_PEOPLE)
        assert ImportJob.objects.get().state == "waiting"
        assert not everything_is_counted()
        broker.start()
        assert wait_until(lambda: everything_is_counted() and ImportJob.objects.get().state == "done")
        assert [process.child.poll() for process in (worker, scheduler)] == [None, None]
    assert Resolution.objects.filter(n_votes=N_PEOPLE).count() == N_ITEMS
    assert Item.objects.filter(external_id__startswith="new-").count() == 20
    assert_nothing_was_lost(people)
