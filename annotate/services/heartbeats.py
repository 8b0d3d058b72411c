"""When workers and schedulers were last heard from, so that a page that waits can say why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils import timezone

from annotate.models import WorkerHeartbeat

# The scheduler asks every 10 seconds; a worker busy with one long task may miss a few.
SILENT_AFTER = timedelta(seconds=60)
FORGOTTEN_AFTER = timedelta(days=7)


@dataclass(frozen=True)
class Hearing:
    """When somebody of a role was last heard from (None: never), and whether that is too long ago."""

    role: str
    heard_at: datetime | None
    is_silent: bool


@transaction.atomic
def hear(*, name: str, role: str) -> None:
    """Note that this process lives. Names are machines, not processes: rows must not grow with every restart."""
    WorkerHeartbeat.objects.update_or_create(name=name[:120], defaults={"role": role, "heard_at": Now()})
    WorkerHeartbeat.objects.filter(heard_at__lt=timezone.now() - FORGOTTEN_AFTER).delete()


def last_heard(role: str = "worker") -> Hearing:
    """The newest sign of life of any process of this role; silent after SILENT_AFTER without one."""
    heard_at = WorkerHeartbeat.objects.filter(role=role).aggregate(last=Max("heard_at"))["last"]
    return Hearing(role, heard_at, heard_at is None or timezone.now() - heard_at > SILENT_AFTER)
