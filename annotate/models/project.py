"""A project, its guidelines, and who may do what in it."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotate.querysets import MembershipQuerySet, ProjectQuerySet, ProjectRowQuerySet
from annotate.wording import _


class Project(models.Model):
    title = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    languages = models.JSONField(default=list, blank=True, help_text="BCP-47 tags, such as en or zh-Hans.")
    current_date = models.CharField(
        max_length=60, blank=True, help_text="What 'today' means in the questions, shown to people and models alike."
    )
    time_zone = models.CharField(max_length=60, default="UTC")
    protocol_name = models.CharField(max_length=60, blank=True)
    protocol_version = models.CharField(max_length=20, blank=True)
    is_sample = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.title


class GuidelineVersion(models.Model):
    """Guidelines are versioned: an annotation names the version its author could read."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guideline_versions")
    stage = models.ForeignKey(
        "annotate.Stage", on_delete=models.CASCADE, null=True, blank=True, related_name="guideline_versions"
    )
    number = models.PositiveIntegerField()
    markdown = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = ProjectRowQuerySet.as_manager()

    class Meta:
        constraints = [
            # Two of them: SQLite takes every NULL for another, and those of the project as a whole have no stage.
            models.UniqueConstraint(fields=["stage", "number"], name="guideline_number_once_a_stage"),
            models.UniqueConstraint(
                fields=["project", "number"], condition=models.Q(stage=None), name="guideline_number_once_a_project"
            ),
        ]

    def __str__(self) -> str:
        return f"guidelines {self.number}"


class Membership(models.Model):
    """The one home of roles. One row per person and project; which stages a role may take is the stage's setting."""

    class Role(models.TextChoices):
        ADMIN = "admin", _("admin")
        ADJUDICATOR = "adjudicator", _("adjudicator")
        META_REVIEWER = "meta_reviewer", _("meta-reviewer")
        ANNOTATOR = "annotator", _("annotator")
        VIEWER = "viewer", _("viewer")

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")
        LEFT = "left", _("left")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices)
    group = models.CharField(max_length=8, blank=True, help_text="A or B in a cross-check, else empty.")
    languages = models.JSONField(default=list, blank=True, help_text="BCP-47 tags; empty means every language.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    consented_at = models.DateTimeField(null=True, blank=True)
    joined_at = models.DateTimeField(default=timezone.now)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "project"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person} is {self.role}"
