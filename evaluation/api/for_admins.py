"""What those who run a project send about models and reports, and are told of endpoints."""

from __future__ import annotations

from rest_framework import serializers

from annotate.api.inputs import Input, input_of
from evaluation.models import Endpoint as EndpointRow
from evaluation.report_forms import ReportForm
from evaluation.run_forms import BudgetForm, EndpointForm, ExtendForm, RunForm

SLUG = {"max_length": 80, "help_text": "The stage whose form and shown content people get."}

EndpointInput = input_of(EndpointForm, "EndpointInput")
NewRunInput = input_of(RunForm, "NewRunInput", stage=serializers.SlugField(**SLUG))
BudgetInput = input_of(BudgetForm, "BudgetInput")
ExtendInput = input_of(ExtendForm, "ExtendInput")
NewReportInput = input_of(
    ReportForm,
    "NewReportInput",
    omit=["comparison"],
    stage=serializers.SlugField(**SLUG),
    field=serializers.CharField(max_length=60, help_text="The field that is compared; it must decide."),
    primary_scorer=serializers.CharField(max_length=40, help_text="Such as label_accuracy; others stand beside it."),
    further_scorers=serializers.ListField(
        child=serializers.CharField(max_length=40), default=list, help_text="Such as rouge_l, or a published rule."
    ),
)


class RunStepInput(Input):
    step = serializers.ChoiceField(choices=["start", "pause", "resume", "cancel", "repeat_failed"])


class TrialStepInput(Input):
    step = serializers.ChoiceField(choices=["start", "cancel"])


class ReportStepInput(Input):
    step = serializers.ChoiceField(choices=["cancel", "again"])


class Endpoint(serializers.Serializer):
    """Where a model answers. A key is named here and never stored."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    provider = serializers.ChoiceField(choices=EndpointRow.Provider.values)
    protocol = serializers.ChoiceField(choices=EndpointRow.Protocol.values, help_text="How a server is asked.")
    model = serializers.CharField()
    base_url = serializers.CharField()
    key_variable = serializers.CharField(help_text="The name of the worker's variable that holds the key.")
    max_in_flight = serializers.IntegerField()
    requests_per_minute = serializers.IntegerField(allow_null=True)
    tokens_per_minute = serializers.IntegerField(allow_null=True)
    timeout_seconds = serializers.IntegerField()
    input_price = serializers.DecimalField(None, 6, allow_null=True, help_text="Of a million tokens in.")
    output_price = serializers.DecimalField(None, 6, allow_null=True, help_text="Of a million tokens out.")
    currency = serializers.CharField()
    created_at = serializers.DateTimeField()
