"""What annotators flagged, and saying that it was dealt with, for programs."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input, row_id
from annotate.api.paging import PageQuery, page_of
from annotate.flag_forms import MOST_AT_ONCE
from annotate.models import ApiToken
from annotate.services import flags
from annotate.views.doors import project_run_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN


class FlagQuery(PageQuery):
    state = serializers.ChoiceField(choices=[flags.OPEN, flags.SETTLED], required=False)


class SettleInput(Input):
    flags = serializers.ListField(child=row_id(), min_length=1, max_length=MOST_AT_ONCE, help_text="Their ids.")
    note = serializers.CharField(
        default="", allow_blank=True, max_length=500, help_text="What came of it, for those who run the project."
    )


class Settlement(serializers.Serializer):
    """That a flag was dealt with."""

    by = serializers.CharField(source="settled_by.pseudonym")
    at = serializers.DateTimeField(source="settled_at")
    note = serializers.CharField()


class Flag(serializers.Serializer):
    """A flag on an answer; settled is null while nobody has dealt with it."""

    id = serializers.IntegerField()
    item = serializers.CharField(source="assignment.stage_item.revision.item.external_id")
    stage = serializers.CharField(source="assignment.stage.slug")
    person = serializers.CharField(source="assignment.person.pseudonym")
    note = serializers.CharField(source="flag_note")
    answer = serializers.DictField()
    answered_at = serializers.DateTimeField(source="created_at")
    settled = Settlement(source="settlement", allow_null=True)


class Settled(serializers.Serializer):
    n_settled = serializers.IntegerField(help_text="How many of them were open until now.")


class Flags(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[FlagQuery], responses=page_of(Flag))
    def get(self, request: Request, slug: str) -> Response:
        """What people flagged while they answered, newest first. For admins."""
        project = project_run_by(self.person, slug)
        asked = self.asked(FlagQuery)
        rows = flags.flags_of(project, show=asked.get("state", "")).select_related(
            "assignment__person", "assignment__stage", "assignment__stage_item__revision__item"
        )
        found, following = self.take_page(rows, asked, newest_first=True)
        return Response({"next": following, "results": Flag(flags.with_settlements(found), many=True).data})


class FlagsSettle(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=SettleInput, responses=Settled)
    def post(self, request: Request, slug: str) -> Response:
        """Say that flags were dealt with. Those that are not open are left as they are."""
        project = project_run_by(self.person, slug)
        n = flags.settle_flags(project=project, by=self.person, **self.sent(SettleInput))
        return Response(Settled({"n_settled": n}).data)


class FlagReopen(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=None, responses=Flag)
    def post(self, request: Request, slug: str, flag_id: int) -> Response:
        """Open a flag again that was dealt with."""
        project = project_run_by(self.person, slug)
        rows = flags.flags_of(project).select_related(
            "assignment__person", "assignment__stage", "assignment__stage_item__revision__item"
        )
        flag = get_object_or_404(rows, pk=flag_id)
        flags.reopen_flag(project=project, flag=flag, by=self.person)
        (told,) = flags.with_settlements([flag])
        return Response(Flag(told).data)
