"""Import: a file is kept as a draft with a guess of what its columns mean, then started, then done by a worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_admins
from annotate.api.base import ApiView, stage_pk
from annotate.api.errors import TooLarge
from annotate.api.inputs import checked
from annotate.api.paging import PageQuery, page_of
from annotate.import_forms import UploadForm
from annotate.models import ApiToken, ImportJob
from annotate.services import importing
from annotate.services.background import cancel_work
from annotate.sources.mapping import Mapping
from annotate.sources.sql_tables import Query
from annotate.uploads import was_too_large
from annotate.views.doors import project_run_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
_OPTIONS = ("new_revisions", "repeats", "ground_truth_as_gold", "stage_title")


class Imports(ApiView):
    scopes = {"GET": READ, "POST": RUN}
    parser_classes = [MultiPartParser]

    @extend_schema(parameters=[PageQuery], responses=page_of(for_admins.Import))
    def get(self, request: Request, slug: str) -> Response:
        """The imports of a project, newest first. For its admins."""
        project = project_run_by(self.person, slug)
        rows = ImportJob.objects.visible_to(self.person).filter(project=project).select_related("source", "stage")
        return self.page(rows, for_admins.Import, newest_first=True)

    @extend_schema(request=for_admins.UploadInput, responses={201: for_admins.Import})
    def post(self, request: Request, slug: str) -> Response:
        """Keep a file as a draft; `mapping` is what its columns seem to mean. Nothing is imported yet."""
        project = project_run_by(self.person, slug)
        if was_too_large(request):
            raise TooLarge(f"A file may have {settings.MAX_UPLOAD_BYTES:,} bytes; nothing was kept.")
        sent = self.sent(for_admins.UploadInput)
        files: dict[str, UploadedFile] = {name: sent[name] for name in ("file", "tables") if name in sent}
        stage = stage_pk(project.stages.all(), sent["stage"]) if "stage" in sent else None
        asked = checked(UploadForm({"stage": stage}, files, project=project))
        tables = asked["tables"] or None
        job = importing.draft_import(
            project=project,
            by=self.person,
            file=asked["file"],
            name=asked["file"].name,
            stage=asked["stage"],
            tables=tables,
            tables_name=tables.name if tables else "",
            join_column=sent.get("join_column"),
            sheet=sent.get("sheet", ""),
            query=_query(sent),
        )
        return Response(for_admins.Import(job).data, status=201)


class ImportInFull(ApiView):
    scopes = {"GET": READ, "DELETE": RUN}

    @extend_schema(responses=for_admins.Import)
    def get(self, request: Request, slug: str, job_id: int) -> Response:
        """How far it is, and what came of it."""
        return Response(for_admins.Import(_job(self, slug, job_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, job_id: int) -> Response:
        """Forget a draft and its file."""
        importing.discard_import(job=_job(self, slug, job_id))
        return Response(status=204)


class ImportStart(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.StartInput, responses={202: for_admins.Import})
    def post(self, request: Request, slug: str, job_id: int) -> Response:
        """Have a draft imported by a worker: all of it, or nothing and the reasons."""
        job = _job(self, slug, job_id)
        sent = self.sent(for_admins.StartInput)
        if sent:
            options = importing.options_of(job)
            said = {name: sent[name] for name in _OPTIONS if name in sent}
            meant: dict[str, Any] | None = sent.get("mapping")
            job = importing.change_draft(
                job=job,
                options=replace(options, **said),
                mapping=importing.mapping_of(job) if meant is None else Mapping.from_json(meant),
                stage=job.stage,
            )
        job = importing.start_import(job=job, by=self.person)
        return Response(for_admins.Import(job).data, status=202)


class ImportState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=for_admins.ImportStepInput, responses=for_admins.Import)
    def post(self, request: Request, slug: str, job_id: int) -> Response:
        """Cancel what waits or runs; make what was refused or cancelled a draft again."""
        job = _job(self, slug, job_id)
        if self.sent(for_admins.ImportStepInput)["step"] == "cancel":
            cancel_work(work=job, by=self.person)
        else:
            importing.reopen_import(job=job, by=self.person)
        return Response(for_admins.Import(_job(self, slug, job_id)).data)


def _query(sent: dict[str, Any]) -> Query | None:
    """Without a column the file itself tells whether it has queries."""
    if not sent.get("query_column"):
        return None
    return Query(sent["query_column"], sent.get("database_column", ""), sent.get("dates_as_years", False))


def _job(view: ApiView, slug: str, job_id: int) -> ImportJob:
    jobs = ImportJob.objects.run_by(view.person).select_related("project", "stage", "source", "joined")
    job: ImportJob = get_object_or_404(jobs, project__slug=slug, pk=job_id)
    return job
