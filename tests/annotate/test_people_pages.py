"""The people of a project: asked in by code or link, seen by pseudonym, paused, excluded, counted again."""

from __future__ import annotations

import csv
import io
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
from annotate.models import (
    Assignment,
    CheckResult,
    Exclusion,
    Invite,
    Membership,
    Participation,
    Person,
    StageItem,
)
from annotate.services import member_list, people
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


def test_a_new_code_for_somebody_who_works_elsewhere_too_is_not_this_admins_to_make(cast: Cast):
    # Whoever has the code is that person there as well.
    cast.elsewhere.memberships.create(person=cast.annotator, role="adjudicator")
    before = Person.objects.get(pk=cast.annotator.pk).code_digest
    page = cast.browser(cast.admin).post(f"/p/claims/people/{cast.annotator.pseudonym}/code/", follow=True)
    assert "also takes part in a project that you do not run" in text(page)
    assert Person.objects.get(pk=cast.annotator.pk).code_digest == before


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


# Which people, in which order


def test_how_each_person_stands_is_said_and_can_be_asked_for(cast: Cast):
    admin = cast.browser(cast.admin)
    stage = make_stage(cast.project)
    people_by_state = {
        "active": make_member(cast.project),
        "invited": cast.annotator,
        "paused": make_member(cast.project, state="paused"),
        "left": make_member(cast.project, state="left"),
        "deactivated": make_member(cast.project),
        "erased": make_member(cast.project),
    }
    Participation.objects.create(stage=stage, person=people_by_state["active"], n_answered=1)
    Person.objects.filter(pk=people_by_state["deactivated"].pk).update(is_active=False)
    Person.objects.filter(pk=people_by_state["erased"].pk).update(is_active=False, erased_at=timezone.now())
    for standing, person in people_by_state.items():
        response = admin.get("/p/claims/people/", {"standing": standing, "role": "annotator"})
        assert [member.person for member in response.context["members"]] == [person]
    everybody = admin.get("/p/claims/people/", {"standing": "anything else"}).context["members"]
    assert len(everybody) == Membership.objects.filter(project=cast.project).count()


def test_the_list_is_ordered_by_what_people_did(cast: Cast):
    admin = cast.browser(cast.admin)
    stage = make_stage(cast.project)
    idle, busy = cast.annotator, make_member(cast.project, group="B")
    Participation.objects.create(stage=stage, person=busy, n_answered=5, active_seconds=50)
    make_annotation(make_stage_item(stage), busy, {"label": "yes"}, is_flagged=True)
    for sort in ("answered", "time", "seen", "flagged"):
        members = admin.get("/p/claims/people/", {"sort": sort}).context["members"]
        assert members[0].person == busy, sort
    assert members[0].n_flagged == 1
    assert [row.person for row in admin.get("/p/claims/people/?group=B").context["members"]] == [busy]
    assert idle in [row.person for row in admin.get("/p/claims/people/?group=none").context["members"]]
    # Whatever else an address names is the order of joining, and no column of the table.
    members = admin.get("/p/claims/people/", {"sort": "person__password"}).context["members"]
    assert members[0].person == cast.admin


def test_checks_are_a_column_only_where_there_are_checks(cast: Cast):
    admin = cast.browser(cast.admin)
    assert "Checks right" not in text(admin.get("/p/claims/people/"))
    stage = make_stage(cast.project)
    for is_right, purpose in ((True, "check"), (False, "counted_check"), (None, "check"), (True, "qualification")):
        annotation = make_annotation(make_stage_item(stage, purpose=purpose), cast.annotator, {"label": "yes"})
        Assignment.objects.filter(pk=annotation.assignment_id).update(purpose=purpose)
        CheckResult.objects.create(assignment=annotation.assignment, is_right=is_right, key_version=1)
    response = admin.get("/p/claims/people/?role=annotator")
    (member,) = response.context["members"]
    assert (member.n_checks, member.n_right) == (2, 1)
    assert "1 of 2" in text(response)


