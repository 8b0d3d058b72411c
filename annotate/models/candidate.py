"""Something to be judged or audited beside an item: an answer without a word about who gave it."""

from django.db import models
from django.utils import timezone

from annotate.querysets import CandidateQuerySet


class Candidate(models.Model):
    """Frozen content, as pairs like an item's. Whoever made it knows where it came from; nothing here tells."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="candidates")
    revision = models.ForeignKey(
        "annotate.ItemRevision", on_delete=models.PROTECT, related_name="candidates", db_index=False
    )
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    objects = CandidateQuerySet.as_manager()

    class Meta:
        constraints = [
            # The same answer by two models is one candidate: it is judged once.
            models.UniqueConstraint(fields=["revision", "content_hash"], name="candidate_once"),
        ]

    def __str__(self) -> str:
        return f"candidate {self.pk}"
