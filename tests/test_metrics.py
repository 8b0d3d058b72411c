"""The figures for a monitoring server: whose door, the format, what is counted, and what it costs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Assignment, ImportJob, Stage, StageItem, WorkerHeartbeat
from annotate.services import assigning, submitting
from annotate.services.files import store_file
from annotate.services.heartbeats import hear
from config.metrics import Metric, Sample, exposition
from evaluation.models import Report
from tests.factories import (
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)
from tests.workers import empty_queue

BEARER = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.e+-]+)')


def read(text: str) -> dict[str, float]:
    """`name{labels}` -> value, refusing what Prometheus would refuse."""
    values: dict[str, float] = {}
    described: set[str] = set()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("counter", "gauge")
            assert name not in described, "the samples of a metric stand together"
            described.add(name)
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] in described
            key = line.rpartition(" ")[0]
            assert key not in values, f"{key} twice"
            values[key] = float(match[3])
    return values


def metrics() -> dict[str, float]:
    response = Client().get("/metrics", headers=BEARER)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(response.content.decode())


# The door


def test_without_a_token_set_there_is_no_such_page(settings):
    settings.METRICS_TOKEN = None
    for sent in ({}, BEARER, {"Authorization": "Bearer None"}, {"Authorization": "Bearer "}):
        assert Client().get("/metrics", headers=sent).status_code == 404


@pytest.mark.parametrize(
    "sent",
    ["", "Bearer", "Bearer ", f"Basic {settings.METRICS_TOKEN}", f"Bearer {settings.METRICS_TOKEN}x", "Bearer é"],
)
def test_another_token_opens_nothing(sent: str):
    response = Client().get("/metrics", headers={"Authorization": sent})
    assert (response.status_code, response.content) == (401, b"")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_nothing_can_be_posted():
    assert Client().post("/metrics", headers=BEARER).status_code == 405


# The format


def test_the_format_is_that_of_prometheus():
    metric = Metric("a_total", "counter", "A \\ and\na line.", (Sample(1, {"kind": 'a "b" \\ \n'}), Sample(0.5)))
    assert exposition([metric, Metric("none", "gauge", "Never.", ())]) == (
        "# HELP a_total A \\\\ and\\na line.\n"
        "# TYPE a_total counter\n"
        'a_total{kind="a \\"b\\" \\\\ \\n"} 1\n'
        "a_total 0.5\n"
    )


# The figures


@pytest.mark.django_db
def test_an_empty_installation_has_zeros_and_no_heartbeat():
    empty_queue()
    values = metrics()
    assert not [key for key in values if key.startswith("goldpanel_heartbeat")]
    assert values.pop("goldpanel_broker_up") == 1
    assert set(values.values()) == {0}
    assert {f'goldpanel_due{{kind="{kind}"}}' for kind in ("votes", "leases", "importjob", "run", "report")} <= set(
        values
    )


def answer(stage: Stage, n: int) -> None:
    """A new person takes n + 2 items: answers n, skips one, holds one."""
    person, version = make_member(stage.project, languages=["en"]), stage.versions.get()
    for place in range(n + 2):
        held = assigning.claim_next(stage=stage, person=person)
        assert isinstance(held, Assignment)
        if place < n:
            submitting.submit_annotation(
                assignment=held, answer={"label": "yes"}, client_key=f"key-{held.pk}", stage_version=version
            )
        elif place == n:
            submitting.skip_assignment(assignment=held, reason="broken")


@pytest.mark.django_db
def test_every_figure_is_what_the_rows_say():
    empty_queue()
    now = timezone.now()
    project = make_project()
    stage = make_stage(project, overlap=2)
    for _ in range(6):
        make_stage_item(stage)
    answer(stage, 3)
    answer(stage, 2)
    StageItem.objects.filter(due_at__isnull=False).update(due_at=now - timedelta(seconds=100))
    n_due = StageItem.objects.filter(due_at__isnull=False).count()
    overdue = Assignment.objects.filter(state="leased").first()
    Assignment.objects.filter(pk=overdue.pk).update(lease_expires_at=now - timedelta(seconds=50))

    item = make_item(project)
    items = make_item_set(project, [item, make_item(project), make_item(project)])
    under_way = make_run(stage, items, state="running", frozen_at=now, due_at=now - timedelta(seconds=30))
    make_prediction(under_way, item, {"label": "yes"})
    make_prediction(under_way, make_item(project), None)
    ended = make_run(stage, items, state="done", frozen_at=now)
    make_prediction(ended, item, {"label": "yes"})
    source = store_file(project=project, purpose="upload", name="a.csv", media_type="text/csv", content=b"1")
    for state, due in (("waiting", -20), ("running", 60), ("failed", None), ("draft", None)):
        due_at = None if due is None else now + timedelta(seconds=due)
        ImportJob.objects.create(project=project, source=source, state=state, due_at=due_at)
    Report.objects.create(
        project=project, title="R", stage=stage, item_set=items, field="label", primary_scorer="label_accuracy",
        state="done", due_at=None,
    )  # fmt: skip
    hear(name="one", role="worker")
    hear(name="two", role="worker")
    WorkerHeartbeat.objects.filter(name="one").update(heard_at=now - timedelta(seconds=500))

    values = metrics()
    expected = {
        "goldpanel_answers_total": 3 + 2,
        'goldpanel_assignments{state="leased"}': 1 + 1,
        'goldpanel_assignments{state="submitted"}': 3 + 2,
        'goldpanel_assignments{state="skipped"}': 1 + 1,
        # Of the run under way, not of the one that ended.
        'goldpanel_predictions{outcome="answered"}': 1,
        'goldpanel_predictions{outcome="unparsed"}': 1,
        'goldpanel_predictions{outcome="pending"}': 0,
        'goldpanel_work{kind="run",state="running"}': 1,
        'goldpanel_work{kind="run",state="done"}': 1,
        'goldpanel_work{kind="importjob",state="waiting"}': 1,
        'goldpanel_work{kind="importjob",state="failed"}': 1,
        'goldpanel_work{kind="report",state="done"}': 1,
        'goldpanel_due{kind="votes"}': n_due,
        'goldpanel_due{kind="leases"}': 1,
        'goldpanel_due{kind="run"}': 1,
        # The one whose lease runs has a worker that lives.
        'goldpanel_due{kind="importjob"}': 1,
        'goldpanel_due{kind="report"}': 0,
        "goldpanel_bells_waiting": 0,
    }
    assert {key: values[key] for key in expected} == expected
    assert n_due > 0
    for kind, seconds in (("votes", 100), ("leases", 50), ("run", 30), ("importjob", 20)):
        assert seconds <= values[f'goldpanel_due_oldest_seconds{{kind="{kind}"}}'] < seconds + 30
    # Of two workers the one that was heard last.
    assert values['goldpanel_heartbeat_age_seconds{role="worker"}'] < 60
    assert Assignment.objects.filter(state="submitted").count() == values["goldpanel_answers_total"]


@pytest.mark.django_db
def test_the_cost_does_not_grow_with_what_there_is():
    items = make_item_set(make_project(), [])
    make_run(make_stage(), items, state="running", frozen_at=timezone.now())

    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            metrics()
        return len(queries)

    before = n_queries()
    for _ in range(3):
        stage = make_stage(make_project(), overlap=2)
        for _ in range(4):
            make_stage_item(stage, due_at=timezone.now())
        answer(stage, 1)
        make_prediction(
            make_run(stage, items, state="running", frozen_at=timezone.now()), make_item(stage.project), None
        )
    assert n_queries() == before


@pytest.mark.django_db
def test_the_large_tables_are_read_by_an_index():
    stage = make_stage(make_project(), overlap=2)
    for _ in range(3):
        make_stage_item(stage)
    answer(stage, 1)
    make_run(stage, make_item_set(stage.project, []), state="running", frozen_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        metrics()
    large = ("annotate_assignment", "annotate_stageitem", "annotate_annotation", "evaluation_prediction")
    asked = [query["sql"] for query in queries if any(f'FROM "{table}"' in query["sql"] for table in large)]
    assert len(asked) == 3  # leases, votes due, predictions
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # So few rows would be read from beginning to end: the question is whether an index could serve.
            cursor.execute("SET LOCAL enable_seqscan = off")
        for sql in asked:
            cursor.execute(f"{'EXPLAIN QUERY PLAN' if connection.vendor == 'sqlite' else 'EXPLAIN'} {sql}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
            assert re.search("assignment_live_leases|stage_item_due|prediction_", plan), f"{sql}\n{plan}"
