"""Ringing for everything that is due, on both sides. The rows say what is due; a bell only wakes a worker.

It lives on the model side because that side may know the human one, and not the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celery import Task
from django.db.models.functions import Now

from annotate import tasks as human_tasks
from annotate.models import Assignment, BackgroundWork, Export, ImportJob, Restoration, StageItem, StoredFile
from config.bells import n_waiting, ring
from evaluation import tasks as model_tasks
from evaluation.models import LogImport, Report, Trial
from evaluation.services.running import runs_to_ring

# While no worker runs, bells nobody hears must not pile up: the first worker would go through all of them.
MAX_WAITING = 100
# Rows found due beyond this are found again in a moment.
MAX_FOUND = 50


def ring_due() -> int:
    """Ring once for each piece of due work; the number of bells that the broker took.

    Rings nothing while more than MAX_WAITING bells wait, or when the broker is away: the rows stay due.
    """
    waiting = n_waiting()
    if waiting is None or waiting > MAX_WAITING:
        return 0
    return sum(ring(task, *ids) for task, ids in _due())


def ring_to_hear() -> bool:
    """Ask for a sign of life: whichever worker answers writes its heartbeat."""
    waiting = n_waiting()
    return waiting is not None and waiting <= MAX_WAITING and ring(human_tasks.hear_worker)


def _due() -> Iterator[tuple[Task, tuple[Any, ...]]]:
    if StageItem.objects.due().filter(due_at__lte=Now()).exists():
        yield human_tasks.resolve_due, ()
    if Assignment.objects.filter(state=Assignment.State.LEASED, lease_expires_at__lt=Now()).exists():
        yield human_tasks.expire_leases, ()
    if StoredFile.objects.outdated().exists():
        yield human_tasks.forget_outdated_files, ()
    at_work = [BackgroundWork.State.WAITING, BackgroundWork.State.RUNNING]
    # A claim moves due_at ahead and every sign of life moves it on: what is due again was lost with its worker.
    for model, task in (
        (ImportJob, human_tasks.run_import),
        (Export, human_tasks.run_export),
        (Restoration, human_tasks.restore_archive),
        (LogImport, model_tasks.import_log),
        (Report, model_tasks.make_report),
        (Trial, model_tasks.make_trial),
    ):
        due = model._default_manager.filter(state__in=at_work, due_at__lte=Now()).order_by("due_at")
        for pk in due.values_list("pk", flat=True)[:MAX_FOUND]:
            yield task, (pk,)
    for pk in runs_to_ring(limit=MAX_FOUND):
        yield model_tasks.answer_chunk, (pk,)
