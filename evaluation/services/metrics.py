"""How the installation fares, in figures for a monitoring server.

It is asked every few seconds, so each figure is one query, the same whatever there is, on an index or a small table:
answers are added up from what people's participations already count, and predictions only of runs under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone

from annotate.models import Assignment, BackgroundWork, Participation, StageItem, WorkerHeartbeat
from config.bells import n_waiting
from config.metrics import Metric, Sample
from evaluation.models import Prediction, Run

STATE = BackgroundWork.State
AT_WORK = [STATE.WAITING, STATE.RUNNING]
UNDER_WAY = [*AT_WORK, STATE.PAUSED]


def measure() -> Iterator[Metric]:
    """Every metric. Raises DatabaseError where the database does not answer; a broker that does not is a figure."""
    now = timezone.now()
    held = _leases()
    done = Participation.objects.aggregate(answered=Sum("n_answered"), skipped=Sum("n_skipped"))
    answered, skipped = done["answered"] or 0, done["skipped"] or 0
    due = {"votes": _due_votes(), "leases": (held["overdue"], held["oldest"])}
    states: list[Sample] = []
    for model in _kinds_of_work():
        name = model._meta.model_name or ""
        counts, due[name] = _work(model)
        states += [Sample(counts[state], {"kind": name, "state": state}) for state in STATE.values]
    by_outcome = Counter(dict(_outcomes()))
    yield Metric("goldpanel_answers_total", "counter", "Answers of people; changes are not counted.", _one(answered))
    yield Metric(
        "goldpanel_assignments",
        "gauge",
        "Assignments by state: in somebody's hands, answered, skipped.",
        (
            Sample(held["n"], {"state": "leased"}),
            Sample(answered, {"state": "submitted"}),
            Sample(skipped, {"state": "skipped"}),
        ),
    )
    yield Metric(
        "goldpanel_predictions",
        "gauge",
        "Predictions of runs under way or paused, by outcome.",
        tuple(Sample(by_outcome[state], {"outcome": state}) for state in Prediction.State.values),
    )
    yield Metric("goldpanel_work", "gauge", "Imports, runs and reports by state.", tuple(states))
    yield Metric(
        "goldpanel_due",
        "gauge",
        "Rows that wait for a worker now.",
        tuple(Sample(n, {"kind": kind}) for kind, (n, _) in due.items()),
    )
    yield Metric(
        "goldpanel_due_oldest_seconds",
        "gauge",
        "For how long the oldest of them has waited; 0 if there is none.",
        tuple(Sample(_seconds(since, now), {"kind": kind}) for kind, (_, since) in due.items()),
    )
    yield Metric(
        "goldpanel_heartbeat_age_seconds",
        "gauge",
        "Since a worker or scheduler was last heard from; absent if never.",
        tuple(Sample(_seconds(heard_at, now), {"role": role}) for role, heard_at in _heartbeats()),
    )
    waiting = n_waiting()
    yield Metric("goldpanel_broker_up", "gauge", "Whether the broker answers.", _one(waiting is not None))
    bells = () if waiting is None else _one(waiting)
    yield Metric("goldpanel_bells_waiting", "gauge", "Messages in the broker that no worker has taken.", bells)


def _leases() -> dict[str, Any]:
    leased = Q(state=Assignment.State.LEASED)
    overdue = Q(lease_expires_at__lt=Now())
    return Assignment.objects.filter(leased).aggregate(
        n=Count("pk"), overdue=Count("pk", filter=overdue), oldest=Min("lease_expires_at", filter=overdue)
    )


def _due_votes() -> tuple[int, datetime | None]:
    found = StageItem.objects.due().filter(due_at__lte=Now()).aggregate(n=Count("pk"), oldest=Min("due_at"))
    return found["n"], found["oldest"]


def _kinds_of_work() -> list[type[BackgroundWork]]:
    return [model for model in apps.get_models() if issubclass(model, BackgroundWork)]


def _work(model: type[BackgroundWork]) -> tuple[Counter[str], tuple[int, datetime | None]]:
    """How many rows are in each state, and how many are due and since when: a table of hundreds of rows."""
    due = Q(state__in=AT_WORK, due_at__lte=Now())
    rows = (
        model._default_manager.values("state")
        .annotate(n=Count("pk"), n_due=Count("pk", filter=due), oldest=Min("due_at", filter=due))
        .order_by()
    )
    found = list(rows)
    oldest = [row["oldest"] for row in found if row["oldest"] is not None]
    counts = Counter({row["state"]: row["n"] for row in found})
    return counts, (sum(row["n_due"] for row in found), min(oldest, default=None))


def _outcomes() -> Iterator[tuple[str, int]]:
    # By their ids: joined with their runs, PostgreSQL reads the predictions of those that ended, too.
    runs = list(Run.objects.filter(state__in=UNDER_WAY).values_list("pk", flat=True))
    if runs:
        yield from Prediction.objects.filter(run__in=runs).values_list("state").annotate(n=Count("pk")).order_by()


def _heartbeats() -> Iterator[tuple[str, datetime]]:
    yield from WorkerHeartbeat.objects.values_list("role").annotate(last=Max("heard_at")).order_by("role")


def _one(value: float) -> tuple[Sample, ...]:
    return (Sample(value),)


def _seconds(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, round((now - since).total_seconds(), 1))
