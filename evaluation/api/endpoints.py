"""Where models answer: for admins alone."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import checked, filled
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken
from annotate.views.doors import project_run_by
from evaluation.api import for_admins
from evaluation.models import Endpoint
from evaluation.run_forms import EndpointForm
from evaluation.services import endpoints as service

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN


class Endpoints(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_admins.Endpoint))
    def get(self, request: Request, slug: str) -> Response:
        """The endpoints of a project. For its admins."""
        project = project_run_by(self.person, slug)
        return self.page(
            Endpoint.objects.visible_to(self.person).askable().filter(project=project), for_admins.Endpoint
        )

    @extend_schema(request=for_admins.EndpointInput, responses={201: for_admins.Endpoint})
    def post(self, request: Request, slug: str) -> Response:
        """Make an endpoint. Never send a key: name the variable of the worker that holds it."""
        project = project_run_by(self.person, slug)
        values = checked(filled(EndpointForm, self.sent(for_admins.EndpointInput), project=project))
        endpoint = service.create_endpoint(project=project, by=self.person, **values)
        return Response(for_admins.Endpoint(endpoint).data, status=201)


class EndpointInFull(ApiView):
    scopes = {"GET": READ, "PATCH": RUN}

    @extend_schema(responses=for_admins.Endpoint)
    def get(self, request: Request, slug: str, endpoint_id: int) -> Response:
        return Response(for_admins.Endpoint(self.endpoint(slug, endpoint_id)).data)

    @extend_schema(request=for_admins.EndpointInput, responses=for_admins.Endpoint)
    def patch(self, request: Request, slug: str, endpoint_id: int) -> Response:
        """Change what is sent. Provider and model stay once a run has begun."""
        endpoint = self.endpoint(slug, endpoint_id)
        sent = self.sent(for_admins.EndpointInput, partial=True)
        stored: dict[str, Any] = {name: getattr(endpoint, name) for name in EndpointForm.base_fields}
        form = filled(EndpointForm, stored | sent, project=endpoint.project, endpoint=endpoint)
        endpoint = service.change_endpoint(endpoint=endpoint, by=self.person, **checked(form))
        return Response(for_admins.Endpoint(endpoint).data)

    def endpoint(self, slug: str, endpoint_id: int) -> Endpoint:
        rows = Endpoint.objects.run_by(self.person).askable().select_related("project")
        row: Endpoint = get_object_or_404(rows, project__slug=slug, pk=endpoint_id)
        return row
