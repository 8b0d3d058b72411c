"""What an audit says of the labels, the verdicts behind it, and the way of what is wrong to adjudicators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate.answers.choice import caption_of
from annotate.exceptions import WorkNotPossible
from annotate.models import Stage
from annotate.services import repairing
from annotate.services.discarding import reason_closed
from annotate.services.repairing import BY_ALL, BY_ALL_ALIKE, BY_ANY, found_wrong
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in, stage_read_by
from annotate.views.files import figures_csv
from annotate.views.navigation import project_page
from annotate.wording import listed, ngettext
from evaluation.services import audits
from evaluation.services.audits import AuditResults


@require_safe
@signed_in
def audit_results(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    stage = stage_read_by(request.user, slug, stage_slug)
    context = project_page(project, request.user, "") | {"stage": stage}
    context["reason_closed"] = reason_closed(stage)
    try:
        found = audits.audit_results(stage=stage)
    except WorkNotPossible as refusal:
        context["problem"] = str(refusal)
    else:
        may_run = Stage.objects.run_by(request.user).filter(pk=stage.pk).exists()
        context |= _shown(found) | {"may_run": may_run}
        if may_run:
            context["targets"] = repairing.targets_for(found.drawn)
    return render(request, "evaluation/audit.html", context)


@require_safe
@signed_in
def audit_verdicts(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponseBase:
    """Every drawn label with its verdicts, as CSV: each figure of the page can be worked out again from it."""
    stage = stage_read_by(request.user, slug, stage_slug)
    return figures_csv(f"{slug}-{stage_slug}-audit.csv", lambda: audits.verdict_rows(stage=stage))


@require_POST
@signed_in
def audit_errors(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Send what was found wrong to adjudicators."""
    project = project_run_by(request.user, slug)
    stage = get_object_or_404(Stage.objects.run_by(request.user), project=project, slug=stage_slug)
    target = project.stages.filter(slug=request.POST.get("target", "")).first() or stage
    try:
        sent = repairing.send_errors(
            stage=stage, target=target, by=request.user, found_by=request.POST.get("found_by", "")
        )
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        words = ngettext(
            "%(n)s label waits for adjudicators now.",
            "%(n)s labels wait for adjudicators now.",
            sent.n_sent,
            n=f"{sent.n_sent:,}",
        )
        before = ngettext(
            "%(n)s had gone there before.", "%(n)s had gone there before.", sent.n_already, n=f"{sent.n_already:,}"
        )
        messages.success(request, listed([words, before] if sent.n_already else [words], between=" "))
    return redirect("audit-results", slug, stage_slug)


def _shown(found: AuditResults) -> dict[str, Any]:
    def words(label: str) -> str:
        return " / ".join(caption_of(one, found.drawn.field) for one in label.split("; "))

    by_row: dict[str, dict[str, Any]] = {}
    for result in found.results:
        by_row.setdefault(result.row, {"row": result.row, "label": result.label})[result.denominator] = result
    wrong = [one.audited for one in found.errors]
    return {
        "found": found,
        "rows": list(by_row.values()),
        "columns": [{"column": column, "words": words(column.label)} for column in found.columns],
        "matrix": [
            {
                "words": words(label),
                "cells": list(zip(found.columns, row, strict=True)),
                "total": sum(row),
                "label": label,
            }
            for label, row in zip(found.labels, found.matrix, strict=True)
        ],
        "n_wrong": {by: sum(found_wrong(found.drawn, one, by) for one in wrong) for by in repairing.FOUND_BY},
        "found_by": {"any": BY_ANY, "all": BY_ALL, "alike": BY_ALL_ALIKE},
        "n_resamples": audits.RESAMPLES,
        "seed": audits.SEED,
    }
