"""Items as people and models see them (Item, ItemRevision, ItemSet); apart from them what is hidden (ItemKey, Gold)."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import ItemRowQuerySet, ProjectRowQuerySet
from annotate.wording import _


class Item(models.Model):
    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="items", db_index=False)
    external_id = models.CharField(max_length=200, help_text="Text always: 19-digit ids and leading zeros survive.")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="children")
    root = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The topmost parent: its table, database or duplicate group; intervals resample roots.",
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    source = models.ForeignKey(
        "annotate.Assignment",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="children",
        db_index=False,
        help_text="The work it was written in.",
    )
    source_position = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of several written at once.")
    created_at = models.DateTimeField(default=timezone.now)

    objects = ProjectRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="item_external_id_once"),
            models.UniqueConstraint(
                fields=["source", "source_position"], condition=Q(source__isnull=False), name="item_once_of_source"
            ),
            models.CheckConstraint(condition=~Q(external_id=""), name="item_external_id_given"),
        ]
        # The list of items, page after page by key, beside the items of every other project.
        indexes = [models.Index(fields=["project", "id"], name="item_by_project")]

    def __str__(self) -> str:
        return self.external_id


class ItemRevision(models.Model):
    """Immutable content: a list of [key, value] pairs, since jsonb would sort the keys of an object."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField(default=1)
    content = models.JSONField()
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the content alone.")
    language = models.CharField(max_length=35, blank=True)
    annotation = models.ForeignKey(
        "annotate.Annotation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The answer that wrote it.",
    )
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ItemRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="revision_number_once"),
            models.UniqueConstraint(fields=["item"], condition=Q(is_current=True), name="revision_one_current"),
        ]
        indexes = [models.Index(fields=["content_hash"], name="revision_by_content")]

    def __str__(self) -> str:
        return f"{self.item_id} r{self.number}"


class ItemKey(models.Model):
    """What annotators' code never reads: strata, check flags, unmapped import columns. Gold stands beside it."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="key")
    strata = models.JSONField(default=list, blank=True, help_text="Pairs [name, value]; a name may repeat.")
    extra = models.JSONField(default=list, blank=True, help_text="Import columns that were not mapped, as pairs.")
    is_check = models.BooleanField(default=False)

    objects = ItemRowQuerySet.as_manager()

    def __str__(self) -> str:
        return f"key of {self.item_id}"


class Gold(models.Model):
    """One version of the gold label of one field. The newest version counts; a score names the version it used."""

    class Origin(models.TextChoices):
        SOURCE = "source", _("source")
        AUTHOR = "author", _("author")
        PROGRAM = "program", _("program")
        EXPERT = "expert", _("expert")
        ADJUDICATOR = "adjudicator", _("adjudicator")

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="golds", db_index=False)
    field = models.CharField(max_length=60)
    label_set = models.CharField(max_length=60, blank=True, help_text="Coarse and fine gold stand side by side.")
    version = models.PositiveIntegerField(default=1)
    answers = models.JSONField(help_text="A list of acceptable values; most items have one.")
    origin = models.CharField(max_length=20, choices=Origin.choices, default=Origin.SOURCE)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whose word it is; who is left out of human accuracy on the item.",
    )
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="Who accepted what somebody else, or a vote, had said.",
    )
    votes_of = models.ForeignKey(
        "annotate.Stage",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="In which stage the votes came to it: its answers are not compared with it.",
    )
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ItemRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "field", "label_set", "version"], name="gold_version_once"),
            models.UniqueConstraint(
                fields=["item", "field", "label_set"], condition=Q(is_current=True), name="gold_one_current"
            ),
        ]

    def __str__(self) -> str:
        return f"gold of {self.item_id}.{self.field} v{self.version}"


class GoldRefusal(models.Model):
    """A decided answer that is not to become the gold label. Another answer to the same field is a new proposal."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="gold_refusals", db_index=False)
    field = models.CharField(max_length=60)
    answer = models.JSONField()
    answer_hash = models.CharField(max_length=64, help_text="SHA-256 of its key: equal ones are equal answers.")
    reason = models.CharField(max_length=300, blank=True)
    refused_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    refused_at = models.DateTimeField(default=timezone.now)

    objects = ItemRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "field", "answer_hash"], name="gold_refused_once"),
        ]

    def __str__(self) -> str:
        return f"refused for {self.item_id}.{self.field}"


class ItemHand(models.Model):
    """Somebody who had a hand in a gold label of an item: made one, accepted one, or refused what was proposed.

    It says who and nothing of the label, so that the queue can keep the item from them without reading gold. It stays
    when the label is taken back or changed by others.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="hands", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = ItemRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "person"], name="item_hand_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in gold of {self.item_id}"


class ItemSet(models.Model):
    """A named, frozen, ordered list of revisions, with the rule and seed that drew it."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="item_sets")
    name = models.CharField(max_length=120)
    rule = models.JSONField(default=dict, help_text='How it was drawn, such as {"kind": "import", "job": 7}.')
    seed = models.BigIntegerField(null=True, blank=True)
    n_population = models.PositiveIntegerField(help_text="How many items it was drawn from.")
    n_items = models.PositiveIntegerField()
    frozen_at = models.DateTimeField(default=timezone.now)

    objects = ProjectRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="item_set_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ItemSetEntry(models.Model):
    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="entries", db_index=False)
    position = models.PositiveIntegerField()
    revision = models.ForeignKey(ItemRevision, on_delete=models.PROTECT, related_name="+")
    inclusion_probability = models.FloatField(default=1.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item_set", "position"], name="entry_position_once"),
            models.UniqueConstraint(fields=["item_set", "revision"], name="entry_revision_once"),
        ]

    def __str__(self) -> str:
        return f"{self.item_set_id}[{self.position}]"
