"""Answers of models that people judge: what was drawn from which runs, and which answer each candidate is."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.wording import _
from evaluation.querysets import CandidateOriginQuerySet, JudgeSampleQuerySet


class JudgeSample(models.Model):
    """A seeded sample of the answers of some runs, judged in one stage."""

    class Mode(models.TextChoices):
        VERDICT = "verdict", _("right or wrong")
        BETTER = "better", _("the better of two")

    class Shows(models.TextChoices):
        ANSWER = "answer", _("the answer as it was read")
        COMPLETION = "completion", _("the completion as it came")

    class Rule(models.TextChoices):
        SAME_ITEMS = "same_items", _("the same items of every run")
        PER_RUN = "per_run", _("items of each run on its own")

    class Unanswered(models.TextChoices):
        LEFT_OUT = "left_out", _("counted, not judged")
        AS_SAID = "as_said", _("judged by what was said")

    stage = models.OneToOneField("annotate.Stage", on_delete=models.CASCADE, related_name="judge_sample")
    mode = models.CharField(max_length=10, choices=Mode.choices)
    rule = models.CharField(max_length=10, choices=Rule.choices, default=Rule.SAME_ITEMS)
    stratum = models.CharField(
        max_length=100, blank=True, help_text="Its values are drawn in proportion; empty: it is a simple random draw."
    )
    shows = models.CharField(max_length=10, choices=Shows.choices, default=Shows.ANSWER)
    unanswered = models.CharField(
        max_length=10,
        choices=Unanswered.choices,
        default=Unanswered.LEFT_OUT,
        help_text="What becomes of outcomes other than answered.",
    )
    field = models.JSONField(help_text="The field whose answers are judged, as it was described at the draw.")
    runs = models.ManyToManyField("evaluation.Run", related_name="judge_samples")
    n_per_run = models.PositiveIntegerField(help_text="Answers asked for of each run, or of each pair of runs.")
    seed = models.BigIntegerField()
    counts = models.JSONField(default=list, help_text="For each run, or pair: how many there were, and were drawn.")
    drawn_at = models.DateTimeField(default=timezone.now)

    objects = JudgeSampleQuerySet.as_manager()

    def __str__(self) -> str:
        return f"judged in {self.stage_id}"


class CandidateOrigin(models.Model):
    """What was drawn: one prediction, or the first of one and the second of another, and the candidate it became.

    Several origins may share a candidate, which is judged once. One without a place in the stage was never asked
    about: both answers of the pair are the same. Without a candidate nothing was said that could be judged. Whoever
    judges must not read this.
    """

    sample = models.ForeignKey(JudgeSample, on_delete=models.CASCADE, related_name="origins", db_index=False)
    candidate = models.ForeignKey(
        "annotate.Candidate", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    prediction = models.ForeignKey("evaluation.Prediction", on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(
        "evaluation.Prediction", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = CandidateOriginQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sample", "prediction"], condition=Q(other__isnull=True), name="origin_of_answer_once"
            ),
            models.UniqueConstraint(
                fields=["sample", "prediction", "other"], condition=Q(other__isnull=False), name="origin_of_pair_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id} of {self.prediction_id}"
