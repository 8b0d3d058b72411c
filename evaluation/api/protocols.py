"""Published protocols: what each would make of a project, and setting one up."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input
from annotate.api.paging import page_of
from annotate.models import ApiToken
from annotate.protocols import FeedPlan
from annotate.views.doors import project_run_by
from evaluation.services import presets

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN


class Texts(serializers.ListField):
    child = serializers.CharField()


class Protocol(serializers.Serializer):
    """A published protocol in short."""

    name = serializers.CharField()
    version = serializers.CharField()
    title = serializers.CharField()
    people = serializers.CharField(source="human.people", help_text="What people do.")
    models = serializers.CharField(source="models.models", help_text="What models do.")
    outcome = serializers.CharField(source="human.outcome", help_text="What comes out.")


class Paper(serializers.Serializer):
    citation = serializers.CharField()
    link = serializers.CharField()


class PlannedStage(serializers.Serializer):
    """A stage as setting up makes it."""

    slug = serializers.CharField()
    kind = serializers.CharField()
    title = serializers.CharField()
    does = serializers.CharField(help_text="What people do there.")
    comes_from = serializers.CharField(help_text="Where its items come from.")
    shown_keys = Texts()
    form = serializers.ListField(
        child=serializers.DictField(), source="fields", help_text="Fields, as a stage has them."
    )
    overlap = serializers.IntegerField()
    roles = Texts()
    permitted_sources = serializers.CharField(source="sources", help_text="Empty: closed book.")
    time_limit_seconds = serializers.IntegerField(allow_null=True)
    is_cross_group = serializers.BooleanField()
    escalate_by = serializers.IntegerField()
    adjudicated_in = serializers.CharField()
    options = serializers.DictField()
    for_models_only = serializers.BooleanField(help_text="Runs name it; people need not be asked.")


class PlannedFeed(serializers.Serializer):
    from_stage = serializers.SerializerMethodField()
    to_stage = serializers.CharField(source="target")
    rule = serializers.CharField()
    recipe = serializers.DictField()

    def get_from_stage(self, feed: FeedPlan) -> str:
        # A serializer keeps `source` for itself.
        return feed.source


class RunSetting(serializers.Serializer):
    """First values of a run."""

    name = serializers.CharField()
    stage = serializers.CharField()
    strategy = serializers.CharField()
    n_exemplars = serializers.IntegerField(allow_null=True)
    n_steps = serializers.IntegerField(allow_null=True, help_text="Samples or rounds.")
    repeats = serializers.IntegerField()
    temperature = serializers.FloatField(allow_null=True)
    top_p = serializers.FloatField(allow_null=True)
    max_tokens = serializers.IntegerField(allow_null=True)


class ReportSpec(serializers.Serializer):
    """First values of a report."""

    name = serializers.CharField()
    stage = serializers.CharField()
    compared_field = serializers.CharField(source="field")
    scorer = serializers.CharField()
    further_scorers = Texts()
    every_run_is_primary = serializers.BooleanField()
    breakdowns = Texts()


class ProtocolWhole(Protocol):
    """A published protocol with everything that it makes and offers."""

    paper = Paper(source="human.paper")
    brings = Texts(source="human.brings", help_text="What whoever sets it up must have.")
    stages = PlannedStage(many=True, source="human.stages")
    feeds = PlannedFeed(many=True, source="human.feeds")
    run_settings = RunSetting(many=True, source="models.settings")
    report_specs = ReportSpec(many=True, source="models.reports")
    of_the_paper = serializers.SerializerMethodField(help_text="What the paper did.")
    ours = serializers.SerializerMethodField(help_text="Our choice where the paper is silent.")
    not_done = Texts()

    def get_of_the_paper(self, preset: presets.Preset) -> list[str]:
        return [str.__str__(one) for one in preset.notes("paper")]

    def get_ours(self, preset: presets.Preset) -> list[str]:
        return [str.__str__(one) for one in preset.notes("ours")]


class ProtocolInput(Input):
    name = serializers.CharField(max_length=60, help_text="Of a protocol, such as pinocchio.")


class ProtocolSetUp(serializers.Serializer):
    name = serializers.CharField()
    version = serializers.CharField()
    stages = Texts(help_text="Short addresses of the drafts that were made, in their order.")


class Protocols(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=page_of(Protocol))
    def get(self, request: Request) -> Response:
        """The protocols that come with the platform: a handful, on one page."""
        return Response({"next": None, "results": Protocol(presets.all_presets(), many=True).data})


class ProtocolInFull(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=ProtocolWhole)
    def get(self, request: Request, name: str) -> Response:
        return Response(ProtocolWhole(presets.get_preset(name)).data)


class ProtocolOfProject(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=ProtocolInput, responses={201: ProtocolSetUp})
    def post(self, request: Request, slug: str) -> Response:
        """Make the protocol's stages, feeds and guidelines, as drafts: all of them, or nothing and 409."""
        project = project_run_by(self.person, slug)
        preset = presets.get_preset(self.sent(ProtocolInput)["name"])
        stages = presets.set_up(project=project, by=self.person, preset=preset)
        made: dict[str, Any] = {"name": preset.name, "version": preset.version}
        return Response(ProtocolSetUp(made | {"stages": [stage.slug for stage in stages]}).data, status=201)
