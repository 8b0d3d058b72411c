"""What pages of long work show alike, whatever it makes: how far it is, and what was wrong with it."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from annotate.exceptions import ImportRefused
from annotate.models import BackgroundWork
from annotate.services.heartbeats import last_heard
from annotate.wording import _

STATE = BackgroundWork.State


def progress_of(work: BackgroundWork) -> dict[str, Any]:
    """is_storing: everything was read, and is written in one step, which cannot be seen half done."""
    is_waiting = work.state in (STATE.WAITING, STATE.RUNNING)
    total = work.n_total or 0
    return {
        "is_waiting": is_waiting,
        "is_storing": work.state == STATE.RUNNING and total > 0 and work.n_done >= total,
        "percent": min(100, 100 * work.n_done // total) if total else 0,
        "hearing": last_heard() if is_waiting else None,
    }


def by_place(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For partials/error_list.html, which prints the place beside the words."""
    return [{**problem, "message": problem.get("problem") or problem["message"]} for problem in problems]


def refused_as_too_large() -> ImportRefused:
    words = _(
        "Nothing was kept: a file may have %(max_upload_bytes)s bytes. Split it, or ask for more.",
        max_upload_bytes=f"{settings.MAX_UPLOAD_BYTES:,}",
    )
    return ImportRefused(words)
