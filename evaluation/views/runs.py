"""Runs of a project: the list, a new one, one of them as it goes, and one of its predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.answers import fields_from_json
from annotate.exceptions import WorkNotPossible
from annotate.models import Person, Project
from annotate.services.heartbeats import last_heard
from annotate.services.protocols import protocol_title
from annotate.views.doors import PersonRequest, View, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.paging import row_before
from annotate.wording import _, said
from config.bells import ring
from evaluation.models import Endpoint, Prediction, Run
from evaluation.protocols import RunSetting
from evaluation.run_forms import BudgetForm, ExtendForm, RunForm
from evaluation.services import budgets, presets, run_progress, running, trials
from evaluation.strategies import strategy_of
from evaluation.tasks import answer_chunk

MAX_LISTED = 200
# Colours of the outcome bar; the words beside it say what is what.
KINDS = {
    "answered": "is-model",
    "unparsed": "is-model-open",
    "refused": "is-model-open",
    "empty": "is-model-open",
    "cut_off": "is-model-open",
    "tied": "is-model-open",
    "timed_out": "is-neutral",
    "error": "is-neutral",
    "worker_lost": "is-neutral",
    "cancelled": "is-waiting",
    "pending": "is-waiting",
}
WORDS = dict(Prediction.State.choices)


@require_safe
@signed_in
def runs(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    rows = Run.objects.visible_to(request.user).filter(project=project).order_by("-pk")
    listed = list(rows.select_related("endpoint", "item_set", "exemplar_set")[:MAX_LISTED])
    progress = run_progress.progress_of(listed)
    context = project_page(project, request.user, "runs") | {
        "rows": [(run, progress[run.pk], _outcomes(progress[run.pk])) for run in listed],
        "worker": last_heard(),
        "has_endpoint": Endpoint.objects.filter(project=project).askable().exists(),
        "is_ready": project.item_sets.exists() and project.stages.exists(),
    }
    return render(request, "evaluation/runs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def run_new(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    offered = presets.offered_settings(project)
    setting = next((one for one in offered if one.name == request.GET.get("setting")), None)
    form = RunForm(request.POST or None, project=project, initial=_first_values(project, setting))
    if request.method == "POST" and form.is_valid():
        try:
            run = running.create_run(project=project, by=request.user, **form.run_values())
        except WorkNotPossible as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("run", slug, run.pk)
    status = 422 if form.is_bound else 200
    has_endpoint = Endpoint.objects.filter(project=project).askable().exists()
    is_ready = has_endpoint and project.item_sets.exists() and project.stages.exists()
    context = project_page(project, request.user, "runs") | {
        "form": form,
        "is_ready": is_ready,
        "protocol_title": protocol_title(project),
        "settings": offered,
        "setting": setting,
    }
    return render(request, "evaluation/run_new.html", context, status=status)


def _first_values(project: Project, setting: RunSetting | None) -> dict[str, Any]:
    """What the protocol says of a run; a setting of which it says nothing stays as the form has it, or empty."""
    if setting is None:
        return {}
    return {
        "name": setting.name,
        "stage": project.stages.get(slug=setting.stage),
        "strategy": setting.strategy,
        "n_steps": setting.n_steps,
        "repeats": setting.repeats,
        "temperature": setting.temperature,
        "top_p": setting.top_p,
        "max_tokens": setting.max_tokens,
    }


@require_safe
@signed_in
def run(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    project, row = _run_read_by(request.user, slug, run_id)
    context = _run_context(request, project, row)
    return render(request, "evaluation/run.html", context | _table(request, row, context["progress"].counts))


@require_safe
@signed_in
def run_moving(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    """The part of a run's page that moves; when the run has come to a halt, the page loads itself once more."""
    project, row = _run_read_by(request.user, slug, run_id)
    if not request.htmx:
        return redirect("run", slug, run_id)
    if row.state not in running.LIVE:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return render(request, "evaluation/partials/run_progress.html", _run_context(request, project, row))


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def run_prompts(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    """Five rendered prompts: a fragment of the run's page, and a page of its own without scripts."""
    from evaluation.services import prompting  # Jinja2: only where prompts are shown

    project, row = _run_read_by(request.user, slug, run_id)
    context = _run_context(request, project, row)
    try:
        context["prompts"] = prompting.sample_prompts(row)
    except WorkNotPossible as refusal:
        context["refusal"] = str(refusal)
    template = "evaluation/partials/run_prompts.html" if request.htmx else "evaluation/run_prompts.html"
    return render(request, template, context)


@require_safe
@signed_in
def prediction(request: PersonRequest, slug: str, run_id: int, prediction_id: int) -> HttpResponse:
    project, row = _run_read_by(request.user, slug, run_id)
    found = get_object_or_404(row.predictions.select_related("revision__item"), pk=prediction_id)
    form = fields_from_json(row.stage_version.fields)
    calls = list(found.calls.order_by("step").select_related("reused_from__prediction__run"))
    context = project_page(project, request.user, "runs") | {
        "run": row,
        "prediction": found,
        "answer": run_progress.answer_words(found.answer, form),
        "calls": calls,
        "readings": [
            {
                "step": call.step,
                "outcome": WORDS.get(call.reading["state"], call.reading["state"]),
                "answer": run_progress.answer_words(call.reading["answer"], form),
                "note": call.reading["note"],
            }
            for call in calls
            if call.reading
        ],
    }
    return render(request, "evaluation/prediction.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def run_budget(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    row = _run_run_by(request.user, slug, run_id)
    form = BudgetForm(
        request.POST or None, initial={name: getattr(row, name) for name in ("budget_money", "budget_tokens")}
    )
    if request.method == "POST" and form.is_valid():
        money, tokens = form.cleaned_data["budget_money"], form.cleaned_data["budget_tokens"]
        try:
            budgets.set_budget(run=row, by=request.user, money=money, tokens=tokens)
        except WorkNotPossible as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("run", slug, run_id)
    context = project_page(row.project, request.user, "runs") | {
        "run": row,
        "form": form,
        "cost": budgets.cost_of(row),
        "tokens": run_progress.tokens_of(row),
    }
    return render(request, "evaluation/run_budget.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def run_extend(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    row = _run_run_by(request.user, slug, run_id)
    form = ExtendForm(request.POST or None, run=row)
    if request.method == "POST" and form.is_valid():
        try:
            running.extend_run(run=row, by=request.user, **form.cleaned_data)
        except WorkNotPossible as refusal:
            form.add_error(None, str(refusal))
        else:
            ring(answer_chunk, row.pk)
            return redirect("run", slug, run_id)
    context = project_page(row.project, request.user, "runs") | {"run": row, "form": form}
    return render(request, "evaluation/run_extend.html", context, status=422 if form.is_bound else 200)


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def run_trial(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    """The newest trial of a run: what came back for five items, and what the whole run would take."""
    project, row = _run_read_by(request.user, slug, run_id)
    trial = trials.latest_trial(row)
    form = fields_from_json(row.stage_version.fields)
    context = project_page(project, request.user, "runs") | {
        "run": row,
        "trial": trial,
        "is_waiting": trial is not None and trial.state in running.LIVE,
        "results": [
            result
            | {"answer_words": run_progress.answer_words(result["answer"], form), "outcome": WORDS.get(result["state"])}
            for result in (trial.results if trial else [])
        ],
        "estimate": trials.estimate_of(trial, row) if trial is not None and trial.state == "done" else None,
        "n_tried": trials.N_TRIED,
        "worker": last_heard(),
    }
    template = "evaluation/partials/trial.html" if request.htmx else "evaluation/run_trial.html"
    return render(request, template, context)


def _trial_step(service: Callable[..., Any]) -> View:
    """A button of the trial's page."""

    @require_POST
    @signed_in
    def view(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
        try:
            service(run=_run_run_by(request.user, slug, run_id), by=request.user)
        except WorkNotPossible as refusal:
            messages.error(request, str(refusal))
        return redirect("run-trial", slug, run_id)

    return view


trial_start = _trial_step(trials.start_trial)
trial_cancel = _trial_step(trials.cancel_trial)


def _step(service: Callable[..., Any], *, rings: bool = False, leaves: bool = False) -> View:
    """A button of the run's page. rings: for a worker, best effort; the scheduler rings again."""

    @require_POST
    @signed_in
    def view(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
        row = _run_run_by(request.user, slug, run_id)
        try:
            service(run=row, by=request.user)
        except WorkNotPossible as refusal:
            messages.error(request, str(refusal))
        else:
            if rings:
                ring(answer_chunk, row.pk)
            if leaves:
                return redirect("runs", slug)
        return redirect("run", slug, run_id)

    return view


run_start = _step(running.start_run, rings=True)
run_pause = _step(running.pause_run)
run_resume = _step(running.resume_run, rings=True)
run_cancel = _step(running.cancel_run)
run_repeat = _step(running.repeat_failed, rings=True)
run_discard = _step(running.discard_draft, leaves=True)


def _run_read_by(person: Person | Any, slug: str, run_id: int) -> tuple[Project, Run]:
    rows = Run.objects.visible_to(person).filter(project__slug=slug)
    related = ("project", "endpoint", "item_set", "exemplar_set", "stage_version__stage", "created_by")
    row = get_object_or_404(rows.select_related(*related), pk=run_id)
    return row.project, row


def _run_run_by(person: Person | Any, slug: str, run_id: int) -> Run:
    rows = Run.objects.run_by(person).filter(project__slug=slug)
    return get_object_or_404(rows.select_related("project", "endpoint", "item_set"), pk=run_id)


def _run_context(request: PersonRequest, project: Project, row: Run) -> dict[str, Any]:
    progress = run_progress.progress_of([row])[row.pk]
    at_least, at_most = strategy_of(row.strategy).n_calls(row.n_steps)
    return project_page(project, request.user, "runs") | {
        "run": row,
        "progress": progress,
        "outcomes": _outcomes(progress),
        "tokens": run_progress.tokens_of(row),
        "cost": budgets.cost_of(row),
        "worker": last_heard(),
        "is_live": row.state in running.LIVE,
        "n_requests": row.item_set.n_items * row.repeats * at_least,
        "may_take_more": at_most is None,
    }


def _outcomes(progress: run_progress.Progress) -> list[dict[str, Any]]:
    return [
        {"label": WORDS[state], "count": progress.counts.get(state, 0), "kind": KINDS[state]}
        for state in run_progress.OUTCOMES
    ]


def _table(request: PersonRequest, row: Run, counts: dict[str, int]) -> dict[str, Any]:
    chosen = request.GET.get("outcome", "")
    outcome = chosen if chosen in WORDS else ""
    after = row_before(request)
    page = run_progress.page_of_predictions(run=row, state=outcome, after=after)
    address = reverse("run", args=[row.project.slug, row.pk])
    kept = {"outcome": outcome} if outcome else {}
    chips = [{"label": _("All"), "url": f"{address}#predictions", "current": not outcome}]
    chips += [
        {
            "label": f"{said(WORDS[state])} {counts.get(state, 0):,}",
            "url": f"{address}?{urlencode({'outcome': state})}#predictions",
            "current": state == outcome,
        }
        for state in run_progress.OUTCOMES
        if counts.get(state) or state == outcome
    ]
    return {
        "page": page,
        "chips": chips,
        "outcome_words": WORDS.get(outcome, ""),
        "first_url": f"{address}?{urlencode(kept)}#predictions" if after else "",
        "next_url": f"{address}?{urlencode(kept | {'after': page.last_pk})}#predictions" if page.has_more else "",
    }
