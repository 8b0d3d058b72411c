"""Import: drop a file, see its first items as people will see them, mend the mapping, then import all or nothing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.exceptions import GoldpanelError, ImportRefused, WorkNotPossible
from annotate.import_forms import MAX_COLUMNS, ReadingForm, UploadForm, column_rows, posted_mapping
from annotate.models import ImportJob, Project
from annotate.services import importing
from annotate.services.background import cancel_work
from annotate.services.heartbeats import last_heard
from annotate.services.importing.answer_reading import form_of
from annotate.services.importing.preview import preview_of
from annotate.services.importing.reading import label_fields
from annotate.sources.delimited import NEWLINES
from annotate.sources.detect import BINARY_FORMATS, DELIMITED_FORMATS, NESTED_FORMATS
from annotate.sources.sql_tables import GIVEN
from annotate.uploads import was_too_large
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.long_work import by_place, progress_of, refused_as_too_large
from annotate.views.navigation import project_page
from annotate.wording import _

N_JOBS = 20


def _job_run_by(request: PersonRequest, slug: str, job_id: int) -> tuple[Project, ImportJob]:
    project = project_run_by(request.user, slug)
    jobs = ImportJob.objects.run_by(request.user).select_related("project", "stage", "source", "joined", "item_set")
    return project, get_object_or_404(jobs, project=project, pk=job_id)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def upload(request: PersonRequest, slug: str) -> HttpResponse:
    """Choose a file; what was imported before stands below."""
    project = project_run_by(request.user, slug)
    if request.method != "POST":
        return _upload_page(request, project, UploadForm(project=project))
    if was_too_large(request):
        refused = refused_as_too_large()
        return _upload_page(request, project, UploadForm(project=project), status=413, refused=refused)
    form = UploadForm(request.POST, request.FILES, project=project)
    if not form.is_valid():
        return _upload_page(request, project, form, status=422)
    asked = form.cleaned_data
    try:
        job = importing.draft_import(
            project=project,
            by=request.user,
            file=asked["file"],
            name=asked["file"].name,
            stage=asked["stage"],
            tables=asked["tables"] or None,
            tables_name=asked["tables"].name if asked["tables"] else "",
        )
    except ImportRefused as refused:
        return _upload_page(request, project, form, status=422, refused=refused)
    return redirect("import-job", slug, job.pk)


@require_safe
@signed_in
def job(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """A draft: mapping and preview. Else: how far it is, and what came of it."""
    project, row = _job_run_by(request, slug, job_id)
    if row.state == ImportJob.State.DRAFT:
        return _draft_page(request, project, row)
    return render(request, "annotate/import_job.html", _job_context(request, project, row))


@require_POST
@signed_in
def mapping(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Keep what is said about the file, then show the preview anew, or import."""
    project, row = _job_run_by(request, slug, job_id)
    if row.state != ImportJob.State.DRAFT:
        return redirect("import-job", slug, job_id)
    form = ReadingForm(request.POST, project=project)
    meant = posted_mapping(
        request.POST,
        label_fields(project, row.stage),
        form_of(row.stage) if row.stage else None,
        language=request.POST.get("language", "").strip(),
        annotator=request.POST.get("annotator", "").strip()[:200],
        escapes=bool(request.POST.get("escapes")),
    )
    if not form.is_valid() or meant is None:
        return _draft_page(request, project, row, status=422, form=form if not form.is_valid() else None)
    # A button pressed right after a stage was chosen posts the labels of the former one; the choice is stored by then.
    is_for_another_stage = request.POST.get("meant_for", "") not in ("", _stage_name(row))
    try:
        row = _saved(row, form, meant, is_for_another_stage=is_for_another_stage)
        if request.POST.get("step") == "start" and not is_for_another_stage:
            importing.start_import(job=row, by=request.user)
            return redirect("import-job", slug, job_id)
    except ImportRefused as refused:
        row.refresh_from_db()
        return _draft_page(request, project, row, status=422, refused=refused)
    except WorkNotPossible:
        # Leaving the last field sends the form, and the button that was pressed has started the import by now.
        return redirect("import-job", slug, job_id)
    if not request.htmx:
        return redirect("import-job", slug, job_id)
    return _draft_page(request, project, row)


