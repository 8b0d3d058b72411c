"""Reports of a project: the list, a new one, one of them, and its files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.exceptions import WorkNotPossible
from annotate.models import ItemSet, Person, Project, StoredFile
from annotate.services.heartbeats import last_heard
from annotate.services.protocols import protocol_title
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.wording import _
from evaluation.models import Report, Run
from evaluation.protocols import ReportSpec
from evaluation.report_forms import ReportForm
from evaluation.reports import tables, words
from evaluation.reports.further_sections import further_sections
from evaluation.services import presets, reporting
from evaluation.suggesting import asked_together

# Read on the report's page alone: a list of fifty reports must not carry fifty matrices.
_LARGE = ("manifest", "matrices", "figures")
_ENDED = (Report.State.DONE, Report.State.FAILED, Report.State.CANCELLED)


@require_safe
@signed_in
def reports(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    rows = Report.objects.visible_to(request.user).filter(project=project).defer(*_LARGE)
    context = project_page(project, request.user, "reports") | {
        "reports": rows.select_related("stage", "item_set", "primary_run").order_by("-pk")[:200],
        "is_ready": ItemSet.objects.filter(project=project).exists() and project.stages.exists(),
    }
    return render(request, "evaluation/reports.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def report_new(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    offered = presets.offered_reports(project)
    spec = next((one for one in offered if one.name == request.GET.get("spec")), None)
    form = ReportForm(request.POST or None, project=project, initial=_suggested(project, spec))
    if request.method == "POST" and form.is_valid():
        data = {name: value for name, value in form.cleaned_data.items() if name != "comparison"}
        try:
            report = reporting.create_report(project=project, by=request.user, **data)
        except reporting.ReportNotPossible as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("report", slug, report.pk)
    status = 422 if form.is_bound else 200
    context = project_page(project, request.user, "reports") | {
        "form": form,
        "protocol_title": protocol_title(project),
        "specs": offered,
        "spec": spec,
        "missing_strata": presets.missing_strata(project, spec) if spec else [],
        "missing_scorers": [words.measure_words(name) for name in presets.missing_scorers(spec)] if spec else [],
    }
    return render(request, "evaluation/report_new.html", context, status=status)


@require_safe
@signed_in
def report(request: PersonRequest, slug: str, report_id: int) -> HttpResponse:
    project, row = _report_read_by(request.user, slug, report_id)
    context = project_page(project, request.user, "reports") | {"report": row}
    if row.state == Report.State.DONE:
        return render(request, "evaluation/report.html", context | _results(row))
    return render(request, "evaluation/report_waiting.html", context | {"worker": last_heard("worker")})


@require_safe
@signed_in
def report_progress(request: PersonRequest, slug: str, report_id: int) -> HttpResponse:
    """The part of the waiting page that moves; once the report has ended, the page loads itself again."""
    project, row = _report_read_by(request.user, slug, report_id)
    if not request.htmx:
        return redirect("report", slug, report_id)
    if row.state in _ENDED:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    context = project_page(project, request.user, "reports") | {"report": row, "worker": last_heard("worker")}
    return render(request, "evaluation/partials/report_progress.html", context)


@require_POST
@signed_in
def report_cancel(request: PersonRequest, slug: str, report_id: int) -> HttpResponse:
    row = _report_run_by(request.user, slug, report_id)
    try:
        reporting.cancel_report(report=row, by=request.user)
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("report", slug, report_id)


@require_POST
@signed_in
def report_again(request: PersonRequest, slug: str, report_id: int) -> HttpResponse:
    row = _report_run_by(request.user, slug, report_id)
    try:
        reporting.remake_report(report=row, by=request.user)
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("report", slug, report_id)


@require_safe
@signed_in
def report_file(request: PersonRequest, slug: str, report_id: int, name: str) -> HttpResponseBase:
    """One of the files made with the report, always as an attachment; an <img> shows a chart all the same."""
    _, row = _report_read_by(request.user, slug, report_id)
    return attached(row, get_object_or_404(row.files.visible_to(request.user), name=name))


def attached(report: Report, stored: StoredFile) -> FileResponse:
    return FileResponse(
        stored.file.open("rb"),
        as_attachment=True,
        filename=f"{report.project.slug}-report-{report.pk}-{stored.name}",
        content_type=stored.media_type,
    )


def _report_read_by(person: Person | Any, slug: str, report_id: int) -> tuple[Project, Report]:
    rows = Report.objects.visible_to(person).defer("matrices")
    row = get_object_or_404(
        rows.select_related("project", "stage", "item_set", "primary_run"), project__slug=slug, pk=report_id
    )
    return row.project, row


def _report_run_by(person: Person | Any, slug: str, report_id: int) -> Report:
    return get_object_or_404(Report.objects.run_by(person).defer(*_LARGE), project__slug=slug, pk=report_id)


def _results(row: Report) -> dict[str, Any]:
    """The figures in the shape of the page's tables."""
    manifest, figures = row.manifest, row.figures
    main = tables.main_table(
        figures, scorers=[name for name, _ in manifest["scorers"]], primary_scorer=row.primary_scorer
    )
    first = main["rows"][0]["measures"][0] if main["rows"] else None
    files = {stored.name: stored for stored in row.files.all()}
    failed = [
        outcomes
        for outcomes in tables.outcomes_table(figures)
        if any(part["name"] in words.TECHNICAL for part in outcomes["parts"])
    ]
    return {
        "manifest": manifest,
        "main": main,
        "first": first,
        "comparisons": tables.comparisons_table(figures),
        "planning": tables.planning(figures),
        "leave_one_out": tables.leave_one_out_table(figures),
        "agreement": tables.agreement_table(figures),
        "agreement_parts": tables.agreement_part_tables(figures),
        "votes": tables.votes_table(figures),
        "outcomes": tables.outcomes_table(figures),
        "failed": failed,
        "people": tables.people_table(figures),
        "best_person": tables.best_person(figures),
        "breakdowns": tables.breakdown_tables(figures),
        "measure": words.measure_words(row.primary_scorer),
        "sections": further_sections(figures, manifest, primary_scorer=row.primary_scorer),
        "charted_run": tables.charted_run(figures, primary_run=row.primary_run_id),
        "files": files,
        "downloads": _downloads(files, manifest),
    }


