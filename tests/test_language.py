"""Which language a page speaks, and that nothing but pages changes with it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import get_language

from annotate.models import Person, Project
from evaluation.services import prompting
from tests.evaluation.studies import make_study
from tests.factories import make_annotator
from tests.test_messages import CATALOGUES, READ_ALOUD, read
from tests.test_permissions import DOORS, look_up, make_world

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


CHINESE = {"accept-language": "zh-CN"}
# Sentences of two words or more that Chinese says otherwise; a shorter one may be somebody's own label.
SENTENCES = {
    message.id
    for path in CATALOGUES
    if path.parts[-3] == "zh_Hans" and path.stem == "django"
    for message in read(path)
    if " " in message.id.strip() and "%(" not in message.id and message.said[0] != message.id
}


class Read(HTMLParser):
    """Every text and every attribute that is read aloud, blanks folded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._silent = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._silent += tag in {"script", "style"}
        self.texts += [value for name, value in attributes if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.texts.append(" ".join(data.split()))


def left_in_english(page: str) -> list[str]:
    texts = Read(page).texts
    return [text for text in texts if text in SENTENCES or re.search(r"%\(\w+\)|\{[a-z_]+\}", text)]


def as_client(person: Person | None, **headers: str) -> Client:
    client = Client(headers=headers)
    if person is not None:
        client.force_login(person)
    return client


@pytest.fixture
def world() -> SimpleNamespace:
    return make_world()


def test_english_sentences_on_a_page_are_found():
    assert "Sign in and go on" in SENTENCES
    page = '<p title="Nothing was imported.">条目</p><b>Sign in\n and go on</b>%(name)s<script>Show all</script>'
    assert left_in_english(page) == ["Nothing was imported.", "Sign in and go on", "%(name)s"]


def test_no_page_of_any_role_has_an_english_sentence_left_in_chinese(world):
    cast = {
        "anonymous": None,
        "stranger": make_annotator(),
        "annotator": world.annotator,
        "viewer": world.viewer,
        "admin": world.admin,
    }
    left, n_pages = {}, 0
    for name, door in DOORS.items():
        if name.startswith("api-"):
            continue
        ids = {key: look_up(world, path) for key, path in door.ids.items()}
        for who in sorted((door.get or set()) & cast.keys()):
            response = as_client(cast[who], **CHINESE).get(reverse(name, kwargs=ids))
            if response.get("Content-Type", "").startswith("text/html"):
                n_pages += 1
                if found := left_in_english(response.content.decode()):
                    left[name, who] = found
    assert n_pages > 60
    assert left == {}


def test_a_report_and_its_side_by_side_are_in_chinese_and_its_files_in_english():
    study = make_study()
    with translation.override("zh-hans"):
        report = study.made_report()
    admin = study.admin
    reader = as_client(admin, **CHINESE)
    for name, *more in (
        ("report", report.pk),
        ("side-by-side",),
        ("runs",),
        ("reports",),
        ("report-new",),
        ("run-new",),
    ):
        page = reader.get(reverse(name, args=[study.project.slug, *more])).content.decode()
        assert left_in_english(page) == [], name
    run = study.project.runs.order_by("pk").first()
    chips = re.findall(
        r'class="chip"[^>]*>([^<]*)<', reader.get(reverse("run", args=[study.project.slug, run.pk])).content.decode()
    )
    assert len(chips) > 1
    assert [
        chip for chip in chips if not re.search("[\u4e00-\u9fff]", chip)
    ] == []  # a word and a number are no sentence
    for stored in report.files.exclude(name__endswith=".png"):
        text = stored.file.read()
        assert not re.search("[\u4e00-\u9fff]", text.decode("utf-8", "replace")), stored.name


def test_what_is_refused_is_said_in_chinese(world):
    admin = as_client(world.admin, **CHINESE)
    assert "没有这个代码" in Client(headers=CHINESE).post("/sign-in/", {"code": "WRONG-CODE"}).content.decode()
    assert "这个字段是必填项" in admin.post(reverse("token-new"), {}).content.decode()
    worker = as_client(world.annotator, **CHINESE)
    sent = {"person": "", "client_key": "a"}
    assert (
        left_in_english(worker.post(reverse("work-submit", args=[world.assignment.token]), sent).content.decode()) == []
    )
    assert left_in_english(admin.get("/no/such/page/").content.decode()) == []


def test_what_is_written_by_somebody_reading_chinese_is_stored_as_it_is_for_everybody(world):
    """The language of whoever asks moves nothing that is kept: exports and figures would depend on it."""
    admin = as_client(world.admin, **CHINESE)
    admin.post(reverse("project-new"), {"title": "Sea", "slug": "sea", "time_zone": "UTC", "languages": "en"})
    admin.post(reverse("import-step", args=[world.project.slug, world.import_job.pk]), {"step": "start"})
    world.import_job.refresh_from_db()
    stored = f"{world.import_job.error}{world.import_job.report}{list(Project.objects.values())}"
    assert not re.search("[\u4e00-\u9fff]", stored)


def test_exports_of_a_page_are_the_same_bytes_in_every_language(world):
    address = reverse("export-answers", args=[world.project.slug])
    english, chinese = (as_client(world.admin, **{"accept-language": tag}).get(address) for tag in ("en", "zh-CN"))
    assert b"".join(english.streaming_content) == b"".join(chinese.streaming_content)


def test_what_models_are_asked_does_not_depend_on_the_language_of_the_interface():
    """Else a published number would move with the browser of whoever started the run."""
    study = make_study()
    run = study.runs[0]
    asked = prompting.sample_prompts(run)
    hashed = prompting.wording_hash(run, prompting.asking_of(run))
    with translation.override("zh-hans"):
        assert prompting.sample_prompts(run) == asked
        assert prompting.wording_hash(run, prompting.asking_of(run)) == hashed
    assert asked
