"""The shape of a draw of answers to be judged."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Stage
from annotate.project_forms import PlainForm
from evaluation.models import JudgeSample, Run
from evaluation.run_forms import MAX_SEED
from evaluation.services.judging import MAX_DRAWN, Draw, judgeable_runs, strata_names


class JudgeDrawForm(PlainForm):
    """Which answers people are to judge. The seed is the stage's own where none is given."""

    runs = forms.ModelMultipleChoiceField(
        queryset=Run.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Runs")
    )
    n = forms.IntegerField(min_value=1, max_value=MAX_DRAWN, initial=300, label=_("Answers of each run"))
    rule = forms.ChoiceField(
        choices=[
            (JudgeSample.Rule.SAME_ITEMS, _("the same items in every run")),
            (JudgeSample.Rule.PER_RUN, _("of each run on its own")),
        ],
        initial=JudgeSample.Rule.SAME_ITEMS,
        label=_("Drawn from"),
        help_text=_("The same items make runs comparable and equal answers are judged once."),
    )
    stratum = forms.ChoiceField(
        required=False,
        label=_("In proportion to"),
        help_text=_("A stratum whose values get their share of the draw."),
    )
    shows = forms.ChoiceField(
        choices=[
            (JudgeSample.Shows.ANSWER, _("the answer as it was read")),
            (JudgeSample.Shows.COMPLETION, _("everything the model said")),
        ],
        initial=JudgeSample.Shows.ANSWER,
        label=_("Judges see"),
    )
    unanswered = forms.ChoiceField(
        choices=[
            (JudgeSample.Unanswered.LEFT_OUT, _("are counted, not judged")),
            (JudgeSample.Unanswered.AS_SAID, _("are judged by what was said")),
        ],
        initial=JudgeSample.Unanswered.LEFT_OUT,
        label=_("Unparsed, refused and cut-off answers"),
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_SEED, label=_("Seed"), help_text=_("Empty: the stage's own.")
    )

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stage = stage
        runs: Any = self.fields["runs"]
        runs.queryset = Run.objects.filter(pk__in=[run.pk for run in judgeable_runs(stage.project)]).order_by("-pk")
        stratum: Any = self.fields["stratum"]
        stratum.choices = [("", _("nothing: a simple random draw")), *((name, name) for name in self.strata)]

    @property
    def strata(self) -> list[str]:
        return strata_names(self.stage.project)

    def draw(self) -> Draw:
        """What a valid form asks for."""
        asked = self.cleaned_data
        return Draw(
            runs=tuple(asked["runs"].select_related("stage_version").order_by("pk")),
            n=asked["n"],
            seed=self.stage.seed if asked["seed"] is None else asked["seed"],
            rule=asked["rule"],
            stratum=asked["stratum"],
            shows=asked["shows"],
            unanswered=asked["unanswered"],
        )
