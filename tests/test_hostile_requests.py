"""Requests that no browser sends: each is refused in words, none meets the code that would break on it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotate.models import Annotation
from annotate.person_token import person_token
from annotate.services import people
from tests.factories import make_assignment, make_member, make_project, make_staff, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

NUL_COOKIE = f'{settings.SESSION_COOKIE_NAME}="abcdefghijkl\\000"'


def client_of(person, **options) -> Client:
    client = Client(raise_request_exception=False, **options)
    client.force_login(person)
    return client


def routes_with_text(patterns, before: str = "") -> Iterator[str]:
    """Every route of the site that takes free text from the address."""
    for entry in patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes_with_text(entry.url_patterns, route)
        elif isinstance(entry, URLPattern) and "<str:" in route:
            yield route


def address(route: str, text: str) -> str:
    """The route with this text for each `str` in it, and something of the right form for all else."""
    parts = []
    for part in route.split("<"):
        kind, found, rest = part.partition(">")
        value = {"str": text, "int": "1", "slug": "project"}.get(kind.partition(":")[0], "")
        parts.append(value + rest if found else part)
    return "/" + "".join(parts)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_nul_in_the_address_is_refused_before_any_look_up(method):
    routes = list(routes_with_text(get_resolver().url_patterns))
    client = client_of(make_staff())

    assert len(routes) > 10
    for route in routes:
        for text in ("%00", "a%00b"):
            assert getattr(client, method)(address(route, text)).status_code == 400, route


def test_a_nul_in_a_filter_is_refused():
    stage = make_stage(make_project())
    client = client_of(make_member(stage.project, "admin"))

    assert client.get(reverse("items", args=[stage.project.slug]), {"id": "a\x00"}).status_code == 400
    assert client.get(reverse("items", args=[stage.project.slug]), {"id": "a%00"}).status_code == 200


def test_a_nul_in_the_session_cookie_is_refused():
    assert Client(raise_request_exception=False).get("/", headers={"cookie": NUL_COOKIE}).status_code == 400


UNREADABLE = {
    "another encoding": ("code=1", "application/x-www-form-urlencoded; charset=utf-16"),
    "above the limit": ("code=" + "x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE, "application/x-www-form-urlencoded"),
    "too many fields": ("a=1&" * 1_001, "application/x-www-form-urlencoded"),
    "parts without a boundary": ("code=1", "multipart/form-data"),
    "parts that end early": ("--x\r\nContent-Disp", "multipart/form-data; boundary=x"),
}


@pytest.mark.parametrize("checks_csrf", [False, True], ids=["as a form", "without a token"])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_form_that_cannot_be_read_is_refused_in_words(kind, checks_csrf):
    body, content_type = UNREADABLE[kind]
    client = Client(raise_request_exception=False, enforce_csrf_checks=checks_csrf)

    answer = client.generic("POST", reverse("sign-in"), body, content_type=content_type)

    assert answer.status_code in (400, 403, 422)
    assert "Goldpanel" in answer.text


def test_an_answer_in_a_form_that_cannot_be_read_is_not_stored():
    stage_item = make_stage_item(make_stage(make_project()))
    person = make_member(stage_item.stage.project)
    assignment = make_assignment(stage_item, person)
    body = f"person={person_token(person)}&client_key=k&label=yes"

    answer = client_of(person).generic(
        "POST",
        reverse("work-submit", args=[assignment.token]),
        body,
        content_type="application/x-www-form-urlencoded; charset=utf-16",
    )

    assert answer.status_code == 400
    assert "Nothing was stored" in answer.text
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("is_right", [True, False], ids=["right code", "wrong code"])
@pytest.mark.parametrize(
    "kept",
    ["[" * 100_000, '{"a":' * 100_000, "[" + "1," * 10_000 + "1]", '[["a", "\\ud800"]]', "null", "9" * 5_000, "\x00"],
    ids=["nested lists", "nested objects", "numbers", "half a character", "null", "a long number", "NUL"],
)
def test_words_carried_through_signing_in_that_are_none_are_left_behind(kept, is_right):
    _, code = people.new_annotator(project=make_project())
    sent = {"code": code if is_right else "wrong", "kept_path": reverse("work-submit", args=["token"]), "kept": kept}

    answer = Client(raise_request_exception=False).post(reverse("sign-in"), sent)

    assert answer.status_code == (302 if is_right else 422)


def test_words_carried_through_signing_in_stay_words():
    kept = json.dumps([["why", '"><script>alert(1)</script>']])

    answer = Client().post(
        reverse("sign-in"), {"code": "wrong", "kept_path": reverse("work-submit", args=["t"]), "kept": kept}
    )

    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert" in answer.text
