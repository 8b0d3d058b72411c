"""What those who run a project send and are told beside what readers are."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.inputs import Input, input_of
from annotate.import_forms import UploadForm
from annotate.models import Feed, ImportJob
from annotate.project_forms import (
    MAX_FIELDS,
    AddItemsForm,
    FieldForm,
    NewProjectForm,
    NewStageForm,
    ProjectForm,
    StageVersionForm,
)
from annotate.services.auditing import MAX_K
from annotate.services.cross_checking import MAX_DRAWN
from annotate.services.importing import REPEATS
from annotate.sources.answered import NEW_TYPES
from annotate.sources.mapping import KINDS
from annotate.stage_forms import MAX_SEED

OPTIONS_HELP = "What only stages of this kind have, as docs/domain.md lists it; what is left out has its default."

ProjectInput = input_of(ProjectForm, "ProjectInput")
NewProjectInput = input_of(NewProjectForm, "NewProjectInput")


class OptionInput(Input):
    value = serializers.CharField(max_length=200, help_text="Stored and exported.")
    caption = serializers.CharField(max_length=200, help_text="As people read it.")


FieldInput = input_of(
    FieldForm,
    "FieldInput",
    options=OptionInput(many=True, required=False, max_length=100, help_text="Of a choice: two or more."),
)
NewStageInput = input_of(
    NewStageForm,
    "NewStageInput",
    instruction=serializers.CharField(
        default="",
        allow_blank=True,
        max_length=StageVersionForm.base_fields["instruction"].max_length,  # type: ignore[attr-defined]
    ),
    shown_keys=serializers.ListField(
        child=serializers.CharField(max_length=200),
        max_length=200,
        help_text="Keys of the items' content in the order people see them. The first is the headline.",
    ),
    fields=FieldInput(many=True, min_length=1, max_length=MAX_FIELDS),
    guidelines=serializers.CharField(
        default="", allow_blank=True, max_length=200_000, help_text="Markdown; empty: those of the project."
    ),
    options=serializers.DictField(default=dict, help_text=OPTIONS_HELP),
)
AddItemsInput = input_of(AddItemsForm, "AddItemsInput")


class StageOptionsInput(Input):
    options = serializers.DictField(help_text=OPTIONS_HELP)


class FeedInput(Input):
    source = serializers.SlugField(max_length=80, help_text="The stage whose answers go on.")
    target = serializers.SlugField(max_length=80, help_text="Where they go.")
    rule = serializers.ChoiceField(choices=Feed.Rule.values, default=Feed.Rule.EVERY)
    recipe = serializers.DictField(
        required=False,
        allow_null=True,
        default=None,
        help_text="How a new item is made of an answer; empty: the item itself goes on; left out: what is usual for "
        "two such stages.",
    )


class CrossCheckInput(Input):
    n = serializers.IntegerField(min_value=1, max_value=MAX_DRAWN, help_text="Items of each group.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MAX_SEED, help_text="Or the stage's own."
    )
    written_in = serializers.SlugField(
        required=False, default="", allow_blank=True, max_length=80, help_text="Only what was written in this stage."
    )


class DrawnOfGroup(serializers.Serializer):
    group = serializers.CharField(help_text="Whose members wrote them.")
    n_population = serializers.IntegerField()
    n_drawn = serializers.IntegerField()
    n_short = serializers.IntegerField(help_text="How many fewer than asked for: the group was taken whole.")
    item_set = serializers.IntegerField(source="item_set.pk", allow_null=True, default=None)


class CrossCheckDrawn(serializers.Serializer):
    seed = serializers.IntegerField()
    groups = DrawnOfGroup(many=True)


class AuditInput(Input):
    field = serializers.CharField(max_length=60, help_text="Whose labels are audited.")
    decided_in = serializers.SlugField(
        required=False,
        default="",
        allow_blank=True,
        max_length=80,
        help_text="The stage whose decisions are audited; empty: the gold labels are.",
    )
    label_set = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=60, help_text="Of gold, where there are several."
    )
    population = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=120,
        help_text="The name of an item set; empty: the whole project.",
    )
    keys = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, default=list, help_text="Strata, combined."
    )
    by_label = serializers.BooleanField(required=False, default=True, help_text="Whether the label is a stratum.")
    k = serializers.IntegerField(min_value=1, max_value=MAX_K, help_text="Items of each stratum.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MAX_SEED, help_text="Or the stage's own."
    )
    plan_only = serializers.BooleanField(
        required=False, default=False, help_text="Say what the draw would give, and draw nothing."
    )


class StratumOfAudit(serializers.Serializer):
    values = serializers.ListField(child=serializers.CharField(), help_text="Of each key, the label last.")
    n_population = serializers.IntegerField()
    n_drawn = serializers.IntegerField()
    n_short = serializers.IntegerField(help_text="How many fewer than asked for: the stratum was taken whole.")


class AuditPlanned(serializers.Serializer):
    """What a draw gives; `seed` and `item_set` of one that was made."""

    seed = serializers.IntegerField(allow_null=True, default=None)
    item_set = serializers.IntegerField(source="audit.item_set_id", allow_null=True, default=None)
    keys = serializers.ListField(child=serializers.CharField())
    by_label = serializers.BooleanField()
    k = serializers.IntegerField()
    n_population = serializers.IntegerField()
    n_drawn = serializers.IntegerField()
    n_unlabelled = serializers.IntegerField(help_text="Items without a label, or without a decision.")
    n_excluded = serializers.IntegerField(help_text="Items that are left out of every figure.")
    strata = StratumOfAudit(many=True)


class StageStepInput(Input):
    step = serializers.ChoiceField(choices=["open", "pause", "close"])
    reason = serializers.CharField(
        default="", allow_blank=True, max_length=300, help_text="Why it is closed before it is complete; for history."
    )


class ReasonInput(Input):
    reason = serializers.CharField(max_length=300, help_text="Kept in the history.")


class ItemsAdded(serializers.Serializer):
    n_added = serializers.IntegerField(help_text="Without those the stage had already.")


# Import

UploadInput = input_of(
    UploadForm,
    "UploadInput",
    file=serializers.FileField(
        help_text="CSV, TSV, JSON, JSON Lines, Excel (.xlsx), Parquet, an export of Label Studio, doccano, Argilla or "
        "Prodigy, batch results of Mechanical Turk, a ZIP of JSON files."
    ),
    tables=serializers.FileField(
        required=False, help_text="Tables that the items refer to, a ZIP of them, or a database."
    ),
    stage=serializers.SlugField(required=False, max_length=80, help_text="Where the items go."),
    join_column=serializers.CharField(required=False, max_length=1_000, help_text="Names each item's table."),
    query_column=serializers.CharField(
        required=False, max_length=1_000, help_text="Holds the SQL that is run on the database for the gold table."
    ),
    database_column=serializers.CharField(
        required=False, max_length=1_000, help_text="Names each query's database, where there are several."
    ),
    dates_as_years=serializers.BooleanField(
        required=False, help_text="Columns of dates become columns of years in the gold tables; with query_column."
    ),
    sheet=serializers.CharField(required=False, max_length=200, help_text="Of a workbook; the first that is shown."),
)


def _column(help_text: str) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_null=True, max_length=1_000, trim_whitespace=False, help_text=help_text
    )


class ContentColumnInput(Input):
    column = serializers.CharField(max_length=1_000, trim_whitespace=False)
    key = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(choices=list(KINDS), default="plain")


class GoldColumnInput(Input):
    field = serializers.CharField(max_length=60)
    column = serializers.CharField(max_length=1_000, trim_whitespace=False)
    values = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=1_000), default=dict, help_text="Label -> value."
    )
    separator = serializers.CharField(default="", allow_blank=True, trim_whitespace=False, max_length=10)


class AnswerColumnInput(Input):
    field = serializers.CharField(max_length=60)
    column = serializers.CharField(max_length=1_000, trim_whitespace=False)
    type = serializers.ChoiceField(
        choices=list(NEW_TYPES), default="choice", help_text="Of the field in a stage that is made for the answers."
    )
    values = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=1_000), default=dict, help_text="Label -> value."
    )


class AnswersInput(Input):
    """Where each record says who answered its item, and what."""

    fields = AnswerColumnInput(many=True, max_length=100)
    annotator = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="Who gave all answers, where no column says so."
    )
    annotator_column = _column("Names who answered.")
    time_column = _column("When it was answered: ISO 8601, or seconds since 1970.")
    seconds_column = _column("How long it took.")
    skip_column = _column("Whether it was skipped.")
    ground_truth_column = _column("Whether the answer is marked as right.")


class MappingInput(Input):
    """What each column means, as the draft's own `mapping` has it."""

    id_column = serializers.CharField(required=False, allow_null=True, max_length=1_000, trim_whitespace=False)
    content = ContentColumnInput(many=True, max_length=1_000)
    language_column = serializers.CharField(required=False, allow_null=True, max_length=1_000, trim_whitespace=False)
    language = serializers.CharField(default="", allow_blank=True, max_length=35)
    gold = GoldColumnInput(many=True, default=list, max_length=100)
    strata = serializers.ListField(
        child=serializers.CharField(max_length=1_000, trim_whitespace=False), default=list, max_length=1_000
    )
    group_column = serializers.CharField(required=False, allow_null=True, max_length=1_000, trim_whitespace=False)
    answers = AnswersInput(required=False, allow_null=True)
    escapes = serializers.BooleanField(
        default=False, help_text=r"In cells \n is a line end, \p a vertical bar and \\ a backslash."
    )


