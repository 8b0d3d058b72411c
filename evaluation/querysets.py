"""Which rows of the model side; the doors (`visible_to`, `run_by`) are those of annotate."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Self

from django.apps import apps
from django.db.models import F, IntegerField, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Now

from annotate.querysets import AdminRowQuerySet, ProjectRowQuerySet


class EndpointQuerySet(AdminRowQuerySet):
    def askable(self) -> Self:
        """Where a model can be asked: not those whose answers come from logs."""
        return self.exclude(provider="log")


class RunQuerySet(ProjectRowQuerySet):
    def due(self) -> Self:
        """Under way, and a bell should be rung now."""
        return self.filter(state__in=["waiting", "running"], due_at__lte=Now())


class PredictionQuerySet(ProjectRowQuerySet):
    """A claim is alive as long as its `claimed_at` is renewed; the database's clock decides for all workers."""

    project_path = "run__project"

    def unanswered(self) -> Self:
        return self.filter(state="pending")

    def claimable(self, lost_after: timedelta) -> Self:
        """Pending and due, in nobody's hands or in the hands of a worker that fell silent."""
        free = Q(claim_token="") & (Q(due_at__isnull=True) | Q(due_at__lte=Now()))
        return self.unanswered().filter(free | self._silent(lost_after))

    def lost_with_worker(self, lost_after: timedelta, attempts: int) -> Self:
        """Claimed by a worker that fell silent, for the last of so many attempts without any outcome.

        A claim, or a further step of one, counts an attempt and a request that was sent counts in its call: what a
        prediction has more of the former ended without a word.
        """
        n_sent = n_requests(of_prediction=OuterRef("pk"))
        silent = self.unanswered().filter(self._silent(lost_after))
        return silent.annotate(n_without_outcome=F("attempts") - n_sent).filter(n_without_outcome__gte=attempts)

    def failed(self) -> Self:
        """Without an answer for a reason that asking again may change."""
        return self.filter(state__in=["error", "timed_out", "worker_lost", "cancelled"])

    @staticmethod
    def _silent(lost_after: timedelta) -> Q:
        return ~Q(claim_token="") & Q(claimed_at__lte=Now() - lost_after)


def n_requests(*, of_prediction: Any) -> Coalesce:
    """How many requests the calls of a prediction say were sent."""
    # By name: models import this module.
    calls = apps.get_model("evaluation", "Call").objects.filter(prediction=of_prediction).order_by()
    total = calls.values("prediction").annotate(n=Sum("attempts")).values("n")
    return Coalesce(Subquery(total), 0, output_field=IntegerField())


class CallQuerySet(ProjectRowQuerySet):
    project_path = "prediction__run__project"


class TrialQuerySet(ProjectRowQuerySet):
    project_path = "run__project"


class JudgeSampleQuerySet(ProjectRowQuerySet):
    project_path = "stage__project"


class CandidateOriginQuerySet(ProjectRowQuerySet):
    """Which model a candidate is of: whoever judges is no reader of results while they may judge."""

    project_path = "sample__stage__project"
