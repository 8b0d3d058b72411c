"""Somebody leaves: signs in no more from this moment, comes back, or is erased without a trace of who they were."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from annotate.exceptions import LastAdmin, PersonNotYours, SignInRefused, StaleDraft
from annotate.models import (
    Annotation,
    ApiToken,
    Assignment,
    Event,
    ImportedAnnotator,
    Membership,
    Person,
    Project,
    SignInFailure,
    StageItem,
    StoredFile,
)
from annotate.services import leaving, people, submitting, tokens
from annotate.services.assigning import claim_next, expire_leases
from annotate.services.exporting import answer_rows, request_export, run_export
from annotate.services.exporting.kinds import KINDS
from annotate.services.importing import import_file
from tests.factories import (
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

CANARY = "canary-ottilie"


class Cast:
    """An admin, and somebody who signed in with a code, answered one item and holds another."""

    def __init__(self) -> None:
        self.project = make_project(slug="claims")
        self.admin = make_member(self.project, "admin")
        self.stage = make_stage(self.project)
        self.answered, self.held = make_stage_item(self.stage), make_stage_item(self.stage)
        self.person, self.code = people.new_annotator(project=self.project)
        make_annotation(self.answered, self.person, {"label": "yes"})
        claim = claim_next(stage=self.stage, person=self.person)
        assert isinstance(claim, Assignment)
        self.claim = claim


@pytest.fixture
def cast() -> Cast:
    return Cast()


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_whoever_is_deactivated_is_out_at_once_and_what_they_held_goes_to_others(cast: Cast):
    browser = signed_in(cast.person)
    address = f"/work/{cast.project.slug}/{cast.stage.slug}/"
    assert browser.get(address).status_code == 200
    _token, text = tokens.make_token(person=cast.person, name="script", scopes=["work"], days=1)

    left = leaving.deactivate_person(person=cast.person, by=cast.admin)

    assert left.n_places == 1
    assert browser.get(address).status_code == 302  # to sign in
    assert tokens.find_token(text=text) is None
    with pytest.raises(SignInRefused):
        people.sign_in_with_code(code=cast.code, address="127.0.0.1")
    cast.claim.refresh_from_db()
    assert (cast.claim.state, cast.claim.slot) == ("withdrawn", None)
    cast.held.refresh_from_db()
    assert (cast.held.active, cast.held.done) == (0, 0)
    other = claim_next(stage=cast.stage, person=make_member(cast.project))
    assert isinstance(other, Assignment)
    assert other.stage_item_id == cast.claim.stage_item_id
    assert Annotation.objects.counted().filter(assignment__person=cast.person).count() == 1
    verbs = list(Event.objects.filter(project=cast.project, actor=cast.admin.pseudonym).values_list("verb", flat=True))
    assert verbs == ["leases.taken_back", "person.deactivated"]


def test_deactivating_twice_is_deactivating_once(cast: Cast):
    leaving.deactivate_person(person=cast.person, by=cast.admin)
    assert leaving.deactivate_person(person=cast.person, by=cast.admin).n_places == 0
    assert Event.objects.filter(verb="person.deactivated").count() == 1


def test_whoever_is_reactivated_comes_back_with_the_same_code_and_gets_what_they_held(cast: Cast):
    Assignment.objects.filter(pk=cast.claim.pk).update(draft={"answer": {"label": "no"}})
    leaving.deactivate_person(person=cast.person, by=cast.admin)
    leaving.reactivate_person(person=cast.person, by=cast.admin)
    assert people.sign_in_with_code(code=cast.code, address="127.0.0.1") == cast.person
    again = claim_next(stage=cast.stage, person=Person.objects.get(pk=cast.person.pk))
    assert isinstance(again, Assignment)
    assert (again.pk, again.draft) == (cast.claim.pk, {"answer": {"label": "no"}})


def test_nobody_ends_the_sign_in_of_who_is_not_theirs(cast: Cast):
    elsewhere = make_project()
    Membership.objects.create(person=cast.person, project=elsewhere, role="annotator")
    second_admin = make_member(cast.project, "admin")
    for step in (leaving.deactivate_person, leaving.erase_person, leaving.reactivate_person):
        for person, by in ((cast.person, cast.admin), (cast.admin, cast.admin), (second_admin, cast.admin)):
            with pytest.raises(PersonNotYours):
                step(person=person, by=by)
    assert Person.objects.filter(is_active=False).count() == 0
    # Who left the other project is no longer part of it; and whoever runs the installation may say it of anybody.
    Membership.objects.filter(project=elsewhere).update(state="left")
    leaving.deactivate_person(person=cast.person, by=cast.admin)
    leaving.deactivate_person(person=second_admin, by=make_staff(is_superuser=True))


def test_the_last_admin_of_a_project_is_not_shut_out(cast: Cast):
    root = make_staff(is_superuser=True)
    with pytest.raises(LastAdmin):
        leaving.deactivate_person(person=cast.admin, by=root)
    with pytest.raises(LastAdmin):
        leaving.erase_person(person=cast.admin, by=root)
    # One who cannot sign in is no admin that is left.
    Person.objects.filter(pk=make_member(cast.project, "admin").pk).update(is_active=False)
    with pytest.raises(LastAdmin):
        leaving.deactivate_person(person=cast.admin, by=root)


# Erasure


def every_text() -> str:
    """Whatever any column of any table says."""
    rows = (row for model in apps.get_models() for row in model._base_manager.values_list())
    return "\n".join(repr(row) for row in rows)


def exported(project: Project, admin: Person) -> str:
    """Every export there is, unpacked."""
    found = []
    for kind in KINDS:
        job = request_export(project=project, by=admin, kind=kind, format=KINDS[kind].formats[0].name, may_run=True)
        run_export(export_id=job.pk)
        job.refresh_from_db()
        assert job.state == "done", (kind, job.error)
        assert job.file is not None
        content = job.file.file.read()
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = b"\n".join(archive.read(name) for name in archive.namelist())
        found.append(content.decode(errors="replace"))
    return "\n".join(found)


def test_nothing_that_tells_who_somebody_was_is_left_anywhere(cast: Cast, django_capture_on_commit_callbacks: Any):
    root, project = make_staff(is_superuser=True), cast.project
    person = make_staff(username=CANARY, note=f"{CANARY} from the second floor")
    Membership.objects.create(person=person, project=project, role="annotator")
    tokens.make_token(person=person, name=f"laptop of {CANARY}", scopes=["work"], days=1)
    SignInFailure.objects.create(address="127.0.0.1", account=CANARY)
    signed_in(person)
    make_annotation(make_stage_item(cast.stage), person, {"label": "yes"})
    make_item(project, [["question", "Is q1 so?"]], external_id="q1")
    rows = f"item_id,worker,label\nq1,{CANARY},yes\nq1,somebody else,no\n".encode()
    import_file(project=project, by=cast.admin, file=io.BytesIO(rows), name="answers.csv")
    imported = ImportedAnnotator.objects.get(name=CANARY).person
    assert CANARY in every_text()
    pseudonyms = {person.pseudonym, imported.pseudonym}
    before = [row for row in answer_rows(project=project) if pseudonyms & set(map(str, row))]

    with django_capture_on_commit_callbacks(execute=True):
        leaving.erase_person(person=person, by=root)
        left = leaving.erase_person(person=imported, by=cast.admin)

    assert CANARY not in every_text()
    assert CANARY not in exported(project, cast.admin)
    assert left.n_files == 1
    for stored in StoredFile.objects.filter(purpose="upload"):
        assert CANARY.encode() not in stored.file.read()
    # What they gave is as it was.
    assert [row for row in answer_rows(project=project) if pseudonyms & set(map(str, row))] == before
    person.refresh_from_db()
    assert (person.username, person.is_staff, person.is_active) == (None, False, False)
    assert person.erased_at is not None
    assert not ApiToken.objects.filter(person=person).exists()
    with pytest.raises(PersonNotYours):
        leaving.reactivate_person(person=person, by=root)
    assert not StageItem.objects.filter(stage=cast.stage, active__gt=1).exists()


def test_drafts_of_the_erased_are_gone_and_their_answers_are_not(cast: Cast):
    Assignment.objects.filter(pk=cast.claim.pk).update(draft={"answer": {"label": CANARY}})
    leaving.erase_person(person=cast.person, by=cast.admin)
    assert CANARY not in every_text()
    assert Annotation.objects.counted().filter(assignment__person=cast.person).count() == 1
    assert leaving.erase_person(person=cast.person, by=cast.admin) == leaving.Left()
    assert Event.objects.filter(verb="person.erased").count() == 1


@pytest.mark.parametrize("state", ["leased", "expired"])
def test_words_that_were_on_their_way_when_somebody_was_erased_are_not_kept(cast: Cast, state: str):
    # The request was let in before, and reaches the row after.
    if state == "expired":
        Assignment.objects.filter(pk=cast.claim.pk).update(lease_expires_at="2020-01-01T00:00:00Z")
        assert expire_leases(stage=cast.stage) == 1
    on_its_way = Assignment.objects.select_related("stage", "person").get(pk=cast.claim.pk)
    leaving.erase_person(person=cast.person, by=cast.admin)
    with pytest.raises(StaleDraft):
        submitting.save_draft(assignment=on_its_way, draft={"answer": {"label": CANARY}}, version=12)
    assert CANARY not in every_text()


# The pages


def test_nobody_gets_a_code_of_who_was_erased(cast: Cast):
    leaving.erase_person(person=cast.person, by=cast.admin)
    address = f"/p/claims/people/{cast.person.pseudonym}/code/"
    page = signed_in(cast.admin).post(address, follow=True)
    assert "nobody could sign in as them again" in page.content.decode()
    assert Person.objects.get(pk=cast.person.pk).code_digest is None


def test_the_pages_deactivate_and_erase_with_the_pseudonym_typed(cast: Cast):
    admin = signed_in(cast.admin)
    address = f"/p/claims/people/{cast.person.pseudonym}/"
    page = " ".join(admin.post(f"{address}sign-in/", {"step": "deactivate"}, follow=True).content.decode().split())
    assert "Deactivated: signed out everywhere. 1 item went back to the queue" in page
    assert ">Reactivate<" in page
    refused = admin.post(f"{address}erase/", {"pseudonym": "P-00000000"})
    assert refused.status_code == 422
    assert "Nothing was erased." in refused.content.decode()
    done = admin.post(f"{address}erase/", {"pseudonym": cast.person.pseudonym.lower()}, follow=True)
    assert "nobody signs in as them" in done.content.decode()
    cast.person.refresh_from_db()
    assert cast.person.erased_at is not None
