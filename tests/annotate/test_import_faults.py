"""When a worker dies in the middle of an import, or two take it: real processes, nothing half done."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from annotate.exceptions import ImportRefused
from annotate.models import Gold, ImportJob, Item, ItemRevision, ItemSet, Stage, StageItem
from annotate.services import importing
from annotate.services.background import cancel_work
from tests.factories import make_member, make_project, make_stage
from tests.workers import empty_queue, processes, stopped_at, wait_until

# Other processes see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

N_ITEMS = 3_000
DATA = b"".join(
    json.dumps({"id": f"q{n}", "question": f"Is {n} even?", "label": ["yes", "no"][n % 2]}).encode() + b"\n"
    for n in range(N_ITEMS)
)


@pytest.fixture
def stage() -> Stage:
    return make_stage(make_project())


@pytest.fixture
def queued(stage: Stage) -> Callable[[bytes], ImportJob]:
    def make(data: bytes = DATA) -> ImportJob:
        job = importing.draft_import(
            project=stage.project, by=None, file=ContentFile(data), name="items.jsonl", stage=stage
        )
        return importing.start_import(job=job, by=make_member(stage.project, "admin"))

    return make


def n_stored() -> list[int]:
    return [model._default_manager.count() for model in (Item, ItemRevision, Gold, ItemSet, StageItem)]


def stopped(statement: str, job: ImportJob, folder: Path) -> subprocess.Popen[bytes]:
    """A process that holds the import at this statement, which it has executed."""
    work = f"from annotate.services import importing; importing.run_import(job_id={job.pk})"
    return stopped_at(statement, work, folder)


@pytest.mark.parametrize(
    "statement", ["CREATE INDEX staged_gold", "INSERT INTO annotate_gold", "INSERT INTO annotate_stageitem"]
)
def test_a_killed_worker_leaves_nothing_and_the_import_is_done_again(stage, queued, tmp_path, statement):
    job = queued()
    child = stopped(statement, job, tmp_path)
    child.kill()
    child.wait()
    assert n_stored() == [0, 0, 0, 0, 0]
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("running", 1)
    # Nobody takes it before its lease has run out.
    importing.run_import(job_id=job.pk)
    assert n_stored() == [0, 0, 0, 0, 0]
    ImportJob.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("done", 2)
    assert n_stored() == [N_ITEMS, N_ITEMS, N_ITEMS, 1, N_ITEMS]


def test_an_import_cancelled_while_it_reads_writes_nothing(stage, queued, tmp_path):
    job = queued()
    child = stopped("CREATE INDEX staged_gold", job, tmp_path)
    try:
        cancel_work(work=job, by=make_member(stage.project, "admin"))
        # Others may write while a file is read: only its end takes the lock.
        Stage.objects.filter(pk=stage.pk).update(title="Written meanwhile")
    finally:
        child.kill()
        child.wait()
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert n_stored() == [0, 0, 0, 0, 0]


def test_three_lost_workers_are_told(stage, queued, tmp_path):
    job = queued()
    ImportJob.objects.update(state="running", attempts=3, due_at=timezone.now() - timedelta(seconds=1))
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error.startswith("Worker lost")


def test_a_worker_hears_the_bell_and_imports(stage, tmp_path):
    empty_queue()
    with processes(tmp_path) as running:
        running.worker()
        job = importing.draft_import(
            project=stage.project, by=None, file=ContentFile(DATA), name="items.jsonl", stage=stage
        )
        importing.start_import(job=job, by=make_member(stage.project, "admin"))
        assert wait_until(lambda: ImportJob.objects.get(pk=job.pk).state == "done")
    assert n_stored() == [N_ITEMS, N_ITEMS, N_ITEMS, 1, N_ITEMS]


def test_two_imports_of_one_file_at_once_store_it_once(stage):
    outcomes: list[tuple[int, int]] = []

    def run() -> None:
        try:
            job = importing.import_file(
                project=stage.project, by=None, file=ContentFile(DATA), name="items.jsonl", stage=stage
            )
            outcomes.append((job.report["imported"], job.report["unchanged"]))
        except ImportRefused as refused:
            outcomes.append((-1, len(refused.problems)))
        finally:
            connection.close()

    threads = [Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [(0, N_ITEMS), (0, N_ITEMS), (N_ITEMS, 0)]
    assert n_stored() == [N_ITEMS, N_ITEMS, N_ITEMS, 1, N_ITEMS]
