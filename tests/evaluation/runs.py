"""Runs as tests make them, and a worker's shifts on them in this process."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotate.models import Event, Item, ItemSet, Project, Stage
from evaluation.models import Endpoint, Run
from evaluation.services import answering, running
from tests.factories import make_endpoint, make_item, make_item_set, make_member, make_project, make_stage
from tests.openai_server import Running

GOLD = {"label": ["yes"]}


def claims(project: Project, n: int, **fields: Any) -> list[Item]:
    return [make_item(project, [["question", f"Is claim {k} true?"]], gold=GOLD, **fields) for k in range(n)]


def started(items: int | ItemSet = 3, *, stage: Stage | None = None, **fields: Any) -> Run:
    stage = stage or make_stage(make_project())
    item_set = items if isinstance(items, ItemSet) else make_item_set(stage.project, claims(stage.project, items))
    endpoint = fields.pop("endpoint", None) or make_endpoint(stage.project, model="seeded_random")
    admin = make_member(stage.project, "admin")
    values: dict[str, Any] = {
        "project": stage.project,
        "by": admin,
        "name": "run",
        "item_set": item_set,
        "stage_version": stage.versions.get(is_current=True),
        "endpoint": endpoint,
    }
    run = running.create_run(**values | fields)
    return running.start_run(run=run, by=admin)


def asking_server(server: Running, items: int | ItemSet = 3, *, stage: Stage | None = None, **limits: Any) -> Run:
    stage = stage or make_stage(make_project())
    endpoint = make_endpoint(
        stage.project,
        **{
            "provider": "openai",
            "model": "small",
            "base_url": server.base_url,
            "max_in_flight": 1,
            "timeout_seconds": 1,
        }
        | limits,
    )
    return started(items, stage=stage, endpoint=endpoint, parameters={"temperature": 0.0, "max_tokens": 50})


def work(run: Run) -> Run:
    """Ring until nothing is due at this moment."""
    rung: list[bool] = [True]
    while rung:
        rung.clear()
        answering.answer_chunk(run_id=run.pk, when_more=lambda: rung.append(True))
    run.refresh_from_db()
    return run


def a_moment_ago() -> datetime:
    # SQLite's clock counts milliseconds: what is due now by ours may be due a millisecond later by its.
    return timezone.now() - timedelta(seconds=1)


def make_due(run: Run) -> None:
    """As if the waiting time of every prediction, and of the endpoint, had passed."""
    Endpoint.objects.filter(pk=run.endpoint_id).update(held_until=None)
    run.predictions.filter(state="pending", claim_token="").update(due_at=a_moment_ago())


def worker_vanishes(run: Run) -> answering.Chunk:
    """A worker claims and is never heard of again, for longer than a claim stands."""
    chunk = answering.claim_chunk(run_id=run.pk)
    assert chunk is not None
    long_ago = timezone.now() - 2 * answering.claim_lifetime()
    run.predictions.filter(claim_token=chunk.token).update(claimed_at=long_ago)
    return chunk


def outcomes(run: Run) -> dict[str, int]:
    return dict(Counter(run.predictions.values_list("state", flat=True)))


def verbs(run: Run) -> list[str]:
    return list(Event.objects.filter(subject="run", subject_id=run.pk).order_by("pk").values_list("verb", flat=True))
