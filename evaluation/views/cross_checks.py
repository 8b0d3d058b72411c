"""How far a cross-check agrees with the authors, and the matrix behind it."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.exceptions import WorkNotPossible
from annotate.services.cross_checking import draw_made
from annotate.views.doors import PersonRequest, project_read_by, signed_in, stage_read_by
from annotate.views.files import figures_csv
from annotate.views.navigation import project_page
from evaluation.services import cross_checks


@require_safe
@signed_in
def cross_check_agreement(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    stage = stage_read_by(request.user, slug, stage_slug)
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
    stage = stage_read_by(request.user, slug, stage_slug)
    name = f"{slug}-{stage_slug}-cross-check.csv"
    return figures_csv(name, lambda: cross_checks.matrix_rows(stage=stage), "exact")
