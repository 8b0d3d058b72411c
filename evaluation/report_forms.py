"""The shape of a new report: what is compared, and which comparison is named before anybody sees a result."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.answers import fields_from_json
from annotate.models import ItemSet, Project, Stage
from evaluation.models import Run
from evaluation.reports.words import measure_words
from evaluation.services.reporting import scorers_for
from evaluation.suggesting import is_asked_in

MAX_SEED = 2**31 - 1


class RowsField(forms.ModelMultipleChoiceField):
    """Several rows by their keys. What no key can be is no choice: SQLite would fail at a number above 64 bits."""

    def clean(self, value: Any) -> Any:
        for key in value or []:
            if not (str(key).isascii() and str(key).isdecimal() and len(str(key)) < 19):
                raise forms.ValidationError(self.error_messages["invalid_pk_value"], params={"pk": str(key)[:40]})
        return super().clean(value)


class ReportForm(forms.Form):
    """Every choice is one of the project's own rows."""

    title = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"class": "input"}))
    stage = forms.ModelChoiceField(
        Stage.objects.none(),
        label="People: the stage they answered",
        empty_label=None,
        widget=forms.Select(attrs={"class": "input"}),
    )
    item_set = forms.ModelChoiceField(
        ItemSet.objects.none(),
        label="Items",
        empty_label=None,
        help_text="A frozen set. Every figure says how many of its items it covers.",
        widget=forms.Select(attrs={"class": "input"}),
    )
    runs = RowsField(
        Run.objects.none(), label="Models: their runs", required=False, widget=forms.CheckboxSelectMultiple
    )
    comparison = forms.ChoiceField(
        label="Field and main score",
        help_text="The other scores of the field are reported beside it.",
        widget=forms.Select(attrs={"class": "input"}),
    )
    primary_run = forms.ModelChoiceField(
        Run.objects.none(),
        label="Primary comparison: the mean person against",
        required=False,
        empty_label="no model",
        help_text="Named before results are shown; every other comparison is then an exploratory one.",
        widget=forms.Select(attrs={"class": "input"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=1,
        help_text="Equal seeds draw equal resamples.",
        widget=forms.NumberInput(attrs={"class": "input"}),
    )
    n_resamples = forms.IntegerField(
        label="Resamples",
        min_value=200,
        max_value=20_000,
        initial=2_000,
        widget=forms.NumberInput(attrs={"class": "input"}),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = Run.objects.filter(project=project).exclude(state=Run.State.DRAFT).order_by("-pk")
        stages = Stage.objects.filter(project=project).order_by("position", "pk")
        for name, rows in (
            ("stage", stages),
            ("item_set", ItemSet.objects.filter(project=project).order_by("-pk")),
            ("runs", runs),
            ("primary_run", runs),
        ):
            self.fields[name].queryset = rows  # type: ignore[attr-defined]
        self.fields["comparison"].choices = comparisons(project)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("comparison") and data.get("stage"):
            stage_pk, data["field"], data["primary_scorer"] = data.pop("comparison").split(":")
            if int(stage_pk) != data["stage"].pk:
                self.add_error("comparison", "This field belongs to another stage.")
        stage, item_set = data.get("stage"), data.get("item_set")
        if stage and item_set and not is_asked_in(item_set, stage):
            self.add_error(
                "item_set", "Nobody is asked any of these items in that stage: choose the items of the stage."
            )
        primary_run = data.get("primary_run")
        if primary_run is not None and primary_run not in data.get("runs", []):
            self.add_error("primary_run", "Choose one of the runs that are compared.")
        return data


def comparisons(project: Project) -> list[tuple[str, str]]:
    """Every deciding field of every stage with each scorer that fits it."""
    found = []
    current = project.stages.filter(versions__is_current=True).order_by("position", "pk")
    for stage, title, fields in current.values_list("pk", "title", "versions__fields"):
        for spec in fields_from_json(fields):
            if spec.decides:
                found += [
                    (f"{stage}:{spec.name}:{scorer}", f"{title}: {spec.caption} ({measure_words(scorer)})")
                    for scorer in scorers_for(spec)
                ]
    return found
