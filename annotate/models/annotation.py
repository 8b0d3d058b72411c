"""The answer given to an assignment, one row per revision of it; the newest counts."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import AnnotationQuerySet


class Annotation(models.Model):
    assignment = models.ForeignKey(
        "annotate.Assignment", on_delete=models.PROTECT, related_name="annotations", db_index=False
    )
    stage_version = models.ForeignKey(
        "annotate.StageVersion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    guideline_version = models.ForeignKey(
        "annotate.GuidelineVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    number = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    answer = models.JSONField(help_text="Field name -> value, validated against the stage version.")
    flag_note = models.CharField(max_length=500, blank=True)
    is_flagged = models.BooleanField(default=False)
    active_seconds = models.PositiveIntegerField(
        null=True, blank=True, default=0, help_text="With focus and input; at most the wall time. Null: not known."
    )
    wall_seconds = models.PositiveIntegerField(null=True, blank=True, default=0)
    n_pastes = models.PositiveIntegerField(
        null=True, blank=True, help_text="How often something was pasted into the answer. Null: not known."
    )
    pasted_characters = models.PositiveIntegerField(null=True, blank=True, help_text="How much; never what.")
    n_away = models.PositiveIntegerField(null=True, blank=True, help_text="How often the page was left for another.")
    away_seconds = models.PositiveIntegerField(null=True, blank=True)
    client_key = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "number"], name="annotation_number_once"),
            models.UniqueConstraint(fields=["assignment", "client_key"], name="annotation_client_key_once"),
            models.UniqueConstraint(fields=["assignment"], condition=Q(is_current=True), name="annotation_one_current"),
        ]

    def __str__(self) -> str:
        return f"annotation {self.pk}"
