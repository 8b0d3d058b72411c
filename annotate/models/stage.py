"""One kind of human work on items: the stage, the version of its form, and each item's place in its queue."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.functional import cached_property

from annotate.answers import FieldSpec, fields_from_json
from annotate.querysets import StageItemQuerySet, StageQuerySet
from annotate.wording import _


class Stage(models.Model):
    class Kind(models.TextChoices):
        LABEL = "label", _("label")
        ANSWER = "answer", _("answer")
        REWRITE = "rewrite", _("rewrite")
        AUTHOR = "author", _("author")
        REVIEW = "review", _("review")
        ADJUDICATE = "adjudicate", _("adjudicate")
        AUDIT = "audit", _("audit")
        JUDGE = "judge", _("judge")

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class Order(models.TextChoices):
        SEEDED = "seeded", _("each person starts at a seeded random place")
        SEQUENTIAL = "sequential", _("everybody starts at the first item")

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="stages")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    title = models.CharField(max_length=120)
    slug = models.SlugField(max_length=80)
    position = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    overlap = models.PositiveIntegerField(default=3, help_text="How many people answer each item.")
    roles = models.JSONField(default=list, help_text="Who may take it, such as ['annotator'].")
    lease_minutes = models.PositiveIntegerField(default=30)
    order = models.CharField(max_length=12, choices=Order.choices, default=Order.SEEDED)
    seed = models.BigIntegerField(default=0)
    is_closed_book = models.BooleanField(default=True)
    time_limit_seconds = models.PositiveIntegerField(null=True, blank=True)
    permitted_sources = models.CharField(max_length=200, blank=True)
    is_cross_group = models.BooleanField(
        default=False, help_text="Nobody gets an item that somebody of their own group wrote."
    )
    escalate_by = models.PositiveSmallIntegerField(
        default=0, help_text="How many more people are asked where there is no majority; 0: nobody."
    )
    escalate_times = models.PositiveSmallIntegerField(default=1, help_text="How often more people are asked at most.")
    adjudicated_in = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="adjudicates",
        help_text="Where items go that have no majority in the end.",
    )
    options = models.JSONField(default=dict, blank=True, help_text="What only some kinds of stage have.")
    shows_decided = models.BooleanField(
        default=True, help_text="When it is closed, people see where their answers differ from what was decided."
    )
    shows_gold = models.BooleanField(default=False, help_text="And the gold label beside them.")
    qualification_size = models.PositiveSmallIntegerField(
        default=0, help_text="How many items are drawn for an attempt to qualify; 0: everybody may begin."
    )
    qualification_mark = models.PositiveSmallIntegerField(default=0, help_text="How many of them must be right.")
    check_every = models.PositiveSmallIntegerField(
        default=0, help_text="One of so many items is a check, at a seeded place; 0: none is."
    )
    tells_checks = models.BooleanField(
        default=False, help_text="People hear how their checks went in blocks of ten, not only when all is closed."
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = StageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="stage_slug_once"),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="stage_overlap_positive"),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="stage_lease_positive"),
            models.CheckConstraint(
                condition=Q(qualification_mark__lte=F("qualification_size")), name="stage_mark_within_qualification"
            ),
            models.CheckConstraint(condition=~Q(check_every=1), name="stage_not_checks_alone"),
            models.CheckConstraint(
                condition=Q(adjudicated_in__isnull=True) | ~Q(adjudicated_in=F("id")), name="stage_not_its_own_judge"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class StageVersion(models.Model):
    """The form: fields and shown content keys. Once something has begun with it only captions change in place."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField(default=1)
    fields = models.JSONField(help_text="Ordered list of field specifications; see annotate/answers.")
    shown_keys = models.JSONField(help_text="Content keys an annotator sees, in order; the first is the headline.")
    instruction = models.CharField(max_length=400, blank=True, help_text="One line above the form.")
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "number"], name="stage_version_number_once"),
            models.UniqueConstraint(fields=["stage"], condition=Q(is_current=True), name="stage_version_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.stage_id} v{self.number}"

    @cached_property
    def specs(self) -> tuple[FieldSpec, ...]:
        """`fields` as they are asked, read once for this row in memory."""
        return fields_from_json(self.fields)


class StageItem(models.Model):
    """One revision in one stage. `active` and `done` count the assignments that hold a slot: at most `wanted`.

    source: the stage item that this one is about, such as the one whose votes are adjudicated here.
    candidate: what is judged or audited beside the content, frozen.
    purpose: places that are no work have gold labels, are open to everybody (`wanted` is EVERYBODY) and are handed out
    by other rules (annotate/services/assigning.py).
    """

    EVERYBODY = 1_000_000

    class Purpose(models.TextChoices):
        WORK = "", _("work")
        CHECK = "check", _("check, in no figure")
        COUNTED_CHECK = "counted_check", _("check that figures count")
        QUALIFICATION = "qualification", _("qualification")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        WITHDRAWN = "withdrawn", _("withdrawn")
        REVIEW = "review", _("waiting for review")
        LEFT_OUT = "left_out", _("left out: the item is bad, or was dropped")

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="stage_items", db_index=False)
    revision = models.ForeignKey("annotate.ItemRevision", on_delete=models.PROTECT, related_name="stage_items")
    rank = models.PositiveIntegerField()
    root = models.ForeignKey(
        "annotate.Item",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="Items of one root are given out one after another; null: it stands by itself.",
    )
    language = models.CharField(max_length=35, blank=True)
    author = models.ForeignKey(
        "annotate.Person", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    author_group = models.CharField(
        max_length=8, blank=True, default="", db_default="", help_text="In a cross-check: whom it is kept from."
    )
    source = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="followers", db_index=False
    )
    candidate = models.ForeignKey(
        "annotate.Candidate",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="stage_items",
        db_index=False,
    )
    wanted = models.PositiveIntegerField()
    active = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    round = models.PositiveSmallIntegerField(default=1)
    purpose = models.CharField(
        max_length=15, choices=Purpose.choices, blank=True, default=Purpose.WORK, db_default=Purpose.WORK.value
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    due_at = models.DateTimeField(null=True, blank=True, help_text="Its votes changed: count them again.")

    # Which of its root's items it is, and of how many (claim_sql.MOST_OF_A_ROOT: or more), where whoever read the row
    # has counted them.
    in_root: tuple[int, int] | None = None

    objects = StageItemQuerySet.as_manager()

    class Meta:
        constraints = [
            # Three kinds of places: of an item, of what became of another place, and of a candidate.
            models.UniqueConstraint(
                fields=["stage", "revision"],
                condition=Q(source__isnull=True, candidate__isnull=True),
                name="stage_item_once",
            ),
            models.UniqueConstraint(
                fields=["source", "stage"],
                condition=Q(source__isnull=False, candidate__isnull=True),
                name="stage_item_once_of_source",
            ),
            models.UniqueConstraint(
                fields=["candidate", "stage"], condition=Q(candidate__isnull=False), name="stage_item_once_of_candidate"
            ),
            models.UniqueConstraint(fields=["stage", "rank"], name="stage_item_rank_once"),
            models.CheckConstraint(condition=Q(active__lte=F("wanted") - F("done")), name="stage_item_within_wanted"),
        ]
        indexes = [
            # The claim reads one row of this index, whatever the size of the project.
            models.Index(
                fields=["stage", "rank"],
                condition=Q(state="open") & Q(purpose="") & Q(active__lt=F("wanted") - F("done")),
                name="stage_item_claimable",
            ),
            # A handful beside the work, found without reading it.
            models.Index(fields=["stage", "purpose"], condition=~Q(purpose=""), name="stage_item_apart"),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="stage_item_due"),
            models.Index(fields=["author"], condition=Q(author__isnull=False), name="stage_item_authored"),
            models.Index(fields=["stage", "root", "rank"], condition=Q(root__isnull=False), name="stage_item_of_root"),
        ]

    def __str__(self) -> str:
        return f"{self.stage_id}[{self.rank}]"


class Participation(models.Model):
    """One person in one stage: where they read on, and what they did. Only this person's requests write it."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="participations", db_index=False)
    person = models.ForeignKey("annotate.Person", on_delete=models.PROTECT, related_name="participations")
    rank = models.IntegerField(
        default=-1, help_text="The rank of the last work taken; the next claim looks after it, once round."
    )
    last_rank = models.PositiveIntegerField(
        null=True, blank=True, help_text="The rank taken last, a check's too: what hangs on its root comes next."
    )
    n_answered = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(default=0)
    checks_owed = models.IntegerField(
        default=0, db_default=0, help_text="Checks that came due, less those met and those there was none for."
    )
    last_seen_at = models.DateTimeField(default=timezone.now)
    guidelines_known = models.ForeignKey(
        "annotate.GuidelineVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The newest ones when the person began, or when they were told of a change.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "person"], name="participation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.stage_id}"
