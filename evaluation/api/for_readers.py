"""What those who read a project's results are told of runs, predictions and reports."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.api.paging import PageQuery
from evaluation.models import Prediction, Report, Run, Trial
from evaluation.services import budgets, trials


class RunQuery(PageQuery):
    state = serializers.ChoiceField(choices=Run.State.values, required=False, help_text="Only runs in this state.")


class PredictionQuery(PageQuery):
    state = serializers.ChoiceField(choices=Prediction.State.values, required=False, help_text="Only these outcomes.")


class RunEndpoint(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    provider = serializers.CharField()
    model = serializers.CharField()


class RunItemSet(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    n_items = serializers.IntegerField()


class RunProgress(serializers.Serializer):
    """How many predictions are in each state."""

    counts = serializers.DictField(child=serializers.IntegerField())
    total = serializers.IntegerField()
    n_pending = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    seconds_left = serializers.FloatField(allow_null=True, help_text="By the pace of the last minutes.")


class RunCost(serializers.Serializer):
    """What it cost so far, by the prices that the endpoint has now."""

    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    money = serializers.DecimalField(None, 6, allow_null=True, help_text="Null where it cannot be said.")
    currency = serializers.CharField()
    why_undefined = serializers.CharField()


class RunInProject(serializers.Serializer):
    """One model, one prompt strategy, one item set, one seed."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Run.State.values)
    endpoint = RunEndpoint()
    stage = serializers.CharField(source="stage_version.stage.slug")
    form_number = serializers.IntegerField(source="stage_version.number")
    item_set = RunItemSet()
    exemplar_set = RunItemSet(allow_null=True)
    strategy = serializers.CharField()
    n_steps = serializers.IntegerField(allow_null=True, help_text="Samples for a vote, or rounds at most.")
    strategy_hash = serializers.CharField(help_text="Of what is asked and how answers are read, from the start on.")
    parameters = serializers.DictField(help_text="As they are sent.")
    seed = serializers.IntegerField()
    repeats = serializers.IntegerField()
    reuses_answers = serializers.BooleanField(help_text="Of earlier runs, for the same request at temperature 0.")
    budget_money = serializers.DecimalField(14, 6, allow_null=True)
    budget_tokens = serializers.IntegerField(allow_null=True)
    cost = serializers.SerializerMethodField()
    stopped_because = serializers.CharField(help_text="What will not heal by itself.")
    error = serializers.CharField()
    progress = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    frozen_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_cost(self, run: Any) -> RunCost:
        cost = budgets.cost_of(run)
        told: RunCost = RunCost(
            {
                "prompt_tokens": run.prompt_tokens,
                "completion_tokens": run.completion_tokens,
                "money": None if cost.money is None else round(cost.money, 6),
                "currency": cost.currency,
                "why_undefined": cost.why_undefined,
            }
        ).data
        return told

    def get_progress(self, run: Any) -> RunProgress:
        told: RunProgress = RunProgress(self.context["progress"][run.pk]).data
        return told


class CallOfPrediction(serializers.Serializer):
    """One exchange with a model."""

    step = serializers.IntegerField(help_text="Of the calls for one answer, from 0 on.")
    completion = serializers.CharField(help_text="Word for word.")
    reasoning = serializers.CharField()
    finish_reason = serializers.CharField()
    server_model = serializers.CharField()
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
    logprobs = serializers.ListField(
        allow_null=True, help_text="[token, log probability, [[alternative, log probability], ...]] of each token."
    )
    reading = serializers.DictField(
        allow_null=True, help_text="state, note, answer of this call alone, where the strategy reads each by itself."
    )
    latency_ms = serializers.IntegerField(allow_null=True)
    http_status = serializers.IntegerField(allow_null=True)
    error_kind = serializers.CharField()
    error = serializers.CharField()
    attempts = serializers.IntegerField()
    reused_from = serializers.IntegerField(
        source="reused_from.prediction_id", allow_null=True, default=None, help_text="The prediction it was taken from."
    )


