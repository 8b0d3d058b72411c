"""The counters of runs, and with those of the human side all that is kept beside the rows it is counted from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, Q
from django.db.models.functions import Now

from annotate.services import recounting
from annotate.services.recounting import Check, Columns, Difference, number_of
from evaluation.models import Prediction, Run
from evaluation.services.running import LIVE


def recount(*, repair: bool) -> Iterator[Difference]:
    """Every kept number that differs from its rows; see `annotate.services.recounting`."""
    return recounting.recount([*recounting.CHECKS, *CHECKS], repair=repair)


_NAMED: dict[str, Any] = {"where": "run {1} of {0}", "named": ("project__slug", "name"), "project": "project"}
_PREDICTIONS = Prediction.objects.filter(run=OuterRef("pk"))
# A worker says after each chunk how far a run is: while one may be at it, the number is behind its rows.
_SILENT = Q(heartbeat_at__isnull=True) | Q(heartbeat_at__lt=Now() - timedelta(seconds=settings.CLAIM_SECONDS))

CHECKS: tuple[Check, ...] = (
    Columns(Run.objects.exclude(state=Run.State.DRAFT), {"n_total": number_of(_PREDICTIONS, "run")}, **_NAMED),
    Columns(
        Run.objects.filter(Q(state=Run.State.DONE) | _SILENT).exclude(state__in=LIVE),
        {"n_done": number_of(_PREDICTIONS.exclude(state=Prediction.State.PENDING), "run")},
        **_NAMED,
    ),
)
