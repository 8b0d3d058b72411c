"""What an audit says of the labels, and the way of what is wrong to adjudicators, for programs."""

from __future__ import annotations

import dataclasses
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input
from annotate.models import ApiToken, Stage
from annotate.services import repairing
from evaluation.services.audits import audit_results


class AuditRow(serializers.Serializer):
    row = serializers.CharField(help_text="reviewer_PSEUDONYM, mean, or consensus.")
    denominator = serializers.CharField(help_text="all: unsure counts as not right. decided: unsure is left out.")
    sampled = serializers.DictField(help_text="A figure: every drawn label weighs the same.")
    population = serializers.DictField(help_text="A figure: every stratum as it is in the population.")
    standard_error = serializers.FloatField(allow_null=True, help_text="Of the population's figure.")
    standard_error_finite = serializers.FloatField(allow_null=True, help_text="Corrected for a finite population.")


class AuditStratum(serializers.Serializer):
    values = serializers.ListField(child=serializers.CharField(), source="stratum.values")
    n_population = serializers.IntegerField(source="stratum.n_population")
    n_drawn = serializers.IntegerField(source="stratum.n_drawn")
    n_short = serializers.IntegerField(source="stratum.n_short")
    n_audited = serializers.IntegerField(help_text="With all their verdicts.")
    n_gone = serializers.IntegerField(help_text="Left out before they had them.")
    by_reviewer = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="[right, of how many] of each."
    )
    mean = serializers.DictField()
    consensus = serializers.DictField()


class AuditError(serializers.Serializer):
    item = serializers.CharField(source="audited.external_id")
    stratum = serializers.ListField(child=serializers.CharField(), source="audited_values")
    labels = serializers.ListField(source="audited.labels", help_text="What was audited: the acceptable values.")
    verdicts = serializers.ListField(child=serializers.DictField())
    repair = serializers.CharField(help_text="as_it_was, repaired, changed, taken_back or excluded.")
    now = serializers.ListField(child=serializers.CharField(), help_text="The label of today in words.")
    sent = serializers.CharField(help_text="To adjudicators: empty, waiting or decided.")


class AuditMatrixColumn(serializers.Serializer):
    verdict = serializers.CharField()
    label = serializers.CharField(help_text="What would be right; empty where nobody says.")


class AuditTold(serializers.Serializer):
    """Figures as in reports. The matrix counts verdicts: drawn labels in rows, what was said of them in columns."""

    field = serializers.CharField()
    seed = serializers.IntegerField()
    reviewers = serializers.ListField(child=serializers.CharField())
    n_drawn = serializers.IntegerField()
    n_complete = serializers.IntegerField(help_text="Labels with all their verdicts.")
    n_waiting = serializers.IntegerField()
    n_gone = serializers.IntegerField(help_text="Left out before they had their verdicts.")
    n_roots = serializers.IntegerField(
        help_text="Tables, databases or groups behind the labels that were not left out: what intervals resample."
    )
    n_unsure = serializers.IntegerField(help_text="Verdicts.")
    results = AuditRow(many=True)
    strata = AuditStratum(many=True)
    agreement = serializers.ListField(child=serializers.DictField())
    labels = serializers.ListField(child=serializers.CharField())
    columns = AuditMatrixColumn(many=True)
    matrix = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    n_repaired = serializers.IntegerField()
    errors = AuditError(many=True)


class ErrorsInput(Input):
    target = serializers.SlugField(max_length=80, help_text="A stage in which adjudicators decide.")
    found_by = serializers.ChoiceField(
        choices=list(repairing.FOUND_BY),
        help_text="any reviewer, all, or all with the same label in its place (alike).",
    )


class ErrorsSent(serializers.Serializer):
    n_sent = serializers.IntegerField()
    n_already = serializers.IntegerField(help_text="Had gone to adjudicators before.")


class AuditResultsOfStage(ApiView):
    scopes = {"GET": ApiToken.Scope.READ}

    @extend_schema(responses=AuditTold)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """How many of the drawn labels are right, in the sample and in the population, and what became of the rest."""
        stages = Stage.objects.visible_to(self.person).select_related("project")
        stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
        found = audit_results(stage=stage)
        same = (
            "reviewers",
            "n_complete",
            "n_waiting",
            "n_gone",
            "n_roots",
            "n_unsure",
            "results",
            "strata",
            "agreement",
        )
        told: dict[str, Any] = {name: getattr(found, name) for name in (*same, "labels", "columns", "matrix")}
        errors = [
            {
                "audited": one.audited,
                "audited_values": found.drawn.strata[one.audited.stratum].values,
                "verdicts": [dataclasses.asdict(said) for said in one.said],
                "repair": one.repair.state,
                "now": one.repair.now,
                "sent": one.repair.sent,
            }
            for one in found.errors
        ]
        told |= {
            "field": found.drawn.field.name,
            "seed": found.drawn.seed,
            "n_drawn": found.drawn.n_drawn,
            "n_repaired": found.n_repaired,
            "errors": errors,
        }
        return Response(AuditTold(told).data)


class AuditErrorsOfStage(ApiView):
    scopes = {"POST": ApiToken.Scope.RUN}

    @extend_schema(request=ErrorsInput, responses={201: ErrorsSent})
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Let labels that were found wrong wait for adjudicators, each once."""
        stages = Stage.objects.run_by(self.person).filter(project__slug=slug).select_related("project")
        stage = get_object_or_404(stages, slug=stage_slug)
        sent = self.sent(ErrorsInput)
        target = stages.filter(slug=sent["target"]).first()
        if target is None:
            raise ValidationError({"target": f"This project has no stage {sent['target']!r}."})
        made = repairing.send_errors(stage=stage, target=target, by=self.person, found_by=sent["found_by"])
        return Response(ErrorsSent(made).data, status=201)
