"""Exports as background work: made by a worker, cancelled, repeated, kept for some days, and seen by whom they may."""

from __future__ import annotations

import io
import resource
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.csv_text import csv_chunks
from annotate.exceptions import ExportNotPossible
from annotate.models import Event, Export, Person, Project, StoredFile
from annotate.services import exporting
from annotate.services.exporting import jobs, kinds
from annotate.services.exporting.kinds import KINDS, Kind
from annotate.services.files import forget_outdated_files, store_file
from tests.api_client import ApiClient, body_of
from tests.factories import (
    make_annotation,
    make_assignment,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

MEGABYTE = 1_000_000


def make_study() -> tuple[Project, Person]:
    project = make_project(slug="claims")
    stage = make_stage(project, slug="label", overlap=2)
    for _ in range(3):
        make_annotation(make_stage_item(stage, make_item(project)), make_member(project), {"label": "yes"})
    return project, make_member(project, "admin")


def ask(project: Project, by: Person, kind: str = "answers", format: str = "exact") -> Export:
    return exporting.request_export(project=project, by=by, kind=kind, format=format, may_run=True)


def made(export: Export) -> Export:
    exporting.run_export(export_id=export.pk)
    export.refresh_from_db()
    return export


def kept_files() -> set[Path]:
    return {path for path in (settings.DATA / "files").rglob("*") if path.is_file()}


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind of 20 MB."""
    rows = lambda project: ([n, "x" * 1_000] for n in range(20_000))  # noqa: E731
    monkeypatch.setitem(KINDS, "many", Kind("many", "Many", "", True, lambda project: 19_999, rows))
    return "many"


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    """As on a disk that is full: writing beyond fails, whoever writes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.django_db(transaction=True)
def test_a_worker_makes_the_file_that_was_asked_for_and_says_until_when_it_is_kept():
    project, admin = make_study()
    export = made(ask(project, admin))
    assert (export.state, export.error, export.n_done, export.n_total, export.report) == ("done", "", 3, 3, {"rows": 3})
    with export.file.file.open("rb") as file:
        assert file.read() == b"".join(csv_chunks(exporting.answer_rows(project=project), "exact"))
    assert export.file.purpose == StoredFile.Purpose.DATA
    assert timedelta(days=13) < export.file.keep_until - timezone.now() <= timedelta(days=14)
    assert list(Event.objects.filter(subject="export").values_list("verb", "actor")) == [
        ("export.requested", admin.pseudonym),
        ("export.done", ""),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_can_be_had_in_each_of_its_formats(kind: str):
    project, admin = make_study()
    for form in KINDS[kind].formats:
        export = made(ask(project, admin, kind, form.name))
        assert (export.state, export.error) == ("done", ""), form.name
        assert export.file.n_bytes > 0 or export.report["rows"] == 0
        assert export.report["rows"] == export.n_total


@pytest.mark.django_db(transaction=True)
def test_a_worker_makes_an_archive_of_one_moment():
    project, admin = make_study()
    export = made(ask(project, admin, "archive", "zip"))
    assert (export.state, export.error) == ("done", "")
    with zipfile.ZipFile(export.file.file.open("rb")) as archive:
        assert archive.read("annotation.jsonl").count(b"\n") == 3
        assert archive.testzip() is None


@pytest.mark.django_db
def test_a_second_click_gets_the_export_that_is_under_way():
    project, admin = make_study()
    assert ask(project, admin) == ask(project, admin)
    assert ask(project, admin, format="xlsx") != ask(project, admin)
    first = made(ask(project, admin))
    assert ask(project, admin) != first


@pytest.mark.django_db
def test_what_is_not_offered_is_refused_with_what_is():
    project, admin = make_study()
    with pytest.raises(ExportNotPossible, match="called 'secrets'"):
        ask(project, admin, "secrets")
    with pytest.raises(ExportNotPossible, match="exact, jsonl, spreadsheet, xlsx"):
        ask(project, admin, format="zip")
    with pytest.raises(ExportNotPossible, match="as zip"):
        ask(project, admin, "archive", "exact")
    assert not Export.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_export_that_is_cancelled_while_it_is_made_leaves_nothing(monkeypatch):
    project, admin = make_study()
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_BEATS", 0)
    told: list[int] = []

    def cancel_from_a_page() -> None:
        row = Export.objects.get()
        told.append(row.n_done)
        exporting.cancel_export(export=row, by=admin)
        connection.close()

    def rows(project: Project) -> Iterator[list[object]]:
        for n in range(2_000):
            yield [n]
            if n == 700:
                with ThreadPoolExecutor() as another_process:
                    another_process.submit(cancel_from_a_page).result()
            assert n < 1_000, "it goes on although it was cancelled"

    monkeypatch.setitem(KINDS, "slow", Kind("slow", "Slow", "", True, lambda project: 1_999, rows))
    before = kept_files()
    export = made(ask(project, admin, "slow"))
    # Seen by the page while the worker was reading in one long transaction.
    assert told == [600]
    assert (export.state, export.file) == ("cancelled", None)
    assert not StoredFile.objects.exists()
    assert kept_files() == before


@pytest.mark.django_db(transaction=True)
def test_what_takes_longer_than_a_task_may_fails_with_that_reason(monkeypatch):
    project, admin = make_study()

    def rows(project: Project) -> Iterator[list[object]]:
        yield ["n"]
        raise SoftTimeLimitExceeded

    monkeypatch.setitem(KINDS, "endless", Kind("endless", "Endless", "", True, lambda project: 1, rows))
    export = made(ask(project, admin, "endless", "xlsx"))
    assert (export.state, export.file) == ("failed", None)
    assert "XLSX is several times slower than CSV" in export.error
    # The connection reads on: its snapshot has ended.
    assert made(ask(project, admin)).state == "done"


@pytest.mark.django_db(transaction=True)
def test_on_a_full_disk_an_export_fails_with_the_reason_keeps_nothing_and_can_be_repeated(many):
    project, admin = make_study()
    before = kept_files()
    export = ask(project, admin, many)
    with files_of_at_most(16 * MEGABYTE):
        made(export)
    assert export.state == "failed"
    assert export.error.startswith("The disk is full: the file did not fit, and nothing of it was kept.")
    assert export.file is None
    assert kept_files() == before
    page = Client()
    page.force_login(admin)
    assert "The disk is full" in page.get(reverse("exports", args=[project.slug])).content.decode()
    assert page.get(reverse("export-file", args=[project.slug, export.pk])).status_code == 404
    page.post(reverse("export-step", args=[project.slug, export.pk]), {"step": "again"})
    assert made(export).state == "done"
    assert export.file.n_bytes > 20 * MEGABYTE


@pytest.mark.django_db
def test_half_of_a_file_that_the_storage_has_no_room_for_is_removed():
    before = kept_files()
    content = ContentFile(b"x" * (20 * MEGABYTE), name="a")
    with files_of_at_most(16 * MEGABYTE), pytest.raises(OSError):
        store_file(project=make_project(), purpose="data", name="a", media_type="text/csv", content=content)
    assert not StoredFile.objects.exists()
    assert kept_files() == before


@pytest.mark.django_db(transaction=True)
def test_a_file_is_removed_when_its_time_is_over_and_can_be_made_again():
    project, admin = make_study()
    export = made(ask(project, admin))
    path = Path(export.file.file.path)
    assert forget_outdated_files() == 0
    StoredFile.objects.update(keep_until=timezone.now() - timedelta(seconds=1))
    assert forget_outdated_files() == 1
    assert not path.exists()
    page = Client()
    page.force_login(admin)
    address = reverse("exports", args=[project.slug])
    assert "the file was removed as planned" in page.get(address).content.decode()
    page.post(reverse("export-step", args=[project.slug, export.pk]), {"step": "again"})
    assert Export.objects.filter(state="waiting").count() == 1


@pytest.mark.django_db
def test_a_skipped_an_expired_and_a_withdrawn_offer_have_a_row_and_an_open_one_has_none():
    project = make_project()
    stage = make_stage(project, overlap=5)
    place = make_stage_item(stage)
    for state, fields in (
        ("skipped", {"skip_reason": "ambiguous", "skip_note": "Which river?"}),
        ("expired", {}),
        ("withdrawn", {}),
        ("leased", {"slot": 4}),
    ):
        make_assignment(place, make_member(project), **{"state": state, "slot": None} | fields)
    head, *rows = exporting.answer_rows(project=project)
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(row["status"], row["skip_reason"], row["skip_note"], row["answer.label"]) for row in found] == [
        ("skipped", "ambiguous", "Which river?", None),
        ("expired", "", "", None),
        ("withdrawn", "", "", None),
    ]
    assert KINDS["answers"].n_rows(project) == 3


@pytest.mark.django_db
def test_readers_get_what_readers_see_and_admins_get_everything():
    project, admin = make_study()
    viewer = make_member(project, "viewer")
    answers, items = made(ask(project, admin)), made(ask(project, admin, "items"))
    page = Client()
    page.force_login(viewer)
    address = reverse("exports", args=[project.slug])
    shown = page.get(address).content.decode()
    assert 'value="items"' in shown
    assert 'value="predictions"' in shown
    for hidden in ("answers", "history", "exclusions", "scores", "archive"):
        assert f'value="{hidden}"' not in shown
    assert page.get(reverse("export-file", args=[project.slug, items.pk])).status_code == 200
    for closed in (
        page.get(reverse("export-file", args=[project.slug, answers.pk])),
        page.get(reverse("file", args=[answers.file.pk])),
        page.post(reverse("export-step", args=[project.slug, answers.pk]), {"step": "again"}),
    ):
        assert closed.status_code == 404
    assert page.post(address, {"kind": "answers", "format": "exact"}).status_code == 422
    page.post(address, {"kind": "archive"})
    assert set(Export.objects.values_list("kind", flat=True)) == {"answers", "items"}


@pytest.mark.django_db
def test_no_export_tells_a_name_or_a_code():
    project, admin = make_study()
    Person.objects.filter(pk=admin.pk).update(username="anna.example", note="Anna from Bergen")
    person = project.memberships.exclude(person=admin).first().person
    for kind in KINDS.values():
        for form in kind.formats:
            file = io.BytesIO()
            kind.written(project, form, file, lambda n: None)
            for secret in ("anna.example", "Bergen", person.code_digest):
                assert secret.encode() not in file.getvalue(), (kind.name, form.name)


@pytest.mark.django_db
def test_programs_ask_wait_and_download_as_people_do():
    project, admin = make_study()
    api = ApiClient(admin, "export")
    asked = api.post(f"projects/{project.slug}/exports/", kind="answers", format="jsonl")
    assert asked.status_code == 202
    address = f"projects/{project.slug}/exports/{asked.json()['id']}/"
    assert api.get(address).json()["state"] == "waiting"
    assert api.get(f"{address}file/").status_code == 404
    exporting.run_export(export_id=asked.json()["id"])
    told = api.get(address).json()
    assert (told["state"], told["n_done"], told["report"]) == ("done", 3, {"rows": 3})
    content = body_of(api.get(f"{address}file/"))
    assert len(content) == told["n_bytes"]
    assert content.count(b"\n") == 3
    assert [row["id"] for row in api.rows(f"projects/{project.slug}/exports/", limit=1)] == [told["id"]]
    assert api.post(f"{address}state/", step="cancel").status_code == 409
    viewer = ApiClient(make_member(project, "viewer"), "export")
    assert viewer.rows(f"projects/{project.slug}/exports/") == []
    assert viewer.get(address).status_code == 404
    assert viewer.post(f"projects/{project.slug}/exports/", kind="answers").status_code == 422
    assert viewer.post(f"projects/{project.slug}/exports/", kind="items").status_code == 202


def test_kinds_are_known_by_their_names_and_the_archive_has_one_format():
    assert [form.name for form in kinds.KINDS["archive"].formats] == ["zip"]
    assert {"answers", "items", "resolutions", "exclusions", "history", "predictions", "scores"} < kinds.KINDS.keys()
