"""Runs and reports that wait for an admin: they stopped, and go on when somebody has looked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from annotate.models import Project
from evaluation.models import Report, Run

# A failed run or report stays on its own page; whoever runs the project is told for so long.
FAILURES_ARE_NEWS_FOR = timedelta(days=7)
MOST_TOLD = 10


@dataclass(frozen=True)
class RunNeeds:
    """stopped: runs that stopped by themselves, for a spent budget or what will not heal. Newest first."""

    stopped: list[Run]
    failed: list[Run]
    reports: list[Report]

    def __bool__(self) -> bool:
        return bool(self.stopped or self.failed or self.reports)


def run_needs(*, project: Project) -> RunNeeds:
    """What waits on the model side, in two queries; a run that somebody paused waits for nobody else."""
    failed = Q(state=Run.State.FAILED, finished_at__gt=timezone.now() - FAILURES_ARE_NEWS_FOR)
    stopped = Q(state=Run.State.PAUSED) & ~Q(stopped_because="")
    runs = list(Run.objects.filter(failed | stopped, project=project).order_by("-pk")[:MOST_TOLD])
    reports = Report.objects.filter(failed, project=project).defer("matrices", "manifest", "figures")
    return RunNeeds(
        stopped=[run for run in runs if run.state == Run.State.PAUSED],
        failed=[run for run in runs if run.state == Run.State.FAILED],
        reports=list(reports.order_by("-pk")[:MOST_TOLD]),
    )
