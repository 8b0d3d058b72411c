"""Liveness asks nothing; readiness asks what a request needs; the rest is told, and turns nobody away."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import WorkerHeartbeat
from annotate.services.heartbeats import hear
from config.env import PROJECT
from config.health import missing_migrations
from config.testing import clean_environment
from tests.workers import stoppable_broker


def ready() -> tuple[int, dict[str, object], dict[str, dict[str, object]]]:
    response = Client().get("/health/ready/")
    told = response.json()
    return response.status_code, told["status"], told["parts"]


def hear_everybody() -> None:
    hear(name="worker@here", role="worker")
    hear(name="scheduler@here", role="scheduler")


# No django_db mark: a query would fail the test.
def test_liveness_asks_no_database():
    client = Client()
    client.cookies["sessionid"] = "of somebody"
    response = client.get("/health/live/")
    assert (response.status_code, response.json()) == (200, {"status": "live"})
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.django_db
def test_everything_that_answers_is_ready():
    hear_everybody()
    status, word, parts = ready()
    assert (status, word) == (200, "ready")
    assert list(parts) == ["database", "migrations", "broker", "worker", "scheduler"]
    assert {part["state"] for part in parts.values()} == {"ok"}
    assert 0 <= parts["worker"]["heard_seconds_ago"] < 60


@pytest.mark.django_db
def test_readiness_costs_the_same_few_queries():
    hear_everybody()
    ready()
    with CaptureQueriesContext(connection) as queries:
        ready()
    # Is there a table of migrations, what is in it, who was heard in each of two roles.
    assert len(queries) == 4


@pytest.mark.django_db
def test_a_worker_never_heard_or_silent_is_told_and_turns_nobody_away():
    status, word, parts = ready()
    assert (status, word, parts["worker"]) == (200, "degraded", {"state": "silent"})
    hear_everybody()
    WorkerHeartbeat.objects.filter(role="worker").update(heard_at=timezone.now() - timedelta(minutes=5))
    status, word, parts = ready()
    assert (status, word, parts["worker"]["state"], parts["scheduler"]["state"]) == (200, "degraded", "silent", "ok")
    assert 300 <= parts["worker"]["heard_seconds_ago"] < 360


@pytest.mark.django_db
def test_a_database_behind_this_version_is_not_ready():
    hear_everybody()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'evaluation' AND name = '0001_initial'")
    assert missing_migrations() == ["evaluation.0001_initial"]
    status, word, parts = ready()
    assert (status, word, parts["migrations"]) == (503, "not ready", {"state": "behind"})


@pytest.mark.django_db
def test_a_broker_that_is_away_is_told_within_seconds(tmp_path: Path):
    hear_everybody()
    with stoppable_broker(tmp_path) as broker:
        broker.stop()
        begun = timezone.now()
        status, word, parts = ready()
        assert timezone.now() - begun < timedelta(seconds=5)
        assert (status, word, parts["broker"]) == (200, "degraded", {"state": "away"})


ASK = """
import django; django.setup()
from django.test import Client
for path in ("/health/live/", "/health/ready/", "/metrics"):
    client = Client(raise_request_exception=False, headers={"Authorization": "Bearer " + "t" * 32})
    response = client.get(path, headers={"Host": "localhost"})
    print(response.status_code, response.content.decode().strip())
"""


@pytest.mark.parametrize("address", ["postgres://ann:canary-password@127.0.0.1:1/study", "sqlite:////proc/no/such"])
def test_without_a_database_it_lives_is_not_ready_and_tells_no_password(address: str, tmp_path: Path):
    environment = clean_environment(tmp_path) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": address,
        "GOLDPANEL_METRICS_TOKEN": "t" * 32,
    }
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        '200 {"status": "live"}',
        '503 {"status": "not ready", "parts": {"database": {"state": "away"}, "migrations": {"state": "unknown"}}}',
        "503 The database does not answer.",
    ]
    assert "The database does not answer: OperationalError" in done.stderr
    assert "canary" not in done.stderr
