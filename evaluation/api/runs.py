"""Runs of models, and what they answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Prefetch
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView, stage_pk
from annotate.api.inputs import checked, filled
from annotate.api.paging import page_of
from annotate.models import ApiToken
from annotate.views.doors import project_read_by, project_run_by
from config.bells import ring
from evaluation.api import for_admins, for_readers
from evaluation.models import Call, Prediction, Run, Trial
from evaluation.run_forms import BudgetForm, ExtendForm, RunForm
from evaluation.services import budgets, run_progress, running, trials
from evaluation.tasks import answer_chunk

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
STEPS: dict[str, Callable[..., Any]] = {
    "start": running.start_run,
    "pause": running.pause_run,
    "resume": running.resume_run,
    "cancel": running.cancel_run,
    "repeat_failed": running.repeat_failed,
}
# After these something is due, and a worker is rung for it.
RINGS = {"start", "resume", "repeat_failed"}
RELATED = ("project", "endpoint", "item_set", "exemplar_set", "stage_version__stage")


class Runs(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[for_readers.RunQuery], responses=page_of(for_readers.RunInProject))
    def get(self, request: Request, slug: str) -> Response:
        """The runs of a project, newest first."""
        project = project_read_by(self.person, slug)
        asked = self.asked(for_readers.RunQuery)
        rows = Run.objects.visible_to(self.person).filter(project=project).select_related(*RELATED)
        if "state" in asked:
            rows = rows.filter(state=asked["state"])
        found, following = self.take_page(rows, asked, newest_first=True)
        return Response({"next": following, "results": _told(found)})

    @extend_schema(request=for_admins.NewRunInput, responses={201: for_readers.RunInProject})
    def post(self, request: Request, slug: str) -> Response:
        """Make a run. It is a draft: nothing is asked before it is started."""
        project = project_run_by(self.person, slug)
        sent = self.sent(for_admins.NewRunInput)
        form: Any = filled(RunForm, sent | {"stage": stage_pk(project.stages.all(), sent["stage"])}, project=project)
        checked(form)
        run = running.create_run(project=project, by=self.person, **form.run_values())
        return Response(_told([run])[0], status=201)


class RunInFull(ApiView):
    scopes = {"GET": READ, "PATCH": RUN, "DELETE": RUN}

    @extend_schema(responses=for_readers.RunInProject)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        return Response(_told([_run_read(self, slug, run_id)])[0])

    @extend_schema(request=for_admins.BudgetInput, responses=for_readers.RunInProject)
    def patch(self, request: Request, slug: str, run_id: int) -> Response:
        """Set what the run may cost, also while it is under way; null takes a limit away. The rest of a run stays."""
        run = _run_run(self, slug, run_id)
        stored = {name: getattr(run, name) for name in BudgetForm.base_fields}
        values = checked(filled(BudgetForm, stored | self.sent(for_admins.BudgetInput, partial=True)))
        budgets.set_budget(run=run, by=self.person, money=values["budget_money"], tokens=values["budget_tokens"])
        return Response(_told([_run_read(self, slug, run_id)])[0])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, run_id: int) -> Response:
        """Remove a draft. A run that has begun stays, with all it cost."""
        running.discard_draft(run=_run_run(self, slug, run_id), by=self.person)
        return Response(status=204)


class RunTrial(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(responses=for_readers.TrialOfRun)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """The newest trial of a run, with what the whole run would take."""
        return Response(for_readers.TrialOfRun(_trial_of(_run_read(self, slug, run_id))).data)

    @extend_schema(request=for_admins.TrialStepInput, responses=for_readers.TrialOfRun)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Ask five items of a draft, or stop waiting for them. Nothing of a trial counts as a prediction."""
        run = _run_run(self, slug, run_id)
        step = trials.start_trial if self.sent(for_admins.TrialStepInput)["step"] == "start" else trials.cancel_trial
        step(run=run, by=self.person)
        return Response(for_readers.TrialOfRun(_trial_of(_run_read(self, slug, run_id))).data)


class RunExtension(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.ExtendInput, responses=for_readers.RunInProject)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Ask more of the same: further repeats, or the further items of a set that holds all of the present one."""
        run = _run_run(self, slug, run_id)
        form = filled(ExtendForm, self.sent(for_admins.ExtendInput), run=run)
        running.extend_run(run=run, by=self.person, **checked(form))
        ring(answer_chunk, run.pk)
        return Response(_told([_run_read(self, slug, run_id)])[0])


class RunState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.RunStepInput, responses=for_readers.RunInProject)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Start, pause, resume or cancel it, or repeat what failed."""
        run = _run_run(self, slug, run_id)
        step = self.sent(for_admins.RunStepInput)["step"]
        STEPS[step](run=run, by=self.person)
        if step in RINGS:
            ring(answer_chunk, run.pk)
        return Response(_told([_run_read(self, slug, run_id)])[0])


class Predictions(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[for_readers.PredictionQuery], responses=page_of(for_readers.PredictionOfRun))
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """What a model answered: all items of the first repeat, then of the next, with every completion."""
        run = _run_read(self, slug, run_id)
        asked = self.asked(for_readers.PredictionQuery)
        rows = Prediction.objects.visible_to(self.person).filter(run=run)
        if "state" in asked:
            rows = rows.filter(state=asked["state"])
        calls = Prefetch(
            "calls",
            Call.objects.order_by("step").select_related("reused_from").defer("messages", "reused_from__messages"),
            to_attr="calls_in_order",
        )
        related = rows.select_related("revision__item").defer("revision__content").prefetch_related(calls)
        return self.page(related, for_readers.PredictionOfRun, asked)


def _run_read(view: ApiView, slug: str, run_id: int) -> Run:
    rows = Run.objects.visible_to(view.person).select_related(*RELATED)
    run: Run = get_object_or_404(rows, project__slug=slug, pk=run_id)
    return run


def _run_run(view: ApiView, slug: str, run_id: int) -> Run:
    rows = Run.objects.run_by(view.person).select_related(*RELATED)
    run: Run = get_object_or_404(rows, project__slug=slug, pk=run_id)
    return run


def _trial_of(run: Run) -> Trial:
    trial = trials.latest_trial(run)
    if trial is None:
        raise Http404
    trial.run = run
    return trial


def _told(runs: Sequence[Run]) -> list[dict[str, Any]]:
    progress = run_progress.progress_of(runs)
    return list(for_readers.RunInProject(runs, many=True, context={"progress": progress}).data)
