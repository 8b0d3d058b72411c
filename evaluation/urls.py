"""The pages of the model side and the numbers."""

from django.urls import URLPattern, path

from evaluation.views import (
    agreement,
    audits,
    cross_checks,
    endpoints,
    judging,
    log_importing,
    metrics,
    needs,
    protocols,
    reports,
    runs,
    side_by_side,
)

urlpatterns: list[URLPattern] = [
    # Published protocols
    path("protocols/", protocols.protocols, name="protocols"),
    path("protocols/<slug:name>/", protocols.protocol, name="protocol"),
    path("p/<slug:slug>/protocols/", protocols.project_protocols, name="project-protocols"),
    path("p/<slug:slug>/protocols/<slug:name>/", protocols.project_protocol, name="project-protocol"),
    # Runs and endpoints
    path("p/<slug:slug>/runs/", runs.runs, name="runs"),
    path("p/<slug:slug>/runs/needs/", needs.needs_of_runs, name="run-needs"),
    path("p/<slug:slug>/runs/new/", runs.run_new, name="run-new"),
    path("p/<slug:slug>/runs/<int:run_id>/", runs.run, name="run"),
    path("p/<slug:slug>/runs/<int:run_id>/progress/", runs.run_moving, name="run-progress"),
    path("p/<slug:slug>/runs/<int:run_id>/prompts/", runs.run_prompts, name="run-prompts"),
    path("p/<slug:slug>/runs/<int:run_id>/start/", runs.run_start, name="run-start"),
    path("p/<slug:slug>/runs/<int:run_id>/pause/", runs.run_pause, name="run-pause"),
    path("p/<slug:slug>/runs/<int:run_id>/resume/", runs.run_resume, name="run-resume"),
    path("p/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="run-cancel"),
    path("p/<slug:slug>/runs/<int:run_id>/repeat-failed/", runs.run_repeat, name="run-repeat-failed"),
    path("p/<slug:slug>/runs/<int:run_id>/discard/", runs.run_discard, name="run-discard"),
    path("p/<slug:slug>/runs/<int:run_id>/budget/", runs.run_budget, name="run-budget"),
    path("p/<slug:slug>/runs/<int:run_id>/extend/", runs.run_extend, name="run-extend"),
    path("p/<slug:slug>/runs/<int:run_id>/trial/", runs.run_trial, name="run-trial"),
    path("p/<slug:slug>/runs/<int:run_id>/trial/start/", runs.trial_start, name="trial-start"),
    path("p/<slug:slug>/runs/<int:run_id>/trial/cancel/", runs.trial_cancel, name="trial-cancel"),
    path("p/<slug:slug>/runs/<int:run_id>/<int:prediction_id>/", runs.prediction, name="prediction"),
    path("p/<slug:slug>/runs/import/", log_importing.upload, name="run-import"),
    path("p/<slug:slug>/runs/import/<int:job_id>/", log_importing.job, name="run-import-job"),
    path("p/<slug:slug>/runs/import/<int:job_id>/progress/", log_importing.progress, name="run-import-progress"),
    path("p/<slug:slug>/runs/import/<int:job_id>/step/", log_importing.step, name="run-import-step"),
    path("p/<slug:slug>/endpoints/", endpoints.endpoints, name="endpoints"),
    path("p/<slug:slug>/endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("p/<slug:slug>/endpoints/<int:endpoint_id>/", endpoints.endpoint, name="endpoint"),
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
    path("p/<slug:slug>/agreement/people/", agreement.people_agreement, name="people-agreement"),
    # The installation itself
    path("metrics", metrics.metrics, name="metrics"),
    # What a cross-check came to
    path(
        "p/<slug:slug>/stages/<slug:stage_slug>/cross-check/agreement/",
        cross_checks.cross_check_agreement,
        name="cross-check-agreement",
    ),
    path(
        "p/<slug:slug>/stages/<slug:stage_slug>/cross-check/matrix.csv",
        cross_checks.cross_check_matrix,
        name="cross-check-matrix",
    ),
    # What people judge of models' answers
    path("p/<slug:slug>/stages/<slug:stage_slug>/judge/draw/", judging.judge_draw, name="judge-draw"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/judge/discard/", judging.judge_discard, name="judge-discard"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/judge/", judging.judge_results, name="judge-results"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/judge/judged.csv", judging.judge_matrix, name="judge-matrix"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/judge/judged.json", judging.judge_figures, name="judge-figures"),
    # What an audit says
    path("p/<slug:slug>/stages/<slug:stage_slug>/audit/results/", audits.audit_results, name="audit-results"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/audit/verdicts.csv", audits.audit_verdicts, name="audit-verdicts"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/audit/errors/", audits.audit_errors, name="audit-errors"),
]
