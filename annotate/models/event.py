"""The append-only history. Database triggers refuse UPDATE and DELETE (migration 0002)."""

from django.db import models
from django.utils import timezone

from annotate.querysets import EventQuerySet


class Event(models.Model):
    project = models.ForeignKey(
        "annotate.Project", on_delete=models.DO_NOTHING, null=True, db_constraint=False, db_index=False
    )
    actor = models.CharField(max_length=16, blank=True, help_text="A pseudonym, never a name; empty: the platform.")
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=40)
    subject_id = models.BigIntegerField(null=True)
    detail = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now)
    is_restored = models.BooleanField(default=False, help_text="It came with an archive: nobody here saw it happen.")

    objects = EventQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["project", "at"], name="event_by_project")]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject} {self.subject_id}"
