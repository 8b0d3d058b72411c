"""Who was heard when, and who holds the lease."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotate.models import DatabaseLease, WorkerHeartbeat
from annotate.services.database_leases import hold_lease, release_lease
from annotate.services.heartbeats import hear, last_heard

pytestmark = pytest.mark.django_db


def heard_ago(**ago: float) -> None:
    WorkerHeartbeat.objects.update(heard_at=timezone.now() - timedelta(**ago))


def test_nobody_heard_is_silence_without_a_date():
    hearing = last_heard()
    assert (hearing.heard_at, hearing.is_silent) == (None, True)


def test_a_worker_heard_just_now_is_not_silent_and_a_scheduler_is_no_worker():
    hear(name="machine", role="worker")
    assert not last_heard().is_silent
    assert last_heard("scheduler").is_silent


@pytest.mark.parametrize(("seconds", "is_silent"), [(30, False), (90, True)])
def test_silence_begins_after_a_minute(seconds: int, is_silent: bool):
    hear(name="machine", role="worker")
    heard_ago(seconds=seconds)
    assert last_heard().is_silent is is_silent


def test_hearing_again_keeps_one_row_and_forgets_machines_long_gone():
    hear(name="old machine", role="worker")
    heard_ago(days=8)
    hear(name="machine", role="worker")
    hear(name="machine", role="worker")
    assert list(WorkerHeartbeat.objects.values_list("name", flat=True)) == ["machine"]


def test_one_holder_at_a_time_until_the_lease_runs_out_or_is_given_back():
    assert hold_lease(name="scheduler", holder="a", seconds=15)
    assert hold_lease(name="scheduler", holder="a", seconds=15)
    assert not hold_lease(name="scheduler", holder="b", seconds=15)
    DatabaseLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert hold_lease(name="scheduler", holder="b", seconds=15)
    release_lease(name="scheduler", holder="a")
    assert not hold_lease(name="scheduler", holder="a", seconds=15)
    release_lease(name="scheduler", holder="b")
    assert hold_lease(name="scheduler", holder="a", seconds=15)


@pytest.mark.django_db(transaction=True)
def test_of_eight_that_ask_at_once_exactly_one_holds_the_lease():
    together = threading.Barrier(8)
    held: list[str] = []

    def ask(holder: str) -> None:
        together.wait()
        try:
            if hold_lease(name="scheduler", holder=holder, seconds=60):
                held.append(holder)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=[str(n)]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held) == 1
    assert DatabaseLease.objects.get().holder == held[0]
