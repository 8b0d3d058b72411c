"""The shape of an import of a log: the file, the items it is about, and how it is read."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.models import ItemSet, Project, Stage, StageVersion
from annotate.project_forms import PlainForm
from annotate.wording import _
from evaluation.models import LogImport
from evaluation.services.log_importing import options_of


class LogDraftForm(PlainForm):
    """How a log is read; may be changed until it is imported."""

    stage = forms.ModelChoiceField(
        Stage.objects.none(),
        label=_("Question"),
        empty_label=None,
        help_text=_("The stage whose form the answers belong to: completions are read as answers to its first field."),
    )
    model = forms.CharField(
        max_length=200,
        required=False,
        help_text=_("Which model answered, where the log does not say. Samples of lm-evaluation-harness never do."),
        label=_("Model"),
    )
    run_name = forms.CharField(
        max_length=90,
        required=False,
        label=_("Name of the run"),
        help_text=_("Empty: the model's. Filters and repeats are added where there are several."),
    )
    id_field = forms.CharField(
        max_length=200,
        required=False,
        label=_("Field that holds the items' ids"),
        help_text=_(
            "Empty: id and the other usual names. In samples of lm-evaluation-harness a field of the document."
        ),
    )
    accept_changed = forms.BooleanField(
        required=False,
        label=_("Ids count even where the log has another text than the item"),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stage: Any = self.fields["stage"]
        stage.queryset = project.stages.order_by("position", "pk")

    def reading_values(self) -> dict[str, Any]:
        """What the services are told of how to read it; for a valid form only."""
        data = self.cleaned_data
        return {
            "stage_version": StageVersion.objects.get(stage=data["stage"], is_current=True),
            **{name: data[name] for name in ("model", "run_name", "id_field", "accept_changed")},
        }

    @staticmethod
    def initial_of(job: LogImport) -> dict[str, Any]:
        options = options_of(job)
        return {
            "stage": job.stage_version.stage,
            "model": options.model,
            "run_name": options.name,
            "id_field": options.source.id_field,
            "accept_changed": options.accept_changed,
        }


class LogUploadForm(LogDraftForm):
    file = forms.FileField(
        label=_("Log"),
        widget=forms.FileInput(attrs={"class": ""}),
        help_text=_(
            "JSONL, JSON, CSV or TSV with our columns; samples of lm-evaluation-harness; a log of "
            "inspect_ai in JSON; scenario_state.json of HELM; output of OpenAI's batch API."
        ),
    )
    item_set = forms.ModelChoiceField(ItemSet.objects.none(), label=_("Items"), empty_label=None)
    field_order = ("file", "item_set", "stage")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        item_set: Any = self.fields["item_set"]
        item_set.queryset = project.item_sets.order_by("-pk")
        item_set.label_from_instance = lambda row: f"{row.name} ({row.n_items:,} items)"
