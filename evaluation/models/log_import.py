"""One log of another program on its way to runs: uploaded, looked at, then imported all or nothing."""

from django.db import models

from annotate.models import BackgroundWork
from annotate.querysets import AdminRowQuerySet


class LogImport(BackgroundWork):
    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="log_imports")
    source = models.ForeignKey("annotate.StoredFile", on_delete=models.PROTECT, related_name="+")
    item_set = models.ForeignKey("annotate.ItemSet", on_delete=models.PROTECT, related_name="+")
    stage_version = models.ForeignKey(
        "annotate.StageVersion",
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The form whose first deciding field the answers belong to.",
    )
    options = models.JSONField(default=dict, help_text="Format, model, names and how items are recognised.")
    report = models.JSONField(default=dict, help_text="What was matched, unmatched, repeated, changed, in error.")
    runs = models.ManyToManyField("evaluation.Run", related_name="log_imports", blank=True)

    objects = AdminRowQuerySet.as_manager()

    def __str__(self) -> str:
        return f"log import {self.pk}"
