"""A worker that dies in the middle of an export, and a disk that is full: a whole file in the end, or none."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from annotate.models import Export, Stage, StoredFile
from annotate.services import exporting
from config.env import PROJECT
from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item
from tests.workers import empty_queue, processes, settings_of_tests, stopped_at, wait_until

# Other processes see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

N_ANSWERS = 120


@pytest.fixture
def stage() -> Stage:
    """Many answers, each of another item."""
    stage = make_stage(make_project())
    person = make_member(stage.project)
    for n in range(N_ANSWERS):
        make_annotation(make_stage_item(stage, make_item(stage.project, external_id=f"q{n}")), person, {"label": "yes"})
    return stage


@pytest.fixture
def export(stage: Stage) -> Export:
    return exporting.request_export(
        project=stage.project, by=make_member(stage.project, "admin"), kind="answers", format="exact", may_run=True
    )


def files() -> list[Path]:
    """What exports have left in the data folder."""
    return [path for path in (settings.DATA / "files").rglob(f"*/{StoredFile.Purpose.DATA}/*") if path.is_file()]


def exported(export: Export) -> Counter[str]:
    """How often each item is in the file."""
    export.refresh_from_db()
    assert (export.state, export.error) == ("done", "")
    with export.file.file.open("rb") as file:
        rows = csv.DictReader(io.StringIO(file.read().decode("utf-8-sig")))
        return Counter(row["item"] for row in rows if row["status"] == "counted")


EVERY_ANSWER_ONCE = Counter(f"q{n}" for n in range(N_ANSWERS))


def test_a_worker_killed_in_an_export_leaves_nothing_and_another_one_makes_the_file(export: Export, tmp_path: Path):
    before = files()
    work = f"from annotate.services import exporting; exporting.run_export(export_id={export.pk})"
    child = stopped_at('ORDER BY "annotate_stage"."position"', work, tmp_path)
    child.kill()
    child.wait()
    assert (files(), StoredFile.objects.count()) == (before, 0)
    export.refresh_from_db()
    assert (export.state, export.attempts) == ("running", 1)
    # The lease of the one that is gone runs out: the scheduler rings for it, and a worker takes it.
    Export.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    empty_queue()
    with processes(tmp_path) as started:
        started.scheduler()
        started.worker()
        assert wait_until(lambda: Export.objects.get().state == "done")
    assert exported(export) == EVERY_ANSWER_ONCE
    assert export.attempts == 2
    assert StoredFile.objects.count() == len(files()) - len(before) == 1


# SQLite could not write its own file either.
@pytest.mark.services
def test_an_export_on_a_full_disk_fails_in_words_keeps_nothing_and_can_be_repeated(export: Export):
    before = files()
    code = (
        "import resource, django; django.setup(); from annotate.services import exporting; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        f"exporting.run_export(export_id={export.pk})"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env={**os.environ, **settings_of_tests()}, check=True, timeout=60
    )
    export.refresh_from_db()
    assert export.state == "failed"
    assert "disk is full" in export.error
    assert (files(), StoredFile.objects.count()) == (before, 0)

    exporting.repeat_export(export=export, by=make_member(export.project, "admin"))
    exporting.run_export(export_id=export.pk)
    assert exported(export) == EVERY_ANSWER_ONCE
