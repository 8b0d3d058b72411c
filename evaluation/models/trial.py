"""A few items of a draft, asked before anything counts."""

from django.db import models

from annotate.models import BackgroundWork
from evaluation.querysets import TrialQuerySet


class Trial(BackgroundWork):
    """What was sent and what came back stands in `results`, apart from predictions: no figure ever reads it."""

    run = models.ForeignKey("evaluation.Run", on_delete=models.CASCADE, related_name="trials")
    results = models.JSONField(default=list)

    objects = TrialQuerySet.as_manager()

    @property
    def project_id(self) -> int:
        """Of the run: for events, which belong to a project."""
        return int(self.run.project_id)

    def __str__(self) -> str:
        return f"trial of run {self.run_id}"
