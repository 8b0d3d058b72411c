"""What only some stages have, on the stage editor: options, where answers go, draws for cross-checks and audits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotate.checks_forms import ChecksForm, ReasonForm, SetApartForm
from annotate.exceptions import FeedNotPossible, StageNotReady, StageOptionsInvalid, WorkNotPossible
from annotate.models import Feed, Stage
from annotate.recruiting_forms import ProlificForm
from annotate.services import auditing, checks, cross_checking, discarding, feeds, projects, recruiting
from annotate.stage_forms import AuditForm, CrossCheckForm, FeedForm, options_form
from annotate.views.doors import PersonRequest, signed_in
from annotate.views.stage import stage_page, stage_run_by
from annotate.views.stage_parts import strata_rows
from annotate.wording import _, listed, ngettext


@require_POST
@signed_in
def stage_options(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Change what only stages of this kind have."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = options_form(row, request.POST)
    if form is None:
        messages.error(request, _("Stages of this kind have no options."))
        return redirect("stage", slug, stage_slug)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, options_form=form)
    try:
        projects.change_options(stage=row, by=request.user, options=form.options())
    except StageOptionsInvalid as refusal:
        form.add_error(refusal.option if refusal.option in form.fields else None, str(refusal))
        return stage_page(request, project, row, status=422, options_form=form)
    messages.success(request, _("Saved. What people were shown so far stays as they saw it."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_checks(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Change how often a check comes and what qualifies."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = ChecksForm(request.POST)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, checks_form=form)
    try:
        checks.change_rules(stage=row, by=request.user, **form.cleaned_data)
    except WorkNotPossible as refusal:
        form.add_error(None, str(refusal))
        return stage_page(request, project, row, status=refusal.http_status, checks_form=form)
    messages.success(request, _("Saved. What people did so far stays as it was judged."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_prolific(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Let people come from Prolific, or change how."""
    project, row = stage_run_by(request, slug, stage_slug)
    if row.kind not in recruiting.RECRUITED_KINDS:
        messages.error(request, _("Nobody is sent to a stage of this kind from outside."))
        return redirect("stage", slug, stage_slug)
    form = ProlificForm(request.POST)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, prolific_form=form)
    recruiting.change_study(stage=row, by=request.user, settings=form.cleaned_data)
    messages.success(request, _("Saved."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_apart(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Make the items of a set checks, or items to qualify with."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = SetApartForm(request.POST, project=project)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, apart_form=form)
    try:
        done = checks.set_apart(stage=row, by=request.user, **form.cleaned_data)
    except WorkNotPossible as refusal:
        form.add_error(None, str(refusal))
        return stage_page(request, project, row, status=refusal.http_status, apart_form=form)
    n, n_known = done.n_added + done.n_moved, done.n_known
    n_without, n_met, n_begun = len(done.without_gold), len(done.answered), len(done.begun)
    said = [
        ngettext("%(n)s item set apart.", "%(n)s items set apart.", n, n=f"{n:,}"),
        n_known and ngettext("%(n)s was so already.", "%(n)s were so already.", n_known, n=f"{n_known:,}"),
        n_without
        and ngettext(
            "%(n)s has no gold label and stays as it is.",
            "%(n)s have no gold label and stay as they are.",
            n_without,
            n=f"{n_without:,}",
        ),
        n_met
        and ngettext(
            "%(n)s has been met by somebody and stays work.",
            "%(n)s have been met by somebody and stay work.",
            n_met,
            n=f"{n_met:,}",
        ),
        n_begun
        and ngettext(
            "%(n)s is about a table that somebody has begun, and would stand out: it is not taken in.",
            "%(n)s are about tables that somebody has begun, and would stand out: they are not taken in.",
            n_begun,
            n=f"{n_begun:,}",
        ),
    ]
    messages.success(request, listed([one for one in said if one], between=" "))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_feeds(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Let the answers go on to another stage, by the recipe that is usual for such stages."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = FeedForm(request.POST, stage=row)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, feed_form=form)
    asked = form.cleaned_data
    recipe: dict[str, Any] = {}
    if asked["makes_items"]:
        recipe = feeds.offered_recipe(row, asked["target"], asked["kept_keys"])
    if asked["only_field"]:
        recipe["when"] = [[asked["only_field"], asked["only_values"]]]
    try:
        feeds.set_feed(source=row, target=asked["target"], by=request.user, rule=asked["rule"], recipe=recipe)
    except FeedNotPossible as refusal:
        form.add_error(refusal.part if refusal.part in form.fields else None, str(refusal))
        return stage_page(request, project, row, status=refusal.http_status, feed_form=form)
    messages.success(request, _("Saved. Answers that were given before follow it too, within moments."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_feed_end(request: PersonRequest, slug: str, stage_slug: str, feed_id: int) -> HttpResponse:
    __, row = stage_run_by(request, slug, stage_slug)
    feed = get_object_or_404(Feed.objects.run_by(request.user), source=row, pk=feed_id)
    feeds.end_feed(feed=feed, by=request.user)
    messages.success(request, _("Nothing more goes this way. What came of earlier answers stays."))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_cross_check(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Draw what each group is to label of the other's."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = CrossCheckForm(request.POST, stage=row)
    if not form.is_valid():
        return stage_page(request, project, row, status=422, cross_check_form=form)
    asked = form.cleaned_data
    seed = row.seed if asked["seed"] is None else asked["seed"]
    try:
        made = cross_checking.draw_cross_check(
            stage=row, by=request.user, n=asked["n"], seed=seed, written_in=asked["written_in"]
        )
    except (WorkNotPossible, StageNotReady) as refusal:
        form.add_error(None, str(refusal))
        return stage_page(request, project, row, status=refusal.http_status, cross_check_form=form)
    short = listed(
        (
            _("group %(group)s wrote %(n)s, taken whole", group=one.group, n=f"{one.n_population:,}")
            for one in made.groups
            if one.n_short
        ),
        between="; ",
    )
    drawn = sum(one.n_drawn for one in made.groups)
    if short:
        messages.success(request, _("%(n)s items drawn: %(short)s.", n=f"{drawn:,}", short=short))
    else:
        messages.success(request, _("%(n)s items drawn.", n=f"{drawn:,}"))
    return redirect("stage", slug, stage_slug)


@require_POST
@signed_in
def stage_audit(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Draw labels to be audited; with `look`, say what the draw would give."""
    project, row = stage_run_by(request, slug, stage_slug)
    form = AuditForm(request.POST, stage=row)
    is_look = "look" in request.POST
    plan = None
    status = 422
    if form.is_valid():
        try:
            if is_look:
                plan, status = auditing.plan_draw(stage=row, **form.asked()), 200
            else:
                made = auditing.draw_audit(stage=row, by=request.user, **form.asked())
                messages.success(request, _drawn_words(made))
                return redirect("stage", slug, stage_slug)
        except WorkNotPossible as refusal:
            form.add_error(None, str(refusal))
            status = refusal.http_status
    shown = {"audit_form": form, "audit_plan": plan, "audit_strata": strata_rows(plan) if plan else []}
    if request.htmx:
        context = {"project": project, "stage": row, **shown}
        return render(request, "annotate/partials/stage_audit.html", context, status=status)
    return stage_page(request, project, row, status=status, **shown)


@require_POST
@signed_in
def stage_audit_discard(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """Take a draw back that nobody has answered, with a reason."""
    _, row = stage_run_by(request, slug, stage_slug)
    return discard(request, row, discarding.discard_audit)


def discard(request: PersonRequest, stage: Stage, do: Callable[..., object]) -> HttpResponse:
    """do: the service that takes the stage's draw back."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing was discarded: give a reason."))
        return redirect("stage", stage.project.slug, stage.slug)
    try:
        do(stage=stage, by=request.user, reason=form.cleaned_data["reason"])
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The draw is discarded, and the stage is a draft again. You can draw anew."))
    return redirect("stage", stage.project.slug, stage.slug)


def _drawn_words(made: auditing.Drawn) -> str:
    n_short = sum(1 for stratum in made.short if stratum.n_drawn)
    drawn = ngettext("%(n)s label drawn.", "%(n)s labels drawn.", made.n_drawn, n=f"{made.n_drawn:,}")
    short = ngettext(
        "%(n)s stratum was taken whole: it has fewer than %(k)s.",
        "%(n)s strata were taken whole: they have fewer than %(k)s.",
        n_short,
        n=n_short,
        k=made.k,
    )
    return listed([drawn, short] if n_short else [drawn], between=" ")
