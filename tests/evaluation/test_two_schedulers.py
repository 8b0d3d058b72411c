"""Two schedulers, as real processes: they do what one does, and one goes on when the other is killed."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from annotate.models import DatabaseLease, Event, Resolution, Stage, StageItem, WorkerHeartbeat
from config.celery import app
from evaluation.management.commands.scheduler import HEARING_SECONDS, LEASE_SECONDS
from evaluation.models import Run
from evaluation.services import running
from tests.factories import (
    make_annotation,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)
from tests.openai_server import Running, serving
from tests.workers import Processes, empty_queue, processes, wait_until

# Other processes see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

INTERVAL = 0.3


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def server(log: Path) -> Iterator[Running]:
    with serving(log=log) as server:
        server.play(text="Yes", latency_ms=100)
        yield server


@pytest.fixture
def started(tmp_path: Path, server: Running) -> Iterator[Processes]:
    empty_queue()
    with processes(tmp_path, GOLDPANEL_PRIVATE_ENDPOINTS=server.host_and_port) as started:
        yield started


@pytest.fixture
def stage() -> Stage:
    """A stage in which three answered items wait for their votes to be counted."""
    stage = make_stage(make_project())
    for _ in range(3):
        make_annotation(make_stage_item(stage), make_member(stage.project), {"label": "yes"})
    return stage


def holder() -> str:
    return DatabaseLease.objects.values_list("holder", flat=True).first() or ""


def bells() -> Counter[str]:
    """Takes all bells out of the broker, and counts them by task."""
    rung: Counter[str] = Counter()
    with app.connection_for_write() as broker:
        broker.default_channel.queue_declare(app.conf.task_default_queue)
        while message := broker.default_channel.basic_get(app.conf.task_default_queue, no_ack=True):
            rung[message.headers["task"].rpartition(".")[2]] += 1
    return rung


def start_run(stage: Stage, server: Running, n: int) -> Run:
    admin = make_member(stage.project, "admin")
    items = [make_item(stage.project, [["question", f"Is {k} true?"]]) for k in range(n)]
    run = running.create_run(
        project=stage.project,
        by=admin,
        name="run",
        item_set=make_item_set(stage.project, items),
        stage_version=stage.versions.get(),
        endpoint=make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url),
    )
    return running.start_run(run=run, by=admin)


def test_two_schedulers_ring_as_often_as_one(started: Processes, stage: Stage):
    begun = time.monotonic()
    for _ in range(2):
        started.scheduler(interval=INTERVAL)
    assert wait_until(lambda: bool(holder()))
    pids = {str(process.child.pid) for process in started.started}
    # Long enough for the other one to come up and to ask for the lease in each of its rounds.
    time.sleep(4)
    assert {process.child.poll() for process in started.started} == {None}
    seen = {holder() for _ in range(20)}
    rung, seconds = bells(), time.monotonic() - begun
    assert len(seen) == 1
    assert seen.pop().split(":")[1] in pids
    # No worker runs, so the votes stay due and are rung for in each round of the one that holds the lease.
    assert 1 < rung["resolve_due"] <= seconds / INTERVAL + 1
    assert rung["hear_worker"] <= seconds / HEARING_SECONDS + 1


def test_with_two_schedulers_and_two_workers_everything_is_done_once(
    started: Processes, stage: Stage, server: Running, log: Path
):
    run = start_run(stage, server, 30)
    for _ in range(2):
        started.scheduler(interval=INTERVAL)
        started.worker()
    assert wait_until(lambda: Run.objects.filter(pk=run.pk, state="done").exists())
    assert wait_until(lambda: not StageItem.objects.filter(due_at__isnull=False).exists())
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    asked = Counter(entry["text"].splitlines()[0] for entry in entries if entry["what"] == "arrived")
    assert len(asked) == 30
    assert set(asked.values()) == {1}
    assert Counter(run.predictions.values_list("state", "attempts")) == {("answered", 1): 30}
    assert Event.objects.filter(verb="run.done").count() == 1
    assert Counter(Resolution.objects.values_list("status", "n_votes")) == {("majority", 1): 3}
    # Both workers are one machine's, and so are the schedulers.
    assert wait_until(lambda: WorkerHeartbeat.objects.count() == 2)
    assert set(WorkerHeartbeat.objects.values_list("role", flat=True)) == {"worker", "scheduler"}


def test_when_the_one_that_rings_is_killed_the_other_goes_on(started: Processes, stage: Stage):
    schedulers = {str(started.scheduler(interval=INTERVAL).child.pid): started.started[-1] for _ in range(2)}
    started.worker()
    assert wait_until(lambda: not StageItem.objects.filter(due_at__isnull=False).exists())
    first = holder().split(":")[1]
    schedulers.pop(first).kill()
    killed = time.monotonic()
    StageItem.objects.update(due_at=timezone.now())
    assert wait_until(lambda: not StageItem.objects.filter(due_at__isnull=False).exists(), LEASE_SECONDS + 15)
    assert time.monotonic() - killed < LEASE_SECONDS + 15
    (second,) = schedulers
    # A bell of the first one may still have been in the air.
    assert wait_until(lambda: holder().split(":")[1] == second, LEASE_SECONDS + 15)
