"""Exports of a project: what can be had, what is being made, what lies ready; and archives that become projects."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.exceptions import ExportNotPossible, WorkNotPossible
from annotate.export_forms import ARCHIVE, ExportForm, RestoreForm
from annotate.models import BackgroundWork, Export, Project, Restoration
from annotate.services import archiving, exporting
from annotate.services.background import cancel_work
from annotate.services.exporting.jobs import file_name
from annotate.services.exporting.kinds import KINDS
from annotate.services.heartbeats import last_heard
from annotate.uploads import was_too_large
from annotate.views.doors import PersonRequest, project_read_by, signed_in
from annotate.views.navigation import project_page
from annotate.wording import _

N_EXPORTS = 50
AT_WORK = (BackgroundWork.State.WAITING, BackgroundWork.State.RUNNING)


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
@signed_in
def exports(request: PersonRequest, slug: str) -> HttpResponse:
    """What can be had, and what was asked for. As a fragment: the list alone, which moves."""
    project = project_read_by(request.user, slug)
    page = project_page(project, request.user, "project")
    if request.method == "POST":
        return _ask(request, project, page)
    if request.htmx:
        return render(request, "annotate/partials/export_list.html", page | _list(request, project))
    return _page(request, project, page, ExportForm(may_run=page["may_run"]))


def _ask(request: PersonRequest, project: Project, page: dict[str, Any]) -> HttpResponse:
    may_run = page["may_run"]
    if request.POST.get("kind") == ARCHIVE:
        asked = {"kind": ARCHIVE, "format": "zip"}
    else:
        form = ExportForm(request.POST, may_run=may_run)
        if not form.is_valid():
            return _page(request, project, page, form, status=422)
        asked = form.cleaned_data
    try:
        exporting.request_export(project=project, by=request.user, may_run=may_run, **asked)
    except ExportNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("exports", project.slug)


def _page(
    request: PersonRequest, project: Project, page: dict[str, Any], form: ExportForm, *, status: int = 200
) -> HttpResponse:
    context = page | _list(request, project) | {"form": form, "days": settings.EXPORT_DAYS}
    return render(request, "annotate/exports.html", context, status=status)


def _list(request: PersonRequest, project: Project) -> dict[str, Any]:
    mine = Export.objects.visible_to(request.user).filter(project=project)
    rows = list(mine.select_related("file").order_by("-pk")[:N_EXPORTS])
    for row in rows:
        kind = KINDS[row.kind]
        form = kind.format(row.format)
        total = row.n_total or 0
        row.title, row.format_label = kind.title, form.label if form else row.format
        row.is_at_work = row.state in AT_WORK
        row.percent = min(100, 100 * row.n_done // total) if total else 0
    is_waiting = any(row.is_at_work for row in rows)
    return {"exports": rows, "is_waiting": is_waiting, "hearing": last_heard() if is_waiting else None}


@require_POST
@signed_in
def export_step(request: PersonRequest, slug: str, export_id: int) -> HttpResponse:
    """Cancel one that waits or runs; make one again that failed, was cancelled, or whose file is gone."""
    row = _export(request, slug, export_id)
    may_run = project_page(row.project, request.user, "")["may_run"]
    try:
        if request.POST.get("step") == "cancel":
            exporting.cancel_export(export=row, by=request.user)
        elif row.state == BackgroundWork.State.DONE:
            exporting.request_export(
                project=row.project, by=request.user, kind=row.kind, format=row.format, may_run=may_run
            )
        else:
            exporting.repeat_export(export=row, by=request.user)
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("exports", slug)


@require_safe
@signed_in
def export_file(request: PersonRequest, slug: str, export_id: int) -> HttpResponseBase:
    """The file, always as an attachment. Not found while there is none: made, failed or removed meanwhile."""
    return attached(_export(request, slug, export_id))


def attached(row: Export) -> FileResponse:
    stored = get_object_or_404(Export.objects.exclude(file=None).select_related("file"), pk=row.pk).file
    return FileResponse(
        stored.file.open("rb"), as_attachment=True, filename=file_name(row), content_type=stored.media_type
    )


def _export(request: PersonRequest, slug: str, export_id: int) -> Export:
    rows = Export.objects.visible_to(request.user).select_related("project", "file")
    found: Export = get_object_or_404(rows, project__slug=slug, pk=export_id)
    return found


# Archives that become projects


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def restore(request: PersonRequest) -> HttpResponse:
    if not request.user.is_staff:
        raise PermissionDenied
    if request.method != "POST":
        return _restore_page(request, RestoreForm())
    if was_too_large(request):
        words = _(
            "Nothing was kept: a file may have %(max_upload_bytes)s bytes. The command restores any size.",
            max_upload_bytes=f"{settings.MAX_UPLOAD_BYTES:,}",
        )
        return _restore_page(request, RestoreForm(), status=413, refused=words)
    form = RestoreForm(request.POST, request.FILES)
    if not form.is_valid():
        return _restore_page(request, form, status=422)
    asked = form.cleaned_data
    row = archiving.request_restoration(
        by=request.user,
        file=asked["file"],
        name=asked["file"].name,
        slug=asked["slug"],
        joins_people=asked["joins_people"],
    )
    return redirect("restoration", row.pk)


def _restore_page(request: PersonRequest, form: RestoreForm, *, status: int = 200, refused: str = "") -> HttpResponse:
    rows = Restoration.objects.held_by(request.user).select_related("project").order_by("-pk")[:N_EXPORTS]
    context = {"form": form, "refused": refused, "restorations": rows, "hearing": last_heard()}
    return render(request, "annotate/restore.html", context, status=status)


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def restoration(request: PersonRequest, restoration_id: int) -> HttpResponse:
    """How far it is, and what came of it. As a fragment: the part that moves."""
    row = get_object_or_404(Restoration.objects.held_by(request.user).select_related("project"), pk=restoration_id)
    is_waiting = row.state in AT_WORK
    context = {
        "restoration": row,
        "is_waiting": is_waiting,
        "hearing": last_heard() if is_waiting else None,
        "problems": [{**problem, "field": problem["member"]} for problem in row.report.get("problems", [])],
    }
    template = "annotate/partials/restoration_state.html" if request.htmx else "annotate/restoration.html"
    return render(request, template, context)


@require_POST
@signed_in
def restoration_cancel(request: PersonRequest, restoration_id: int) -> HttpResponse:
    row = get_object_or_404(Restoration.objects.held_by(request.user), pk=restoration_id)
    try:
        cancel_work(work=row, by=request.user)
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("restoration", row.pk)
