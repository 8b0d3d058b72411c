"""What an annotator asks while working, and what an admin answers: to the asker, or pinned, to everybody."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import QuestionQuerySet
from annotate.wording import _


class Question(models.Model):
    """About one item of a stage, about the stage, or about the project. Who asked is told to admins only.

    revision: what the asker had before them. read_at: when the asker had read the answer as it stands. What is pinned
    stands beside the guidelines, in the asker's words or in those of `pinned_text`.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        ANSWERED = "answered", _("answered")

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="questions", db_index=False)
    stage = models.ForeignKey(
        "annotate.Stage", on_delete=models.CASCADE, null=True, blank=True, related_name="questions", db_index=False
    )
    stage_item = models.ForeignKey(
        "annotate.StageItem", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    revision = models.ForeignKey(
        "annotate.ItemRevision", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="questions", db_index=False
    )
    text = models.TextField()
    client_key = models.CharField(max_length=64)
    asked_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    is_pinned = models.BooleanField(default=False)
    pinned_text = models.TextField(blank=True, help_text="The question as everybody reads it; empty: as it was asked.")
    pin_changed_at = models.DateTimeField(
        null=True, blank=True, help_text="When what everybody reads of it last changed: pinned, reworded or taken down."
    )

    objects = QuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            # A double click, or the same words sent again when the network is back, ask once.
            models.UniqueConstraint(fields=["person", "project", "client_key"], name="question_client_key_once"),
            models.CheckConstraint(condition=~Q(text=""), name="question_asks_something"),
            models.CheckConstraint(
                condition=Q(state="open", answer="", answered_at__isnull=True, is_pinned=False)
                | (Q(state="answered", answered_at__isnull=False) & ~Q(answer="")),
                name="question_answered_with_words",
            ),
            models.CheckConstraint(
                condition=Q(stage_item__isnull=True) | Q(stage__isnull=False, revision__isnull=False),
                name="question_item_in_stage",
            ),
        ]
        indexes = [
            # The admins' list, unanswered ones first; the work page asks for what a person has not read yet.
            models.Index(fields=["project", "-state", "-id"], name="question_by_state"),
            models.Index(
                fields=["person", "project"],
                condition=Q(state="answered", read_at__isnull=True),
                name="question_unread",
            ),
            models.Index(
                fields=["project", "stage"], condition=Q(pin_changed_at__isnull=False), name="question_pinned"
            ),
        ]

    def __str__(self) -> str:
        return f"question {self.pk}"
