"""Codes, passwords, invitations, and what happens to those who guess."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotate.exceptions import InviteNotValid, PasswordRefused, SignInRefused, TooManyAttempts, TooManyPasswords
from annotate.models import Event, Invite, Membership, Person, SignInFailure
from annotate.services import people
from tests.factories import make_annotator, make_member, make_project, make_staff

pytestmark = pytest.mark.django_db

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"


def sign_in(code: str, address: str = HERE) -> Person:
    return people.sign_in_with_code(code=code, address=address)


def by_password(username: str, password: str, address: str = HERE) -> Person:
    return people.sign_in_with_password(username=username, password=password, address=address)


def make_invite(**fields) -> tuple[Invite, str]:
    project = fields.pop("project", None) or make_project()
    later = timezone.now() + timedelta(days=1)
    return people.make_invite(**{"project": project, "by": make_member(project, "admin"), "expires_at": later} | fields)


# Codes


def test_a_new_annotator_has_a_code_and_no_personal_data():
    project, admin = make_project(), make_staff()
    person, code = people.new_annotator(project=project, by=admin, group="A", languages=["en"])
    assert sign_in(code) == person
    assert (person.username, person.note, person.has_usable_password()) == (None, "", False)
    membership = Membership.objects.get(person=person)
    assert (membership.role, membership.group, membership.languages) == ("annotator", "A", ["en"])
    assert code not in str(Person.objects.filter(pk=person.pk).values().get())
    assert Event.objects.get(verb="member.joined").actor == admin.pseudonym


def test_a_code_is_read_as_it_was_meant():
    person, code = people.new_annotator(project=make_project())
    assert sign_in(f" {code.lower().replace('-', ' ')} ") == person


def test_a_reissued_code_replaces_the_old_one_and_ends_its_sessions():
    person, old = people.new_annotator(project=make_project())
    session = person.get_session_auth_hash()
    new = people.issue_code(person=person)
    assert sign_in(new) == person
    with pytest.raises(SignInRefused):
        sign_in(old)
    assert Person.objects.get(pk=person.pk).get_session_auth_hash() != session


def test_who_was_deactivated_does_not_come_in():
    person, code = people.new_annotator(project=make_project())
    Person.objects.filter(pk=person.pk).update(is_active=False)
    with pytest.raises(SignInRefused):
        sign_in(code)


@pytest.mark.parametrize("code", ["", " ", "-", "AAAA-AAAA-AAAA", "x" * 200])
def test_a_wrong_code_is_refused_and_counted(code):
    # Staff have no code at all: an empty one must not be theirs.
    make_staff()
    with pytest.raises(SignInRefused):
        sign_in(code)
    assert SignInFailure.objects.filter(address=HERE).count() == 1


def test_after_thirty_wrong_codes_an_address_waits_but_a_right_code_passes():
    person, code = people.new_annotator(project=make_project())
    for _ in range(people.FAILURES_PER_ADDRESS):
        with pytest.raises(SignInRefused):
            sign_in("WRONG")
    with pytest.raises(TooManyAttempts):
        sign_in("WRONG")
    # A classroom behind one address must not be locked out by its neighbour.
    assert sign_in(code) == person
    with pytest.raises(SignInRefused):
        sign_in("WRONG", ELSEWHERE)
    # Refusals of that kind are not written down: the table does not grow with an attack.
    assert SignInFailure.objects.filter(address=HERE).count() == people.FAILURES_PER_ADDRESS


def test_failures_count_for_ten_minutes_and_are_kept_for_a_day():
    for _ in range(people.FAILURES_PER_ADDRESS):
        with pytest.raises(SignInRefused):
            sign_in("WRONG")
    SignInFailure.objects.update(at=timezone.now() - timedelta(minutes=11))
    with pytest.raises(SignInRefused):
        sign_in("WRONG")
    SignInFailure.objects.update(at=timezone.now() - timedelta(days=2))
    with pytest.raises(SignInRefused):
        sign_in("WRONG")
    assert SignInFailure.objects.count() == 1


# Passwords


def test_staff_come_in_by_name_and_password():
    staff = make_staff(username="ada", password="a long password")
    assert by_password("ada", "a long password") == staff


@pytest.mark.parametrize("username", ["ada", "nobody", ""])
def test_a_wrong_password_and_an_unknown_name_are_refused_alike(username):
    make_staff(username="ada", password="a long password")
    with pytest.raises(PasswordRefused):
        by_password(username, "another password")
    assert SignInFailure.objects.get().account == username


def test_an_annotator_has_no_password_to_guess():
    person = make_annotator()
    for username in (person.pseudonym, ""):
        with pytest.raises(PasswordRefused):
            by_password(username, "")


def test_after_ten_wrong_passwords_a_name_waits_wherever_they_came_from():
    make_staff(username="ada", password="a long password")
    for n in range(people.PASSWORDS_PER_ACCOUNT):
        with pytest.raises(PasswordRefused):
            by_password("ADA" if n % 2 else "ada", "guess", f"192.0.2.{n}")
    with pytest.raises(TooManyPasswords):
        by_password("ada", "a long password", ELSEWHERE)
    other = make_staff(username="grace", password="a long password")
    assert by_password("grace", "a long password") == other


def test_an_address_that_guesses_many_names_waits_too():
    for n in range(people.FAILURES_PER_ADDRESS):
        with pytest.raises(PasswordRefused):
            by_password(f"name{n}", "guess")
    with pytest.raises(TooManyAttempts):
        by_password("one more", "guess")


# Invitations


def test_an_invitation_makes_a_member_with_a_code():
    invite, token = make_invite(role="annotator", group="B")
    person, code = people.accept_invite(token=token)
    assert sign_in(code) == person
    membership = Membership.objects.get(person=person)
    assert (membership.project, membership.role, membership.group) == (invite.project, "annotator", "B")
    invite.refresh_from_db()
    assert invite.uses == 1


def test_looking_at_an_invitation_takes_nothing():
    invite, token = make_invite()
    for _ in range(3):
        assert people.open_invite(token=token) == invite
    invite.refresh_from_db()
    assert invite.uses == 0


def test_the_link_is_not_in_the_database():
    invite, token = make_invite()
    assert token not in str(Invite.objects.filter(pk=invite.pk).values().get())


def test_a_used_up_an_expired_and_a_revoked_link_let_nobody_in():
    _, used = make_invite(max_uses=1)
    people.accept_invite(token=used)
    _, expired = make_invite(expires_at=timezone.now() - timedelta(seconds=1))
    invite, revoked = make_invite()
    people.revoke_invite(invite=invite, by=invite.created_by)
    people.revoke_invite(invite=invite, by=invite.created_by)
    n_people = Person.objects.count()
    for token in (used, expired, revoked, "", "unknown"):
        with pytest.raises(InviteNotValid):
            people.accept_invite(token=token)
        with pytest.raises(InviteNotValid):
            people.open_invite(token=token)
    assert Person.objects.count() == n_people
    assert Event.objects.filter(verb="invite.revoked").count() == 1


def test_a_known_person_joins_as_themselves_and_only_once():
    invite, token = make_invite(max_uses=5)
    person = make_annotator()
    assert people.accept_invite(token=token, person=person) == (person, None)
    assert people.accept_invite(token=token, person=person) == (person, None)
    assert Membership.objects.get(person=person).project == invite.project
    invite.refresh_from_db()
    assert invite.uses == 1


def test_an_invitation_raises_nobody_who_is_a_member_already():
    project = make_project()
    _, token = make_invite(project=project, role="meta_reviewer")
    member = make_member(project, "annotator")
    people.accept_invite(token=token, person=member)
    assert Membership.objects.get(person=member).role == "annotator"


def test_a_link_never_makes_an_admin():
    with pytest.raises(ValueError, match="admin"):
        make_invite(role="admin")


@pytest.mark.django_db(transaction=True)
def test_the_last_use_of_a_link_lets_one_of_many_in():
    _, token = make_invite(max_uses=3)
    start = threading.Barrier(12)

    def press(_: int) -> bool:
        try:
            start.wait(timeout=30)
            people.accept_invite(token=token)
        except InviteNotValid:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(press, range(12))) == 3
    assert Membership.objects.filter(role="annotator").count() == 3
