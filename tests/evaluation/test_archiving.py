"""Archives: what goes in comes out again, on another database, and nothing else does."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction

from annotate.exceptions import ArchiveRefused
from annotate.models import Assignment, Event, Membership, Person, Project, StoredFile
from annotate.services.archiving import LEFT_OUT, TABLES, restore, write_archive
from annotate.services.archiving.tables import PEOPLE
from annotate.services.exporting.kinds import KINDS
from evaluation.models import Endpoint, Report, Run
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


@pytest.fixture
def taken_away() -> tuple[bytes, dict[str, bytes]]:
    """The archive and the exports of a whole project that is not here any more."""
    with transaction.atomic():
        study = make_whole_project()
        found = archived(study.project), exported(study.project)
        transaction.set_rollback(True)
    return found


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
    assert came.count() == 5
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
