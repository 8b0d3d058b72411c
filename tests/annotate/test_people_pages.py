"""The people of a project: asked in by code or link, seen by pseudonym, paused, excluded, counted again."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import SignInRefused
from annotate.models import Exclusion, Invite, Membership, Participation, Person, StageItem
from annotate.services import people
from tests.factories import (
    make_annotation,
    make_annotator,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

CODE = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b")


class Cast:
    """The admin, a viewer, an annotator, an admin of another project, and a browser for each."""

    def __init__(self) -> None:
        self.project = make_project(slug="claims")
        self.admin = make_member(self.project, "admin")
        self.viewer = make_member(self.project, "viewer")
        self.annotator = make_member(self.project)
        self.elsewhere = make_project(slug="elsewhere")
        self.stranger = make_member(self.elsewhere, "admin")

    def browser(self, person: Person) -> Client:
        client = Client()
        client.force_login(person)
        return client


@pytest.fixture
def cast() -> Cast:
    return Cast()


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_table_adds_up_what_each_person_did(cast: Cast):
    first, second = make_stage(cast.project), make_stage(cast.project)
    seen = timezone.now() - timedelta(hours=1)
    for stage, numbers in ((first, (3, 1, 100)), (second, (4, 0, 20))):
        answered, skipped, seconds = numbers
        Participation.objects.create(
            stage=stage, person=cast.annotator, n_answered=answered, n_skipped=skipped, active_seconds=seconds,
            last_seen_at=seen,
        )  # fmt: skip
    # The same person in another project is not counted here.
    Participation.objects.create(stage=make_stage(cast.elsewhere), person=cast.annotator, n_answered=50)
    response = cast.browser(cast.admin).get("/p/claims/people/")
    members = {member.person: member for member in response.context["members"]}
    assert cast.stranger not in members
    mine = members[cast.annotator]
    assert (mine.n_answered, mine.n_skipped, mine.active_seconds, mine.last_seen_at) == (7, 1, 120, seen)
    assert members[cast.viewer].last_seen_at is None
    assert "2 min 0 s" in text(response)


def test_the_table_asks_as_much_of_the_database_for_many_people_as_for_few(cast: Cast):
    admin = cast.browser(cast.admin)

    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get("/p/claims/people/").status_code == 200
        return len(queries)

    few = n_queries()
    stage = make_stage(cast.project)
    for _ in range(10):
        Participation.objects.create(stage=stage, person=make_member(cast.project), n_answered=1)
    assert n_queries() == few


def test_codes_are_shown_once_and_open_the_door(cast: Cast):
    admin = cast.browser(cast.admin)
    made = admin.post(
        "/p/claims/people/codes/", {"n_codes": "3", "role": "annotator", "group": "A", "languages": "en, ta"}
    )
    codes = CODE.findall(text(made))
    assert len(set(codes)) == 3
    assert "no-store" in made["Cache-Control"]
    assert not CODE.findall(text(admin.get("/p/claims/people/")))
    person = people.sign_in_with_code(code=codes[0].lower(), address="127.0.0.1")
    membership = Membership.objects.get(person=person)
    assert (membership.project, membership.role, membership.group) == (cast.project, "annotator", "A")
    assert membership.languages == ["en", "ta"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_codes": "0"}, "greater than or equal to 1"),
        ({"n_codes": "501"}, "less than or equal to 500"),
        ({"role": "admin"}, "Select a valid choice"),
        ({"languages": "?"}, "? is no language tag"),
    ],
)
def test_codes_that_cannot_be_made_are_refused_and_nobody_is_made(cast: Cast, changes: dict[str, str], message: str):
    before = Person.objects.count()
    response = cast.browser(cast.admin).post("/p/claims/people/codes/", {"n_codes": "1", "role": "annotator"} | changes)
    assert response.status_code == 422
    assert message in text(response)
    assert Person.objects.count() == before


def test_a_link_is_shown_once_and_ends_when_revoked(cast: Cast):
    admin = cast.browser(cast.admin)
    made = admin.post("/p/claims/people/invite/", {"max_uses": "20", "days": "7", "role": "annotator"})
    (link,) = re.findall(r"http://testserver(/join/[^<\s]+)", text(made))
    invite = Invite.objects.get()
    assert (invite.max_uses, invite.role, invite.created_by) == (20, "annotator", cast.admin)
    assert timedelta(days=6) < invite.expires_at - timezone.now() <= timedelta(days=7)
    listed = text(admin.get("/p/claims/people/"))
    assert "used 0 of 20" in listed
    assert "/join/" not in listed
    admin.post(f"/p/claims/people/invite/{invite.pk}/revoke/")
    assert "used 0 of 20" not in text(admin.get("/p/claims/people/"))
    assert Client().post(link).status_code == 410


def test_a_persons_page_says_what_they_did_and_that_they_are_a_sample(cast: Cast):
    Person.objects.filter(pk=cast.annotator.pk).update(is_sample=True)
    Participation.objects.create(
        stage=make_stage(cast.project, title="Label"), person=cast.annotator, n_answered=12, active_seconds=90
    )
    page = text(cast.browser(cast.admin).get(f"/p/claims/people/{cast.annotator.pseudonym}/"))
    assert "a sample, no real person" in page
    assert "Label" in page
    assert "1 min 30 s" in page


def test_pausing_closes_the_project_and_reactivating_opens_it(cast: Cast):
    admin = cast.browser(cast.admin)
    address = f"/p/claims/people/{cast.viewer.pseudonym}/state/"
    admin.post(address, {"step": "pause"})
    assert cast.browser(cast.viewer).get("/p/claims/").status_code == 404
    admin.post(address, {"step": "reactivate"})
    assert cast.browser(cast.viewer).get("/p/claims/").status_code == 200
    own = admin.post(f"/p/claims/people/{cast.admin.pseudonym}/state/", {"step": "pause"}, follow=True)
    assert "only active admin" in text(own)


def test_a_new_code_replaces_the_old_one(cast: Cast):
    person, old = people.new_annotator(project=cast.project, by=cast.admin, role="annotator", group="", languages=[])
    page = cast.browser(cast.admin).post(f"/p/claims/people/{person.pseudonym}/code/")
    (new,) = CODE.findall(text(page))
    assert "no-store" in page["Cache-Control"]
    assert people.sign_in_with_code(code=new, address="127.0.0.1") == person
    with pytest.raises(SignInRefused):
        people.sign_in_with_code(code=old, address="127.0.0.1")
    staff = cast.browser(cast.admin).post(f"/p/claims/people/{cast.admin.pseudonym}/code/", follow=True)
    assert "signs in with a password" in text(staff)


def test_an_exclusion_has_a_reason_a_date_and_an_end(cast: Cast):
    stage = make_stage(cast.project)
    place = make_stage_item(stage)
    make_annotation(place, cast.annotator, {"label": "yes"})
    StageItem.objects.update(due_at=None)
    admin = cast.browser(cast.admin)
    address = f"/p/claims/people/{cast.annotator.pseudonym}/"
    without = admin.post(address + "exclude/", {"reason": " "})
    assert without.status_code == 422
    assert not Exclusion.objects.exists()
    admin.post(address + "exclude/", {"reason": "Answered in 2 s", "rule": "under a fifth of the median"})
    exclusion = Exclusion.objects.get()
    assert (exclusion.person, exclusion.decided_by, exclusion.reason) == (
        cast.annotator,
        cast.admin,
        "Answered in 2 s",
    )
    place.refresh_from_db()
    assert place.due_at is not None
    page = text(admin.get(address))
    assert "Answered in 2 s" in page
    assert "under a fifth of the median" in page
    assert "excluded</span>" in text(admin.get("/p/claims/people/"))
    admin.post(f"/p/claims/people/exclusions/{exclusion.pk}/lift/")
    exclusion.refresh_from_db()
    assert exclusion.lifted_by == cast.admin
    assert "; lifted " in text(admin.get(address))


def test_everybody_but_the_admin_finds_nothing(cast: Cast):
    invite = Invite.objects.create(
        project=cast.project,
        token_digest="0" * 64,
        role="annotator",
        created_by=cast.admin,
        expires_at=timezone.now() + timedelta(days=1),
    )
    exclusion = Exclusion.objects.create(project=cast.project, person=cast.annotator, reason="x", decided_by=cast.admin)
    who = cast.annotator.pseudonym
    steps = [
        ("get", reverse("people", args=["claims"])),
        ("post", reverse("people-codes", args=["claims"])),
        ("post", reverse("people-invite", args=["claims"])),
        ("post", reverse("people-invite-revoke", args=["claims", invite.pk])),
        ("get", reverse("person", args=["claims", who])),
        *(("post", reverse(f"person-{step}", args=["claims", who])) for step in ("state", "code", "exclude")),
        ("post", reverse("exclusion-lift", args=["claims", exclusion.pk])),
    ]
    sent = {"n_codes": "1", "role": "annotator", "max_uses": "1", "days": "1", "step": "pause", "reason": "x"}
    for method, url in steps:
        for person in (cast.viewer, cast.annotator, cast.stranger):
            assert getattr(cast.browser(person), method)(url, sent).status_code == 404, (url, person)
        assert getattr(Client(), method)(url, sent).status_code == 302
    assert Invite.objects.filter(revoked_at__isnull=True).count() == 1
    assert Exclusion.objects.get().lifted_at is None
    assert Membership.objects.get(person=cast.annotator).state == "active"


def test_rows_of_another_project_are_not_reached_through_ones_own(cast: Cast):
    exclusion = Exclusion.objects.create(project=cast.project, person=cast.annotator, reason="x", decided_by=cast.admin)
    stranger = cast.browser(cast.stranger)
    assert stranger.post(f"/p/elsewhere/people/exclusions/{exclusion.pk}/lift/").status_code == 404
    assert stranger.get(f"/p/elsewhere/people/{cast.annotator.pseudonym}/").status_code == 404
    assert stranger.get(f"/p/elsewhere/people/{make_annotator().pseudonym}/").status_code == 404
