"""The pages of the model side and the numbers."""

from django.urls import URLPattern, path

from evaluation.views import agreement, reports, side_by_side

urlpatterns: list[URLPattern] = [
    # Reports and the numbers
    path("p/<slug:slug>/reports/", reports.reports, name="reports"),
    path("p/<slug:slug>/reports/new/", reports.report_new, name="report-new"),
    path("p/<slug:slug>/reports/<int:report_id>/", reports.report, name="report"),
    path("p/<slug:slug>/reports/<int:report_id>/progress/", reports.report_progress, name="report-progress"),
    path("p/<slug:slug>/reports/<int:report_id>/cancel/", reports.report_cancel, name="report-cancel"),
    path("p/<slug:slug>/reports/<int:report_id>/again/", reports.report_again, name="report-again"),
    path("p/<slug:slug>/reports/<int:report_id>/<str:name>", reports.report_file, name="report-file"),
    path("p/<slug:slug>/side-by-side/", side_by_side.side_by_side, name="side-by-side"),
    path("p/<slug:slug>/agreement/", agreement.agreement_now, name="agreement-now"),
]
