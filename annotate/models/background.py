"""Long work as rows: the database is the queue of record, the broker only rings a bell."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotate.querysets import AdminRowQuerySet, StoredFileQuerySet
from annotate.wording import _


class BackgroundWork(models.Model):
    """Columns of any long work: who holds it, since when, what is still to do, and when.

    A claim sets a fresh token and counts an attempt; results are written only where the token still matches.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    due_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    claim_token = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class StoredFile(models.Model):
    """A file kept through Django's storages, with what is needed to serve, check and forget it."""

    class Purpose(models.TextChoices):
        UPLOAD = "upload", _("upload")
        EXPORT = "export", _("file of a report")
        CHART = "chart", _("chart")
        DATA = "data", _("data of the project")

    project = models.ForeignKey(
        "annotate.Project",
        on_delete=models.CASCADE,
        null=True,
        related_name="files",
        help_text="Empty for an archive whose project does not exist yet.",
    )
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    file = models.FileField(max_length=300)
    name = models.CharField(max_length=200, help_text="As its owner knows it.")
    media_type = models.CharField(max_length=100)
    n_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    keep_until = models.DateTimeField(null=True, blank=True, help_text="Then the scheduler has it removed.")

    objects = StoredFileQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["keep_until"], condition=models.Q(keep_until__isnull=False), name="stored_file_outdated"
            )
        ]

    def __str__(self) -> str:
        return self.name


class ImportJob(BackgroundWork):
    """One file on its way to items: uploaded, mapped, previewed, then imported all or nothing."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="import_jobs")
    stage = models.ForeignKey("annotate.Stage", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    source = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="+")
    joined = models.ForeignKey(StoredFile, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    options = models.JSONField(default=dict, help_text="Format, encoding, delimiter: as detected or as changed.")
    mapping = models.JSONField(default=dict)
    report = models.JSONField(default=dict, help_text="What was imported, unchanged, duplicated, in conflict.")
    item_set = models.ForeignKey("annotate.ItemSet", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    objects = AdminRowQuerySet.as_manager()

    def __str__(self) -> str:
        return f"import {self.pk}"


class WorkerHeartbeat(models.Model):
    """When a worker or scheduler was last heard from; pages say so when nobody answers."""

    name = models.CharField(max_length=120, unique=True)
    role = models.CharField(max_length=12)
    heard_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} {self.heard_at:%H:%M:%S}"


class DatabaseLease(models.Model):
    """Held by one process at a time, so that two schedulers are harmless."""

    name = models.CharField(max_length=40, unique=True)
    holder = models.CharField(max_length=120, blank=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder}"
