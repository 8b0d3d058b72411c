"""Who decides about answers learns nothing of who gave them: not by a word, a header, an order or the length of a page.

The same sitting is made twice. In between other people have given the same answers; for adjudicators, who see no gold
label either, that and what models said is changed as well. Each response must be the same to the byte, clock and CSRF
token aside.
"""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from annotate.models import Annotation, Assignment, Feed, Gold, Item, ItemKey, Person
from annotate.services import resolving
from annotate.stage_kinds import adjudication_fields, review_fields
from evaluation.models import Prediction
from tests.api_client import ApiClient
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)
from tests.test_twin_databases import Seen, note, taken_back

pytestmark = pytest.mark.django_db

SEEN = re.compile(rb'name="decision-seen" value="\w+"')
DISPUTED, AGREED = ("6 places", "six places", "2", "nine"), ("7", "7", "7", "8")


@pytest.fixture
def world() -> SimpleNamespace:
    """Two disputed items for an adjudicator and two agreed ones for a reviewer; other people stand ready."""
    project = make_project()
    judging = make_stage(
        project, kind="adjudicate", roles=["adjudicator"], form=adjudication_fields(SHORT_ANSWER), order="sequential",
        options={"makes_gold": True},
    )  # fmt: skip
    review = make_stage(
        project, kind="review", roles=["meta_reviewer"], form=review_fields(SHORT_ANSWER), order="sequential"
    )
    stage = make_stage(project, kind="answer", overlap=4, adjudicated_in=judging, form=SHORT_ANSWER)
    Feed.objects.create(source=stage, target=review, rule="decided")
    people = [make_member(project) for _ in range(4)]
    items = []
    for answers in (DISPUTED, AGREED, DISPUTED, AGREED):
        item = make_item(project, gold={"answer": ["7"]}, strata=[["domain", "sports"]], author=people[3])
        items.append(item)
        place = make_stage_item(stage, item, author_id=people[3].pk)
        for n, (person, answer) in enumerate(zip(people, answers, strict=True)):
            make_annotation(place, person, {"answer": answer} | ({"why": f"because {n}"} if n else {}))
    resolving.resolve_due()
    run = make_run(stage, make_item_set(project, items), state="done", frozen_at=timezone.now())
    for item in items:
        make_prediction(run, item, {"answer": "6"})
    others = [make_member(project, group="A", languages=["en"]) for _ in range(4)]
    return SimpleNamespace(
        project=project, stage=stage, people=people, others=others,
        judges={"adjudicate": (judging, make_member(project, "adjudicator")),
                "review": (review, make_member(project, "meta_reviewer"))},
    )  # fmt: skip


def let_others_have_answered(world: SimpleNamespace) -> None:
    """The same answers at the same moments, by people of other names, groups and languages; written by others, too."""
    for before, after in zip(world.people, reversed(world.others), strict=True):
        Assignment.objects.filter(stage=world.stage, person=before).update(person=after)
        Item.objects.filter(author=before).update(author=after)
        world.stage.stage_items.filter(author_id=before.pk).update(author_id=after.pk)
        for place in world.judges.values():
            place[0].stage_items.filter(author_id=before.pk).update(author_id=after.pk)
        Person.objects.filter(pk=before.pk).update(is_active=False)
    Annotation.objects.filter(assignment__stage=world.stage).update(active_seconds=123, wall_seconds=456)


def change_what_adjudicators_do_not_see(world: SimpleNamespace) -> None:
    Gold.objects.update(answers=["another label that is much longer"], origin="expert")
    ItemKey.objects.update(strata=[["domain", "politics"]], is_check=True)
    Prediction.objects.update(answer={"answer": "nine"}, note="another note")


def form_of(page: bytes) -> dict[str, str]:
    form = page[page.index(b'id="answer-form"') :].partition(b"</form>")[0].decode()
    return {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', form)
    }


