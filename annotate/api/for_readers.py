"""What those who read a project's results are told: items with gold labels, how votes ended, no person."""

from __future__ import annotations

from rest_framework import serializers

from annotate.api.inputs import Input
from annotate.api.paging import PageQuery
from annotate.models import BackgroundWork, Feed, Gold, Resolution, Stage
from annotate.services.item_list import FILTERS

PAIRS = "Pairs [key, value], in order."


class ItemQuery(PageQuery):
    id = serializers.CharField(required=False, max_length=200, help_text="Only the item of this id.")
    starts_with = serializers.CharField(required=False, max_length=200, help_text="Only ids that begin so.")
    show = serializers.ChoiceField(choices=list(FILTERS), required=False, help_text="Only these.")


class ResolutionQuery(PageQuery):
    status = serializers.ChoiceField(choices=Resolution.Status.values, required=False)
    field = serializers.CharField(required=False, max_length=60, help_text="Only of this field.")


class ExportQuery(Input):
    form = serializers.ChoiceField(
        choices=["exact", "spreadsheet"],
        default="exact",
        help_text="exact: every value as it is. spreadsheet: what a spreadsheet would run or round is marked.",
    )


class NewExportInput(Input):
    kind = serializers.CharField(max_length=40, help_text="answers, items, resolutions, predictions ... (docs).")
    format = serializers.CharField(
        default="exact",
        max_length=12,
        help_text="exact, jsonl, spreadsheet, xlsx; of answers argilla, prodigy; of items mturk; an archive is a zip.",
    )


class ExportStepInput(Input):
    step = serializers.ChoiceField(choices=["cancel", "repeat"])


class ExportOfProject(serializers.Serializer):
    """A file that a worker makes, or made."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    format = serializers.CharField()
    state = serializers.ChoiceField(choices=BackgroundWork.State.values)
    n_done = serializers.IntegerField(help_text="Rows written.")
    n_total = serializers.IntegerField(allow_null=True)
    error = serializers.CharField()
    report = serializers.DictField(help_text="Rows, sheets, and what the format could not hold.")
    n_bytes = serializers.IntegerField(source="file.n_bytes", default=None, allow_null=True)
    sha256 = serializers.CharField(source="file.sha256", default=None, allow_null=True)
    keep_until = serializers.DateTimeField(
        source="file.keep_until", default=None, allow_null=True, help_text="Then the file is removed."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Me(serializers.Serializer):
    """Who the token stands for, and what it opens."""

    pseudonym = serializers.CharField()
    token = serializers.CharField(source="auth.name")
    scopes = serializers.ListField(child=serializers.CharField(), source="auth.scopes")
    expires_at = serializers.DateTimeField(source="auth.expires_at")


class Project(serializers.Serializer):
    slug = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField())
    current_date = serializers.CharField(help_text="What “today” means in the questions.")
    time_zone = serializers.CharField()
    protocol_name = serializers.CharField()
    protocol_version = serializers.CharField()
    is_sample = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class GoldLabel(serializers.Serializer):
    field = serializers.CharField()
    label_set = serializers.CharField()
    answers = serializers.ListField(child=serializers.CharField(), help_text="All of them are right.")
    origin = serializers.ChoiceField(choices=Gold.Origin.values)
    version = serializers.IntegerField()


class Item(serializers.Serializer):
    """An item with what is hidden from those who answer it."""

    id = serializers.CharField(source="external_id", help_text="Text, whatever it looks like.")
    parent = serializers.CharField(source="parent.external_id", default=None, allow_null=True)
    root = serializers.CharField(
        source="root.external_id", default=None, allow_null=True, help_text="What it is resampled with."
    )
    revision = serializers.IntegerField(source="current.number")
    language = serializers.CharField(source="current.language")
    content = serializers.ListField(child=serializers.ListField(), source="current.content", help_text=PAIRS)
    content_hash = serializers.CharField(source="current.content_hash")
    gold = GoldLabel(many=True, source="current_golds")
    strata = serializers.ListField(child=serializers.ListField(), source="key.strata", default=list, help_text=PAIRS)
    extra = serializers.ListField(child=serializers.ListField(), source="key.extra", default=list, help_text=PAIRS)
    is_check = serializers.BooleanField(source="key.is_check", default=False)
    created_at = serializers.DateTimeField()


class ItemSet(serializers.Serializer):
    """A frozen, ordered list of items."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    n_items = serializers.IntegerField()
    n_population = serializers.IntegerField(help_text="How many items it was drawn from.")
    rule = serializers.DictField(help_text="How it was drawn.")
    seed = serializers.IntegerField(allow_null=True)
    frozen_at = serializers.DateTimeField()


class Form(serializers.Serializer):
    """What people are asked and shown."""

    number = serializers.IntegerField()
    fields = serializers.ListField(child=serializers.DictField())
    shown_keys = serializers.ListField(child=serializers.CharField())
    instruction = serializers.CharField()


class Counts(serializers.Serializer):
    """As annotate/services/counting.py names them."""

    n_items = serializers.IntegerField()
    n_short = serializers.IntegerField()
    n_review = serializers.IntegerField()
    n_withdrawn = serializers.IntegerField()
    wanted = serializers.IntegerField()
    active = serializers.IntegerField()
    done = serializers.IntegerField()
    waiting = serializers.IntegerField()
    surplus = serializers.IntegerField()
    skipped = serializers.IntegerField()
    n_complete = serializers.IntegerField()
    undecided = serializers.IntegerField()
    uncounted = serializers.IntegerField()


class StageInProject(serializers.Serializer):
    slug = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.ChoiceField(choices=Stage.Kind.values)
    state = serializers.ChoiceField(choices=Stage.State.values)
    overlap = serializers.IntegerField()
    roles = serializers.ListField(child=serializers.CharField())
    lease_minutes = serializers.IntegerField()
    order = serializers.ChoiceField(choices=Stage.Order.values)
    seed = serializers.IntegerField()
    is_closed_book = serializers.BooleanField()
    time_limit_seconds = serializers.IntegerField(allow_null=True)
    permitted_sources = serializers.CharField()
    is_cross_group = serializers.BooleanField()
    options = serializers.DictField(help_text="What only stages of this kind have.")
    form = Form()
    counts = Counts()


class FeedOfStages(serializers.Serializer):
    """Where the answers of a stage go. An empty recipe passes the item itself on."""

    id = serializers.IntegerField()
    source = serializers.CharField(source="source.slug")
    target = serializers.CharField(source="target.slug")
    rule = serializers.ChoiceField(choices=Feed.Rule.values)
    recipe = serializers.DictField()


class ResolutionOfItem(serializers.Serializer):
    """What the votes on one field of one item come to."""

    item = serializers.CharField(source="stage_item.revision.item.external_id")
    revision = serializers.IntegerField(source="stage_item.revision.number")
    field = serializers.CharField()
    status = serializers.ChoiceField(choices=Resolution.Status.values)
    answer = serializers.JSONField(help_text="The winning value; null where there is none.")
    answer_key = serializers.CharField(allow_null=True, help_text="Equal keys are equal answers.")
    key_version = serializers.IntegerField()
    counts = serializers.ListField(
        child=serializers.ListField(), help_text="Pairs [answer key, votes], most votes first."
    )
    n_votes = serializers.IntegerField()
    margin = serializers.IntegerField()
    round = serializers.IntegerField()
    computed_at = serializers.DateTimeField()
