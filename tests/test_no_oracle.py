"""Nobody can tell a check from any other item, nor a right answer from a wrong one, by anything that the site says.

Two worlds differ in which of two items is the check. Somebody holds one of them: every page and response until the next
item and beyond must be the same to the byte. And what is answered to qualify gets the same responses whatever is right.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.checking import check_is_due
from annotate.models import Assignment, Gold, Participation, StageItem
from annotate.person_token import person_token
from annotate.services import checks
from tests.annotate.test_qualifying import study as qualified_study
from tests.api_client import ApiClient
from tests.factories import make_assignment, make_item, make_item_set, make_member, make_stage, make_stage_item
from tests.test_twin_databases import HIDDEN_TABLES, Seen, hidden_fields, note, taken_back

pytestmark = pytest.mark.django_db

EVERY = 5


@pytest.fixture
def world() -> SimpleNamespace:
    """Work at the ranks 0 to 7, and three checks; one of them is in my hands, and none is due after it."""
    stage = make_stage(overlap=2, order="sequential", check_every=EVERY, seed=3, tells_checks=True)
    project, me = stage.project, make_member(stage.project)
    for _ in range(8):
        make_stage_item(stage, make_item(project, gold={"label": ["yes"]}))
    gold = [make_item(project, gold={"label": ["yes"]}) for _ in range(3)]
    checks.set_apart(stage=stage, item_set=make_item_set(project, gold[:2]), purpose="check", by=None)
    other = make_stage_item(stage, gold[2])
    mine = StageItem.objects.get(stage=stage, revision__item=gold[0])
    n_met = next(
        n
        for n in range(100)
        if not any(check_is_due(seed=3, who=me.pseudonym, n_met=n + k, every=EVERY) for k in range(4))
    )
    Participation.objects.create(stage=stage, person=me, n_answered=n_met, rank=-1)
    assignment = make_assignment(mine, me, purpose="check")
    return SimpleNamespace(project=project, stage=stage, me=me, mine=mine, other=other, assignment=assignment)


def swap(world: SimpleNamespace) -> None:
    """From now on the item in my hands is work, and another one is the check."""
    StageItem.objects.filter(pk=world.mine.pk).update(purpose="", wanted=2)
    StageItem.objects.filter(pk=world.other.pk).update(purpose="check", wanted=StageItem.EVERYBODY)
    Assignment.objects.filter(pk=world.assignment.pk).update(purpose="")


def answer_on_the_page(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen: Seen = []
    with taken_back(monkeypatch):
        client = Client()
        client.force_login(world.me)
        address, token = f"/work/{world.project.slug}/{world.stage.slug}/", world.assignment.token
        note(seen, "home", client.get("/"))
        page = note(seen, "work", client.get(address))
        form = hidden_fields(page.content)
        draft = form | {"label": "no", "draft_version": "1"}
        note(seen, "draft", client.post(f"/work/a/{token}/draft/", draft, headers={"Accept": "application/json"}))
        note(seen, "nothing chosen", client.post(f"/work/a/{token}/submit/", form))
        sent = form | {"label": "no"}
        following = note(seen, "submit", client.post(f"/work/a/{token}/submit/", sent, headers={"HX-Request": "true"}))
        note(seen, "the same again", client.post(f"/work/a/{token}/submit/", sent))
        note(seen, "change", client.get(f"/work/a/{token}/revise/"))
        changed = form | {"label": "yes", "client_key": "another"}
        note(seen, "changed", client.post(f"/work/a/{token}/revise/", changed, headers={"HX-Request": "true"}))
        token = re.search(rb'data-token="([^"]+)"', following.content)[1].decode()
        sent = hidden_fields(following.content) | {"reason": "cannot_tell"}
        note(seen, "skip", client.post(f"/work/a/{token}/skip/", sent))
        note(seen, "work again", client.get(address))
        note(seen, "home again", client.get("/"))
    return seen


def skip_on_the_page(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen: Seen = []
    with taken_back(monkeypatch):
        client = Client()
        client.force_login(world.me)
        sent = {"person": person_token(world.me), "reason": "broken"}
        address = f"/work/a/{world.assignment.token}/skip/"
        note(seen, "skip", client.post(address, sent, headers={"HX-Request": "true"}))
        note(seen, "home", client.get("/"))
    return seen


def answer_by_program(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen: Seen = []
    with taken_back(monkeypatch):
        api = ApiClient(world.me)
        desk = f"work/{world.project.slug}/{world.stage.slug}/"
        note(seen, "home", api.get("work/"))
        note(seen, "stage", api.get(desk))
        held = note(seen, "next", api.post(f"{desk}next/")).json()["held"]
        assert held["token"] == world.assignment.token
        sent = {"form_version": held["form"]["version"], "answer": {"label": "no"}, "client_key": "one"}
        note(seen, "submit", api.post(f"assignments/{held['token']}/submit/", **sent))
        note(seen, "next again", api.post(f"{desk}next/"))
        note(seen, "home again", api.get("work/"))
    return seen


@pytest.mark.parametrize("sitting", [answer_on_the_page, skip_on_the_page, answer_by_program])
def test_a_check_looks_like_any_other_item(sitting, world, monkeypatch):
    as_check = sitting(world, monkeypatch)
    swap(world)
    as_work = sitting(world, monkeypatch)
    assert [step[0] for step, other in zip(as_check, as_work, strict=True) if step != other] == []
    assert {status for _, status, _, _ in as_check} <= {200, 302, 422}


def qualify(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen: Seen = []
    with taken_back(monkeypatch):
        client = Client()
        client.force_login(world.me)
        address = f"/work/{world.stage.project.slug}/{world.stage.slug}/"
        note(seen, "before", client.get(address))
        note(seen, "begin", client.post(f"{address}qualify/", {"person": person_token(world.me)}))
        page = note(seen, "first item", client.get(address))
        for n in range(3):
            token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
            sent = hidden_fields(page.content) | {"label": "yes" if n else "no"}
            page = note(
                seen, f"answer {n}", client.post(f"/work/a/{token}/submit/", sent, headers={"HX-Request": "true"})
            )
        note(seen, "counting", client.get(f"{address}?counted", headers={"HX-Request": "true"}))
        note(seen, "home", client.get("/"))
    return seen


def test_an_attempt_to_qualify_gets_the_same_responses_whatever_is_right(monkeypatch):
    stage = qualified_study()
    world = SimpleNamespace(stage=stage, me=make_member(stage.project))
    with CaptureQueriesContext(connection) as queries:
        before = qualify(world, monkeypatch)
    assert {query["sql"] for query in queries if HIDDEN_TABLES.search(query["sql"])} == set()
    Gold.objects.update(answers=["no"])
    after = qualify(world, monkeypatch)
    assert [step[0] for step, other in zip(before, after, strict=True) if step != other] == []
    assert [status for _, status, _, _ in before] == [200, 302, 200, 200, 200, 200, 204, 200]


def test_answering_a_check_reads_nothing_hidden(world, monkeypatch):
    with CaptureQueriesContext(connection) as queries:
        answer_on_the_page(world, monkeypatch)
    hidden = re.compile(rf"{HIDDEN_TABLES.pattern}|annotate_checkresult")
    read = {query["sql"] for query in queries if hidden.search(query["sql"])}
    assert read == set()
