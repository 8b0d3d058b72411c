"""Archives that cannot be restored: each is refused with what is wrong and where, and nothing of it stays."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from annotate.exceptions import ArchiveRefused
from annotate.models import Person, Project, Restoration, StoredFile
from annotate.services import archiving
from annotate.services.archiving import LEFT_OUT, TABLES, checking, restore, write_archive
from annotate.services.archiving.references import renamed
from annotate.services.archiving.tables import PEOPLE
from annotate.services.excluding import exclude_person
from tests.factories import (
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

Members = dict[str, bytes]


def make_small_archive() -> bytes:
    """The archive of a project that is not here any more."""
    file = io.BytesIO()
    with transaction.atomic():
        project = make_project(slug="small", title="Small")
        stage = make_stage(project, slug="label", overlap=2)
        items = [make_item(project, gold={"label": ["yes"]}) for _ in range(3)]
        make_item_set(project, items)
        person = make_member(project)
        for item in items:
            make_annotation(make_stage_item(stage, item), person, {"label": "yes"})
        exclude_person(project=project, person=person, by=make_member(project, "admin"), reason="A test.")
        write_archive(project, file, lambda n: None)
        transaction.set_rollback(True)
    return file.getvalue()


def unpacked(archive: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(members: Members, *, more: Callable[[zipfile.ZipFile], object] | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if more:
            more(archive)
    return file.getvalue()


def with_sums(members: Members) -> Members:
    """With a manifest that fits again: whoever makes an archive by hand can do that, too."""
    manifest = json.loads(members["manifest.json"])
    for entry in manifest["members"]:
        content = members[entry["name"]]
        entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if "rows" in entry:
            entry["rows"] = content.count(b"\n")
    return members | {"manifest.json": json.dumps(manifest).encode()}


def changed(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Callable[[bytes], bytes]:
    """The archive with other rows in one of its tables, and checksums that fit."""

    def make(archive: bytes) -> bytes:
        members = unpacked(archive)
        rows = [json.loads(line) for line in members[name].splitlines()]
        change(rows)
        members[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        return packed(with_sums(members))

    return make


def setting(name: str, column: str, value: Any, row: int = 0) -> Callable[[bytes], bytes]:
    return changed(name, lambda rows: rows[row].__setitem__(column, value))


def with_lines(name: str, line: bytes) -> Callable[[bytes], bytes]:
    """The archive with one line of a table replaced."""

    def make(archive: bytes) -> bytes:
        members = unpacked(archive)
        lines = members[name].splitlines(keepends=True)
        members[name] = b"".join([line, *lines[1:]])
        return packed(with_sums(members))

    return make


def in_manifest(**said: Any) -> Callable[[bytes], bytes]:
    def make(archive: bytes) -> bytes:
        members = unpacked(archive)
        members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | said).encode()
        return packed(members)

    return make


def with_member(name: str, content: bytes = b"x", mode: int = 0) -> Callable[[bytes], bytes]:
    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, content, zipfile.ZIP_DEFLATED)

    return lambda archive: packed(unpacked(archive), more=add)


def damaged(archive: bytes) -> bytes:
    """One byte of what was packed is another one."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        place = file.getinfo("annotation.jsonl").header_offset + 80
    return archive[:place] + bytes([archive[place] ^ 0xFF]) + archive[place + 1 :]


def without(name: str) -> Callable[[bytes], bytes]:
    return lambda archive: packed({key: value for key, value in unpacked(archive).items() if key != name})


def other_bytes(archive: bytes) -> bytes:
    members = unpacked(archive)
    members["gold.jsonl"] = members["gold.jsonl"].replace(b"yes", b"not")
    return packed(members)


def fewer_rows(archive: bytes) -> bytes:
    members = unpacked(archive)
    members["gold.jsonl"] = members["gold.jsonl"].partition(b"\n")[0] + b"\n"
    return packed(members)


DEEP = b'{"detail": ' + b"[" * 100 + b"]" * 100 + b"}\n"

FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    # The file
    "no ZIP": (lambda archive: b"id,question\n1,Is it?\n", "This is no ZIP file, or it was cut off"),
    "cut off": (lambda archive: archive[: len(archive) // 2], "cut off on its way"),
    "empty": (lambda archive: b"", "This is no ZIP file"),
    "damaged": (damaged, "annotation.jsonl: it cannot be unpacked|its SHA-256|is damaged"),
    "without manifest": (without("manifest.json"), "There is no manifest.json in it"),
    "too many members": (
        lambda archive: packed({f"files/{n:06}": b"" for n in range(1_001)}),
        "has 1,001 members, and 1,000 are allowed",
    ),
    "a bomb": (with_member("files/000001", b"\0" * 5_000_000), "grows to more than 200 times its size"),
    "leads out": (with_member("../../etc/cron.d/x"), r"leads out of the archive \(\.\.\)"),
    "leads out, as on Windows": (with_member("files\\..\\x"), r"leads out of the archive \(\.\.\)"),
    "absolute": (with_member("/etc/passwd"), "its name is absolute"),
    "a drive": (with_member("C:x.jsonl"), "its name is absolute"),
    "a link": (with_member("files/000001", b"/etc/passwd", stat.S_IFLNK | 0o777), "it is a link"),
    "a folder": (with_member("files/"), "no archive of ours has a member of this name"),
    "a program": (with_member("run.sh"), "no archive of ours has a member of this name"),
    "a member twice": (with_member("gold.jsonl"), "'gold.jsonl': it is there twice"),
    # The manifest
    "another format": (in_manifest(format="zoo"), "does not say that this is a goldpanel-archive"),
    "a later version": (in_manifest(version=7), "has version 7, and this program reads version 1"),
    "no list of members": (in_manifest(members="all"), "has no list of members"),
    "not listed": (with_member("files/000001"), "holds files/000001, which its manifest does not list"),
    "not there": (without("gold.jsonl"), "lacks gold.jsonl, which its manifest lists"),
    "a table of a later program": (
        lambda archive: packed(
            with_sums(
                unpacked(in_manifest(members=[{"name": "zebra.jsonl", "bytes": 0, "rows": 0, "sha256": ""}])(archive))
                | {"zebra.jsonl": b""}
            )
        ),
        "lacks|holds|knows no table",
    ),
    "a deep manifest": (
        lambda archive: packed(unpacked(archive) | {"manifest.json": b"[" * 100 + b"]" * 100}),
        "nested more than 64 deep",
    ),
    # Checksums
    "other bytes": (other_bytes, "gold.jsonl: its SHA-256 is not that of the manifest"),
    "fewer rows": (fewer_rows, "gold.jsonl: it has [0-9]+ bytes, and the manifest says"),
    # Rows
    "no JSON": (with_lines("item.jsonl", b"{oops\n"), "item.jsonl, line 1: this is no JSON"),
    "no object": (with_lines("item.jsonl", b"[]\n"), "item.jsonl, line 1: there must be an object on each line"),
    "two objects": (with_lines("item.jsonl", b"{} {}\n"), "line 1: something follows after the value"),
    "not UTF-8": (with_lines("item.jsonl", b"\xff\n"), "line 1: it is not UTF-8"),
    "too deep": (with_lines("event.jsonl", DEEP), "line 1: .*nested more than 64 deep"),
    "NUL": (setting("item.jsonl", "external_id", "a\0"), "line 1: external_id: there is a NUL"),
    "half a pair": (setting("item.jsonl", "external_id", "\ud800"), "line 1: .*surrogate"),
    "a column of a later program": (setting("item.jsonl", "colour", "red"), "line 1: this program knows no colour"),
    "a missing column": (changed("item.jsonl", lambda rows: rows[1].pop("external_id")), "line 2: external_id is miss"),
    "null": (setting("item.jsonl", "external_id", None), "line 1: external_id: must not be null"),
    "a number for a text": (setting("item.jsonl", "external_id", 7), "line 1: external_id: must be text"),
    "a long text": (setting("item.jsonl", "external_id", "x" * 201), "has 201 characters, and 200 are allowed"),
    "a text for a number": (setting("stage.jsonl", "overlap", "two"), "overlap: must be a whole number"),
    "a large number": (setting("stage.jsonl", "overlap", 2**40), "overlap: must be a whole number from 0 to"),
    "a number for truth": (setting("project.jsonl", "is_sample", 1), "is_sample: must be true or false"),
    "no moment": (setting("item.jsonl", "created_at", "yesterday"), "created_at: must be a moment"),
    "no choice": (setting("stage.jsonl", "state", "ajar"), "state: must be one of closed, draft, open, paused"),
    "no address": (setting("project.jsonl", "slug", "../x"), "project.jsonl, line 1: slug: Enter a valid"),
    "two projects": (changed("project.jsonl", lambda rows: rows.append(rows[0])), "must hold one project"),
    "no project": (changed("project.jsonl", lambda rows: rows.clear()), "must hold one project"),
    "no form": (setting("stageversion.jsonl", "fields", [{"type": "zoo"}]), "stageversion.jsonl, line 1: this is no"),
    "no list": (setting("stage.jsonl", "roles", "annotator"), "stage.jsonl, line 1: roles: must be a list"),
    "content that is no pairs": (setting("itemrevision.jsonl", "content", {"a": 1}), "content must be a list of pairs"),
    "an answer that is none": (setting("annotation.jsonl", "answer", [1], 1), "annotation.jsonl, line 2: answer must"),
    "an answer of no kind": (
        setting("annotation.jsonl", "answer", {"label": {"a": 1}}, 2),
        r"annotation.jsonl, line 3: answer.label is no answer to this field \(choice\)",
    ),
    # References
    "points to nobody": (setting("annotation.jsonl", "assignment", 99), "row 99 of assignment.jsonl, which has 3"),
    "points to row 0": (setting("annotation.jsonl", "assignment", 0), "it points to row 0 of assignment.jsonl"),
    "points by a text": (setting("annotation.jsonl", "assignment", "1"), "it points to row '1' of assignment.jsonl"),
    "an unknown person": (setting("assignment.jsonl", "person", "P-NOBODY"), "has nobody called 'P-NOBODY'"),
    "a pseudonym twice": (changed("person.jsonl", lambda rows: rows.append(rows[0])), "a pseudonym stands there twice"),
    "no pseudonym": (setting("person.jsonl", "pseudonym", "<b>"), "pseudonym is none"),
    # What only the database sees
    "two answers to one item": (
        changed("annotation.jsonl", lambda rows: rows[1].__setitem__("assignment", rows[0]["assignment"])),
        "rows of annotation.jsonl contradict one another",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", list(FAULTS))
def test_a_faulty_archive_is_refused_with_the_place_and_leaves_nothing(name: str):
    spoil, words = FAULTS[name]
    archive, by = spoil(make_small_archive()), make_staff()
    before = n_rows()
    with pytest.raises(ArchiveRefused, match=words) as refused:
        restore(file=io.BytesIO(archive), by=by)
    assert len(str(refused.value)) < 1_000
    assert n_rows() == before


def n_rows() -> dict[str, int]:
    return {table.model: table.model_class._base_manager.count() for table in (*TABLES, PEOPLE)}


def test_the_small_archive_itself_is_whole():
    project = restore(file=io.BytesIO(packed(with_sums(unpacked(make_small_archive())))), by=make_staff()).project
    assert (project.slug, project.items.count()) == ("small", 3)


def test_whatever_stands_in_a_column_it_is_refused_or_restored_and_never_breaks():
    archive, by = make_small_archive(), make_staff()
    tables = {
        name: sorted(json.loads(content.splitlines()[0]))
        for name, content in unpacked(archive).items()
        if name.endswith(".jsonl") and content
    }
    columns = st.sampled_from([(name, column) for name, found in sorted(tables.items()) for column in found])
    scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False)
    values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=3), scalars, max_size=2)
    ends = Counter[str]()

    @hypothesis_settings(
        max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(columns, values)
    def put(place: tuple[str, str], value: Any) -> None:
        spoilt = setting(*place, value)(archive)
        with transaction.atomic():
            try:
                restore(file=io.BytesIO(spoilt), by=by)
                ends["restored"] += 1
            except ArchiveRefused:
                ends["refused"] += 1
            transaction.set_rollback(True)

    put()
    assert ends["refused"] > 5


def test_an_archive_of_an_older_program_may_lack_columns_that_have_a_default():
    archive = changed("stage.jsonl", lambda rows: rows[0].pop("lease_minutes"))(make_small_archive())
    assert restore(file=io.BytesIO(archive), by=make_staff()).project.stages.get().lease_minutes == 30


def test_a_line_that_fills_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(checking, "MAX_LINE", 100)
    with pytest.raises(ArchiveRefused, match="a line has more than 100 bytes"):
        restore(file=io.BytesIO(make_small_archive()), by=make_staff())


# People, addresses


def test_people_with_an_account_here_are_refused_unless_they_are_said_to_be_the_same():
    project = make_project(slug="here")
    stage = make_stage(project)
    person = make_member(project)
    make_annotation(make_stage_item(stage), person, {"label": "yes"})
    file = io.BytesIO()
    write_archive(project, file, lambda n: None)
    by = make_staff()
    with pytest.raises(ArchiveRefused, match="1 of the 1 people of the archive have an account here"):
        restore(file=file, by=by)
    copy = restore(file=file, by=by, joins_people=True).project
    assert copy.slug == "here-2"
    # The person's answers, and no way in: whoever runs the new project may invite them.
    assert set(copy.memberships.exclude(person=by).values_list("person", "role", "state")) == {
        (person.pk, "annotator", "left")
    }
    person.refresh_from_db()
    assert person.is_active
    assert Person.objects.filter(pseudonym=person.pseudonym).count() == 1


def test_people_who_came_with_another_archive_are_known_again():
    archive, by = make_small_archive(), make_staff()
    restore(file=io.BytesIO(archive), by=by)
    n_people = Person.objects.count()
    again = restore(file=io.BytesIO(archive), by=by)
    assert (again.project.slug, again.report["other_address"]) == ("small-2", True)
    assert Person.objects.count() == n_people
    assert again.report["n_people_known"] == again.report["n_people"] == 2


def test_an_address_that_is_another_projects_is_refused():
    make_project(slug="taken")
    with pytest.raises(ArchiveRefused, match="The address taken is another project's"):
        restore(file=io.BytesIO(make_small_archive()), by=make_staff(), slug="taken")


# As background work, by page and by command


def test_staff_upload_an_archive_a_worker_restores_it_and_the_upload_is_gone():
    staff, client = make_staff(), Client()
    client.force_login(staff)
    file = ContentFile(make_small_archive(), name="small.zip")
    address = client.post(reverse("restore"), {"file": file, "slug": "anew"})["Location"]
    row = Restoration.objects.get()
    assert "Waiting for a worker" in client.get(address).content.decode()
    archiving.run_restoration(restoration_id=row.pk)
    row.refresh_from_db()
    assert (row.state, row.error, row.project.slug) == ("done", "", "anew")
    page = client.get(address).content.decode()
    assert "The project is restored, under another address than it had." in page
    assert reverse("project", args=["anew"]) in page
    assert client.get(reverse("project", args=["anew"])).status_code == 200
    assert not StoredFile.objects.filter(project=None).exists()


def test_what_is_wrong_with_an_archive_stands_on_its_page():
    staff, client = make_staff(), Client()
    client.force_login(staff)
    file = ContentFile(FAULTS["other bytes"][0](make_small_archive()), name="<b>.zip")
    address = client.post(reverse("restore"), {"file": file})["Location"]
    row = Restoration.objects.get()
    archiving.run_restoration(restoration_id=row.pk)
    page = client.get(address).content.decode()
    assert "The archive was damaged or changed after it was made" in page
    assert '<span class="where">gold.jsonl</span>' in page
    assert "&lt;b&gt;.zip" in page
    assert not Project.objects.filter(slug="small").exists()
    other = Client()
    other.force_login(make_staff())
    assert other.get(address).status_code == 404
    assert "&lt;b&gt;.zip" not in other.get(reverse("restore")).content.decode()


def test_the_command_restores_and_says_what_is_wrong(tmp_path, capsys):
    path = tmp_path / "small.zip"
    path.write_bytes(make_small_archive())
    make_staff(username="ada")
    call_command("restore_archive", str(path), "--admin", "ada", "--slug", "by-command")
    assert "by-command" in capsys.readouterr().out
    assert Project.objects.get(slug="by-command").memberships.filter(person__username="ada", role="admin").exists()
    path.write_bytes(FAULTS["other bytes"][0](path.read_bytes()))
    with pytest.raises(CommandError, match="damaged or changed"):
        call_command("restore_archive", str(path), "--admin", "ada")
    with pytest.raises(CommandError, match="There is no person bob"):
        call_command("restore_archive", str(path), "--admin", "bob")


# Completeness


def test_every_table_of_a_project_travels_or_is_said_to_stay():
    """A new model belongs into a list: what nobody thought of would be missing from every archive."""
    project = apps.get_model("annotate.Project")
    known = {table.model for table in (*TABLES, PEOPLE)} | {one.model for one in LEFT_OUT}
    reached: set[str] = {project._meta.label}
    while True:
        more = {
            model._meta.label
            for model in apps.get_models()
            if model._meta.app_label in ("annotate", "evaluation")
            for column in model._meta.concrete_fields
            if column.remote_field is not None and column.remote_field.model._meta.label in reached
        } - reached
        if not more:
            break
        reached |= more
    assert sorted(reached - known) == []


def test_every_reference_of_a_row_that_must_have_one_travels():
    for table in TABLES:
        travelling = {column.name for column in table.columns}
        for column in table.model_class._meta.concrete_fields:
            if column.remote_field is not None and not column.null and column.name not in travelling:
                assert column.remote_field.model is Project, (table.model, column.name)


def test_ids_inside_json_are_found_by_their_paths():
    value = {"runs": [{"run": 1, "answers": {"prediction": [1, None, 2]}}, {"answers": {}}], "else": 1}
    renamed(value, "runs[].run", lambda pk: pk + 10)
    renamed(value, "runs[].answers.prediction[]", lambda pk: pk + 100)
    renamed(value, "nowhere[].id", lambda pk: pk + 1_000)
    assert value == {"runs": [{"run": 11, "answers": {"prediction": [101, None, 102]}}, {"answers": {}}], "else": 1}
    with pytest.raises(ValueError, match="there must be a list here"):
        renamed({"runs": 1}, "runs[].run", lambda pk: pk)


def test_nothing_of_a_refused_archive_is_left_in_the_storage():
    before = {path for path in (settings.DATA / "files").rglob("*") if path.is_file()}
    with pytest.raises(ArchiveRefused):
        restore(file=io.BytesIO(FAULTS["two answers to one item"][0](make_small_archive())), by=make_staff())
    assert {path for path in (settings.DATA / "files").rglob("*") if path.is_file()} == before
