"""A frozen comparison: its inputs, the matrices it used, every figure, and the files made of them."""

from django.db import models

from annotate.models import BackgroundWork
from annotate.querysets import ProjectRowQuerySet


class Report(BackgroundWork):
    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="reports")
    title = models.CharField(max_length=120)
    stage = models.ForeignKey("annotate.Stage", on_delete=models.PROTECT, related_name="reports")
    item_set = models.ForeignKey("annotate.ItemSet", on_delete=models.PROTECT, related_name="reports")
    runs = models.ManyToManyField("evaluation.Run", related_name="reports", blank=True)
    field = models.CharField(max_length=60, help_text="The decisive field that is compared.")
    primary_scorer = models.CharField(max_length=40)
    further_scorers = models.JSONField(default=list, blank=True, help_text="Beside the main one and the defaults.")
    primary_run = models.ForeignKey(
        "evaluation.Run",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The comparison named before results are shown.",
    )
    every_run_is_primary = models.BooleanField(
        default=False, help_text="The family named before results: the mean person against each run."
    )
    n_scored = models.PositiveIntegerField(default=0, help_text="Pairs of answer and gold, while it is being made.")
    n_to_score = models.PositiveIntegerField(default=0)
    seed = models.BigIntegerField(default=0)
    n_resamples = models.PositiveIntegerField(default=2000)
    level = models.FloatField(default=0.95)
    frozen_at = models.DateTimeField(null=True, blank=True)
    manifest = models.JSONField(default=dict, help_text="Versions, inputs, exclusions, hashes.")
    matrices = models.JSONField(default=dict, help_text="The arrays behind every figure, in a fixed item order.")
    figures = models.JSONField(default=list, help_text="One object a figure: value, n, interval, what was left out.")
    files = models.ManyToManyField("annotate.StoredFile", related_name="+", blank=True)

    objects = ProjectRowQuerySet.as_manager()

    def __str__(self) -> str:
        return self.title
