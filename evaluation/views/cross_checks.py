"""How far a cross-check agrees with the authors, and the matrix behind it."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.csv_text import csv_chunks
from annotate.exceptions import WorkNotPossible
from annotate.models import Stage
from annotate.services.cross_checking import draw_made
from annotate.views.doors import PersonRequest, project_read_by, signed_in
from annotate.views.navigation import project_page
from evaluation.services import cross_checks


@require_safe
@signed_in
def cross_check_agreement(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    stage = _stage(request, slug, stage_slug)
    context = project_page(project, request.user, "") | {"stage": stage, "drawn": draw_made(stage)}
    try:
        found = cross_checks.cross_check_agreement(stage=stage)
    except WorkNotPossible as refusal:
        context["problem"] = str(refusal)
    else:
        captions = {option.value: option.caption for option in found.pairs.field.options}
        labels = [captions.get(label, label) for label in found.pairs.labels]
        context |= {
            "found": found,
            "labels": labels,
            "matrix": [
                {"label": label, "cells": row, "total": sum(row)}
                for label, row in zip(labels, found.matrix, strict=True)
            ],
            "n_resamples": cross_checks.RESAMPLES,
            "seed": cross_checks.SEED,
        }
    return render(request, "evaluation/cross_check.html", context)


@require_safe
@signed_in
def cross_check_matrix(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponseBase:
    """Both labels of every item, as CSV: each figure of the page can be worked out again from it."""
    stage = _stage(request, slug, stage_slug)
    try:
        rows = list(cross_checks.matrix_rows(stage=stage))
    except WorkNotPossible as refusal:
        return HttpResponse(str(refusal), status=refusal.http_status, content_type="text/plain; charset=utf-8")
    response = StreamingHttpResponse(csv_chunks(rows, "exact"), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{stage_slug}-cross-check.csv"'
    return response


def _stage(request: PersonRequest, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.visible_to(request.user).filter(project__slug=slug)
    stage: Stage = get_object_or_404(stages.select_related("project"), slug=stage_slug)
    return stage
