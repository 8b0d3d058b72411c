"""One process at a time, agreed through the database: two schedulers are harmless."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models import DatabaseLease


@transaction.atomic
def hold_lease(*, name: str, holder: str, seconds: int) -> bool:
    """Take or prolong the lease; False while another holder's runs.

    One conditional update decides, so that of two processes asking at once exactly one holds it; by the database's
    clock, for the machines of two schedulers need not agree on the time.
    """
    DatabaseLease.objects.get_or_create(name=name, defaults={"expires_at": Now()})
    free = Q(holder=holder) | Q(expires_at__lte=Now())
    expires_at = Now() + timedelta(seconds=seconds)
    return DatabaseLease.objects.filter(free, name=name).update(holder=holder, expires_at=expires_at) == 1


@transaction.atomic
def release_lease(*, name: str, holder: str) -> None:
    """Let the next process take over at once instead of waiting for the lease to run out."""
    DatabaseLease.objects.filter(name=name, holder=holder).update(holder="", expires_at=Now())
