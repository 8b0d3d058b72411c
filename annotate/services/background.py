"""Who works on a row of long work, and when somebody else may: the one claim of reports and imports.

The database is the queue of record. A bell may be lost or ring twice: `claim_work` gives the row to one caller, and a
result is written only inside `holding`, which refuses a caller whose claim was taken over or cancelled meanwhile.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotate import events
from annotate.exceptions import WorkNotPossible, WorkTaken
from annotate.models import BackgroundWork, Person
from annotate.wording import _

W = TypeVar("W", bound=BackgroundWork)

# Longer than any step between two beats; shorter than anybody likes to wait after a worker died.
LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 3
WORKER_LOST = _("Worker lost: three attempts ended without a result. See the worker's log, then start it again.")

STATE = BackgroundWork.State


@transaction.atomic
def claim_work(*, model: type[W], pk: int) -> W | None:
    """The row, claimed with a fresh token; None if it is not due, is in other hands, or was given up just now.

    The database's clock decides, so that workers on several machines agree.
    """
    rows: Any = model._default_manager
    due = rows.select_for_update().filter(pk=pk, state__in=[STATE.WAITING, STATE.RUNNING], due_at__lte=Now())
    work: W | None = due.first()
    if work is None:
        return None
    if work.attempts >= MAX_ATTEMPTS:
        _end(work, STATE.FAILED, error=WORKER_LOST)
        return None
    rows.filter(pk=pk).update(
        state=STATE.RUNNING,
        claim_token=secrets.token_hex(16),
        attempts=F("attempts") + 1,
        heartbeat_at=Now(),
        started_at=Now(),
        due_at=Now() + LEASE,
    )
    work.refresh_from_db()
    return work


def beat(work: BackgroundWork, *, n_done: int | None = None, n_total: int | None = None) -> None:
    """Say that the claim is alive, and how far it got. Raises WorkTaken when it is no longer ours.

    Outside the transaction of the work itself, so that the page sees it move.
    """
    progress = {name: n for name, n in (("n_done", n_done), ("n_total", n_total)) if n is not None}
    ours = _rows(work).filter(pk=work.pk, claim_token=work.claim_token, state=STATE.RUNNING)
    if not ours.update(heartbeat_at=Now(), due_at=Now() + LEASE, **progress):
        raise WorkTaken


@contextmanager
def holding(work: W) -> Iterator[W]:
    """A transaction in which the row is locked and still ours. Raises WorkTaken, writing nothing, if it is not."""
    with transaction.atomic():
        row = _rows(work).select_for_update().filter(pk=work.pk, claim_token=work.claim_token, state=STATE.RUNNING)
        locked = row.first()
        if locked is None:
            raise WorkTaken
        yield locked


def end_work(work: BackgroundWork, *, error: str = "") -> None:
    """Done, or failed with the reason: inside `holding`, together with the result."""
    _end(work, STATE.FAILED if error else STATE.DONE, error=error)


@transaction.atomic
def cancel_work(*, work: BackgroundWork, by: Person) -> None:
    """Stop it, whoever works on it: a result that comes later is refused. Raises WorkNotPossible if it has ended."""
    locked = _rows(work).select_for_update().get(pk=work.pk)
    if locked.state not in (STATE.WAITING, STATE.RUNNING, STATE.PAUSED):
        raise WorkNotPossible(_("It has already ended, so there is nothing to cancel."))
    _end(locked, STATE.CANCELLED, by=by)


@transaction.atomic
def restart_work(*, work: BackgroundWork, by: Person) -> None:
    """Put work that failed or was cancelled back in the queue, with its attempts counted anew."""
    locked = _rows(work).select_for_update().get(pk=work.pk)
    if locked.state not in (STATE.FAILED, STATE.CANCELLED):
        raise WorkNotPossible(_("Only work that failed or was cancelled can be started again."))
    restarted = {"state": STATE.WAITING, "attempts": 0, "error": "", "n_done": 0, "finished_at": None}
    _rows(work).filter(pk=work.pk).update(due_at=Now(), **restarted)
    verb = f"{locked._meta.model_name}.restarted"
    events.record(verb=verb, subject=locked, project_id=locked.project_id, actor=by)


def _end(work: Any, state: str, *, error: str = "", by: Person | None = None) -> None:
    work.state, work.error, work.claim_token, work.due_at = state, error[:500], "", None
    work.finished_at = Now()
    work.save(update_fields=["state", "error", "claim_token", "due_at", "finished_at"])
    work.refresh_from_db(fields=["finished_at"])
    verb = f"{work._meta.model_name}.{state}"
    events.record(verb=verb, subject=work, project_id=work.project_id, actor=by)


def _rows(work: BackgroundWork) -> Any:
    return type(work)._default_manager
