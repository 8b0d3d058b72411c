"""Nobody can tell a check from any other item, nor a right answer from a wrong one, by anything that the site says.

Two worlds differ in which of two items is the check. Somebody holds one of them: every page and response until the next
item and beyond must be the same to the byte, whether items stand by themselves, the check is one of the questions about
a table, or all questions about a table are checks. And what is answered to qualify gets the same responses whatever is
right.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.checking import check_is_due
from annotate.models import Assignment, Gold, Participation, Person, Stage, StageItem
from annotate.person_token import person_token
from annotate.services import assigning, checks
from tests.annotate.test_qualifying import study as qualified_study
from tests.api_client import ApiClient
from tests.factories import (
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_stage,
    make_stage_item,
)
from tests.test_twin_databases import HIDDEN_TABLES, Seen, hidden_fields, note, taken_back

pytestmark = pytest.mark.django_db

EVERY = 5


def by_itself() -> SimpleNamespace:
    """Work at the ranks 0 to 7, and three checks; one of them is in my hands, and none is due after it."""
    stage = make_stage(overlap=2, order="sequential", check_every=EVERY, seed=3, tells_checks=True)
    project, me = stage.project, make_member(stage.project)
    for _ in range(8):
        make_stage_item(stage, make_item(project, gold={"label": ["yes"]}))
    gold = [make_item(project, gold={"label": ["yes"]}) for _ in range(3)]
    checks.set_apart(stage=stage, item_set=make_item_set(project, gold[:2]), purpose="check", by=None)
    other = make_stage_item(stage, gold[2])
    mine = StageItem.objects.get(stage=stage, revision__item=gold[0])
    Participation.objects.create(stage=stage, person=me, n_answered=a_time_without_checks(me), rank=-1)
    assignment = make_assignment(mine, me, purpose="check")
    return SimpleNamespace(project=project, stage=stage, me=me, mine=[mine], other=[other], assignment=assignment)


def among_the_questions_about_a_table() -> SimpleNamespace:
    """Three tables with five questions; the second question about the second table is the check in my hands, and the
    fourth might be."""
    world = at_work_on_tables([5, 5, 5], met=5)
    world.mine, world.other = places(world.stage, 6), places(world.stage, 8)
    return with_a_check_in_hand(world)


def of_a_table_of_its_own() -> SimpleNamespace:
    """Both questions about the second table are checks, which came when the first one had no questions left; those
    about the fourth might be."""
    world = at_work_on_tables([3, 2, 3, 2], met=2)
    world.mine, world.other = places(world.stage, 3, 4), places(world.stage, 8, 9)
    Participation.objects.update(checks_owed=1)
    return with_a_check_in_hand(world)


def at_work_on_tables(sizes: list[int], *, met: int) -> SimpleNamespace:
    """I have answered what stands at the rank `met`, and what stands before it about the same table."""
    shown_keys = ["question", "table"]
    stage = make_stage(
        overlap=2, order="sequential", check_every=EVERY, seed=3, tells_checks=True, shown_keys=shown_keys
    )
    me = make_member(stage.project)
    for size in sizes:
        table = make_item(stage.project)
        content = [["question", "When?"], ["table", {"type": "table", "sections": [["", [["Born", "1815"]]]]}]]
        for _ in range(size):
            question = make_item(stage.project, content, root=table, parent=table, gold={"label": ["yes"]})
            place = make_stage_item(stage, question)
            if place.rank <= met:
                make_annotation(place, me, {"label": "yes"})
    n_met = a_time_without_checks(me)
    Participation.objects.create(stage=stage, person=me, n_answered=n_met, rank=met, last_rank=met)
    return SimpleNamespace(project=stage.project, stage=stage, me=me)


def places(stage: Stage, *ranks: int) -> list[StageItem]:
    return list(StageItem.objects.filter(stage=stage, rank__in=ranks).order_by("rank"))


def with_a_check_in_hand(world: SimpleNamespace) -> SimpleNamespace:
    item_set = make_item_set(world.project, [place.revision.item for place in world.mine])
    checks.set_apart(stage=world.stage, item_set=item_set, purpose="check", by=None)
    world.assignment = assigning.claim_next(stage=world.stage, person=world.me)
    assert (world.assignment.stage_item_id, world.assignment.purpose) == (world.mine[0].pk, "check")
    return world


def a_time_without_checks(me: Person) -> int:
    """How many items I have met, so that none of the next ones is a check by the draw."""
    return next(
        n
        for n in range(100)
        if not any(check_is_due(seed=3, who=me.pseudonym, n_met=n + k, every=EVERY) for k in range(5))
    )


@pytest.fixture(params=[by_itself, among_the_questions_about_a_table, of_a_table_of_its_own])
def world(request) -> SimpleNamespace:
    return request.param()


def swap(world: SimpleNamespace) -> None:
    """From now on the item in my hands is work, and so is what hangs together with it; something else is the check."""
    StageItem.objects.filter(pk__in=[place.pk for place in world.mine]).update(purpose="", wanted=2)
    StageItem.objects.filter(pk__in=[place.pk for place in world.other]).update(
        purpose="check", wanted=StageItem.EVERYBODY
    )
    Assignment.objects.filter(pk=world.assignment.pk).update(purpose="")
    if world.mine[0].root_id is not None:
        # As the claim would have written it: I read on after work, and no check was owed, else it would have come.
        Participation.objects.filter(person=world.me).update(rank=world.mine[0].rank, checks_owed=0)


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
