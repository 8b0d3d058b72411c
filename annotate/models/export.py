"""A project's data on its way out, and a whole project on its way in."""

from django.db import models

from annotate.models.background import BackgroundWork, StoredFile
from annotate.querysets import ExportQuerySet, RestorationQuerySet


class Export(BackgroundWork):
    """One file with one kind of rows, made by a worker and kept for some days."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="exports")
    kind = models.CharField(max_length=40, help_text="Of annotate/services/exporting/kinds.py, such as answers.")
    format = models.CharField(max_length=12, help_text="exact, spreadsheet, xlsx, jsonl; an archive is a zip.")
    is_for_admins = models.BooleanField(help_text="It shows what readers of results do not see: whose answer is whose.")
    file = models.ForeignKey(StoredFile, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    report = models.JSONField(default=dict, help_text="Rows, sheets, and what the format could not hold.")

    objects = ExportQuerySet.as_manager()

    def __str__(self) -> str:
        return f"export {self.pk}: {self.kind}"


class Restoration(BackgroundWork):
    """An archive of a project that becomes a project again; whoever uploaded it sees it, and nobody else."""

    name = models.CharField(max_length=200, help_text="Of the archive, as its owner knows it.")
    source = models.ForeignKey(StoredFile, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    slug = models.CharField(max_length=80, blank=True, help_text="The new project's address; empty: the archived one.")
    joins_people = models.BooleanField(
        default=False, help_text="Pseudonyms that can sign in here mean the same people; else they are refused."
    )
    project = models.ForeignKey("annotate.Project", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    report = models.JSONField(default=dict, help_text="What was restored, or what is wrong and where.")

    objects = RestorationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"restoration {self.pk}"
