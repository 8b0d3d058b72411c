"""Stages: what they ask, how far they are, the steps of their life, and how their votes ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_admins, for_readers
from annotate.api.base import ApiView
from annotate.api.inputs import checked, filled
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, Feed, Resolution, Stage, StageVersion
from annotate.project_forms import AddItemsForm, NewStageForm, StageVersionForm
from annotate.services import auditing, discarding, feeds, projects
from annotate.services.counting import stage_counts
from annotate.services.cross_checking import draw_cross_check
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
        run_how = checked(filled(NewStageForm, sent, project=project))
        if not {"is_closed_book", "permitted_sources"} & set(request.data):
            # Nothing was said: what is usual of the kind.
            run_how |= {"is_closed_book": None}
        stage = projects.create_stage(
            project=project,
            by=self.person,
            fields=sent["fields"],
            guidelines=sent["guidelines"],
            options=sent["options"],
            **run_how,
            **checked(filled(StageVersionForm, sent)),
        )
        return Response(_told([stage])[0], status=201)


class StageInFull(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=for_readers.StageInProject)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        return Response(_told([stage_read_by(self, slug, stage_slug)])[0])


class StageState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.StageStepInput, responses=for_readers.StageInProject)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Open, pause or close it. Answers stay in any state."""
        stage = _stage_run(self, slug, stage_slug)
        sent = self.sent(for_admins.StageStepInput)
        why = {"reason": sent["reason"]} if sent["step"] == "close" else {}
        stage = STEPS[sent["step"]](stage=stage, by=self.person, **why)
        return Response(_told([stage])[0])


class StageOptions(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.StageOptionsInput, responses=for_readers.StageInProject)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Say anew what only stages of this kind have; what people were shown so far stays as they saw it."""
        stage = _stage_run(self, slug, stage_slug)
        sent = self.sent(for_admins.StageOptionsInput)
        return Response(_told([projects.change_options(stage=stage, by=self.person, options=sent["options"])])[0])


class StageCrossCheck(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.CrossCheckInput, responses={201: for_admins.CrossCheckDrawn})
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Draw n items that each group wrote, and put them into the stage; a group that wrote fewer is taken whole."""
        stage = _stage_run(self, slug, stage_slug)
        sent = self.sent(for_admins.CrossCheckInput)
        written_in = None
        if sent["written_in"]:
            written_in = _named(stage.project.stages.all(), "written_in", sent["written_in"])
        seed = stage.seed if sent["seed"] is None else sent["seed"]
        made = draw_cross_check(stage=stage, by=self.person, n=sent["n"], seed=seed, written_in=written_in)
        return Response(for_admins.CrossCheckDrawn(made).data, status=201)


class StageAudit(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(
        request=for_admins.AuditInput, responses={200: for_admins.AuditPlanned, 201: for_admins.AuditPlanned}
    )
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Draw k labels of every stratum and put them into the stage; a stratum with fewer is taken whole.

        The same draw again changes nothing: 200 with what was drawn. Another draw for the same stage: 409.
        """
        stage = _stage_run(self, slug, stage_slug)
        sent = self.sent(for_admins.AuditInput)
        decided_in, population = None, None
        if sent["decided_in"]:
            decided_in = _named(stage.project.stages.all(), "decided_in", sent["decided_in"])
        if sent["population"]:
            population = stage.project.item_sets.filter(name=sent["population"]).first()
            if population is None:
                raise ValidationError({"population": f"This project has no item set {sent['population']!r}."})
        asked = {
            "labels": auditing.Labels(sent["field"], sent["label_set"], decided_in, population),
            "k": sent["k"],
            "keys": sent["keys"],
            "by_label": sent["by_label"],
            "seed": stage.seed if sent["seed"] is None else sent["seed"],
        }
        if sent["plan_only"]:
            return Response(for_admins.AuditPlanned(auditing.plan_draw(stage=stage, **asked)).data)
        before = auditing.draw_made(stage)
        made = auditing.draw_audit(stage=stage, by=self.person, **asked)
        return Response(for_admins.AuditPlanned(made).data, status=201 if before is None else 200)


class StageAuditDiscard(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.ReasonInput, responses=for_readers.StageInProject)
    def post(self, request: Request, slug: str, stage_slug: str) -> Response:
        """Take a draw back before anybody has answered: the stage is a draft without items again. 409 after that."""
        stage = _stage_run(self, slug, stage_slug)
        reason = self.sent(for_admins.ReasonInput)["reason"]
        return Response(_told([discarding.discard_audit(stage=stage, by=self.person, reason=reason)])[0])


class Feeds(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.FeedOfStages))
    def get(self, request: Request, slug: str) -> Response:
        """Where the answers of the stages go."""
        project = project_read_by(self.person, slug)
        rows = Feed.objects.visible_to(self.person).filter(source__project=project)
        return self.page(rows.select_related("source", "target"), for_readers.FeedOfStages)

    @extend_schema(request=for_admins.FeedInput, responses={201: for_readers.FeedOfStages})
    def post(self, request: Request, slug: str) -> Response:
        """Let the answers of one stage go on to another; a feed between the two is changed."""
        project = project_run_by(self.person, slug)
        sent = self.sent(for_admins.FeedInput)
        source = _named(project.stages.all(), "source", sent["source"])
        target = _named(project.stages.all(), "target", sent["target"])
        recipe = feeds.offered_recipe(source, target) if sent["recipe"] is None else sent["recipe"]
        feed = feeds.set_feed(source=source, target=target, by=self.person, rule=sent["rule"], recipe=recipe)
        return Response(for_readers.FeedOfStages(feed).data, status=201)


class FeedInFull(ApiView):
    scopes = {"DELETE": RUN}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, feed_id: int) -> Response:
        """End it. What came of earlier answers stays."""
        rows = Feed.objects.run_by(self.person).filter(source__project__slug=slug).select_related("source", "target")
        feeds.end_feed(feed=get_object_or_404(rows, pk=feed_id), by=self.person)
        return Response(status=204)


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
        stage = stage_read_by(self, slug, stage_slug)
        asked = self.asked(for_readers.ResolutionQuery)
        chosen = {name: asked[name] for name in ("status", "field") if name in asked}
        rows = Resolution.objects.visible_to(self.person).filter(stage_item__stage=stage, **chosen)
        related = rows.select_related("stage_item__revision__item").defer("stage_item__revision__content")
        return self.page(related, for_readers.ResolutionOfItem, asked)


def stage_read_by(view: ApiView, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.visible_to(view.person).select_related("project")
    stage: Stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
    return stage


def _stage_run(view: ApiView, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.run_by(view.person).select_related("project")
    stage: Stage = get_object_or_404(stages, project__slug=slug, slug=stage_slug)
    return stage


def _named(stages: QuerySet[Stage], part: str, slug: str) -> Stage:
    """A stage that a request names. Raises ValidationError at that part of it."""
    stage = stages.filter(slug=slug).first()
    if stage is None:
        raise ValidationError({part: f"This project has no stage {slug!r}."})
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