def test_a_long_list_has_pages(cast: Cast, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(member_list, "PAGE", 2)
    admin = cast.browser(cast.admin)
    seen = []
    url = "/p/claims/people/"
    while url:
        response = admin.get(url)
        seen += [member.person for member in response.context["members"]]
        url = response.context["next_url"]
    assert len(seen) == len(set(seen)) == 3
    assert admin.get("/p/claims/people/?page=2").context["before_url"].endswith("page=1")


def test_the_list_goes_into_a_spreadsheet_by_pseudonym_alone(cast: Cast):
    Person.objects.filter(pk=cast.annotator.pk).update(note="Ottilie")
    admin = cast.browser(cast.admin)
    response = admin.get("/p/claims/people/people.csv?role=annotator")
    head, row = b"".join(response.streaming_content).decode("utf-8-sig").splitlines()  # type: ignore[arg-type]
    assert head.startswith("person,role,state,group")
    assert row.startswith(f"{cast.annotator.pseudonym},annotator,invited")
    assert "Ottilie" not in row
    # No check met: how many of them were right is not known, and no 0.
    (told,) = csv.DictReader(io.StringIO(f"{head}\n{row}"))
    assert (told["checks"], told["checks_right"]) == ("0", "")


def test_several_people_at_once_are_paused_let_in_and_dealt_into_groups(cast: Cast):
    admin = cast.browser(cast.admin)
    chosen = [make_member(cast.project) for _ in range(4)]
    who = [person.pseudonym for person in chosen]
    mine = Membership.objects.filter(person__in=chosen)
    page = text(admin.post("/p/claims/people/bulk/", {"step": "pause", "who": who}, follow=True))
    assert "4 people are paused." in page
    assert set(mine.values_list("state", flat=True)) == {"paused"}
    assert Membership.objects.get(person=cast.annotator).state == "active"
    admin.post("/p/claims/people/bulk/", {"step": "reactivate", "who": who})
    admin.post("/p/claims/people/bulk/", {"step": "deal", "who": who, "seed": "3"})
    assert sorted(mine.values_list("group", flat=True)) == ["A", "A", "B", "B"]
    assert Membership.objects.get(person=cast.annotator).group == ""


def test_a_step_for_several_that_one_of_them_forbids_is_taken_for_the_others(cast: Cast):
    admin = cast.browser(cast.admin)
    who = [cast.admin.pseudonym, cast.annotator.pseudonym]
    page = text(admin.post("/p/claims/people/bulk/", {"step": "pause", "who": who}, follow=True))
    assert f"{cast.admin.pseudonym}: This is the only active admin of the project." in page
    assert "1 person is paused." in page


@pytest.mark.parametrize("sent", [{}, {"step": "pause"}, {"step": "promote", "who": "all"}])
def test_a_step_for_nobody_changes_nothing(cast: Cast, sent: dict[str, str]):
    who = cast.stranger.pseudonym  # of another project
    page = cast.browser(cast.admin).post("/p/claims/people/bulk/", {"who": who} | sent, follow=True)
    assert "Tick the people first" in text(page)
    assert not Membership.objects.exclude(state="active").exists()


def test_a_persons_page_shows_days_and_what_was_decided(cast: Cast):
    stage = make_stage(cast.project)
    make_annotation(make_stage_item(stage), cast.annotator, {"label": "yes"})
    admin = cast.browser(cast.admin)
    admin.post(f"/p/claims/people/{cast.annotator.pseudonym}/state/", {"step": "pause"})
    response = admin.get(f"/p/claims/people/{cast.annotator.pseudonym}/")
    assert [(day.day, day.n_answers) for day in response.context["days"]] == [(timezone.now().date(), 1)]
    assert "<code>member.paused</code>" in text(response)


def test_each_person_is_compared_with_the_vote_of_the_others(cast: Cast):
    stage = make_stage(cast.project, title="Label", overlap=3)
    others = [make_member(cast.project) for _ in range(2)]
    for n in range(4):
        item = make_stage_item(stage)
        for person in others:
            make_annotation(item, person, {"label": "yes"})
        make_annotation(item, cast.annotator, {"label": "no" if n == 0 else "yes"})
    admin = cast.browser(cast.admin)
    page = text(admin.get("/p/claims/agreement/people/"))
    assert "75.0" in page
    alone = admin.get(f"/p/claims/agreement/people/?person={cast.annotator.pseudonym}", headers={"HX-Request": "true"})
    assert "75.0" in text(alone)
    assert others[0].pseudonym not in text(alone)
    assert "<html" not in text(alone)
