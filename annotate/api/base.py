"""What the views of the API have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotate.api.inputs import Input
from annotate.api.paging import PageQuery, take_page
from annotate.models import Person, Stage


class ApiView(APIView):
    """scopes: what the token of a request must have, for each method that is offered."""

    scopes: ClassVar[Mapping[str, str]] = {}
    http_method_names = ["get", "head", "post", "patch", "delete"]

    @property
    def person(self) -> Person:
        person = self.request.user
        assert isinstance(person, Person)  # HasScope let nobody else in
        return person

    def sent(self, shape: type[Input], *, partial: bool = False) -> dict[str, Any]:
        """The body, checked. Raises ValidationError."""
        serializer = shape(data=self.request.data, partial=partial)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def asked(self, shape: type[Input]) -> dict[str, Any]:
        """What stands behind the "?" of the address, checked; filters that do not exist are refused."""
        serializer = shape(data=self.request.query_params.dict())
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def take_page(
        self, rows: QuerySet[Any], asked: Mapping[str, Any] | None = None, *, newest_first: bool = False
    ) -> tuple[list[Any], str | None]:
        """The rows of the page that was asked for, and the address of the next one."""
        asked = self.asked(PageQuery) if asked is None else asked
        return take_page(self.request, rows, asked, newest_first=newest_first)

    def page(
        self,
        rows: QuerySet[Any],
        serializer: type[Serializer],
        asked: Mapping[str, Any] | None = None,
        *,
        newest_first: bool = False,
    ) -> Response:
        found, following = self.take_page(rows, asked, newest_first=newest_first)
        return Response({"next": following, "results": serializer(found, many=True).data})

    def finalize_response(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = super().finalize_response(*args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response


def stage_pk(stages: QuerySet[Stage], slug: str) -> int:
    """The key that forms know a stage by; 0, which is no stage's, for a slug that is none."""
    return stages.filter(slug=slug).values_list("pk", flat=True).first() or 0
