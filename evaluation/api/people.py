"""How far each person of a project agrees with the others, for programs."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.models import ApiToken
from annotate.views.doors import project_run_by
from evaluation.services.agreement import people_now


class PersonAgreement(serializers.Serializer):
    person = serializers.CharField()
    figure = serializers.DictField(help_text="As in reports: value, interval, n, and what was left out.")


class StageAgreement(serializers.Serializer):
    """people is null where the stage has too many answers: a report has the figure then."""

    stage = serializers.CharField()
    people = PersonAgreement(many=True, allow_null=True)


class PeopleAgreement(serializers.Serializer):
    stages = StageAgreement(many=True)


class PeopleAgreementOfProject(ApiView):
    scopes = {"GET": ApiToken.Scope.READ}

    @extend_schema(responses=PeopleAgreement)
    def get(self, request: Request, slug: str) -> Response:
        """Each person against the vote of the others, in the first stages that have answers. For admins."""
        project = project_run_by(self.person, slug)
        stages = [
            {
                "stage": one.stage.slug,
                "people": None
                if one.figures is None
                else [{"person": name, "figure": figure} for name, figure in sorted(one.figures.items())],
            }
            for one in people_now(project=project)
        ]
        return Response(PeopleAgreement({"stages": stages}).data)
