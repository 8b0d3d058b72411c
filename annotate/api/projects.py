"""Projects, and who asks."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_admins, for_readers
from annotate.api.base import ApiView
from annotate.api.inputs import checked, filled
from annotate.api.paging import PageQuery, page_of
from annotate.api.permissions import ANY
from annotate.models import ApiToken, Project
from annotate.project_forms import NewProjectForm, ProjectForm
from annotate.services import projects
from annotate.views.doors import project_read_by, project_run_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN


class Me(ApiView):
    scopes = {"GET": ANY}

    @extend_schema(responses=for_readers.Me)
    def get(self, request: Request) -> Response:
        """Who the token stands for, and what it opens."""
        return Response(for_readers.Me({"pseudonym": self.person.pseudonym, "auth": request.auth}).data)


class Projects(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.Project))
    def get(self, request: Request) -> Response:
        """The projects whose results I may read."""
        return self.page(Project.objects.visible_to(self.person), for_readers.Project)

    @extend_schema(request=for_admins.NewProjectInput, responses={201: for_readers.Project})
    def post(self, request: Request) -> Response:
        """Make a project, and become its admin. For staff."""
        if not self.person.is_staff:
            raise PermissionDenied("Only staff make projects.")
        asked = checked(filled(NewProjectForm, self.sent(for_admins.NewProjectInput)))
        made = projects.create_project(by=self.person, **asked)
        return Response(for_readers.Project(made).data, status=201)


class ProjectInFull(ApiView):
    scopes = {"GET": READ, "PATCH": RUN}

    @extend_schema(responses=for_readers.Project)
    def get(self, request: Request, slug: str) -> Response:
        return Response(for_readers.Project(project_read_by(self.person, slug)).data)

    @extend_schema(request=for_admins.ProjectInput, responses=for_readers.Project)
    def patch(self, request: Request, slug: str) -> Response:
        """Change what is sent; new guidelines are a new version of them."""
        project = project_run_by(self.person, slug)
        sent = self.sent(for_admins.ProjectInput, partial=True)
        stored = {name: getattr(project, name) for name in ProjectForm.base_fields if name != "guidelines"}
        changed: dict[str, Any] = checked(filled(ProjectForm, stored | sent))
        markdown = changed.pop("guidelines")
        project = projects.change_project(project=project, by=self.person, **changed)
        if "guidelines" in sent:
            projects.write_guidelines(project=project, by=self.person, markdown=markdown)
        return Response(for_readers.Project(project).data)