def sit(world: SimpleNamespace, kind: str, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Everything a judge does in a sitting, on the pages, with every response to it; all of it is taken back."""
    stage, judge = world.judges[kind]
    seen: Seen = []
    with taken_back(monkeypatch):
        client = Client()
        client.force_login(judge)
        note(seen, "home", client.get("/"))
        page = note(seen, "work", client.get(f"/work/{world.project.slug}/{stage.slug}/"))
        token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
        address, form = f"/work/a/{token}", form_of(page.content)
        if kind == "adjudicate":
            cards = re.findall(rb'name="decision-card" value="(\w+)"', page.content)
            given = {"decision-card": cards[0].decode(), "decision-reason": "So it is.", "decision-is_gold": "1"}
            for look in ("edit", "own", "bad", "take"):
                sent = form | given | {"decision-look": look}
                note(seen, f"look {look}", client.post(f"{address}/submit/", sent, headers={"HX-Request": "true"}))
        else:
            given = {"decision": "edit", "answer": "eight"}
        draft = form | given | {"draft_version": "1"}
        note(seen, "draft", client.post(f"{address}/draft/", draft, headers={"Accept": "application/json"}))
        note(seen, "nothing chosen", client.post(f"{address}/submit/", form))
        stale = form | given | {"decision-seen": "0" * 32}
        note(seen, "stale", client.post(f"{address}/submit/", stale))
        note(seen, "submit", client.post(f"{address}/submit/", form | given, headers={"HX-Request": "true"}))
        note(seen, "change", client.get(f"{address}/revise/"))
        note(seen, "skip form", client.post(f"{address}/skip/", form | {"reason": "cannot_tell"}))
        for hidden in ("", "items/", "people/", "exports/", "side-by-side/", "reports/"):
            note(seen, f"refused {hidden}", client.get(f"/p/{world.project.slug}/{hidden}"))
    # What a reviewer has just written is another row each time: PostgreSQL takes no number back.
    own = ("change", "skip form")
    return [
        (what, status, headers, SEEN.sub(b"", body) if what in own else body) for what, status, headers, body in seen
    ]


def sit_by_program(world: SimpleNamespace, kind: str, monkeypatch: pytest.MonkeyPatch) -> Seen:
    stage, judge = world.judges[kind]
    seen: Seen = []
    with taken_back(monkeypatch):
        api = ApiClient(judge)
        held = note(seen, "work", api.post(f"work/{world.project.slug}/{stage.slug}/next/")).json()["held"]
        address = f"assignments/{held['token']}"
        told = note(seen, "votes", api.get(f"{address}/votes/")).json()
        sent = {"form_version": held["form"]["version"], "client_key": "one", "votes_hash": told["votes_hash"]}
        if kind == "adjudicate":
            sent |= {"kind": "taken", "card": told["cards"][0]["id"], "reason": "So it is.", "is_gold": True}
        else:
            sent |= {"answer": {"decision": "edit", "answer": "eight"}}
        note(
            seen, "nothing chosen", api.post(f"{address}/decide/", **sent | {"kind": "taken", "card": "", "answer": {}})
        )
        note(seen, "stale", api.post(f"{address}/decide/", **sent | {"votes_hash": "0" * 32}))
        note(seen, "submit", api.post(f"{address}/decide/", **sent))
        for hidden in ("decisions/", "gold/", "gold-proposals/", "items/", f"stages/{stage.slug}/resolutions/"):
            note(seen, f"refused {hidden}", api.get(f"projects/{world.project.slug}/{hidden}"))
    return seen


@pytest.mark.parametrize("kind", ["adjudicate", "review"])
@pytest.mark.parametrize("sitting", [sit, sit_by_program])
def test_whoever_gave_the_answers_a_judge_sees_the_same(sitting, kind, world, monkeypatch):
    before = sitting(world, kind, monkeypatch)
    let_others_have_answered(world)
    if kind == "adjudicate":
        change_what_adjudicators_do_not_see(world)
    after = sitting(world, kind, monkeypatch)
    assert [step[:2] for step in before] == [step[:2] for step in after]
    assert [one[0] for one, other in zip(before, after, strict=True) if one != other] == []
    # The sitting was a real one.
    statuses = {what: status for what, status, _, _ in before}
    assert (statuses["work"], statuses["submit"], statuses["nothing chosen"], statuses["stale"]) == (200, 200, 422, 409)
    if sitting is sit:
        assert {status for what, status in statuses.items() if what.startswith("look")} <= {200}
        assert (statuses["change"], statuses["draft"]) == (200, 200)
    assert {status for what, status in statuses.items() if what.startswith("refused")} == {404}
    told = b"".join(body for *_, body in before)
    assert not any(person.pseudonym.encode() in told for person in world.people)
