"""One stage item offered to one person."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models.stage import StageItem
from annotate.querysets import AssignmentQuerySet
from annotate.wording import _


def new_token() -> str:
    return secrets.token_urlsafe(16)


class Assignment(models.Model):
    """`leased -> submitted | skipped | expired | withdrawn`; offered again to the same person in the same row.

    A counted assignment holds a slot below the item's `wanted`; an answer that came when every slot was taken has
    none: it is surplus, kept, exported and marked. purpose: that of its place, so that figures read one table less.
    """

    class State(models.TextChoices):
        LEASED = "leased", _("leased")
        SUBMITTED = "submitted", _("submitted")
        SKIPPED = "skipped", _("skipped")
        EXPIRED = "expired", _("expired")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class SkipReason(models.TextChoices):
        CANNOT_TELL = "cannot_tell", _("I cannot tell")
        AMBIGUOUS = "ambiguous", _("The question can be read in several ways")
        BROKEN = "broken", _("The item is broken or unreadable")
        NOT_MY_LANGUAGE = "not_my_language", _("It is not in a language I read well")
        OTHER = "other", _("Another reason")

    stage = models.ForeignKey("annotate.Stage", on_delete=models.CASCADE, related_name="assignments", db_index=False)
    stage_item = models.ForeignKey(
        "annotate.StageItem", on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    token = models.CharField(max_length=22, default=new_token, editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.LEASED)
    slot = models.PositiveIntegerField(null=True, blank=True)
    round = models.PositiveSmallIntegerField(default=1)
    leased_at = models.DateTimeField()
    lease_expires_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    skip_reason = models.CharField(max_length=20, choices=SkipReason.choices, blank=True)
    skip_note = models.CharField(max_length=500, blank=True)
    shown = models.JSONField(
        null=True, blank=True, help_text="What this person was shown where it is not what everybody sees: order, seed."
    )
    purpose = models.CharField(
        max_length=15,
        choices=StageItem.Purpose.choices,
        blank=True,
        default=StageItem.Purpose.WORK,
        db_default=StageItem.Purpose.WORK.value,
    )
    is_imported = models.BooleanField(default=False, db_default=False, help_text="Answered or skipped elsewhere.")
    draft = models.JSONField(null=True, blank=True)
    draft_version = models.PositiveIntegerField(default=0)

    # The answer itself counts as one more, and the column ends at 2^31 - 1.
    LAST_DRAFT_VERSION = 2**31 - 2

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            # No unique=True: on PostgreSQL a text would get a second index, for searches by its beginning.
            models.UniqueConstraint(fields=["token"], name="assignment_token_once"),
            models.UniqueConstraint(fields=["stage_item", "person"], name="assignment_once"),
            models.UniqueConstraint(
                fields=["stage_item", "slot"], condition=Q(slot__isnull=False), name="assignment_slot_once"
            ),
            models.CheckConstraint(
                condition=Q(slot__isnull=True) | Q(state__in=["leased", "submitted"]), name="assignment_slot_held"
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(slot__isnull=False), name="assignment_lease_holds_slot"
            ),
            models.CheckConstraint(
                condition=~Q(state="skipped") | ~Q(skip_reason=""), name="assignment_skip_has_reason"
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "person", "state"], name="assignment_mine"),
            # As many as people hold items: who holds one is asked with every answer, which have run out seldom.
            models.Index(fields=["stage", "person"], condition=Q(state="leased"), name="assignment_live_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.stage_item_id} for {self.person_id}"
