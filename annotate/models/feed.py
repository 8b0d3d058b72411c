"""What becomes of the answers of a stage: new items, or the same items, in the queue of another stage."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.querysets import FeedQuerySet
from annotate.wording import _


class Feed(models.Model):
    """From one stage to another, by a rule; annotate/feeding.py reads the recipe."""

    class Rule(models.TextChoices):
        EVERY = "every", _("every answer")
        COMPLETE = "complete", _("items that have all their answers")
        DECIDED = "decided", _("items with a majority, or adjudicated")

    source = models.ForeignKey("annotate.Stage", on_delete=models.CASCADE, related_name="feeds", db_index=False)
    target = models.ForeignKey("annotate.Stage", on_delete=models.CASCADE, related_name="fed_by")
    rule = models.CharField(max_length=10, choices=Rule.choices, default=Rule.EVERY)
    recipe = models.JSONField(
        default=dict, blank=True, help_text="How a new item is made of an answer; empty: the item itself goes on."
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = FeedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target"], name="feed_once"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="feed_leads_elsewhere"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} -> {self.target_id}"
