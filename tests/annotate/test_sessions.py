"""Who is signed in: found in one statement, refused whenever Django would refuse."""

from __future__ import annotations

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Person, Session
from annotate.sessions import SessionStore
from tests.executed import statements
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def is_let_in(client: Client) -> bool:
    """Whether the first page is shown, and not the way to the sign-in page."""
    response = client.get(reverse("home"))
    assert response.status_code in (200, 302)
    return response.status_code == 200


def test_the_session_and_its_person_are_one_statement():
    person = make_member(make_project())
    client = signed_in(person)
    with CaptureQueriesContext(connection) as queries:
        assert is_let_in(client)
    asking = ("FROM annotate_session", 'FROM "annotate_session"', 'FROM "annotate_person"')
    assert sum(any(table in sql for table in asking) for sql in statements(queries)) == 1
    assert Session.objects.get().person == person


@pytest.mark.parametrize("field", ["is_active", "is_staff", "is_superuser"])
def test_the_person_has_the_truth_values_of_their_row(field):
    person = make_member(make_project())
    for value in (True, False):
        Person.objects.filter(pk=person.pk).update(**{field: value}, username="somebody")
        store = SessionStore(signed_in(person).session.session_key)
        assert store.load()
        assert getattr(store.person, field) is value


def test_whoever_is_deactivated_is_out_at_once():
    person = make_member(make_project())
    client = signed_in(person)
    assert is_let_in(client)
    Person.objects.filter(pk=person.pk).update(is_active=False)
    assert not is_let_in(client)


def test_a_new_password_or_code_ends_the_sessions():
    person = make_member(make_project())
    client = signed_in(person)
    person.set_unusable_password()
    person.save()
    assert not is_let_in(client)
    assert not Session.objects.exists()


def test_an_ended_session_is_none():
    client = signed_in(make_member(make_project()))
    Session.objects.update(expire_date=timezone.now())
    assert not is_let_in(client)
    call_command("clearsessions")
    assert not Session.objects.exists()


def test_the_signed_data_decide_and_not_the_column():
    person, other = make_member(make_project()), make_member(make_project())
    client = signed_in(person)
    Session.objects.update(person=other)
    response = client.get(reverse("home"))
    assert response.wsgi_request.user == person
    Session.objects.update(person=None)
    assert client.get(reverse("home")).wsgi_request.user == person


@pytest.mark.parametrize("key", [HASH_SESSION_KEY, BACKEND_SESSION_KEY])
@pytest.mark.parametrize("value", ["something else", "", None])
def test_a_session_without_its_marks_is_refused(key, value):
    client = signed_in(make_member(make_project()))
    session = client.session
    if value is None:
        del session[key]
    else:
        session[key] = value
    session.save()
    assert not is_let_in(client)


def test_a_new_secret_key_keeps_sessions_while_the_old_one_is_a_fallback(settings):
    client = signed_in(make_member(make_project()))
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key " * 5
    assert is_let_in(client)
    settings.SECRET_KEY_FALLBACKS = []
    # Signed anew by the request before.
    assert is_let_in(client)


def test_sessions_of_nobody_are_kept_too():
    store = SessionStore()
    store["basket"] = "full"
    store.save()
    assert Session.objects.get().person is None
    again = SessionStore(store.session_key)
    assert again["basket"] == "full"
    assert again.person is None
