"""One model, one prompt strategy, one item set, one seed: frozen when it starts."""

from django.db import models
from django.db.models import Q

from annotate.models import BackgroundWork
from evaluation.querysets import RunQuerySet


class Run(BackgroundWork):
    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=120)
    item_set = models.ForeignKey("annotate.ItemSet", on_delete=models.PROTECT, related_name="runs")
    stage_version = models.ForeignKey(
        "annotate.StageVersion",
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The form people answer: its decisive field and shown content are what the model gets.",
    )
    endpoint = models.ForeignKey("evaluation.Endpoint", on_delete=models.PROTECT, related_name="runs")
    strategy = models.CharField(max_length=40)
    strategy_hash = models.CharField(max_length=64, blank=True, help_text="Of the prompt templates, when it started.")
    exemplar_set = models.ForeignKey(
        "annotate.ItemSet", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    parameters = models.JSONField(default=dict, help_text="temperature, max_tokens ... as sent.")
    n_steps = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Samples for a vote, or rounds at most; null: the strategy says how many calls.",
    )
    seed = models.BigIntegerField(default=0)
    repeats = models.PositiveSmallIntegerField(default=1)
    reuses_answers = models.BooleanField(default=False, help_text="Of earlier runs, for the same request.")
    budget_money = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    # Of all completions that arrived, as the endpoint counted them.
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    n_counted = models.PositiveIntegerField(default=0, help_text="Completions whose tokens were counted.")
    n_uncounted = models.PositiveIntegerField(default=0, help_text="Completions without a count.")
    frozen_at = models.DateTimeField(null=True, blank=True)
    stopped_because = models.CharField(
        max_length=500, blank=True, help_text="What will not heal, such as 401, or a spent budget."
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="run_name_once"),
            models.CheckConstraint(condition=Q(repeats__gte=1), name="run_repeats_positive"),
            models.CheckConstraint(
                condition=Q(state="draft") | Q(frozen_at__isnull=False), name="run_started_is_frozen"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="run_due")]

    def __str__(self) -> str:
        return self.name
