"""The scheduler: what is due is rung for, bells do not pile up, two schedulers ring as one, SIGTERM ends it well."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotate.models import DatabaseLease, Export, ImportJob, Restoration, WorkerHeartbeat
from annotate.services.database_leases import hold_lease
from annotate.services.files import store_file
from annotate.tasks import hear_worker
from config.bells import n_waiting
from config.celery import app
from config.env import PROJECT
from evaluation.management.commands import scheduler
from evaluation.models import Report
from evaluation.services.ringing import MAX_WAITING, ring_due, ring_to_hear
from tests.factories import (
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)


@pytest.fixture(autouse=True)
def rung() -> Iterator[Callable[[], Counter[tuple[str, str]]]]:
    """Empties the queue before and after; calling it takes the bells out and counts them as (task, arguments)."""
    queue = app.conf.task_default_queue
    with app.connection_for_write() as connection:
        channel = connection.default_channel
        channel.queue_declare(queue)
        channel.queue_purge(queue)

        def take() -> Counter[tuple[str, str]]:
            bells: Counter[tuple[str, str]] = Counter()
            while message := channel.basic_get(queue, no_ack=True):
                bells[message.headers["task"].rpartition(".")[2], str(json.loads(message.body)[0])] += 1
            return bells

        yield take
        channel.queue_purge(queue)


@pytest.mark.django_db
def test_nothing_due_rings_nothing(rung):
    make_stage_item(make_stage())
    assert ring_due() == 0
    assert rung() == Counter()


@pytest.mark.django_db
def test_each_kind_of_due_work_is_rung_for_once(rung):
    project = make_project()
    stage = make_stage(project)
    past, future = timezone.now() - timedelta(minutes=1), timezone.now() + timedelta(minutes=1)
    make_stage_item(stage, due_at=past)
    make_stage_item(stage, due_at=past)
    overdue = make_assignment(make_stage_item(stage), make_member(project))
    overdue.lease_expires_at = past
    overdue.save()
    source = store_file(project=project, purpose="upload", name="a.csv", media_type="text/csv", content=b"1")
    items = make_item_set(project, [make_item(project)])
    jobs = {
        state: ImportJob.objects.create(project=project, source=source, state=state, due_at=past)
        for state in ("waiting", "running", "done", "failed", "cancelled", "draft")
    }
    ImportJob.objects.create(project=project, source=source, state="running", due_at=future)  # its worker lives
    report = Report.objects.create(
        project=project, title="R", stage=stage, item_set=items, field="label", primary_scorer="label_accuracy",
        due_at=past,
    )  # fmt: skip
    run = make_run(stage, items, state="running", frozen_at=past, due_at=past)
    make_run(stage, items, state="paused", frozen_at=past, due_at=past)
    wanted = {"project": project, "kind": "answers", "format": "exact", "is_for_admins": True}
    export = Export.objects.create(**wanted, due_at=past)
    Export.objects.create(**wanted, state="done", due_at=past)
    restoration = Restoration.objects.create(name="a.zip", due_at=past)
    store_file(project=project, purpose="data", name="a", media_type="text/csv", content=b"1", keep_until=past)
    store_file(project=project, purpose="data", name="a", media_type="text/csv", content=b"1", keep_until=future)
    assert ring_due() == 9
    assert rung() == Counter(
        {
            ("resolve_due", "[]"): 1,
            ("expire_leases", "[]"): 1,
            ("run_import", f"[{jobs['waiting'].pk}]"): 1,
            ("run_import", f"[{jobs['running'].pk}]"): 1,
            ("make_report", f"[{report.pk}]"): 1,
            ("run_export", f"[{export.pk}]"): 1,
            ("restore_archive", f"[{restoration.pk}]"): 1,
            ("forget_outdated_files", "[]"): 1,
            ("answer_chunk", f"[{run.pk}]"): 1,
        }
    )


@pytest.mark.django_db
def test_bells_that_nobody_hears_do_not_pile_up(rung):
    make_stage_item(make_stage(), due_at=timezone.now())
    for _ in range(MAX_WAITING + 20):
        ring_due()
        ring_to_hear()
    assert n_waiting() <= MAX_WAITING + 1
    rung()
    assert ring_due() == 1


@pytest.mark.django_db
def test_of_two_schedulers_one_rings_and_the_other_takes_over(rung):
    make_stage_item(make_stage(), due_at=timezone.now())
    never = scheduler._Every(3600)
    never.is_due()
    for _ in range(3):
        for holder in ("first", "second"):
            scheduler._round(holder, never)
    assert rung() == Counter({("resolve_due", "[]"): 3})
    DatabaseLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))  # the first one died
    scheduler._round("second", never)
    scheduler._round("first", never)
    assert DatabaseLease.objects.get().holder == "second"
    assert rung() == Counter({("resolve_due", "[]"): 1})


@pytest.mark.django_db
def test_a_round_asks_for_a_sign_of_life_and_gives_its_own(rung):
    scheduler._round("first", scheduler._Every(10))
    assert rung() == Counter({("hear_worker", "[]"): 1})
    assert WorkerHeartbeat.objects.get().name == f"scheduler@{socket.gethostname()}"
    # One without the lease says that it lives, and leaves the ringing to the other.
    scheduler._round("second", scheduler._Every(10))
    assert rung() == Counter()


@pytest.mark.django_db
def test_a_worker_on_demand_is_heard_as_long_as_bells_are_taken(rung):
    def heard() -> bool:
        WorkerHeartbeat.objects.all().delete()
        scheduler._round("first", scheduler._Every(10), worker_on_demand=True)
        return WorkerHeartbeat.objects.filter(role="worker").exists()

    # Work that is rung for in this round has had no time yet to be taken.
    make_stage_item(make_stage(), due_at=timezone.now())
    assert heard()
    assert not heard()
    assert rung() == Counter({("resolve_due", "[]"): 2})
    assert heard()


@pytest.mark.django_db
def test_a_worker_that_is_rung_for_is_heard():
    hear_worker()
    hear_worker()
    heartbeat = WorkerHeartbeat.objects.get()
    assert (heartbeat.role, heartbeat.name) == ("worker", f"worker@{socket.gethostname()}")


@pytest.mark.django_db
def test_the_lease_of_a_lost_scheduler_runs_out_by_itself():
    assert hold_lease(name=scheduler.LEASE, holder="lost", seconds=scheduler.LEASE_SECONDS)
    ends = DatabaseLease.objects.get().expires_at - timezone.now()
    assert timedelta(seconds=10) < ends <= timedelta(seconds=scheduler.LEASE_SECONDS)


@pytest.mark.embedded
def test_sigterm_ends_the_command_cleanly_and_gives_the_lease_back(tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"GOLDPANEL_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "--verbosity", "0"], cwd=PROJECT, env=environment, check=True)
    process = subprocess.Popen([*manage, "scheduler", "--interval", "0.2"], cwd=PROJECT, env=environment)

    def holder() -> str:
        with closing(sqlite3.connect(tmp_path / "goldpanel.sqlite3", timeout=10)) as database:
            row = database.execute("SELECT holder FROM annotate_databaselease").fetchone()
        return row[0] if row else ""

    try:
        deadline = time.monotonic() + 30
        while not holder() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert holder().startswith(f"{socket.gethostname()}:{process.pid}:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
        assert holder() == ""
    finally:
        process.kill()
        process.wait()
