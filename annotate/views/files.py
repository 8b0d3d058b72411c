"""Files on their way out: always as attachments, never shown by the browser under our address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotate.csv_text import FORMS, csv_chunks
from annotate.exceptions import WorkNotPossible
from annotate.models import Project, StoredFile
from annotate.services.exporting import answer_rows
from annotate.views.doors import PersonRequest, project_run_by, signed_in


@require_safe
@signed_in
def stored_file(request: PersonRequest, file_id: int) -> HttpResponseBase:
    stored = get_object_or_404(StoredFile.objects.visible_to(request.user), pk=file_id)
    return FileResponse(
        stored.file.open("rb"), as_attachment=True, filename=stored.name, content_type=stored.media_type
    )


@require_safe
@signed_in
def export_answers(request: PersonRequest, slug: str) -> HttpResponseBase:
    project = project_run_by(request.user, slug)
    form = request.GET.get("form", "exact")
    if form not in FORMS:
        return HttpResponse(f"form is one of {', '.join(FORMS)}", status=400, content_type="text/plain")
    return answers_csv(project, form)


def answers_csv(project: Project, form: str) -> StreamingHttpResponse:
    """Every answer of the project, streamed. form: one of FORMS."""
    suffix = "" if form == "exact" else f"-{form}"
    return csv_file(f"{project.slug}-answers{suffix}.csv", answer_rows(project=project), form)


def csv_file(name: str, rows: Iterable[Sequence[object]], form: str = "spreadsheet") -> StreamingHttpResponse:
    """Rows as a file to download, streamed. form: one of FORMS."""
    response = StreamingHttpResponse(csv_chunks(rows, form), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def figures_csv(
    name: str, rows: Callable[[], Iterable[Sequence[object]]], form: str = "spreadsheet"
) -> HttpResponseBase:
    """The rows behind figures as a file; where there are no figures yet, the reason in plain words.

    rows: told what is refused only when they are read, so they are read before anything is sent.
    """
    try:
        found = list(rows())
    except WorkNotPossible as refusal:
        return HttpResponse(str(refusal), status=refusal.http_status, content_type="text/plain; charset=utf-8")
    return csv_file(name, found, form)
