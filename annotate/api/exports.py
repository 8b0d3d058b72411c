"""Everybody's answers on their way out, streamed."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from annotate.api import for_readers
from annotate.api.base import ApiView
from annotate.models import ApiToken
from annotate.views.doors import project_run_by
from annotate.views.files import answers_csv


class ExportAnswers(ApiView):
    scopes = {"GET": ApiToken.Scope.EXPORT}

    @extend_schema(
        parameters=[for_readers.ExportQuery],
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.BINARY, "One row for each revision of an answer.")},
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Every answer of the project as CSV, by pseudonym. For its admins."""
        project = project_run_by(self.person, slug)
        return answers_csv(project, self.asked(for_readers.ExportQuery)["form"])
