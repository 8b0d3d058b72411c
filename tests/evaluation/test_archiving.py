"""Archives: what goes in comes out again, on another database, and nothing else does."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import ArchiveRefused
from annotate.models import Annotation, Assignment, Event, Membership, Person, Project, StoredFile
from annotate.services.archiving import LEFT_OUT, restore, write_archive
from annotate.services.exporting.kinds import KINDS
from evaluation.models import Endpoint, Report, Run
from tests.annotate.test_archive_faults import setting
from tests.evaluation.whole_project import make_whole_project
from tests.factories import make_annotator, make_item, make_project, make_staff

pytestmark = pytest.mark.django_db

# A restored history says so, and that is all in which it differs.
MARKED = {"history"}


def archived(project: Project) -> bytes:
    file = io.BytesIO()
    write_archive(project, file, lambda n: None)
    return file.getvalue()


def exported(project: Project) -> dict[str, bytes]:
    """Every export of the project in every format but XLSX, whose ZIP bears the time it was made."""
    found = {}
    for kind in KINDS.values():
        for form in kind.formats:
            if form.name not in ("xlsx", "zip"):
                file = io.BytesIO()
                kind.written(project, form, file, lambda n: None)
                found[f"{kind.name}.{form.name}"] = file.getvalue()
    return found


def members(archive: bytes) -> dict[str, list[Any]]:
    """The rows of each table, and contents as bytes."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return {
            name: [json.loads(line) for line in file.read(name).splitlines(keepends=False)]
            if name.endswith(".jsonl")
            else [file.read(name)]
            for name in file.namelist()
            if name != "manifest.json"
        }


def elsewhere() -> Person:
    """As another installation may be: with people, projects and ids of its own."""
    for _ in range(3):
        make_item(make_project())
        make_annotator()
    return make_staff(username="restorer")


_taken_away: list[tuple[bytes, dict[str, bytes]]] = []


@pytest.fixture
def taken_away(db: None) -> tuple[bytes, dict[str, bytes]]:
    """The archive and the exports of a whole project that is not here any more; made once, for it takes seconds."""
    if not _taken_away:
        with transaction.atomic():
            study = make_whole_project()
            _taken_away.append((archived(study.project), exported(study.project)))
            transaction.set_rollback(True)
    return _taken_away[0]


def test_a_restored_project_has_every_export_byte_for_byte_and_the_same_archive(taken_away):
    archive, exports = taken_away
    by = elsewhere()
    assert not Project.objects.filter(title="Rivers").exists()
    project = restore(file=io.BytesIO(archive), by=by).project
    again = exported(project)
    for name, content in exports.items():
        if name.partition(".")[0] in MARKED:
            # Its own event comes after all that were restored.
            marked = again[name].replace(b",yes\r\n", b",no\r\n").replace(b'"restored":true', b'"restored":false')
            assert marked.startswith(content), name
            assert marked[len(content) :].count(b"\n") == 1
        else:
            assert again[name] == content, name
    before, after = members(archive), members(archived(project))
    assert before.keys() == after.keys()
    assert [row for row in after["person.jsonl"] if row not in before["person.jsonl"]] == [
        row for row in after["person.jsonl"] if row["pseudonym"] == by.pseudonym
    ]
    assert after["membership.jsonl"].pop()["person"] == by.pseudonym
    assert after["event.jsonl"].pop()["verb"] == "project.restored"
    for name in before.keys() - {"person.jsonl"}:
        assert after[name] == before[name], name


def test_nobody_can_sign_in_and_nothing_can_be_asked_after_it(taken_away):
    archive, _ = taken_away
    here = set(Person.objects.values_list("pk", flat=True))
    by = make_staff()
    project = restore(file=io.BytesIO(archive), by=by).project
    came = Person.objects.exclude(pk__in=here).exclude(pk=by.pk)
    assert came.count() == 6
    for person in came:
        assert not person.is_active
        assert not person.is_staff
        assert not person.has_usable_password()
        assert (person.username, person.code_digest, person.note) == (None, None, "")
    assert set(project.memberships.exclude(person=by).values_list("role", "state")) == {("annotator", "left")}
    assert project.memberships.get(person=by).role == Membership.Role.ADMIN
    endpoints = Endpoint.objects.filter(project=project)
    assert {(one.provider, one.base_url, one.key_variable) for one in endpoints} == {("log", "", "")}
    assert not Run.objects.due().exists()
    assert set(Run.objects.filter(project=project).values_list("state", flat=True)) <= {"done", "cancelled"}
    assert not Run.objects.filter(project=project, name="A draft").exists()


