"""What the votes on one field of one stage item come to."""

from django.db import models
from django.utils import timezone

from annotate.querysets import ResolutionQuerySet
from annotate.wording import _


class Resolution(models.Model):
    class Status(models.TextChoices):
        UNANIMOUS = "unanimous", _("unanimous")
        MAJORITY = "majority", _("majority")
        PLURALITY = "plurality", _("plurality")
        TIE = "tie", _("tie")
        NO_VOTES = "no_votes", _("no votes")
        ADJUDICATED = "adjudicated", _("adjudicated")

    stage_item = models.ForeignKey(
        "annotate.StageItem", on_delete=models.CASCADE, related_name="resolutions", db_index=False
    )
    field = models.CharField(max_length=60)
    status = models.CharField(max_length=12, choices=Status.choices)
    answer = models.JSONField(
        null=True, blank=True, help_text="The value of the earliest vote that has the winning key."
    )
    answer_key = models.TextField(null=True, blank=True)
    key_version = models.PositiveSmallIntegerField()
    counts = models.JSONField(default=list, help_text="Pairs [answer key, votes], most votes first.")
    n_votes = models.PositiveIntegerField(default=0)
    margin = models.PositiveIntegerField(default=0, help_text="Votes of the first minus votes of the second.")
    round = models.PositiveSmallIntegerField(default=1)
    adjudication = models.ForeignKey(
        "annotate.Annotation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The adjudicator's answer that decided.",
    )
    computed_at = models.DateTimeField(default=timezone.now)

    objects = ResolutionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage_item", "field"], name="resolution_once"),
        ]

    def __str__(self) -> str:
        return f"{self.stage_item_id}.{self.field}: {self.status}"
