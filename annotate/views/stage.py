"""The stage editor: how a stage is run, what it asks, its guidelines and items, and the steps of its life."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotate.answers import FieldSpecInvalid
from annotate.exceptions import GoldpanelError, NameTaken, StageFormFrozen, StageNotReady
from annotate.markdown import guidelines_html
from annotate.models import Project, Stage
from annotate.project_forms import (
    AddItemsForm,
    FieldFormSet,
    GuidelinesForm,
    NewStageForm,
    StageForm,
    StageVersionForm,
    field_initial,
)
from annotate.services import projects
from annotate.services.counting import stage_counts
from annotate.services.stage_form import content_keys, guidelines_of
from annotate.stage_kinds import KINDS, first_fields
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.stage_about import About, about_context, about_options, stage_about, tell_led
from annotate.views.stage_parts import stage_parts
from annotate.views.stage_preview import preview_context
from annotate.wording import _

STEPS = {"open": projects.open_stage, "pause": projects.pause_stage, "close": projects.close_stage}
DONE = {
    "open": _("The stage is open: people can take items now."),
    "pause": _("The stage is paused: no new items are handed out; what is in people's hands may be finished."),
    "close": _("The stage is closed. All answers stay, and it can be opened again."),
}


def stage_run_by(request: PersonRequest, slug: str, stage_slug: str) -> tuple[Project, Stage]:
    project = project_run_by(request.user, slug)
    return project, get_object_or_404(Stage.objects.run_by(request.user), project=project, slug=stage_slug)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def stage_new(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    kind = request.GET.get("kind", request.POST.get("kind"))
    kind = kind if kind in KINDS and KINDS[kind].is_offered else Stage.Kind.LABEL
    variants = KINDS[kind].variants
    variant = request.GET.get("form", request.POST.get("form", variants[0].name if variants else ""))
    about = stage_about(project, kind, request.GET.get("for", request.POST.get("for", "")))
    first = about.fields if about else first_fields(kind, variant)
    keys = content_keys(project)
    if request.method == "POST":
        form = NewStageForm(request.POST, project=project)
        version = StageVersionForm(request.POST)
        fields = FieldFormSet(request.POST, prefix="fields", initial=field_initial(first))
        if form.is_valid() and version.is_valid() and fields.is_valid():
            try:
                stage = projects.create_stage(
                    project=project,
                    by=request.user,
                    fields=fields.fields_json,
                    options=about_options(kind, request.POST),
                    **form.cleaned_data,
                    **version.cleaned_data,
                )
            except FieldSpecInvalid as problem:
                version.add_error(None, str(problem))
            except NameTaken as refusal:
                form.add_error("slug", str(refusal))
            except StageNotReady as refusal:
                form.add_error("adjudicated_in", str(refusal))
            else:
                messages.success(request, _("The stage is a draft. Add items and guidelines, then open it."))
                if about and "leads_here" in request.POST:
                    tell_led(request, about, stage)
                return redirect("stage", slug, stage.slug)
    else:
        form = NewStageForm(project=project, initial=_first_settings(kind, about))
        version = StageVersionForm(initial={"shown_keys": about.shown_keys if about else keys})
        fields = FieldFormSet(prefix="fields", initial=field_initial(first))
    context = project_page(project, request.user, "") | {
        "kind": kind,
        "kinds": {kind: described for kind, described in KINDS.items() if described.is_offered},
        "variants": variants,
        "variant": variant,
        "form": form,
        "version_form": version,
        "field_forms": fields,
        "content_keys": keys,
        **_first_preview(project, kind, form, version, first),
        **about_context(request, project, kind, about),
    }
    return render(request, "annotate/stage_new.html", context, status=422 if request.method == "POST" else 200)


def _first_preview(
    project: Project, kind: str, form: NewStageForm, version: StageVersionForm, first: list[dict[str, Any]]
) -> dict[str, Any]:
    """The annotators' page with the first form of the kind; of one that came back with its faults, none."""
    if form.is_bound:
        return {"preview_problem": _("The page is shown again as soon as the form is right.")}
    stage = Stage(project=project, kind=kind, **_first_condition(kind))
    return preview_context(stage, first, version.initial["shown_keys"])


def _first_settings(kind: str, about: About | None) -> dict[str, Any]:
    usual = KINDS[kind]
    title = {"title": about.title} if about else {}
    how = {"kind": kind, "roles": list(usual.roles), "overlap": usual.overlap, "order": usual.order}
    return how | _first_condition(kind) | title


