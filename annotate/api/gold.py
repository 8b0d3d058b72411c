"""Gold labels in their versions, and what people came to that is not the label: accepted or refused."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, Gold, Resolution
from annotate.services.gold_proposals import GoldProposal, accept_proposal, decided_in, proposals_of, refuse_proposal
from annotate.views.doors import project_read_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
OPEN, REFUSED, SAME = "open", "refused", "is_gold"


class GoldQuery(PageQuery):
    item = serializers.CharField(required=False, max_length=200, help_text="Only of the item of this id.")


class GoldVersion(serializers.Serializer):
    item = serializers.CharField(source="item.external_id")
    field = serializers.CharField()
    label_set = serializers.CharField()
    version = serializers.IntegerField()
    answers = serializers.JSONField(help_text="A list of acceptable values; empty where the label was taken back.")
    origin = serializers.ChoiceField(choices=Gold.Origin.values)
    votes_of = serializers.CharField(
        source="votes_of.slug",
        default=None,
        allow_null=True,
        help_text="The stage whose votes came to it; null where it is no vote's.",
    )
    is_current = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class ProposalOfGold(serializers.Serializer):
    """What people came to on one field of an item, beside the gold label."""

    id = serializers.IntegerField(source="resolution.pk")
    item = serializers.CharField(source="resolution.stage_item.revision.item.external_id")
    stage = serializers.CharField(source="resolution.stage_item.stage.slug")
    field = serializers.CharField(source="resolution.field")
    status = serializers.ChoiceField(choices=Resolution.Status.values, source="resolution.status")
    answer = serializers.JSONField(source="resolution.answer")
    answer_hash = serializers.CharField(source="hash", help_text="Sent with the decision about it.")
    gold = serializers.JSONField(source="gold.answers", default=None, help_text="What counts now; null if nothing.")
    gold_version = serializers.IntegerField(source="gold.version", default=None, allow_null=True)
    state = serializers.SerializerMethodField(help_text="open, refused, or is_gold where the label says the same.")

    def get_state(self, proposal: GoldProposal) -> str:
        return SAME if proposal.is_gold else OPEN if proposal.is_open else REFUSED


class ProposalInput(Input):
    step = serializers.ChoiceField(choices=["accept", "refuse"])
    answer_hash = serializers.RegexField("^[0-9a-f]{64}$", help_text="Of the answer that was looked at.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=300, help_text="Why it is refused.")


class GoldVersions(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[GoldQuery], responses=page_of(GoldVersion))
    def get(self, request: Request, slug: str) -> Response:
        """Every version of every gold label. A score names the version that it was made with."""
        project = project_read_by(self.person, slug)
        asked = self.asked(GoldQuery)
        rows = Gold.objects.visible_to(self.person).filter(item__project=project, **_of_item(asked, "item"))
        return self.page(rows.select_related("item", "votes_of"), GoldVersion, asked)


class GoldProposals(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[GoldQuery], responses=page_of(ProposalOfGold))
    def get(self, request: Request, slug: str) -> Response:
        """What people came to in the stages where items are answered, each beside the gold label there is."""
        project = project_read_by(self.person, slug)
        asked = self.asked(GoldQuery)
        found, following = self.take_page(
            decided_in(project).filter(**_of_item(asked, "stage_item__revision__item")), asked
        )
        return Response({"next": following, "results": ProposalOfGold(proposals_of(found), many=True).data})


class GoldProposalInFull(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=ProposalInput, responses=ProposalOfGold)
    def post(self, request: Request, slug: str, resolution_id: int) -> Response:
        """Make it the gold label, in a new version, or keep it from being proposed again."""
        rows = Resolution.objects.decided_by(self.person).filter(stage_item__stage__project__slug=slug)
        resolution = get_object_or_404(rows, pk=resolution_id)
        sent = self.sent(ProposalInput)
        if sent["step"] == "accept":
            accept_proposal(resolution=resolution, seen=sent["answer_hash"], by=self.person)
        else:
            refuse_proposal(resolution=resolution, seen=sent["answer_hash"], by=self.person, reason=sent["reason"])
        (told,) = proposals_of(list(decided_in(resolution.stage_item.stage.project).filter(pk=resolution.pk)))
        return Response(ProposalOfGold(told).data)


def _of_item(asked: dict[str, Any], path: str) -> dict[str, str]:
    return {f"{path}__external_id": asked["item"]} if "item" in asked else {}
