"""The shape of a new report: what is compared, and which comparison is named before anybody sees a result."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.answers import FieldSpec, fields_from_json
from annotate.models import ItemSet, Project, Stage
from annotate.wording import _
from evaluation.models import Run
from evaluation.reports.words import measure_words
from evaluation.services.reporting import ReportNotPossible, deciding_field, scorers_for, selectable_scorers
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

    title = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"class": "input"}), label=_("Title"))
    stage = forms.ModelChoiceField(
        Stage.objects.none(),
        label=_("People: the stage they answered"),
        empty_label=None,
        widget=forms.Select(attrs={"class": "input"}),
    )
    item_set = forms.ModelChoiceField(
        ItemSet.objects.none(),
        label=_("Items"),
        empty_label=None,
        help_text=_("A frozen set. Every figure says how many of its items it covers."),
        widget=forms.Select(attrs={"class": "input"}),
    )
    runs = RowsField(
        Run.objects.none(), label=_("Models: their runs"), required=False, widget=forms.CheckboxSelectMultiple
    )
    comparison = forms.ChoiceField(
        label=_("Field and main score"),
        help_text=_("The usual scores of the field are reported beside it."),
        widget=forms.Select(attrs={"class": "input"}),
    )
    further_scorers = forms.MultipleChoiceField(
        label=_("Further scores"), required=False, widget=forms.CheckboxSelectMultiple
    )
    primary_run = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Primary comparison: the mean person against"),
        required=False,
        empty_label=_("no model"),
        help_text=_("Named before results are shown; every other comparison is then an exploratory one."),
        widget=forms.Select(attrs={"class": "input"}),
    )
    every_run_is_primary = forms.BooleanField(
        label=_("Every run is a primary comparison"),
        required=False,
        help_text=_("The mean person against each of them is one family; their p-values are adjusted together (Holm)."),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=1,
        help_text=_("Equal seeds draw equal resamples."),
        widget=forms.NumberInput(attrs={"class": "input"}),
        label=_("Seed"),
    )
    n_resamples = forms.IntegerField(
        label=_("Resamples"),
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
        self.fields["further_scorers"].choices = further_scores(project)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("comparison") and data.get("stage"):
            stage_pk, data["field"], data["primary_scorer"] = data.pop("comparison").split(":")
            if int(stage_pk) != data["stage"].pk:
                self.add_error("comparison", _("This field belongs to another stage."))
        self._check_further(data)
        stage, item_set = data.get("stage"), data.get("item_set")
        if stage and item_set and not is_asked_in(item_set, stage):
            self.add_error(
                "item_set", _("Nobody is asked any of these items in that stage: choose the items of the stage.")
            )
        primary_run = data.get("primary_run")
        if primary_run is not None and primary_run not in data.get("runs", []):
            self.add_error("primary_run", _("Choose one of the runs that are compared."))
        return data

    def _check_further(self, data: dict[str, Any]) -> None:
        """A score of another type of field is refused here, beside its boxes."""
        if not data.get("further_scorers") or not data.get("stage") or not data.get("field"):
            return
        try:
            fitting = selectable_scorers(deciding_field(stage=data["stage"], name=data["field"]))
        except ReportNotPossible as refusal:
            self.add_error("comparison", str(refusal))
            return
        if wrong := [measure_words(name) for name in data["further_scorers"] if name not in fitting]:
            self.add_error(
                "further_scorers", _("Does not fit answers to this field: %(wrong)s.", wrong=", ".join(wrong))
            )


def comparisons(project: Project) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every deciding field of every stage with each scorer that fits it, grouped by field; published rules last."""
    return [
        (
            f"{title}: {spec.caption}",
            [
                (f"{stage}:{spec.name}:{scorer}", f"{spec.caption} ({measure_words(scorer)})")
                for scorer in selectable_scorers(spec)
            ],
        )
        for stage, title, spec in _deciding_fields(project)
        if scorers_for(spec)
    ]


def further_scores(project: Project) -> list[tuple[str, str]]:
    """The scorers that some field of the project takes and that its reports do not hold anyway."""
    specs = [spec for _, _, spec in _deciding_fields(project)]
    names = dict.fromkeys(name for spec in specs for name in selectable_scorers(spec)[len(scorers_for(spec)) :])
    return [(name, measure_words(name)) for name in names]


def _deciding_fields(project: Project) -> list[tuple[int, str, FieldSpec]]:
    """(stage, its title, field) of the current forms."""
    current = project.stages.filter(versions__is_current=True).order_by("position", "pk")
    return [
        (stage, title, spec)
        for stage, title, fields in current.values_list("pk", "title", "versions__fields")
        for spec in fields_from_json(fields)
        if spec.decides
    ]
