"""Judging models' answers: the draw on the stage's page, and what the judges say."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.answers import fields_from_json
from annotate.exceptions import WorkNotPossible
from annotate.judging import asked_of_judges
from annotate.models import Stage
from annotate.services.discarding import reason_closed, way_to_end
from annotate.views.doors import PersonRequest, project_read_by, signed_in, stage_read_by
from annotate.views.files import figures_csv
from annotate.views.following import discard
from annotate.views.navigation import project_page
from annotate.views.stage import stage_run_by
from evaluation.judge_forms import JudgeDrawForm
from evaluation.services import judgements, judging


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
@signed_in
def judge_draw(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """What was drawn, or the form for it. POST draws, or with `look` says what the draw would come to."""
    project, stage = stage_run_by(request, slug, stage_slug)
    form = JudgeDrawForm(request.POST if request.method == "POST" else None, stage=stage)
    plan, status = None, 200
    if request.method == "POST":
        is_look = "look" in request.POST
        try:
            if not form.is_valid():
                status = 422
            elif is_look:
                plan = judging.plan_draw(stage=stage, draw=form.draw())
            else:
                sample = judging.draw_judge_sample(stage=stage, by=request.user, draw=form.draw())
                n = sample.origins.count()
                drawn = ngettext(
                    "%(n)s answer is drawn, seed %(seed)s; %(places)s to judge.",
                    "%(n)s answers are drawn, seed %(seed)s; %(places)s to judge.",
                    n,
                )
                places = f"{stage.stage_items.count():,}"
                messages.success(request, drawn % {"n": f"{n:,}", "seed": sample.seed, "places": places})
                return redirect("stage", slug, stage_slug)
        except WorkNotPossible as refusal:
            form.add_error(None, str(refusal))
            status = refusal.http_status
    context = _draw_context(stage) | {"project": project, "draw_form": form, "plan": plan}
    if request.htmx:
        return render(request, "evaluation/partials/judge_draw.html", context, status=status)
    page = project_page(project, request.user, "") | context
    return render(request, "evaluation/judge_draw.html", page, status=status)


@require_POST
@signed_in
def judge_discard(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Take a draw back that nobody has judged, with a reason."""
    _, stage = stage_run_by(request, slug, stage_slug)
    return discard(request, stage, judging.discard_judge_sample)


def _draw_context(stage: Stage) -> dict[str, Any]:
    sample = judgements.sample_of(stage)
    asked = asked_of_judges(fields_from_json(stage.versions.get(is_current=True).fields))
    return {
        "stage": stage,
        "sample": sample,
        "parts": judging.parts_of(sample) if sample else (),
        "n_places": stage.stage_items.count() if sample else 0,
        "judging": asked.judging if asked else None,
        "draw_ends": way_to_end(stage) if sample else "",
        "sees_all": [role for role in stage.roles if role == "admin"],
    }


@require_safe
@signed_in
def judge_results(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    stage = stage_read_by(request.user, slug, stage_slug)
    context = project_page(project, request.user, "") | {"stage": stage}
    context["reason_closed"] = reason_closed(stage)
    try:
        results = judgements.judge_results(stage=stage)
    except WorkNotPossible as refusal:
        context["problem"] = str(refusal)
    else:
        context |= {
            "results": results,
            "sample": results.judged.sample,
            "parts": judging.parts_of(results.judged.sample),
            "captions": results.judged.captions,
            "n_resamples": judgements.RESAMPLES,
            "resampling_seed": judgements.SEED,
        }
    return render(request, "evaluation/judge_results.html", context)


@require_safe
@signed_in
def judge_matrix(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponseBase:
    """Every answer that was drawn with what its judges say, as CSV: each figure can be worked out again from it."""
    stage = stage_read_by(request.user, slug, stage_slug)
    return figures_csv(f"{slug}-{stage_slug}-judged.csv", lambda: judgements.matrix_rows(stage=stage))


@require_safe
@signed_in
def judge_figures(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponseBase:
    """Every figure with its circumstances, as JSON."""
    stage = stage_read_by(request.user, slug, stage_slug)
    try:
        told = judgements.results_json(judgements.judge_results(stage=stage))
    except WorkNotPossible as refusal:
        return HttpResponse(str(refusal), status=refusal.http_status, content_type="text/plain; charset=utf-8")
    response = JsonResponse(told, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{slug}-{stage_slug}-judged.json"'
    return response