def _saved(row: ImportJob, form: ReadingForm, meant: Any, *, is_for_another_stage: bool) -> ImportJob:
    before, asked = importing.options_of(row), form.cleaned_data
    options = form.options(before)
    join_column = asked["join_column"] or None
    is_joined_otherwise = join_column is not None and (before.join is None or join_column != before.join.column)
    is_queried_otherwise = (options.asked and options.asked.column) != (before.asked and before.asked.column)
    is_asked_otherwise = is_for_another_stage or asked["stage"] != row.stage or is_queried_otherwise
    if options.source != before.source or is_asked_otherwise or is_joined_otherwise:
        # Other columns, or other fields: what was said about the former ones may mean nothing now.
        return importing.reread_draft(job=row, options=options, stage=asked["stage"], join_column=join_column)
    return importing.change_draft(job=row, options=options, mapping=meant, stage=row.stage)


def _stage_name(row: ImportJob) -> str:
    return str(row.stage_id or "none")


@require_safe
@signed_in
def progress(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """The part of the job's page that changes; without htmx the page itself."""
    project, row = _job_run_by(request, slug, job_id)
    if not request.htmx:
        return redirect("import-job", slug, job_id)
    return render(request, "annotate/partials/import_state.html", _job_context(request, project, row))


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
            importing.reopen_import(job=row, by=request.user)
        elif asked == "discard":
            importing.discard_import(job=row)
            messages.success(request, _("The draft and its file are gone."))
            return redirect("import", slug)
    except GoldpanelError as problem:
        messages.error(request, str(problem))
    return redirect("import-job", slug, job_id)


def _upload_page(
    request: PersonRequest,
    project: Project,
    form: UploadForm,
    *,
    status: int = 200,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    jobs = ImportJob.objects.filter(project=project).select_related("source", "stage", "item_set").order_by("-pk")
    context = project_page(project, request.user, "items") | {
        "form": form,
        "refused": refused,
        "problems": by_place(refused.problems) if refused else [],
        "jobs": jobs[:N_JOBS],
        "hearing": last_heard(),
    }
    return render(request, "annotate/import.html", context, status=status)


def _draft_page(
    request: PersonRequest,
    project: Project,
    row: ImportJob,
    *,
    status: int = 200,
    form: ReadingForm | None = None,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    options, meant = importing.options_of(row), importing.mapping_of(row)
    preview = preview_of(row)
    names = [column.name for column in preview.columns]
    stage_form = form_of(row.stage) if row.stage else None
    rows = column_rows(preview.columns, meant, label_fields(project, row.stage), stage_form)
    reading = form or ReadingForm(
        project=project,
        join_columns=[name for name in names if not options.join or name != options.join.key] if row.joined else (),
        query_columns=[name for name in names if not options.asked or name not in GIVEN] if row.joined else (),
        sheets=options.source.sheets,
        initial=ReadingForm.initial_of(row, options, meant),
    )
    context = project_page(project, request.user, "items") | {
        "job": row,
        "options": options,
        "mapping": meant,
        "newline": NEWLINES[options.source.newline],
        "is_delimited": options.source.format in DELIMITED_FORMATS,
        "is_binary": options.source.format in BINARY_FORMATS,
        "is_nested": options.source.format in NESTED_FORMATS,
        "form": reading,
        "rows": rows,
        "n_columns_beyond": max(0, len(names) - MAX_COLUMNS),
        "preview": preview,
        "refused": refused,
        "problems": by_place(refused.problems if refused else preview.problems),
        "without_id": bool(names) and meant.id_column is None,
        "without_marks": meant.answers is None or meant.answers.ground_truth_column is None,
        "meant_for": _stage_name(row),
    }
    template = "annotate/partials/import_draft.html" if request.htmx else "annotate/import_draft.html"
    return render(request, template, context, status=status)


def _job_context(request: PersonRequest, project: Project, row: ImportJob) -> dict[str, Any]:
    context = {"job": row, "problems": by_place(row.report.get("problems", []))}
    return project_page(project, request.user, "items") | progress_of(row) | context
