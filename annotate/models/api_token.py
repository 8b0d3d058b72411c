"""What a program signs in with, in the name of a person: it may do a part of what the person may, never more."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotate.querysets import ApiTokenQuerySet
from annotate.wording import _


class ApiToken(models.Model):
    class Scope(models.TextChoices):
        READ = "read", _("read results: items with gold labels, resolutions, runs, predictions, reports")
        WORK = "work", _("work: take items, answer and skip them")
        RUN = "run", _("run projects: import, change stages, start runs, make reports")
        EXPORT = "export", _("export everybody's answers")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What it is for, as its owner calls it.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list, help_text="Of Scope, such as ['read', 'export'].")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the hour: not every request writes.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