class PredictionOfRun(serializers.Serializer):
    """A model's response to one item. Only an answered one has an answer."""

    id = serializers.IntegerField()
    item = serializers.CharField(source="revision.item.external_id")
    revision = serializers.IntegerField(source="revision.number")
    repeat = serializers.IntegerField(help_text="From 0 on.")
    state = serializers.ChoiceField(choices=Prediction.State.values)
    answer = serializers.DictField(allow_null=True, help_text="Field name -> value, as a person's.")
    note = serializers.CharField(help_text="Why there is no answer, or what the parser did.")
    attempts = serializers.IntegerField()
    finished_at = serializers.DateTimeField(allow_null=True)
    calls = CallOfPrediction(many=True, source="calls_in_order")


class CallOfTrial(serializers.Serializer):
    """One exchange with a model, which is part of no prediction."""

    messages = serializers.ListField(child=serializers.DictField())
    completion = serializers.CharField()
    reasoning = serializers.CharField()
    finish_reason = serializers.CharField()
    server_model = serializers.CharField()
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
    logprobs = serializers.ListField(allow_null=True, default=None, help_text="As of a prediction's call.")
    latency_ms = serializers.IntegerField(allow_null=True)
    reading = serializers.DictField(allow_null=True, default=None, help_text="As of a prediction's call.")


class TriedItem(serializers.Serializer):
    """What came back for one item of a trial: no prediction."""

    external_id = serializers.CharField()
    state = serializers.CharField(help_text="As of a prediction; empty without an outcome.")
    answer = serializers.DictField(allow_null=True)
    note = serializers.CharField()
    error = serializers.CharField()
    calls = CallOfTrial(many=True, help_text="In their order; the last one has no completion where there is an error.")


class EstimateRange(serializers.Serializer):
    mean = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class RunEstimate(serializers.Serializer):
    """What the whole run would take, by the mean, the least and the most of the items that were tried."""

    n_tried = serializers.IntegerField()
    n_counted = serializers.IntegerField()
    n_answers = serializers.IntegerField(help_text="Items times repeats.")
    requests = EstimateRange(allow_null=True, help_text="More than answers where each takes several calls.")
    seconds = EstimateRange(allow_null=True)
    bound_by = serializers.CharField()
    tokens_in = EstimateRange(allow_null=True)
    tokens_out = EstimateRange(allow_null=True)
    money = EstimateRange(allow_null=True)
    why_no_tokens = serializers.CharField()
    why_no_money = serializers.CharField()


class TrialOfRun(serializers.Serializer):
    """A few items of a draft, asked before anything counts."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Trial.State.values)
    n_done = serializers.IntegerField()
    n_total = serializers.IntegerField()
    error = serializers.CharField()
    results = TriedItem(many=True)
    estimate = serializers.SerializerMethodField()

    @extend_schema_field(RunEstimate(allow_null=True))
    def get_estimate(self, trial: Any) -> RunEstimate | None:
        if trial.state != Trial.State.DONE:
            return None
        told: RunEstimate = RunEstimate(trials.estimate_of(trial, trial.run)).data
        return told


class ReportInProject(serializers.Serializer):
    """A frozen comparison of people and models."""

    id = serializers.IntegerField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Report.State.values)
    stage = serializers.CharField(source="stage.slug")
    item_set = serializers.IntegerField(source="item_set_id")
    field = serializers.CharField()
    primary_scorer = serializers.CharField()
    further_scorers = serializers.ListField(child=serializers.CharField())
    primary_run = serializers.IntegerField(source="primary_run_id", allow_null=True)
    every_run_is_primary = serializers.BooleanField()
    seed = serializers.IntegerField()
    n_resamples = serializers.IntegerField()
    level = serializers.FloatField()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    frozen_at = serializers.DateTimeField(allow_null=True)


class ReportFile(serializers.Serializer):
    name = serializers.CharField()
    media_type = serializers.CharField()
    n_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    address = serializers.SerializerMethodField()

    def get_address(self, file: Any) -> str:
        report = self.context["report"]
        return reverse("api:api-report-file", args=[report.project.slug, report.pk, file.name])


class ReportInFull(ReportInProject):
    """The arrays behind every figure are in the file report.json."""

    runs = serializers.SerializerMethodField()
    figures = serializers.ListField(child=serializers.DictField())
    manifest = serializers.DictField()
    files = serializers.SerializerMethodField()

    def get_runs(self, report: Any) -> list[int]:
        return [run.pk for run in report.runs.all()]

    def get_files(self, report: Any) -> list[dict[str, Any]]:
        files = sorted(report.files.all(), key=lambda file: str(file.name))
        return list(ReportFile(files, many=True, context={"report": report}).data)
