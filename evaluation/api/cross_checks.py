"""How far a cross-check agrees with the authors, for programs."""

from __future__ import annotations

import dataclasses

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.models import ApiToken, Stage
from evaluation.services.cross_checks import cross_check_agreement


class PartOfPairs(serializers.Serializer):
    name = serializers.CharField(help_text="label, written by, or a stratum.")
    value = serializers.CharField()
    n = serializers.IntegerField(help_text="Pairs; of a label, how often it was given.")
    figures = serializers.ListField(child=serializers.DictField())


class CrossCheckAgreement(serializers.Serializer):
    """The author's label against that of somebody of the other group. Figures as in reports."""

    field = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    n_pairs = serializers.IntegerField(help_text="Items with both labels.")
    n_waiting = serializers.IntegerField(help_text="Items without a second label yet.")
    n_unlabelled = serializers.IntegerField(help_text="Items without a label of their author's.")
    n_further = serializers.IntegerField(help_text="Second labels beyond the first of an item, left out.")
    figures = serializers.ListField(child=serializers.DictField(), help_text="Percent and Scott's pi first.")
    matrix = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Authors in rows."
    )
    parts = PartOfPairs(many=True)


class CrossCheckAgreementOfStage(ApiView):
    scopes = {"GET": ApiToken.Scope.READ}

    @extend_schema(responses=CrossCheckAgreement)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """How far authors and cross-checkers agree, in all, by label, by group and by stratum."""
        stages = Stage.objects.visible_to(self.person).select_related("project")
        stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
        found = cross_check_agreement(stage=stage)
        pairs = found.pairs
        parts = [*found.by_label, *found.by_group, *(part for parts in found.by_stratum.values() for part in parts)]
        told = {
            "field": pairs.field.name,
            "labels": pairs.labels,
            "n_pairs": len(pairs.pairs),
            "n_waiting": pairs.n_waiting,
            "n_unlabelled": pairs.n_unlabelled,
            "n_further": pairs.n_further,
            "figures": found.figures,
            "matrix": found.matrix,
            "parts": [dataclasses.asdict(part) for part in parts],
        }
        return Response(CrossCheckAgreement(told).data)
