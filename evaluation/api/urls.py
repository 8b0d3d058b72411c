"""The addresses of the API's model side, below /api/v1/."""

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from evaluation.api import audits, cross_checks, endpoints, judging, people, protocols, reports, runs


class FileName(StringConverter):
    """What files of reports are called; NUL, which the database refuses, is in none of them."""

    regex = r"[A-Za-z0-9._-]{1,200}"


register_converter(FileName, "file_name")

urlpatterns: list[URLPattern] = [
    path("protocols/", protocols.Protocols.as_view(), name="api-protocols"),
    path("protocols/<slug:name>/", protocols.ProtocolInFull.as_view(), name="api-protocol"),
    path("projects/<slug:slug>/protocol/", protocols.ProtocolOfProject.as_view(), name="api-project-protocol"),
    path(
        "projects/<slug:slug>/people-agreement/",
        people.PeopleAgreementOfProject.as_view(),
        name="api-people-agreement",
    ),
    path("projects/<slug:slug>/endpoints/", endpoints.Endpoints.as_view(), name="api-endpoints"),
    path("projects/<slug:slug>/endpoints/<int:endpoint_id>/", endpoints.EndpointInFull.as_view(), name="api-endpoint"),
    path("projects/<slug:slug>/runs/", runs.Runs.as_view(), name="api-runs"),
    path("projects/<slug:slug>/runs/<int:run_id>/", runs.RunInFull.as_view(), name="api-run"),
    path("projects/<slug:slug>/runs/<int:run_id>/state/", runs.RunState.as_view(), name="api-run-state"),
    path("projects/<slug:slug>/runs/<int:run_id>/extension/", runs.RunExtension.as_view(), name="api-run-extension"),
    path("projects/<slug:slug>/runs/<int:run_id>/trial/", runs.RunTrial.as_view(), name="api-run-trial"),
    path("projects/<slug:slug>/runs/<int:run_id>/predictions/", runs.Predictions.as_view(), name="api-predictions"),
    path("projects/<slug:slug>/reports/", reports.Reports.as_view(), name="api-reports"),
    path("projects/<slug:slug>/reports/<int:report_id>/", reports.ReportInFull.as_view(), name="api-report"),
    path("projects/<slug:slug>/reports/<int:report_id>/state/", reports.ReportState.as_view(), name="api-report-state"),
    path(
        "projects/<slug:slug>/reports/<int:report_id>/files/<file_name:name>",
        reports.ReportFile.as_view(),
        name="api-report-file",
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/cross-check/agreement/",
        cross_checks.CrossCheckAgreementOfStage.as_view(),
        name="api-cross-check-agreement",
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/judge/", judging.JudgeResultsOfStage.as_view(), name="api-judge"
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/judge/draw/", judging.JudgeDraw.as_view(), name="api-judge-draw"
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/judge/discard/",
        judging.JudgeDiscard.as_view(),
        name="api-judge-discard",
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/audit/results/",
        audits.AuditResultsOfStage.as_view(),
        name="api-audit-results",
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/audit/errors/",
        audits.AuditErrorsOfStage.as_view(),
        name="api-audit-errors",
    ),
]
