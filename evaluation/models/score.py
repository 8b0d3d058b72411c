"""What one scorer says of one answer against one version of the gold label: written once, never invalidated."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Score(models.Model):
    annotation = models.ForeignKey(
        "annotate.Annotation", on_delete=models.CASCADE, null=True, blank=True, related_name="scores"
    )
    prediction = models.ForeignKey(
        "evaluation.Prediction", on_delete=models.CASCADE, null=True, blank=True, related_name="scores"
    )
    field = models.CharField(max_length=60)
    scorer = models.CharField(max_length=40)
    scorer_version = models.PositiveSmallIntegerField()
    gold = models.ForeignKey("annotate.Gold", on_delete=models.PROTECT, related_name="+")
    value = models.FloatField(null=True, blank=True, help_text="In [0, 1]; null: unscorable, with the reason in note.")
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(annotation__isnull=False) ^ Q(prediction__isnull=False), name="score_of_one_answer"
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__gte=0, value__lte=1), name="score_in_unit_interval"
            ),
            models.UniqueConstraint(
                fields=["annotation", "field", "scorer", "scorer_version", "gold"],
                condition=Q(annotation__isnull=False),
                name="score_of_annotation_once",
            ),
            models.UniqueConstraint(
                fields=["prediction", "field", "scorer", "scorer_version", "gold"],
                condition=Q(prediction__isnull=False),
                name="score_of_prediction_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scorer} {self.value}"
