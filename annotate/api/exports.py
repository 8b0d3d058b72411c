"""A project's data on its way out: answers at once, streamed; everything as a file that a worker makes."""

from __future__ import annotations

from django.http import FileResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_readers
from annotate.api.base import ApiView
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, Export, Project
from annotate.services import exporting
from annotate.views.doors import project_read_by, project_run_by
from annotate.views.exporting import attached
from annotate.views.files import answers_csv

EXPORT = ApiToken.Scope.EXPORT


class ExportAnswers(ApiView):
    scopes = {"GET": EXPORT}

    @extend_schema(
        parameters=[for_readers.ExportQuery],
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.BINARY, "One row for each revision of an answer.")},
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Every answer of the project as CSV, by pseudonym. For its admins."""
        project = project_run_by(self.person, slug)
        return answers_csv(project, self.asked(for_readers.ExportQuery)["form"])


class Exports(ApiView):
    scopes = {"GET": EXPORT, "POST": EXPORT}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.ExportOfProject))
    def get(self, request: Request, slug: str) -> Response:
        """The exports of a project, newest first: to admins all of them, to other readers those of what they read."""
        project = project_read_by(self.person, slug)
        rows = Export.objects.visible_to(self.person).filter(project=project).select_related("file")
        return self.page(rows, for_readers.ExportOfProject, newest_first=True)

    @extend_schema(request=for_readers.NewExportInput, responses={202: for_readers.ExportOfProject})
    def post(self, request: Request, slug: str) -> Response:
        """Have a file made by a worker. The same one that is under way already is told instead of a second."""
        project = project_read_by(self.person, slug)
        sent = self.sent(for_readers.NewExportInput)
        may_run = Project.objects.run_by(self.person).filter(pk=project.pk).exists()
        export = exporting.request_export(project=project, by=self.person, may_run=may_run, **sent)
        return Response(for_readers.ExportOfProject(export).data, status=202)


class ExportInFull(ApiView):
    scopes = {"GET": EXPORT}

    @extend_schema(responses=for_readers.ExportOfProject)
    def get(self, request: Request, slug: str, export_id: int) -> Response:
        """How far it is, and until when its file is kept."""
        return Response(for_readers.ExportOfProject(_export(self, slug, export_id)).data)


class ExportState(ApiView):
    scopes = {"POST": EXPORT}

    @extend_schema(request=for_readers.ExportStepInput, responses=for_readers.ExportOfProject)
    def post(self, request: Request, slug: str, export_id: int) -> Response:
        """Cancel what waits or runs; repeat what failed or was cancelled."""
        export = _export(self, slug, export_id)
        if self.sent(for_readers.ExportStepInput)["step"] == "cancel":
            exporting.cancel_export(export=export, by=self.person)
        else:
            exporting.repeat_export(export=export, by=self.person)
        return Response(for_readers.ExportOfProject(_export(self, slug, export_id)).data)


class ExportFile(ApiView):
    scopes = {"GET": EXPORT}

    @extend_schema(responses={(200, "*/*"): OpenApiResponse(OpenApiTypes.BINARY, "The file, once it is made.")})
    def get(self, request: Request, slug: str, export_id: int) -> FileResponse:
        """The file. Not found before it is made and after it was removed."""
        return attached(_export(self, slug, export_id))


def _export(view: ApiView, slug: str, export_id: int) -> Export:
    rows = Export.objects.visible_to(view.person).select_related("file", "project")
    export: Export = get_object_or_404(rows, project__slug=slug, pk=export_id)
    return export
