"""A stratified draw of labels that are checked by meta-reviewers: which labels, and where they came from."""

from django.db import models
from django.utils import timezone

from annotate.querysets import AuditQuerySet


class Audit(models.Model):
    """The strata, their sizes and the seed stand in the rule of the item set; the labels, frozen, in candidates."""

    stage = models.OneToOneField("annotate.Stage", on_delete=models.CASCADE, related_name="audit")
    item_set = models.OneToOneField("annotate.ItemSet", on_delete=models.PROTECT, related_name="audit")
    field = models.JSONField(help_text="The field whose labels are audited, as it was described at the draw.")
    label_set = models.CharField(max_length=60, blank=True, help_text="Of gold, where there are several.")
    label_stage = models.ForeignKey(
        "annotate.Stage",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="audits",
        help_text="Whose decisions are audited; none: the gold labels are.",
    )
    drawn_at = models.DateTimeField(default=timezone.now)

    objects = AuditQuerySet.as_manager()

    def __str__(self) -> str:
        return f"audit in {self.stage_id}"
