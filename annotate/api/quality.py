"""How people work in a stage, as the quality page shows it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.stages import READ, stage_read_by
from annotate.services import quality_page


class PersonQuality(serializers.Serializer):
    """The columns of the quality table of one person. Nothing here is a verdict.

    null: not known, or not defined, which is no 0; `unknown` says of each such column why.
    """

    person = serializers.CharField()
    excluded = serializers.BooleanField()
    answers = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    timed_answers = serializers.IntegerField()
    fast_answers = serializers.IntegerField(allow_null=True)
    longest_run = serializers.IntegerField(allow_null=True)
    answers_with_value = serializers.IntegerField()
    most_frequent = serializers.CharField(allow_null=True, help_text="A key: equal keys are equal answers.")
    most_frequent_share = serializers.FloatField(allow_null=True)
    others_share = serializers.FloatField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    shared_items = serializers.IntegerField()
    watched_answers = serializers.IntegerField()
    answers_with_paste = serializers.IntegerField(allow_null=True)
    pasted_characters = serializers.IntegerField(allow_null=True)
    answers_page_left = serializers.IntegerField(allow_null=True)
    away_seconds = serializers.IntegerField(allow_null=True)
    checks = serializers.IntegerField()
    checks_right = serializers.IntegerField(allow_null=True)
    checks_lower = serializers.FloatField(allow_null=True, help_text="Wilson's interval of 95 %.")
    checks_upper = serializers.FloatField(allow_null=True)
    checks_skipped = serializers.IntegerField()
    qualification_attempts = serializers.IntegerField()
    qualified = serializers.BooleanField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField(), help_text="Column -> why it is null.")


class QualityOfStage(serializers.Serializer):
    """stage_median_seconds: of all timed first answers. floor_seconds: below it an answer counts as fast. Both are null
    where no first answer in the stage has a time."""

    stage_median_seconds = serializers.FloatField(allow_null=True)
    floor_seconds = serializers.FloatField(allow_null=True)
    people = PersonQuality(many=True)


class StageQuality(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=QualityOfStage)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Signals of everybody who answered in the stage, from first answers: checks, times, runs, agreement."""
        found = quality_page.stage_quality(stage_read_by(self, slug, stage_slug))
        told = {
            "stage_median_seconds": found.signals.seconds,
            "floor_seconds": found.signals.floor,
            "people": list(quality_page.signals_told(found)),
        }
        return Response(QualityOfStage(told).data)
