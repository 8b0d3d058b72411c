"""Coming in and going out over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Invite, Membership, Person
from annotate.person_token import person_token
from annotate.services import people
from tests.factories import make_member, make_project, make_staff

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}


def make_code() -> tuple[Person, str]:
    return people.new_annotator(project=make_project())


def sign_in(client: Client, headers: dict | None = None, **data):
    return client.post(reverse("sign-in"), data, headers=headers or {})


def who(client: Client) -> str | None:
    return client.session.get("_auth_user_id")


def make_link(**fields) -> str:
    project = make_project(title="Rivers", description="Which river is longer?")
    later = timezone.now() + timedelta(days=1)
    by = make_member(project, "admin")
    _, token = people.make_invite(**{"project": project, "by": by, "expires_at": later} | fields)
    return reverse("join", args=[token])


def test_a_code_opens_the_door_and_leads_home():
    person, code = make_code()
    client = Client()
    assert client.get(reverse("sign-in")).status_code == 200
    response = sign_in(client, code=code)
    assert (response.status_code, response["Location"]) == (302, "/")
    assert who(client) == str(person.pk)


def test_signing_in_changes_the_session_key():
    # Whoever planted a session in somebody's browser must not share it afterwards.
    _, first = make_code()
    _, second = make_code()
    client = Client()
    sign_in(client, code=first)
    before = client.session.session_key
    sign_in(client, code=second)
    assert client.session.session_key != before


def test_staff_sign_in_on_the_same_page():
    staff = make_staff(username="ada", password=" a long password ")
    client = Client()
    assert sign_in(client, username="ada", password=" a long password ").status_code == 302
    assert who(client) == str(staff.pk)


def test_whoever_is_signed_in_is_led_on():
    client = Client()
    client.force_login(make_code()[0])
    assert client.get(reverse("sign-in"))["Location"] == "/"


def test_the_way_back_stays_on_this_site():
    _, code = make_code()
    here = reverse("work", args=["a-project", "a-stage"])
    assert sign_in(Client(), code=code, next=here)["Location"] == here
    for elsewhere in ("https://example.org/", "//example.org/", "javascript:alert(1)", "work/", "/\\example.org"):
        assert sign_in(Client(), code=code, next=elsewhere)["Location"] == "/"


def test_a_wrong_code_is_refused_with_a_word_of_help():
    client = Client()
    response = sign_in(client, code="AAAA")
    assert response.status_code == 422
    assert "not known" in response.content.decode()
    assert "AAAA" not in response.content.decode()
    assert who(client) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "Type the code"),
        ({"code": ""}, "Type the code"),
        ({"username": "ada", "password": "wrong"}, "do not go together"),
        ({"username": "ada", "password": ""}, "Type your password"),
        ({"username": "", "password": "x"}, "Type your user name"),
        ({"code": "x" * 10_000}, "at most 200"),
        ({"code": "A\x00"}, "Null characters"),
    ],
)
def test_what_is_missing_or_wrong_is_said(data, words):
    response = sign_in(Client(), **data)
    assert response.status_code == 422
    assert words in response.content.decode()


def test_a_password_never_comes_back_in_a_page():
    response = sign_in(Client(), username="ada", password="my secret words")
    assert "my secret words" not in response.content.decode()
    assert "ada" in response.content.decode()


def test_too_many_attempts_are_told_as_such():
    for _ in range(people.FAILURES_PER_ADDRESS):
        sign_in(Client(), code="WRONG")
    response = sign_in(Client(), code="WRONG")
    assert response.status_code == 429
    assert "Wait ten minutes" in response.content.decode()


def test_a_header_from_nowhere_does_not_change_the_address():
    for n in range(people.FAILURES_PER_ADDRESS):
        sign_in(Client(), {"X-Forwarded-For": f"203.0.113.{n}"}, code="WRONG")
    assert sign_in(Client(), {"X-Forwarded-For": "203.0.113.99"}, code="WRONG").status_code == 429


def test_behind_a_trusted_proxy_each_client_is_counted_apart(settings):
    settings.TRUSTED_PROXIES = ["127.0.0.1/32"]
    for _ in range(people.FAILURES_PER_ADDRESS):
        sign_in(Client(), {"X-Forwarded-For": "203.0.113.5"}, code="WRONG")
    assert sign_in(Client(), {"X-Forwarded-For": "203.0.113.5"}, code="WRONG").status_code == 429
    assert sign_in(Client(), {"X-Forwarded-For": "203.0.113.6"}, code="WRONG").status_code == 422


# Signing in over the page


def test_a_script_hears_what_it_needs_to_send_the_answer_again():
    person, code = make_code()
    client = Client(enforce_csrf_checks=True)
    page = client.get(reverse("sign-in"))
    answer = sign_in(client, JSON, code=code, csrfmiddlewaretoken=page.context["csrf_token"])
    assert answer.json()["ok"] is True
    assert answer.json()["person_token"] == person_token(person)
    # The token that signing in made is the one that counts from now on.
    renewed = answer.json()["csrf_token"]
    assert client.post(reverse("sign-out"), {"csrfmiddlewaretoken": renewed}).status_code == 302


def test_a_script_hears_a_refusal_as_one():
    response = sign_in(Client(), JSON, code="WRONG")
    assert response.status_code == 422
    assert response.json()["ok"] is False
    assert "not known" in response.json()["error"]


def test_tokens_of_people_differ_and_are_not_their_numbers():
    first, second = make_code()[0], make_code()[0]
    assert person_token(first) != person_token(second)
    assert len(person_token(first)) == 32


# Going out


def test_signing_out_ends_the_session_and_needs_a_post():
    client = Client()
    client.force_login(make_code()[0])
    assert client.get(reverse("sign-out")).status_code == 405
    assert client.post(reverse("sign-out"))["Location"] == reverse("sign-in")
    assert who(client) is None


def test_a_reissued_code_ends_what_the_old_one_opened():
    person, _ = make_code()
    client = Client()
    client.force_login(person)
    assert client.get("/").status_code == 200
    people.issue_code(person=person)
    assert client.get("/").status_code == 302


# Invitations


def test_a_link_shows_what_it_is_for_and_takes_nothing():
    link = make_link()
    for _ in range(3):
        response = Client().get(link)
        assert "Rivers" in response.content.decode()
        assert "no-store" in response["Cache-Control"]
    assert Invite.objects.get().uses == 0


def test_taking_part_signs_in_and_shows_the_code_once_at_a_clean_address():
    link = make_link()
    client = Client()
    response = client.post(link)
    assert (response.status_code, response["Location"]) == (302, "/")
    home = client.get("/")
    code = home.context["new_code"]
    assert code in home.content.decode()
    assert "only way to sign in again" in home.content.decode()
    person = Person.objects.get(pk=who(client))
    assert people.sign_in_with_code(code=code, address="192.0.2.1") == person
    assert Membership.objects.get(person=person).role == "annotator"
    # Once: not after a reload, and not in the session either.
    assert client.get("/").context["new_code"] == ""
    assert code not in str(dict(client.session))


def test_a_used_link_says_so():
    link = make_link(max_uses=1)
    Client().post(link)
    for response in (Client().get(link), Client().post(link), Client().post(reverse("join", args=["nonsense"]))):
        assert response.status_code == 410
        assert "Ask whoever sent it" in response.content.decode()
    assert Membership.objects.filter(role="annotator").count() == 1


def test_whoever_is_signed_in_joins_as_themselves():
    person, _ = make_code()
    client = Client()
    client.force_login(person)
    link = make_link()
    assert person.pseudonym in client.get(link).content.decode()
    client.post(link)
    assert Membership.objects.filter(person=person).count() == 2
    assert "new_code" not in client.cookies


def test_a_code_cookie_that_somebody_made_up_is_ignored():
    client = Client()
    client.force_login(make_code()[0])
    client.cookies["new_code"] = "FAKE-FAKE-FAKE"
    response = client.get("/")
    assert response.context["new_code"] == ""
    assert "FAKE" not in response.content.decode()
