"""API tokens: shown once, never more than their person may, gone when revoked."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.codes import api_token_digest
from annotate.exceptions import TokenNotPossible
from annotate.models import ApiToken, Event
from annotate.services import people, tokens
from tests.factories import make_annotator, make_member, make_project, make_staff

pytestmark = pytest.mark.django_db


def make(person, *scopes, days=1):
    return tokens.make_token(person=person, name="a test", scopes=scopes or ["work"], days=days)


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_only_a_digest_is_stored_and_it_depends_on_the_key(settings):
    token, text = make(make_annotator())
    assert text.startswith("gp_")
    assert text not in str(ApiToken.objects.values().get())
    assert token.digest == api_token_digest(text, key=settings.CODE_KEY)
    assert token.digest != api_token_digest(text, key="another key")


def test_a_token_opens_until_it_is_revoked_or_past_its_time_or_its_person_is_gone():
    person = make_annotator()
    token, text = make(person)
    assert tokens.find_token(text=text) == token
    assert tokens.find_token(text=text.removeprefix("gp_")) is None
    assert tokens.find_token(text=text + "x") is None

    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.find_token(text=text) is None
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    person.is_active = False
    person.save()
    assert tokens.find_token(text=text) is None
    person.is_active = True
    person.save()
    assert tokens.find_token(text=text) == token
    tokens.revoke_token(token=token, by=person)
    assert tokens.find_token(text=text) is None


def test_a_new_code_ends_the_tokens_made_with_the_old_one():
    # Whoever found the code may have made one.
    person = make_annotator()
    _, text = make(person)
    people.issue_code(person=person)
    assert tokens.find_token(text=text) is None


def test_being_used_is_written_once_an_hour():
    _, text = make(make_annotator())
    tokens.find_token(text=text)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with CaptureQueriesContext(connection) as queries:
        tokens.find_token(text=text)
    assert [query["sql"].split()[0] for query in queries] == ["SELECT"]
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=61))
    tokens.find_token(text=text)
    assert ApiToken.objects.get().last_used_at >= first


def test_those_who_only_answer_are_offered_one_scope():
    project = make_project()
    everything = ["read", "work", "run", "export"]
    assert tokens.offered_scopes(make_member(project)) == ["work"]
    assert tokens.offered_scopes(make_member(project, "viewer")) == everything
    assert tokens.offered_scopes(make_staff()) == everything
    with pytest.raises(TokenNotPossible):
        make(make_member(project), "read")


@pytest.mark.parametrize(("scopes", "days"), [([], 1), (["everything"], 1), (["work"], 0), (["work"], 367)])
def test_what_is_no_token_is_refused(scopes, days):
    with pytest.raises(TokenNotPossible):
        tokens.make_token(person=make_staff(), name="x", scopes=scopes, days=days)
    assert not ApiToken.objects.exists()


def test_a_person_has_twenty_tokens_at_most():
    person = make_staff()
    made = [make(person)[0] for _ in range(20)]
    with pytest.raises(TokenNotPossible, match="20 tokens"):
        make(person)
    tokens.revoke_token(token=made[0], by=person)
    make(person)


def test_making_and_revoking_are_recorded_once_each():
    person = make_annotator()
    token, _ = make(person)
    tokens.revoke_token(token=token, by=person)
    tokens.revoke_token(token=token, by=person)
    verbs = Event.objects.filter(subject_id=token.pk, verb__startswith="token.").order_by("pk")
    assert [(event.verb, event.actor) for event in verbs] == [
        ("token.made", person.pseudonym),
        ("token.revoked", person.pseudonym),
    ]


def test_the_page_shows_a_new_token_this_one_time():
    client = signed_in(make_staff())
    page = client.post(reverse("token-new"), {"name": "nightly", "scopes": ["read", "export"], "days": 30})
    text = page.context["new_text"]
    assert text in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert tokens.find_token(text=text).scopes == ["read", "export"]
    again = client.get(reverse("tokens")).content.decode()
    assert "nightly" in again
    assert text not in again


def test_the_page_refuses_with_words():
    client = signed_in(make_annotator())
    page = client.post(reverse("token-new"), {"name": "", "scopes": ["run"], "days": 400})
    assert page.status_code == 422
    assert set(page.context["form"].errors) == {"name", "scopes", "days"}
    person = make_staff()
    for _ in range(20):
        make(person)
    page = signed_in(person).post(reverse("token-new"), {"name": "one more", "scopes": ["read"], "days": 1})
    assert page.status_code == 422
    assert "There are 20 tokens already" in page.content.decode()


def test_a_token_is_revoked_on_the_page_by_its_person_alone():
    person = make_staff()
    token, text = make(person)
    address = reverse("token-revoke", args=[token.pk])
    assert signed_in(make_staff()).post(address).status_code == 404
    assert tokens.find_token(text=text) is not None
    assert signed_in(person).post(address).status_code == 302
    assert tokens.find_token(text=text) is None
    assert "a test" not in signed_in(person).get(reverse("tokens")).content.decode()


def test_the_command_prints_a_token_alone():
    person = make_staff()
    out, err = io.StringIO(), io.StringIO()
    call_command("make_token", person.username, "a server", "--scope", "read", "--scope", "run", stdout=out, stderr=err)
    token = tokens.find_token(text=out.getvalue().strip())
    assert token is not None
    assert (token.person, token.name, token.scopes) == (person, "a server", ["read", "run"])
    assert "gp_" not in err.getvalue()
    with pytest.raises(CommandError, match="no active person"):
        call_command("make_token", "nobody", "x", "--scope", "read")
    with pytest.raises(CommandError, match="Choose from these scopes: work"):
        call_command("make_token", make_annotator().pseudonym, "x", "--scope", "read")
