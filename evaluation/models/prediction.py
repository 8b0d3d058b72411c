"""A model's response to one item in one run."""

from django.db import models
from django.db.models import Q

from annotate.wording import _
from evaluation.querysets import PredictionQuerySet


class Prediction(models.Model):
    """Every outcome is told apart: only `answered` has an answer, and none of the others is quietly a wrong one."""

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        ANSWERED = "answered", _("answered")
        UNPARSED = "unparsed", _("unparsed")
        REFUSED = "refused", _("refused")
        EMPTY = "empty", _("empty")
        CUT_OFF = "cut_off", _("cut off")
        TIED = "tied", _("tied vote")
        TIMED_OUT = "timed_out", _("timed out")
        ERROR = "error", _("error")
        WORKER_LOST = "worker_lost", _("worker lost")
        CANCELLED = "cancelled", _("cancelled")

    run = models.ForeignKey("evaluation.Run", on_delete=models.CASCADE, related_name="predictions", db_index=False)
    revision = models.ForeignKey("annotate.ItemRevision", on_delete=models.PROTECT, related_name="predictions")
    position = models.PositiveIntegerField(help_text="Place of the item in the run's item set.")
    repeat = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=12, choices=State.choices, default=State.PENDING)
    answer = models.JSONField(null=True, blank=True, help_text="Field name -> value, as an annotation's.")
    note = models.CharField(max_length=500, blank=True, help_text="Why there is no answer, or what the parser did.")
    due_at = models.DateTimeField(null=True, blank=True)
    claim_token = models.CharField(max_length=32, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = PredictionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "revision", "repeat"], name="prediction_once"),
            models.CheckConstraint(
                condition=Q(state="answered", answer__isnull=False) | (~Q(state="answered") & Q(answer__isnull=True)),
                name="prediction_answer_iff_answered",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "due_at"], condition=Q(state="pending"), name="prediction_pending"),
            models.Index(fields=["run", "state"], name="prediction_by_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}[{self.position}.{self.repeat}]"
