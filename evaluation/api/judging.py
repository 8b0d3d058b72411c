"""Models' answers for people to judge, and what they say of them, for programs."""

from __future__ import annotations

from typing import cast

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.for_admins import ReasonInput
from annotate.api.inputs import checked, filled, input_of
from annotate.models import ApiToken, Stage
from evaluation.judge_forms import JudgeDrawForm
from evaluation.models import JudgeSample
from evaluation.services import judgements, judging

JudgeDrawInput = input_of(
    JudgeDrawForm,
    "JudgeDrawInput",
    stratum=serializers.CharField(
        default="", allow_blank=True, max_length=100, help_text="Its values are drawn in proportion."
    ),
    only_look=serializers.BooleanField(default=False, help_text="Only say what the draw would come to."),
)


class PartOfDraw(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField(), help_text="One run, or two.")
    n_population = serializers.IntegerField()
    n_drawn = serializers.IntegerField()
    n_short = serializers.IntegerField(help_text="How many fewer than asked for: all were taken.")
    strata = serializers.ListField(child=serializers.ListField(), help_text="[value, items there were, drawn].")


class JudgeDrawn(serializers.Serializer):
    is_drawn = serializers.BooleanField(help_text="False where it was only looked at.")
    seed = serializers.IntegerField()
    parts = PartOfDraw(many=True)
    n_drawn = serializers.IntegerField(help_text="Answers, or pairs of answers.")
    n_places = serializers.IntegerField(help_text="What judges are asked: equal answers to an item once.")
    n_merged = serializers.IntegerField(help_text="Judged together with an equal one.")
    n_same = serializers.IntegerField(help_text="Pairs of equal answers: ties without asking.")
    nothing = serializers.DictField(child=serializers.IntegerField(), help_text="Outcome -> drawn, nothing to judge.")


class DrawDiscarded(serializers.Serializer):
    slug = serializers.CharField(help_text="The stage, which is a draft without items again.")
    state = serializers.ChoiceField(choices=Stage.State.values)


class JudgeResults(serializers.Serializer):
    """Figures as in reports."""

    mode = serializers.ChoiceField(choices=JudgeSample.Mode.values)
    draw = serializers.DictField()
    n_drawn = serializers.IntegerField()
    n_candidates = serializers.IntegerField()
    n_judgements_waiting = serializers.IntegerField()
    runs = serializers.ListField(child=serializers.DictField(), help_text="Where answers are right or wrong.")
    pairs = serializers.ListField(child=serializers.DictField(), help_text="Where the better of two is judged.")
    agreement = serializers.ListField(child=serializers.DictField(), help_text="Among judges.")
    judges = serializers.ListField(child=serializers.DictField())
    positions = serializers.DictField(help_text="How often the better one stood first, and second.")
    metrics = serializers.ListField(
        child=serializers.DictField(), help_text="Each scorer against the judges, by item and by system."
    )


_COUNTED = ("parts", "n_drawn", "n_places", "n_merged", "n_same", "nothing")


class JudgeDraw(ApiView):
    scopes = {"POST": ApiToken.Scope.RUN}

    @extend_schema(request=JudgeDrawInput, responses={200: JudgeDrawn, 201: JudgeDrawn})
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Draw answers of finished runs for the stage's people to judge.

        The same draw again changes nothing: 200 with what was drawn. Another draw for the same stage: 409.
        """
        stages = Stage.objects.run_by(self.person).select_related("project")
        stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
        sent = self.sent(JudgeDrawInput)
        is_look = sent.pop("only_look")
        form = cast(JudgeDrawForm, filled(JudgeDrawForm, sent, stage=stage))
        checked(form)
        draw = form.draw()
        if is_look:
            plan = judging.plan_draw(stage=stage, draw=draw)
            told = {"is_drawn": False, "seed": draw.seed} | {name: getattr(plan, name) for name in _COUNTED}
            return Response(JudgeDrawn(told).data)
        before = judgements.sample_of(stage)
        sample = judging.draw_judge_sample(stage=stage, by=self.person, draw=draw)
        told = {"is_drawn": True} | vars(judging.told_of(sample))
        return Response(JudgeDrawn(told).data, status=200 if before == sample else 201)


class JudgeDiscard(ApiView):
    scopes = {"POST": ApiToken.Scope.RUN}

    @extend_schema(request=ReasonInput, responses=DrawDiscarded)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Take a draw back before anybody has judged: the stage is a draft without items again. 409 after that."""
        stages = Stage.objects.run_by(self.person).select_related("project")
        stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
        reason = self.sent(ReasonInput)["reason"]
        return Response(DrawDiscarded(judging.discard_judge_sample(stage=stage, by=self.person, reason=reason)).data)


class JudgeResultsOfStage(ApiView):
    scopes = {"GET": ApiToken.Scope.READ}

    @extend_schema(responses=JudgeResults)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """What the judges of a stage say of each run, how far they agree, and how far scorers agree with them."""
        stages = Stage.objects.visible_to(self.person).select_related("project")
        stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
        told = judgements.results_json(judgements.judge_results(stage=stage))
        return Response(JudgeResults(told).data)
