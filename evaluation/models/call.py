"""One exchange with a model: what was sent and what came back, verbatim."""

from django.db import models
from django.db.models import Q

from evaluation.querysets import CallQuerySet


class Call(models.Model):
    prediction = models.ForeignKey(
        "evaluation.Prediction", on_delete=models.CASCADE, related_name="calls", db_index=False
    )
    step = models.PositiveSmallIntegerField(default=0, help_text="Of the calls of a prediction, from 0 on.")
    messages = models.JSONField()
    completion = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    server_model = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    logprobs = models.JSONField(
        null=True,
        blank=True,
        help_text="[token, log probability, [[alternative, log probability], ...]] of each token.",
    )
    reading = models.JSONField(
        null=True,
        blank=True,
        help_text="Where each completion of a prediction is read by itself: what it came to (state, note, answer).",
    )
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    error_kind = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=500, blank=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    finished_at = models.DateTimeField()
    request_hash = models.CharField(max_length=64, blank=True, help_text="Of what was sent, at temperature 0.")
    reused_from = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The call whose completion this is: nothing was sent.",
    )

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prediction", "step"], name="call_step_once"),
        ]
        indexes = [
            models.Index(fields=["request_hash"], condition=~Q(request_hash=""), name="call_by_request"),
            models.Index(fields=["reused_from"], condition=Q(reused_from__isnull=False), name="call_reused"),
        ]

    def __str__(self) -> str:
        return f"{self.prediction_id} step {self.step}"
