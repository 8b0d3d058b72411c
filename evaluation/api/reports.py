"""Reports: named before they are made, made by a worker, with their figures and files."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView, stage_pk
from annotate.api.inputs import checked, filled
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, StoredFile
from annotate.views.doors import project_read_by, project_run_by
from evaluation.api import for_admins, for_readers
from evaluation.models import Report
from evaluation.report_forms import ReportForm
from evaluation.services import reporting
from evaluation.views.reports import attached

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
STEPS = {"cancel": reporting.cancel_report, "again": reporting.remake_report}
# A page of reports must not carry the matrices of all of them.
LARGE = ("manifest", "matrices", "figures")


class Reports(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.ReportInProject))
    def get(self, request: Request, slug: str) -> Response:
        """The reports of a project, newest first."""
        project = project_read_by(self.person, slug)
        rows = Report.objects.visible_to(self.person).filter(project=project).defer(*LARGE).select_related("stage")
        return self.page(rows, for_readers.ReportInProject, newest_first=True)

    @extend_schema(request=for_admins.NewReportInput, responses={202: for_readers.ReportInFull})
    def post(self, request: Request, slug: str) -> Response:
        """Name a comparison before its results are seen, and have it made by a worker."""
        project = project_run_by(self.person, slug)
        sent = self.sent(for_admins.NewReportInput)
        stage = stage_pk(project.stages.all(), sent["stage"])
        comparison = f"{stage}:{sent['field']}:{sent['primary_scorer']}"
        asked = checked(filled(ReportForm, sent | {"stage": stage, "comparison": comparison}, project=project))
        asked.pop("comparison", None)
        report = reporting.create_report(project=project, by=self.person, **asked)
        return Response(for_readers.ReportInFull(report).data, status=202)


class ReportInFull(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=for_readers.ReportInFull)
    def get(self, request: Request, slug: str, report_id: int) -> Response:
        """A report with its figures and files; before it is done, there are none."""
        return Response(for_readers.ReportInFull(_report_read(self, slug, report_id)).data)


class ReportState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.ReportStepInput, responses=for_readers.ReportInFull)
    def post(self, request: Request, slug: str, report_id: int) -> Response:
        """Cancel it while it is being made, or have one that failed or was cancelled made again."""
        rows = Report.objects.run_by(self.person).defer(*LARGE)
        report: Report = get_object_or_404(rows, project__slug=slug, pk=report_id)
        STEPS[self.sent(for_admins.ReportStepInput)["step"]](report=report, by=self.person)
        return Response(for_readers.ReportInFull(_report_read(self, slug, report_id)).data)


class ReportFile(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, "The file.")})
    def get(self, request: Request, slug: str, report_id: int, name: str) -> FileResponse:
        """One of the files made with the report, in its own media type."""
        report = _report_read(self, slug, report_id)
        stored: StoredFile = get_object_or_404(report.files.visible_to(self.person), name=name)
        return attached(report, stored)


def _report_read(view: ApiView, slug: str, report_id: int) -> Report:
    rows: Any = Report.objects.visible_to(view.person).defer("matrices").select_related("project", "stage")
    report: Report = get_object_or_404(rows.prefetch_related("runs", "files"), project__slug=slug, pk=report_id)
    return report
