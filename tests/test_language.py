"""Which language a page speaks, and that nothing but pages changes with it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.translation import get_language

from tests.factories import make_annotator

pytestmark = pytest.mark.django_db


def language_of(response) -> str:
    """What a page says of itself, in its markup and in its header alike."""
    lang = response.content.decode().partition('<html lang="')[2].partition('"')[0]
    assert response["Content-Language"] == lang
    return lang


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", "en"),
        ("de-DE,de;q=0.9", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-hans"),
        ("zh", "zh-hans"),
        ("de, zh-SG;q=0.7, en;q=0.5", "zh-hans"),
        ("en-GB, zh-CN;q=0.9", "en"),
        ("%(x)s;q=nonsense,,", "en"),
    ],
)
def test_a_page_speaks_the_first_language_of_the_browser_that_there_is(accepted, expected):
    assert language_of(Client(headers={"accept-language": accepted}).get("/sign-in/")) == expected


def test_a_choice_is_kept_in_the_browser_and_outweighs_what_the_browser_says():
    client = Client(headers={"accept-language": "en"})
    chosen = client.post("/language/", {"language": "zh-hans", "next": "/sign-in/?next=/"})
    assert (chosen.status_code, chosen["Location"]) == (302, "/sign-in/?next=/")
    cookie = chosen.cookies["language"]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == ("zh-hans", True, "Lax")
    assert language_of(client.get("/sign-in/")) == "zh-hans"


@pytest.mark.parametrize("language", ["", "xx", "zh-hans\r\nSet-Cookie: a=b", "../../etc/passwd", "z" * 10_000])
def test_a_language_that_there_is_not_changes_nothing(language):
    client = Client()
    assert client.post("/language/", {"language": language}).status_code in {204, 302}
    assert language_of(client.get("/sign-in/")) == "en"


@pytest.mark.parametrize(
    "elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)", "\\\\example.org"]
)
def test_the_switch_leads_to_no_other_site(elsewhere):
    chosen = Client().post("/language/", {"language": "zh-hans", "next": elsewhere})
    assert chosen["Location"] == "/"


def test_the_switch_needs_the_page_it_stands_on():
    client = Client(enforce_csrf_checks=True)
    assert client.post("/language/", {"language": "zh-hans"}).status_code == 403


def test_a_page_says_that_it_depends_on_language_and_cookie_and_which_way_it_runs():
    response = Client().get("/sign-in/")
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in response["Vary"].split(",")}
    assert 'dir="ltr"' in response.content.decode().partition(">")[2].partition(">")[0]


def test_the_switch_offers_every_other_language_and_comes_back_to_the_same_page():
    client = Client()
    client.force_login(make_annotator())
    page = client.get("/?a=1").content.decode()
    assert '<button class="button quiet small" name="language" value="zh-hans" lang="zh-hans">简体中文</button>' in page
    assert '<span aria-current="true" lang="en">English</span>' in page
    assert '<input type="hidden" name="next" value="/?a=1">' in page


@pytest.mark.parametrize("path", ["/api/v1/projects/", "/api/v1/schema/", "/health/live/"])
def test_what_programs_read_is_the_same_in_every_language(path):
    english, chinese = (Client(headers={"accept-language": language}).get(path) for language in ("en", "zh-CN"))
    assert english.content == chinese.content
    assert not chinese.has_header("Content-Language")


def test_no_language_outlives_its_request():
    Client(headers={"accept-language": "zh-CN"}).get("/sign-in/")
    assert get_language() == "en"
