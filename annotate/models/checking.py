"""What is known of people by items whose answer is known: attempts to qualify, and what checks came to."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.querysets import CheckResultQuerySet, QualificationAttemptQuerySet, QualificationPlaceQuerySet
from annotate.wording import _


class QualificationAttempt(models.Model):
    """One attempt of one person to qualify for a stage: some items of its pool, drawn by a seed.

    n_items, mark: as they were when it began. n_right: counted by a worker from first answers when the last is given.
    decided_by, reason: of an admin who let somebody pass. set_aside_at: it counts no more, and another is open.
    """

    class State(models.TextChoices):
        OPEN = "open", _("under way")
        PASSED = "passed", _("passed")
        FAILED = "failed", _("not passed")

    stage = models.ForeignKey(
        "annotate.Stage", on_delete=models.CASCADE, related_name="qualification_attempts", db_index=False
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    seed = models.BigIntegerField(default=0)
    n_items = models.PositiveSmallIntegerField(default=0)
    mark = models.PositiveSmallIntegerField(default=0)
    n_right = models.PositiveSmallIntegerField(null=True, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reason = models.CharField(max_length=300, blank=True)
    set_aside_at = models.DateTimeField(null=True, blank=True)

    objects = QualificationAttemptQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "person", "number"], name="qualification_attempt_once"),
            models.UniqueConstraint(
                fields=["stage", "person"], condition=Q(state="open"), name="qualification_attempt_one_open"
            ),
            models.CheckConstraint(
                condition=Q(n_right__isnull=True) | Q(n_right__lte=F("n_items")), name="qualification_right_of_items"
            ),
            models.CheckConstraint(
                condition=Q(state="open", ended_at__isnull=True) | ~Q(state="open") & Q(ended_at__isnull=False),
                name="qualification_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.person_id} at {self.stage_id}"


class QualificationPlace(models.Model):
    """One item of an attempt, in the order in which it is asked."""

    attempt = models.ForeignKey(QualificationAttempt, on_delete=models.CASCADE, related_name="places", db_index=False)
    stage_item = models.ForeignKey("annotate.StageItem", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()

    objects = QualificationPlaceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "position"], name="qualification_position_once"),
            models.UniqueConstraint(fields=["attempt", "stage_item"], name="qualification_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id}[{self.position}]"


class CheckResult(models.Model):
    """Whether the first answer to a check or qualification item has the meaning of its gold label.

    is_right: null where no field that decides has a gold label. gold_versions: [field, version] of those compared.
    """

    assignment = models.OneToOneField("annotate.Assignment", on_delete=models.CASCADE, related_name="check_result")
    is_right = models.BooleanField(null=True, blank=True)
    gold_versions = models.JSONField(default=list)
    key_version = models.PositiveSmallIntegerField()
    computed_at = models.DateTimeField(default=timezone.now)

    objects = CheckResultQuerySet.as_manager()

    def __str__(self) -> str:
        return f"check of {self.assignment_id}"