def _first_condition(kind: str) -> dict[str, Any]:
    sources = KINDS[kind].permitted_sources
    return {"is_closed_book": not sources, "permitted_sources": sources}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def stage(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """The editor, or for those who only read a description; POST changes how the stage is run."""
    if request.method != "POST":
        project = project_read_by(request.user, slug)
        row = get_object_or_404(Stage.objects.visible_to(request.user), project=project, slug=stage_slug)
        may_run = Stage.objects.run_by(request.user).filter(pk=row.pk).exists()
        return stage_page(request, project, row) if may_run else _description(request, project, row)
    project, row = stage_run_by(request, slug, stage_slug)
    form = StageForm(request.POST, project=project)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, form=form)
    try:
        projects.change_stage(stage=row, by=request.user, **form.cleaned_data)
    except StageNotReady as refusal:
        form.add_error("adjudicated_in", str(refusal))
        return stage_page(request, project, row, status=422, form=form)
    messages.success(request, _("Saved."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_form(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Change what is asked and shown."""
    project, row = stage_run_by(request, slug, stage_slug)
    version, fields = _bound_form(request, row)
    if not (version.is_valid() and fields.is_valid()):
        return stage_page(request, project, row, status=422, version_form=version, field_forms=fields)
    try:
        saved = projects.change_form(
            stage=row,
            by=request.user,
            fields=fields.fields_json,
            as_new_version="new_version" in request.POST,
            **version.cleaned_data,
        )
    except FieldSpecInvalid as problem:
        version.add_error(None, str(problem))
        return stage_page(request, project, row, status=422, version_form=version, field_forms=fields)
    except StageFormFrozen as problem:
        version.add_error(
            None,
            _(
                "%(problem)s Answers given so far stay with version %(count)s.",
                problem=problem,
                count=row.versions.count(),
            ),
        )
        return stage_page(
            request, project, row, status=409, version_form=version, field_forms=fields, offer_version=True
        )
    messages.success(request, _("Saved as version %(number)s of the form.", number=saved.number))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_guidelines(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project, row = stage_run_by(request, slug, stage_slug)
    form = GuidelinesForm(request.POST)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, guidelines_form=form)
    version = projects.write_guidelines(project=project, stage=row, by=request.user, **form.cleaned_data)
    messages.success(request, _("These are version %(number)s of the guidelines.", number=version.number))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_items(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project, row = stage_run_by(request, slug, stage_slug)
    form = AddItemsForm(request.POST, project=project)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, items_form=form)
    try:
        added = projects.add_items_to_stage(stage=row, item_set=form.cleaned_data["item_set"], by=request.user)
    except StageNotReady as refusal:
        form.add_error(None, str(refusal))
        return stage_page(request, project, row, status=refusal.http_status, items_form=form)
    messages.success(
        request,
        _("%(added)s items added.", added=f"{added:,}") if added else _("The stage had all of these items already."),
    )
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_state(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    _, row = stage_run_by(request, slug, stage_slug)
    step = request.POST.get("step", "")
    if step in STEPS:
        why = {"reason": reason} if step == "close" and (reason := request.POST.get("reason", "").strip()[:300]) else {}
        try:
            STEPS[step](stage=row, by=request.user, **why)
        except GoldpanelError as problem:
            messages.error(request, str(problem))
        else:
            messages.success(request, DONE[step])
    return redirect("project" if request.POST.get("from") == "project" else "stage", *_way_back(request, slug, row))


def _way_back(request: PersonRequest, slug: str, stage: Stage) -> tuple[str, ...]:
    return (slug,) if request.POST.get("from") == "project" else (slug, stage.slug)


def _bound_form(request: PersonRequest, stage: Stage) -> tuple[StageVersionForm, Any]:
    current = stage.versions.get(is_current=True)
    fields = FieldFormSet(request.POST, prefix="fields", initial=field_initial(current.fields))
    return StageVersionForm(request.POST), fields


def _description(request: PersonRequest, project: Project, stage: Stage) -> HttpResponse:
    version = stage.versions.get(is_current=True)
    guidelines = guidelines_of(stage)
    context = project_page(project, request.user, "") | {
        "stage": stage,
        "version": version,
        "counts": stage_counts([stage])[stage.pk],
        "guidelines": guidelines,
        "guidelines_html": guidelines_html(guidelines.markdown) if guidelines else "",
        **preview_context(stage, version.fields, version.shown_keys, version.instruction),
    }
    return render(request, "annotate/stage_read.html", context)


def stage_page(
    request: PersonRequest, project: Project, stage: Stage, *, status: int = 200, **bound: Any
) -> HttpResponse:
    """The editor with its forms as stored, except those given, which come back as they were sent."""
    version = stage.versions.get(is_current=True)
    guidelines = stage.guideline_versions.order_by("-number").first()
    settings = {name: getattr(stage, name) for name in StageForm.base_fields}
    context = project_page(project, request.user, "") | {
        "stage": stage,
        "version": version,
        "versions": stage.versions.order_by("-number"),
        "counts": stage_counts([stage])[stage.pk],
        "guidelines": guidelines,
        "content_keys": content_keys(project),
        "form": StageForm(initial=settings, project=project),
        "version_form": StageVersionForm(
            initial={"shown_keys": version.shown_keys, "instruction": version.instruction}
        ),
        "field_forms": FieldFormSet(prefix="fields", initial=field_initial(version.fields)),
        "guidelines_form": GuidelinesForm(initial={"markdown": guidelines.markdown if guidelines else ""}),
        "items_form": AddItemsForm(project=project),
        **preview_context(stage, version.fields, version.shown_keys, version.instruction),
    }
    context |= stage_parts(stage, version)
    return render(request, "annotate/stage.html", context | bound, status=status)
