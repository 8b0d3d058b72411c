"""Stages: what they ask, how far they are, the steps of their life, and how their votes ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_admins, for_readers
from annotate.api.base import ApiView
from annotate.api.inputs import checked, filled
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, Resolution, Stage, StageVersion
from annotate.project_forms import AddItemsForm, NewStageForm, StageVersionForm
from annotate.services import projects
from annotate.services.counting import stage_counts
from annotate.views.doors import project_read_by, project_run_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
STEPS = {"open": projects.open_stage, "pause": projects.pause_stage, "close": projects.close_stage}


class Stages(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.StageInProject))
    def get(self, request: Request, slug: str) -> Response:
        """The stages of a project, each with its form and its counts."""
        project = project_read_by(self.person, slug)
        rows = Stage.objects.visible_to(self.person).filter(project=project)
        found, following = self.take_page(rows)
        return Response({"next": following, "results": _told(found)})

    @extend_schema(request=for_admins.NewStageInput, responses={201: for_readers.StageInProject})
    def post(self, request: Request, slug: str) -> Response:
        """Make a stage. It is a draft: nobody sees it until it is opened."""
        project = project_run_by(self.person, slug)
        sent = self.sent(for_admins.NewStageInput)
        stage = projects.create_stage(
            project=project,
            by=self.person,
            fields=sent["fields"],
            guidelines=sent["guidelines"],
            **checked(filled(NewStageForm, sent, project=project)),
            **checked(filled(StageVersionForm, sent)),
        )
        return Response(_told([stage])[0], status=201)


class StageInFull(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=for_readers.StageInProject)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        return Response(_told([_stage_read(self, slug, stage_slug)])[0])


class StageState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.StageStepInput, responses=for_readers.StageInProject)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Open, pause or close it. Answers stay in any state."""
        stage = _stage_run(self, slug, stage_slug)
        stage = STEPS[self.sent(for_admins.StageStepInput)["step"]](stage=stage, by=self.person)
        return Response(_told([stage])[0])


class StageItems(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.AddItemsInput, responses=for_admins.ItemsAdded)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Put the items of a set at the end of the queue; an item that the stage has already is left as it is."""
        stage = _stage_run(self, slug, stage_slug)
        asked = checked(filled(AddItemsForm, self.sent(for_admins.AddItemsInput), project=stage.project))
        n_added = projects.add_items_to_stage(stage=stage, item_set=asked["item_set"], by=self.person)
        return Response(for_admins.ItemsAdded({"n_added": n_added}).data)


class Resolutions(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[for_readers.ResolutionQuery], responses=page_of(for_readers.ResolutionOfItem))
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """How the votes on the items of a stage ended, field by field."""
        stage = _stage_read(self, slug, stage_slug)
        asked = self.asked(for_readers.ResolutionQuery)
        chosen = {name: asked[name] for name in ("status", "field") if name in asked}
        rows = Resolution.objects.visible_to(self.person).filter(stage_item__stage=stage, **chosen)
        related = rows.select_related("stage_item__revision__item").defer("stage_item__revision__content")
        return self.page(related, for_readers.ResolutionOfItem, asked)


def _stage_read(view: ApiView, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.visible_to(view.person).select_related("project")
    stage: Stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
    return stage


def _stage_run(view: ApiView, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.run_by(view.person).select_related("project")
    stage: Stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
    return stage


def _told(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Stages with their current form and counts, in a constant number of queries."""
    counts = stage_counts(stages)
    forms = {form.stage_id: form for form in StageVersion.objects.filter(stage__in=stages, is_current=True)}
    rows = [_Row(stage, forms[stage.pk], counts[stage.pk]) for stage in stages]
    return list(for_readers.StageInProject(rows, many=True).data)


class _Row:
    """A stage with `form` and `counts` beside its own columns."""

    def __init__(self, stage: Stage, form: StageVersion, counts: Any) -> None:
        self.stage, self.form, self.counts = stage, form, counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stage, name)
