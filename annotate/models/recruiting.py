"""People who come from Prolific for one stage: its link and codes, and who took a seat."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.wording import _


def new_link() -> str:
    return secrets.token_urlsafe(16)


class ProlificStudy(models.Model):
    """How a stage is entered from Prolific, and with which codes people go back there.

    With public keys of Prolific a link must be signed; without, whoever has the link and an id may come.
    """

    stage = models.OneToOneField("annotate.Stage", on_delete=models.CASCADE, related_name="prolific")
    link = models.CharField(max_length=22, unique=True, default=new_link, editable=False)
    is_open = models.BooleanField(default=True)
    study_id = models.CharField(max_length=64, blank=True, help_text="The only study of Prolific; empty: any.")
    n_answers = models.PositiveIntegerField(default=10, help_text="After so many a person is done.")
    max_people = models.PositiveIntegerField(default=100)
    code_done = models.CharField(max_length=40, blank=True)
    code_screened_out = models.CharField(max_length=40, blank=True)
    code_no_work = models.CharField(max_length=40, blank=True)
    keys = models.JSONField(default=list, blank=True, help_text="Public keys: kid, n, e.")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(n_answers__gte=1), name="prolific_asks_for_answers"),
        ]

    def __str__(self) -> str:
        return f"Prolific study of stage {self.stage_id}"


class ProlificSeat(models.Model):
    """One person in one study. Who that is at Prolific stands in ImportedAnnotator, as all names from outside do."""

    class Outcome(models.TextChoices):
        UNDER_WAY = "", _("under way")
        DONE = "done", _("done")
        SCREENED_OUT = "screened_out", _("not qualified")
        NO_WORK = "no_work", _("no work was left")

    study = models.ForeignKey(ProlificStudy, on_delete=models.CASCADE, related_name="seats", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(default=timezone.now)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True, default=Outcome.UNDER_WAY)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "person"], name="prolific_seat_once"),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at__isnull=True) | (~Q(outcome="") & Q(ended_at__isnull=False)),
                name="prolific_seat_ends_with_an_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.pk}"