class StartInput(Input):
    """Without a mapping, that of the draft is used."""

    mapping = MappingInput(required=False)
    new_revisions = serializers.BooleanField(
        required=False, help_text="Known items become what the file says they are now."
    )
    repeats = serializers.ChoiceField(
        required=False, choices=list(REPEATS), help_text="What several answers of one person to one item are."
    )
    ground_truth_as_gold = serializers.BooleanField(required=False)
    stage_title = serializers.CharField(
        required=False, max_length=120, help_text="Of the stage that is made for answers without one."
    )


class ImportStepInput(Input):
    step = serializers.ChoiceField(choices=["cancel", "reopen"])


class Import(serializers.Serializer):
    """A file on its way to items: all of it, or nothing and the reasons."""

    id = serializers.IntegerField()
    file = serializers.CharField(source="source.name")
    stage = serializers.CharField(source="stage.slug", default=None, allow_null=True)
    state = serializers.ChoiceField(choices=ImportJob.State.values)
    n_done = serializers.IntegerField(help_text="In kilobytes of the file.")
    n_total = serializers.IntegerField(allow_null=True)
    error = serializers.CharField()
    mapping = serializers.DictField()
    new_revisions = serializers.SerializerMethodField()
    report = serializers.DictField(help_text="What was imported, unchanged, left out, in conflict; problems by place.")
    item_set = serializers.IntegerField(source="item_set_id", allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_new_revisions(self, job: Any) -> bool:
        return bool(job.options.get("new_revisions"))
