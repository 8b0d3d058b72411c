"""A reversible, dated decision to leave answers, or an item, out of every figure, and the places that it freed."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import ExclusionQuerySet, FreedPlaceQuerySet


class Exclusion(models.Model):
    """Of one annotation, of everything a person did in the project, or of an item with all its answers.

    collects_again: the places of the answers are free for others. Pay is decided apart.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="exclusions")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    annotation = models.ForeignKey(
        "annotate.Annotation", on_delete=models.PROTECT, null=True, blank=True, related_name="exclusions"
    )
    item = models.ForeignKey(
        "annotate.Item", on_delete=models.PROTECT, null=True, blank=True, related_name="exclusions"
    )
    reason = models.CharField(max_length=300)
    rule = models.CharField(max_length=60, blank=True)
    collects_again = models.BooleanField(default=False)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(default=timezone.now)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = ExclusionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=False, annotation__isnull=True, item__isnull=True)
                | Q(person__isnull=True, annotation__isnull=False, item__isnull=True)
                | Q(person__isnull=True, annotation__isnull=True, item__isnull=False),
                name="exclusion_one_scope",
            ),
        ]

    def __str__(self) -> str:
        return self.reason


class FreedPlace(models.Model):
    """An answer that gave up its place to an exclusion, so that somebody else is asked.

    has_returned: when the decision was lifted, whether the place was still free for it. Null: it has not been.
    """

    exclusion = models.ForeignKey(Exclusion, on_delete=models.CASCADE, related_name="freed_places", db_index=False)
    assignment = models.ForeignKey("annotate.Assignment", on_delete=models.PROTECT, related_name="freed_places")
    has_returned = models.BooleanField(null=True, blank=True)

    objects = FreedPlaceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["exclusion", "assignment"], name="freed_place_once"),
        ]

    def __str__(self) -> str:
        return f"place of {self.assignment_id}"
