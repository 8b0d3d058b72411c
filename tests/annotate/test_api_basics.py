"""What every address of the API has in common: sign-in, one form of errors, lists by key, JSON with limits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import ApiToken, Person, Project
from annotate.services import tokens
from tests.api_client import ApiClient, make_api_token
from tests.factories import make_item, make_item_set, make_member, make_project, make_staff

pytestmark = pytest.mark.django_db

ME = "/api/v1/me/"


def ask(authorization: str | None, address: str = ME):
    return Client(headers={"Authorization": authorization} if authorization else {}).get(address)


# Sign-in


def test_a_token_says_whose_it_is_and_what_it_opens():
    person = make_staff()
    token, text = tokens.make_token(person=person, name="nightly", scopes=["read", "export"], days=3)
    told = ask(f"Bearer {text}").json()
    assert told["pseudonym"] == person.pseudonym
    assert (told["token"], told["scopes"]) == ("nightly", ["read", "export"])
    assert told["expires_at"][:16] == token.expires_at.isoformat()[:16]


def test_without_a_token_that_lives_the_answer_is_401_and_says_how():
    person = make_staff()
    revoked, past, of_somebody_gone = (make_api_token(person), make_api_token(person), make_api_token(make_staff()))
    ids = list(ApiToken.objects.order_by("pk").values_list("pk", flat=True))
    ApiToken.objects.filter(pk=ids[0]).update(revoked_at=timezone.now())
    ApiToken.objects.filter(pk=ids[1]).update(expires_at=timezone.now() - timedelta(seconds=1))
    Person.objects.filter(api_tokens=ids[2]).update(is_active=False)
    good = make_api_token(person)
    refused = [None, "Bearer", "Bearer ", "Bearer gp_nothing", "Bearer gp_\u00e9", f"Basic {good}", good]
    refused += [f"Bearer {text}" for text in (revoked, past, of_somebody_gone, f"{good}x", good[3:])]
    for authorization in refused:
        response = ask(authorization)
        assert response.status_code == 401, authorization
        assert response["WWW-Authenticate"] == 'Bearer realm="goldpanel"'
        assert response.json()["error"] in ("not_authenticated", "authentication_failed")
    assert ask(f"bearer {good}").status_code == 200


def test_a_session_is_no_token():
    client = Client()
    client.force_login(make_staff())
    assert client.get(ME).status_code == 401


def test_a_missing_scope_is_named():
    response = ApiClient(make_staff(), "work").get("projects/")
    assert response.status_code == 403
    assert response.json() == {"error": "permission_denied", "message": "This token lacks the scope “read”."}


def test_nothing_is_cached_anywhere():
    for response in (ask(None), ApiClient(make_staff()).get("me/"), ApiClient(make_staff()).get("projects/none/")):
        assert response["Cache-Control"] == "no-store"


# Errors


def test_errors_have_one_form():
    api = ApiClient(make_staff())
    absent = api.get("projects/nowhere/").json()
    assert absent == {"error": "not_found", "message": "There is no such thing, or it is not this token's to see."}
    assert api.send("put", "projects/", {}).json()["error"] == "method_not_allowed"
    invalid = api.post("projects/", title="", time_zone="Mars/Olympus", colour="red")
    assert invalid.status_code == 422
    assert invalid.json()["error"] == "invalid"
    assert invalid.json()["fields"] == {"colour": "There is no such field."}
    invalid = api.post("projects/", title="", languages=["en", "not a tag"])
    assert set(invalid.json()["fields"]) == {"title"}
    invalid = api.post("projects/", title="x", languages=["en", "not a tag"], time_zone="Mars/Olympus")
    assert set(invalid.json()["fields"]) == {"languages", "time_zone"}, "in the words of the page's form"


def test_errors_of_nested_fields_are_named_by_their_path():
    project = make_project()
    api = ApiClient(make_member(project, "admin"))
    fields = [{"name": "a", "caption": "A?"}, {"name": "b", "options": [{"value": "x"}]}]
    refused = api.post(f"projects/{project.slug}/stages/", kind="label", title="T", shown_keys=["q"], fields=fields)
    assert refused.status_code == 422
    assert set(refused.json()["fields"]) == {"fields[1].caption", "fields[1].options[0].caption"}


def test_a_filter_that_does_not_exist_is_refused():
    # Ignored, it would give rows that were not asked for; passed on, it could walk to what is hidden.
    project = make_project()
    api = ApiClient(make_member(project, "viewer"))
    for filters in ({"stat": "tie"}, {"golds__answers": "yes"}, {"project__memberships__person__password": "x"}):
        refused = api.get(f"projects/{project.slug}/items/", **filters)
        assert refused.status_code == 422
        assert list(refused.json()["fields"]) == list(filters)


# JSON


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"title": NaN}', "NaN is not a value"),
        (b'{"title": 1e999}', "larger than any number"),
        (b'{"title": "a\\u0000b"}', "NUL"),
        (b'{"title": "\\ud800"}', "surrogate"),
        (b'{"title": "a", "title": "b"}', "same key"),
        (b'{"title": "a"} {}', "more after the end"),
        (b'{"title": ', "no JSON"),
        (b'{"title": "\xff"}', "UTF-8"),
        (b'{"title": ' + b"[" * 65 + b"]" * 65 + b"}", "more than 64 deep"),
        (b"[" * 200_000, "more than 64 deep"),
        (b"1" * 5_000, "digits"),
    ],
)
def test_json_that_would_break_something_later_is_refused_at_the_door(body, words):
    response = ApiClient(make_staff()).send("post", "projects/", body)
    assert response.status_code == 400
    assert response.json()["error"] == "parse_error"
    assert words in response.json()["message"]
    assert not Project.objects.exists()


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"null", b"12", b"true"])
def test_json_that_is_no_object_is_refused(body):
    assert ApiClient(make_staff()).send("post", "projects/", body).status_code == 422


def test_a_body_larger_than_the_limit_is_refused_unread(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    api = ApiClient(make_staff())
    assert api.post("projects/", title="t", description="x" * 900).status_code == 201
    refused = api.post("projects/", title="t", description="x" * 1_000)
    assert (refused.status_code, refused.json()["error"]) == (413, "too_large")


def test_other_media_types_are_refused_and_accept_is_not_asked():
    api = ApiClient(make_staff())
    assert api.client.post("/api/v1/projects/", {"title": "a form"}).status_code == 415
    assert api.client.get("/api/v1/projects/", headers={"Accept": "text/html"})["Content-Type"] == "application/json"


# Lists


def test_a_list_goes_on_at_next_until_there_is_no_more():
    project = make_project()
    items = [make_item(project) for _ in range(5)]
    api = ApiClient(make_member(project, "viewer"))
    address = f"projects/{project.slug}/items/"
    assert [row["id"] for row in api.rows(address, limit=2)] == [item.external_id for item in items]
    page = api.get(address, limit=5).json()
    assert (len(page["results"]), page["next"]) == (5, None), "a full last page has no next one"
    first = api.get(address, limit=2, starts_with="item-").json()
    assert "starts_with=item-" in first["next"], "filters go along"


def test_a_list_is_not_disturbed_by_what_is_added_meanwhile():
    project = make_project()
    admin = make_member(project, "admin")
    sets = [make_item_set(project, []) for _ in range(4)]
    api = ApiClient(admin)
    first = api.get(f"projects/{project.slug}/item-sets/", limit=2).json()
    make_item_set(project, [])
    second = api.get(first["next"]).json()
    assert [row["id"] for row in first["results"] + second["results"]] == [row.pk for row in reversed(sets)]


@pytest.mark.parametrize(
    "cursor", ["1", "after:3", "YWZ0ZXI6LTE", "////", "é", "x" * 99, "YWZ0ZXI6OTk5OTk5OTk5OTk5OTk5OTk5OTk"]
)
def test_a_cursor_of_ones_own_is_refused(cursor):
    response = ApiClient(make_staff()).get("projects/", cursor=cursor)
    assert response.status_code == 422
    assert "cursor" in response.json()["fields"]


@pytest.mark.parametrize("limit", ["0", "-1", "201", "many", "", "9" * 5000])
def test_a_page_has_one_to_two_hundred_rows(limit):
    assert ApiClient(make_staff()).get("projects/", limit=limit).status_code == 422


def test_nothing_is_counted_and_a_long_list_costs_what_a_short_one_does():
    def cost(n: int) -> int:
        project = make_project()
        for _ in range(n):
            make_item(project, gold={"label": ["yes"]}, strata=[["domain", "sports"]])
        api = ApiClient(make_member(project, "viewer"))
        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"projects/{project.slug}/items/").status_code == 200
        assert not any("COUNT(" in query["sql"] for query in queries)
        return len(queries)

    # Token, project, items, their revisions, their gold labels.
    assert cost(3) == cost(30) == 5
