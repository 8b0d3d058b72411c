"""The next item comes in a frame that is made once: it must look as if it had been rendered for its person."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Project, Stage, StageVersion
from annotate.person_token import person_token
from annotate.services import questions
from annotate.views import fresh_item
from tests.annotate.test_every_field_type import FIELDS
from tests.factories import YES_NO, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

TABLE = {"type": "table", "columns": ["city", "n"], "rows": [["Rome", "3"]]}
QUESTION = [["question", "Is <b>bold</b> & 'plain' the same?"]]
CONTENTS = {
    "a question": QUESTION,
    "a question with a table": [*QUESTION, ["schema", ["name", "born"]], ["table", TABLE]],
    "a table alone": [["table", TABLE]],
    "nothing that is shown": [["other", "hidden"]],
}
# A table whose columns each item names is another form with each item.
EVERY_FIELD = [field for field in FIELDS if "columns_from" not in field]
# Both are drawn anew for each page.
DRAWN = re.compile(r'(?<=name="csrfmiddlewaretoken" value=")[^"]+|(?<=name="client_key" value=")(ask-)?[^"]+')


def page_of(client: Client, stage: Stage, *, language: str = "en") -> str:
    """The fragment with the item in hand, but for what is drawn and for white space."""
    address = reverse("work", args=[stage.project.slug, stage.slug])
    response = client.get(address, headers={"HX-Request": "true", "Accept-Language": language})
    assert response.status_code == 200
    return " ".join(DRAWN.sub("", response.content.decode()).split()).replace("> <", "><")


def assert_looks_rendered(client: Client, stage: Stage, monkeypatch, **how) -> str:
    """Twice by the frame, the second time by the one of the first; then without."""
    made = []
    framed = fresh_item.framed
    with monkeypatch.context() as patch:
        patch.setattr(fresh_item, "framed", lambda *given: made.append(given) or framed(*given))
        first, second = page_of(client, stage, **how), page_of(client, stage, **how)
    assert len(made) == 2
    with monkeypatch.context() as patch:
        patch.setattr(fresh_item, "fresh_item", lambda *_: None)
        assert page_of(client, stage, **how) == first == second
    return first


def make_work(content, *, of_items: str = "hi", **options) -> tuple[Stage, Client]:
    stage = make_stage(make_project(), **{"order": "sequential", "shown_keys": ["question", "table"]} | options)
    for _ in range(3):
        make_stage_item(stage, make_item(stage.project, content, language=of_items))
    client = Client()
    client.force_login(make_member(stage.project))
    return stage, client


def submit(client: Client, stage: Stage, **answer) -> str:
    held = Assignment.objects.get(stage=stage, state="leased")
    form = {"person": person_token(held.person), "client_key": f"key-{held.pk}"} | answer
    address = reverse("work-submit", args=[held.token])
    response = client.post(address, form, headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize(("of_page", "of_items"), [("en", "hi"), ("zh-hans", "hi"), ("en", "")])
def test_every_kind_of_item_with_every_kind_of_field(content, of_page, of_items, monkeypatch):
    stage, client = make_work(content, of_items=of_items, form=EVERY_FIELD)
    page = assert_looks_rendered(client, stage, monkeypatch, language=of_page)
    assert "\x00" not in page


@pytest.mark.parametrize(
    "options",
    [
        {"is_closed_book": True},
        {"is_closed_book": False, "permitted_sources": "an <atlas>", "time_limit_seconds": 90},
        {"roles": ["annotator", "admin"]},
    ],
)
def test_what_a_stage_tells_its_people(options, monkeypatch):
    stage, client = make_work(QUESTION, **options)
    Project.objects.update(current_date="1 May 2024")
    StageVersion.objects.update(instruction="Read <it> twice.")
    assert_looks_rendered(client, stage, monkeypatch)


def test_the_page_after_an_answer_and_the_one_after_that(monkeypatch):
    stage, client = make_work(QUESTION, form=YES_NO)
    page_of(client, stage)
    first = submit(client, stage, label="yes")
    assert "Last answer" in first
    second = submit(client, stage, label="no")
    tokens = [re.search(r'data-token="([^"]+)"', page)[1] for page in (first, second)]
    assert len(set(tokens)) == 2
    # Nothing of the page before, neither its token nor the answer that could be changed there.
    assert tokens[0] not in second.replace(reverse("work-revise", args=[tokens[0]]), "")
    assert_looks_rendered(client, stage, monkeypatch)


def test_a_frame_made_for_one_person_holds_nothing_of_theirs():
    stage, client = make_work(QUESTION, form=YES_NO, overlap=3)
    other = Client()
    somebody = make_member(stage.project)
    other.force_login(somebody)
    mine, theirs = page_of(client, stage), page_of(other, stage)
    held = Assignment.objects.exclude(person=somebody).get(stage=stage)
    for secret in (held.token, person_token(held.person)):
        assert secret in mine
        assert secret not in theirs


def test_what_a_stage_changes_is_in_the_next_frame(monkeypatch):
    stage, client = make_work(QUESTION, form=YES_NO, is_closed_book=True)
    before = page_of(client, stage)
    Stage.objects.filter(pk=stage.pk).update(is_closed_book=False, permitted_sources="an atlas")
    after = assert_looks_rendered(client, stage, monkeypatch)
    assert "an atlas" in after
    assert "an atlas" not in before


def test_a_draft_and_a_word_from_an_admin_are_no_fresh_item(monkeypatch):
    monkeypatch.setattr(fresh_item, "framed", lambda *_: pytest.fail("a frame was filled"))
    stage, client = make_work(QUESTION, form=YES_NO)
    address = reverse("work", args=[stage.project.slug, stage.slug])
    client.get(address)
    held = Assignment.objects.get(stage=stage)
    Assignment.objects.update(draft={"answer": {"label": "no"}, "flag_note": "odd"}, draft_version=3)
    assert "checked" in page_of(client, stage)
    Assignment.objects.update(draft=None)
    asked = questions.ask_question(
        person=held.person, project=stage.project, text="Is it?", client_key="key", stage=stage
    )
    questions.answer_question(question=asked, by=make_member(stage.project, role="admin"), answer="It is.")
    assert "It is." in page_of(client, stage)