# What each file holds, in the order in which they are offered.
_CONTENTS = (
    ("answers", _("Answers"), _("one row per answer, of people and models alike")),
    ("figures", _("Figures"), _("one row per figure, with interval and circumstances")),
    ("votes", _("Votes"), _("one row per item: how its vote ended")),
    ("matrix", _("Label matrix"), _("items × people, behind every agreement coefficient")),
    ("scores", _("Score matrix"), _("items × people and runs, behind every accuracy and difference")),
    ("audit-errors", _("Errors that audits found"), _("one row per label that was called wrong: what became of it")),
)


def _downloads(files: dict[str, Any], manifest: dict[str, Any]) -> list[dict[str, Any]]:
    contents = [
        *_CONTENTS,
        *(
            (f"audit-verdicts-{audit['stage']}", audit["title"], _("one row per audited label, with its verdicts"))
            for audit in manifest.get("audits", ())
        ),
        *(
            (f"judgements-{draw['stage']}", draw["title"], _("one row per answer, or pair, drawn for judges"))
            for draw in manifest.get("judged", ())
        ),
    ]
    return [
        {"label": label, "words": said, "exact": f"{name}.csv", "spreadsheet": f"{name}.spreadsheet.csv"}
        for name, label, said in contents
        if f"{name}.csv" in files
    ]


def _suggested(project: Project, spec: ReportSpec | None = None) -> dict[str, Any]:
    """A stage with its newest set, its finished runs, the newest of them as primary: a start, to be changed.

    spec: what the protocol of the project says of this report; then with the runs of all stages that ask the same.
    """
    stage, item_set = asked_together(project, project.stages.get(slug=spec.stage) if spec else None)
    done = Run.objects.filter(project=project, state=Run.State.DONE)
    if spec:
        done = done.filter(stage_version__stage__slug__in=presets.stages_that_ask(project, spec.field))
    else:
        done = done.filter(stage_version__stage=stage)
    finished = list(done.order_by("-pk").values_list("pk", flat=True))
    suggested = {
        "title": "People against models",
        "stage": stage,
        "item_set": item_set,
        "runs": finished,
        "primary_run": finished[0] if finished else None,
    }
    if spec and stage:
        suggested |= {
            "title": spec.name,
            "comparison": f"{stage.pk}:{spec.field}:{spec.scorer}",
            "further_scorers": list(spec.further_scorers),
            "every_run_is_primary": spec.every_run_is_primary,
            "primary_run": None if spec.every_run_is_primary else suggested["primary_run"],
        }
    return suggested
