"""The annotators' page beside the editor, with the form as it stands there, saved or not. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from annotate.models import Assignment, Project, Stage
from annotate.project_forms import FieldFormSet, NewStageForm, StageVersionForm
from annotate.services.stage_form import preview_of
from annotate.stage_kinds import KINDS
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.wording import _


@require_POST
@signed_in
def stage_preview(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    stage = get_object_or_404(Stage.objects.run_by(request.user), project=project, slug=stage_slug)
    return _page(request, project, stage)


@require_POST
@signed_in
def stage_new_preview(request: PersonRequest, slug: str) -> HttpResponse:
    """Of a stage that does not exist yet: how it is run is read as far as it can be."""
    project = project_run_by(request.user, slug)
    form = NewStageForm(request.POST, project=project)
    form.is_valid()
    typed = form.cleaned_data
    kind = request.POST.get("kind", "")
    stage = Stage(
        project=project,
        kind=kind if kind in KINDS else Stage.Kind.LABEL,
        title=typed.get("title") or _("New stage"),
        is_closed_book=typed.get("is_closed_book", True),
        time_limit_seconds=typed.get("time_limit_seconds"),
        permitted_sources=typed.get("permitted_sources", ""),
    )
    return _page(request, project, stage)


def preview_context(
    stage: Stage, fields: list[dict[str, Any]], shown_keys: list[str], instruction: str = ""
) -> dict[str, Any]:
    """For partials/stage_preview.html."""
    reasons = {"reasons": Assignment.SkipReason.choices}
    return {
        "stage": stage,
        "preview": preview_of(stage, fields, shown_keys, instruction),
        "skip_options": render_to_string("annotate/partials/skip_options.html", reasons),
    }


def _page(request: PersonRequest, project: Project, stage: Stage) -> HttpResponse:
    version, fields = StageVersionForm(request.POST), FieldFormSet(request.POST, prefix="fields")
    context: Mapping[str, Any] = {"stage": stage}
    if version.is_valid() and fields.is_valid():
        context = preview_context(stage, fields.fields_json, **version.cleaned_data)
    else:
        context = {"stage": stage, "preview_problem": _problem(version, fields)}
    template = "annotate/partials/stage_preview.html" if request.htmx else "annotate/stage_preview.html"
    return render(request, template, {"project": project, **context})


def _problem(version: StageVersionForm, fields: Any) -> str:
    """What keeps the page from being shown, as far as it can be said in a line."""
    told = [str(error) for error in fields.non_form_errors()]
    for form in (version, *fields):
        told += [f"{form.fields[name].label or name}: {found[0]}" for name, found in _named(form)]
    return " ".join([_("The form cannot be shown yet: something in it is missing or in conflict."), *told[:1]])


def _named(form: Any) -> list[tuple[str, Any]]:
    return [(name, errors) for name, errors in form.errors.items() if name in form.fields]
