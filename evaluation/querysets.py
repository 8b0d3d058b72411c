"""Which rows of the model side; the doors (`visible_to`, `run_by`) are those of annotate."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db.models import Q

from annotate.querysets import ProjectRowQuerySet


class PredictionQuerySet(ProjectRowQuerySet):
    project_path = "run__project"

    def claimable(self, now: datetime) -> Self:
        """Pending, due, and in nobody's hands."""
        return self.filter(Q(due_at__isnull=True) | Q(due_at__lte=now), state="pending", claim_token="")

    def failed(self) -> Self:
        """Without an answer for a reason that asking again may change."""
        return self.filter(state__in=["error", "timed_out", "worker_lost", "cancelled"])


class CallQuerySet(ProjectRowQuerySet):
    project_path = "prediction__run__project"