def test_reports_open_again_and_point_to_the_runs_answers_and_files_that_came_with_them(taken_away):
    archive, _ = taken_away
    by = elsewhere()
    project = restore(file=io.BytesIO(archive), by=by).project
    report = Report.objects.get(project=project)
    runs = set(report.runs.values_list("pk", flat=True))
    assert len(runs) == 2
    assert {figure["run"] for figure in report.figures if figure["run"] is not None} == runs
    assert {run["run"] for run in report.matrices["runs"]} == runs
    assert report.manifest["primary"]["run"] == report.primary_run_id in runs
    given = {pk for pk in report.matrices["people"]["answers"]["annotation"] if pk is not None}
    assert Annotation.objects.filter(pk__in=given, assignment__stage__project=project).count() == len(given) > 0
    assert set(report.files.values_list("project", flat=True)) == {project.pk}
    client = Client()
    client.force_login(by)
    for address in (
        reverse("report", args=[project.slug, report.pk]),
        reverse("report-file", args=[project.slug, report.pk, "figures.csv"]),
        reverse("side-by-side", args=[project.slug]),
        reverse("runs", args=[project.slug]),
        reverse("run", args=[project.slug, min(runs)]),
        reverse("project", args=[project.slug]),
        reverse("items", args=[project.slug]),
        reverse("people", args=[project.slug]),
    ):
        assert client.get(address).status_code == 200, address


def test_history_keeps_its_times_is_marked_and_cannot_be_changed(taken_away):
    archive, _ = taken_away
    project = restore(file=io.BytesIO(archive), by=elsewhere()).project
    rows = members(archive)["event.jsonl"]
    events = list(Event.objects.filter(project=project).order_by("pk"))
    own = events.pop()
    assert (own.verb, own.is_restored) == ("project.restored", False)
    assert [(event.verb, event.actor, event.is_restored) for event in events] == [
        (row["verb"], row["actor"], True) for row in rows
    ]
    assert events[0].at.isoformat().replace("+00:00", "Z") == rows[0]["at"]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.filter(pk=events[0].pk).update(verb="nothing.happened")


def test_what_was_under_way_is_archived_as_cancelled_and_a_new_token_is_made_for_each_offer():
    study = make_whole_project()
    run = study.runs[0]
    Run.objects.filter(pk=run.pk).update(state="running", due_at=timezone.now(), claim_token="a token")
    waiting = run.predictions.first()
    type(waiting).objects.filter(pk=waiting.pk).update(state="pending", answer=None, due_at=timezone.now())
    token = Assignment.objects.filter(stage__project=study.project).first().token
    archive = archived(study.project)
    found = members(archive)
    assert [row["state"] for row in found["run.jsonl"]] == ["cancelled", "done", "cancelled"]
    states = [row["state"] for row in found["prediction.jsonl"]]
    assert states.count("cancelled") == 2
    assert "pending" not in states
    for secret in (token, "a token", study.people[0].code_digest, study.admin.username):
        assert all(secret.encode() not in content for content in contents(archive))


def contents(archive: bytes) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return [file.read(name) for name in file.namelist()]


def test_rows_that_are_all_alike_are_stored_so_that_nobody_takes_the_archive_for_a_bomb():
    project = make_project()
    for _ in range(3):
        make_item(project, [["question", "ha" * 200_000]])
    archive = archived(project)
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        assert file.getinfo("itemrevision.jsonl").compress_type == zipfile.ZIP_STORED
        assert file.getinfo("item.jsonl").compress_type == zipfile.ZIP_DEFLATED
    assert restore(file=io.BytesIO(archive), by=make_staff()).project.items.count() == 3


def test_the_manifest_says_what_is_in_it_and_what_stayed_behind():
    archive = archived(make_whole_project().project)
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        manifest = json.loads(file.read("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("goldpanel-archive", 1)
    assert {entry["name"] for entry in manifest["members"]} == set(members(archive))
    rows = {entry["name"]: entry["rows"] for entry in manifest["members"] if "rows" in entry}
    assert rows == {name: len(found) for name, found in members(archive).items() if name.endswith(".jsonl")}
    said = {one["what"]: one["why"] for one in manifest["left_out"]}
    assert said["Invite"] == "an invitation lets people in"
    assert said["people"].startswith("names, passwords, codes")
    assert set(said) >= {one.model.partition(".")[2] for one in LEFT_OUT}


def test_files_that_the_storage_has_lost_are_said_to_be_missing():
    study = make_whole_project()
    stored = StoredFile.objects.filter(project=study.project).first()
    stored.file.delete(save=False)
    StoredFile.objects.filter(pk=stored.pk).update(file="gone")
    file = io.BytesIO()
    report = write_archive(study.project, file, lambda n: None)
    assert {"what": "1 files of reports", "why": "the storage has lost them"} in report["left_out"]
    project = restore(file=file, by=make_staff(), joins_people=True).project
    # A name without a content would be a link that leads nowhere.
    assert project.files.count() == study.project.files.count() - 1
    assert Report.objects.get(project=project).files.count() == project.files.count()


@pytest.mark.parametrize("told", ["-0.5", [["Yes"]], [["Yes", None, []]], {"content": []}])
def test_log_probabilities_that_no_page_could_show_are_refused(taken_away, told):
    archive = setting("call.jsonl", "logprobs", told)(taken_away[0])
    elsewhere()
    with pytest.raises(ArchiveRefused, match="logprobs must be a list of tokens"):
        restore(file=io.BytesIO(archive), by=make_staff())
