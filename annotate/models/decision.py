"""How an adjudicator came to an answer: which vote was taken or edited, and why."""

from django.db import models
from django.db.models import Q

from annotate.querysets import DecisionQuerySet
from annotate.wording import _


class Decision(models.Model):
    """Beside each revision of an adjudicator's answer. A bad item has an answer without values."""

    class Kind(models.TextChoices):
        TAKEN = "taken", _("taken from the answers")
        EDITED = "edited", _("edited from one of the answers")
        OWN = "own", _("written by the adjudicator")
        BAD = "bad", _("no answer: the item is bad")

    annotation = models.OneToOneField("annotate.Annotation", on_delete=models.CASCADE, related_name="decision")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    taken_from = models.ForeignKey(
        "annotate.Annotation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The earliest of the equal answers that were taken or edited.",
    )
    reason = models.TextField(blank=True)
    votes_hash = models.CharField(
        max_length=32, help_text="Stands for exactly the votes, and the wording of the item, that the adjudicator saw."
    )
    n_votes = models.PositiveIntegerField(help_text="Votes that the adjudicator saw.")
    n_alike = models.PositiveIntegerField(default=0, help_text="Of those, the ones for what was taken or edited.")
    is_gold = models.BooleanField(default=False, help_text="Accepted as the gold label with it.")

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["taken", "edited"], taken_from__isnull=False)
                | Q(kind__in=["own", "bad"], taken_from__isnull=True),
                name="decision_says_from_what",
            ),
            models.CheckConstraint(condition=Q(kind="taken") | ~Q(reason=""), name="decision_has_reason"),
            models.CheckConstraint(condition=~Q(kind="bad") | Q(is_gold=False), name="decision_bad_is_no_gold"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.annotation_id}"
