"""Import a log: choose the file and its items, see what it matches, then import all or nothing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.exceptions import GoldpanelError, ImportRefused
from annotate.models import Project
from annotate.services.background import cancel_work
from annotate.uploads import was_too_large
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.long_work import by_place, progress_of, refused_as_too_large
from annotate.views.navigation import project_page
from annotate.wording import _
from evaluation.log_forms import LogDraftForm, LogUploadForm
from evaluation.models import LogImport, Prediction
from evaluation.services import log_importing

N_JOBS = 20
STATE = LogImport.State
OUTCOME_WORDS = dict(Prediction.State.choices)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def upload(request: PersonRequest, slug: str) -> HttpResponse:
    """Choose a log; what was imported before stands below."""
    project = project_run_by(request.user, slug)
    if request.method != "POST":
        return _upload_page(request, project, LogUploadForm(project=project))
    if was_too_large(request):
        return _upload_page(request, project, LogUploadForm(project=project), 413, refused_as_too_large())
    form = LogUploadForm(request.POST, request.FILES, project=project)
    if not form.is_valid():
        return _upload_page(request, project, form, 422)
    asked = form.cleaned_data
    try:
        job = log_importing.draft_log_import(
            project=project,
            by=request.user,
            file=asked["file"],
            name=asked["file"].name,
            item_set=asked["item_set"],
            **form.reading_values(),
        )
    except ImportRefused as refused:
        return _upload_page(request, project, form, refused.http_status, refused)
    return redirect("run-import-job", slug, job.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def job(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """A draft: what it matches; POST reads it in another way, or starts it. Else: how far it is, what came of it."""
    project, row = _job_run_by(request, slug, job_id)
    if row.state != STATE.DRAFT:
        if request.method == "POST":
            return redirect("run-import-job", slug, job_id)
        return render(request, "evaluation/log_import.html", _job_context(request, project, row))
    if request.method != "POST":
        form = LogDraftForm(project=project, initial=LogDraftForm.initial_of(row))
        return _draft_page(request, project, row, form)
    form = LogDraftForm(request.POST, project=project)
    if not form.is_valid():
        return _draft_page(request, project, row, form, 422)
    try:
        row = log_importing.change_log_draft(job=row, **form.reading_values())
        if request.POST.get("step") == "start":
            log_importing.start_log_import(job=row, by=request.user)
    except GoldpanelError as refused:
        form.add_error(None, str(refused))
        return _draft_page(request, project, row, form, 422)
    return redirect("run-import-job", slug, job_id)


@require_safe
@signed_in
def progress(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """The part of the page that changes; without htmx the page itself."""
    project, row = _job_run_by(request, slug, job_id)
    if not request.htmx:
        return redirect("run-import-job", slug, job_id)
    return render(request, "evaluation/partials/log_import_state.html", _job_context(request, project, row))


@require_POST
@signed_in
def step(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Cancel what runs or waits, open what failed again, discard a draft."""
    __, row = _job_run_by(request, slug, job_id)
    asked = request.POST.get("step", "")
    try:
        if asked == "cancel":
            cancel_work(work=row, by=request.user)
        elif asked == "reopen":
            log_importing.reopen_log_import(job=row, by=request.user)
        elif asked == "discard":
            log_importing.discard_log_import(job=row)
            messages.success(request, _("The draft and its file are gone."))
            return redirect("run-import", slug)
    except GoldpanelError as problem:
        messages.error(request, str(problem))
    return redirect("run-import-job", slug, job_id)


def _job_run_by(request: PersonRequest, slug: str, job_id: int) -> tuple[Project, LogImport]:
    project = project_run_by(request.user, slug)
    jobs = LogImport.objects.run_by(request.user)
    related = ("project", "source", "item_set", "stage_version__stage")
    return project, get_object_or_404(jobs.select_related(*related), project=project, pk=job_id)


def _upload_page(
    request: PersonRequest,
    project: Project,
    form: LogUploadForm,
    status: int = 200,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    jobs = LogImport.objects.filter(project=project).select_related("source", "item_set").order_by("-pk")
    context = project_page(project, request.user, "runs") | {
        "form": form,
        "is_ready": project.item_sets.exists() and project.stages.exists(),
        "refused": refused,
        "jobs": jobs[:N_JOBS],
    }
    return render(request, "evaluation/log_upload.html", context, status=status)


def _draft_page(
    request: PersonRequest, project: Project, row: LogImport, form: LogDraftForm, status: int = 200
) -> HttpResponse:
    context = _job_context(request, project, row) | {"form": form}
    return render(request, "evaluation/log_draft.html", context, status=status)


def _job_context(request: PersonRequest, project: Project, row: LogImport) -> dict[str, Any]:
    context = {
        "job": row,
        "report": row.report,
        "outcomes": [[(OUTCOME_WORDS[state], n) for state, n in run["outcomes"]] for run in row.report.get("runs", [])],
        "problems": by_place(row.report.get("problems", [])),
    }
    return project_page(project, request.user, "runs") | progress_of(row) | context
