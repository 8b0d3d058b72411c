"""That a flag of an annotator was dealt with: by whom, when, and what came of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import FlagSettlementQuerySet


class FlagSettlement(models.Model):
    """annotation: the revision of an answer that carries the flag. It stands until somebody opens the flag again."""

    annotation = models.ForeignKey("annotate.Annotation", on_delete=models.PROTECT, related_name="settlements")
    note = models.CharField(max_length=500, blank=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    settled_at = models.DateTimeField(default=timezone.now)
    reopened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    reopened_at = models.DateTimeField(null=True, blank=True)

    objects = FlagSettlementQuerySet.as_manager()

    class Meta:
        constraints = [
            # Two admins who press the button at once settle it once.
            models.UniqueConstraint(
                fields=["annotation"], condition=Q(reopened_at__isnull=True), name="flag_settlement_one_stands"
            ),
            models.CheckConstraint(
                condition=Q(reopened_at__isnull=True, reopened_by__isnull=True)
                | Q(reopened_at__isnull=False, reopened_by__isnull=False),
                name="flag_settlement_reopened_by",
            ),
        ]

    def __str__(self) -> str:
        return f"settlement of a flag on annotation {self.annotation_id}"
