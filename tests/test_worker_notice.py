"""Every page that waits for background work says whether somebody is there to do it, and since when not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import BackgroundWork, Export, ImportJob, Project, Restoration, WorkerHeartbeat
from annotate.services.files import store_file
from annotate.services.heartbeats import hear
from evaluation.models import LogImport, Report, Run, Trial
from tests.factories import make_item, make_item_set, make_member, make_project, make_run, make_stage

pytestmark = pytest.mark.django_db


def import_page(project: Project) -> str:
    source = store_file(project=project, purpose="upload", name="a.csv", media_type="text/csv", content=b"id\n1\n")
    job = ImportJob.objects.create(project=project, source=source, state="waiting")
    return reverse("import-job", args=[project.slug, job.pk])


def log_import_page(project: Project) -> str:
    stage, items = make_stage(project), make_item_set(project, [make_item(project)])
    source = store_file(project=project, purpose="upload", name="a.jsonl", media_type="text/plain", content=b"{}\n")
    job = LogImport.objects.create(
        project=project, source=source, item_set=items, stage_version=stage.versions.get(), state="waiting"
    )
    return reverse("run-import-job", args=[project.slug, job.pk])


def run_page(project: Project) -> str:
    items = make_item_set(project, [make_item(project)])
    run = make_run(make_stage(project), items, state="waiting", frozen_at=timezone.now(), due_at=timezone.now())
    return reverse("run", args=[project.slug, run.pk])


def report_page(project: Project) -> str:
    report = Report.objects.create(
        project=project,
        title="R",
        stage=make_stage(project),
        item_set=make_item_set(project, [make_item(project)]),
        field="label",
        primary_scorer="label_accuracy",
        state="waiting",
    )
    return reverse("report", args=[project.slug, report.pk])


def exports_page(project: Project) -> str:
    Export.objects.create(project=project, kind="answers", format="exact", is_for_admins=True)
    return reverse("exports", args=[project.slug])


def restoration_page(project: Project) -> str:
    admin = project.memberships.get(role="admin").person
    return reverse("restoration", args=[Restoration.objects.create(name="a.zip", created_by=admin).pk])


def trial_page(project: Project) -> str:
    run = make_run(make_stage(project), make_item_set(project, [make_item(project)]))
    Trial.objects.create(run=run)
    return reverse("run-trial", args=[project.slug, run.pk])


PAGES: dict[type[BackgroundWork], Callable[[Project], str]] = {
    ImportJob: import_page,
    Export: exports_page,
    Restoration: restoration_page,
    LogImport: log_import_page,
    Run: run_page,
    Report: report_page,
    Trial: trial_page,
}


def test_every_kind_of_background_work_has_its_page_here():
    assert set(PAGES) == {model for model in apps.get_models() if issubclass(model, BackgroundWork)}


@pytest.mark.parametrize("kind", list(PAGES), ids=lambda model: model.__name__)
def test_a_page_that_waits_says_when_a_worker_was_heard(kind: type[BackgroundWork]):
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "admin"))
    address = PAGES[kind](project)

    def page() -> str:
        return client.get(address).content.decode()

    assert "No worker has ever been heard from. What waits here is kept" in page()
    assert "<code>./goldpanel worker</code>" in page()
    # A scheduler alone does nothing of it.
    hear(name="scheduler@here", role="scheduler")
    assert "No worker has ever been heard from" in page()
    hear(name="worker@here", role="worker")
    assert "Background work is running: a worker was last heard from at" in page()
    WorkerHeartbeat.objects.update(heard_at=timezone.now() - timedelta(hours=3))
    assert re.search(r"No worker has been heard from since <time [^>]*>[^<]+ UTC</time> \(3\shours ago\)", page())


def test_where_a_file_is_chosen_a_silent_worker_is_told_beforehand():
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "admin"))
    address = reverse("import", args=[project.slug])
    assert "No worker has ever been heard from" in client.get(address).content.decode()
    hear(name="worker@here", role="worker")
    assert "Background work is running" not in client.get(address).content.decode()
