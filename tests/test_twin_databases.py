"""Nothing hidden reaches an annotator: not by a word, not by a header, not by the length of a page.

The same visit is made twice. In between everything that an annotator must not see is changed: gold labels, strata,
check flags, predictions, and what others answered. Each response must be the same to the byte, clock and CSRF
token aside.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, Assignment, Gold, ItemKey, Participation, Person, Project, Resolution, Stage
from annotate.services import auditing
from annotate.services.auditing import Labels
from annotate.services.resolving import resolve_due
from annotate.stage_kinds import KINDS, first_fields
from evaluation.models import Call, CandidateOrigin, JudgeSample, Prediction
from evaluation.services import judging
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
from tests.test_permissions import API_DOORS

pytestmark = pytest.mark.django_db

HIDDEN_TABLES = re.compile(r"annotate_(itemkey|gold)\b|evaluation_\w+")
CSRF = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|"csrf_token": "\w+"|name="csrf-token" content="\w+"')
CLOCKWORK = {"Expires"}
CLOCK = re.compile(rb"(?:\b|(?<=\dT))\d\d:\d\d(:\d\d(\.\d+)?)?")


@pytest.fixture
def world() -> SimpleNamespace:
    project = make_project()
    me, others = make_member(project), [make_member(project) for _ in range(2)]
    label = make_stage(project, overlap=3, order="sequential")
    answer = make_stage(project, overlap=3, order="sequential", kind="answer", form=SHORT_ANSWER)
    items = [
        make_item(project, gold={"label": ["yes"], "answer": ["12 years"]}, strata=[["domain", "sports"]])
        for _ in range(4)
    ]
    for item in items:
        first = make_stage_item(label, item)
        make_annotation(first, others[0], {"label": "yes"})
        make_annotation(first, others[1], {"label": "yes"})
        make_annotation(make_stage_item(answer, item), others[0], {"answer": "12 years", "why": "it says so"})
    run = make_run(label, make_item_set(project, items), state="done", frozen_at=timezone.now())
    for item in items:
        make_prediction(run, item, {"label": "yes"})
    resolve_due(limit=100)
    rewrite = make_stage(
        project,
        kind="rewrite",
        order="sequential",
        overlap=3,
        form=[{"name": "question", "type": "question", "caption": "The question"}],
        options={"source_label_key": "verdict"},
    )
    author = make_stage(
        project,
        kind="author",
        order="sequential",
        overlap=3,
        shown_keys=["table"],
        form=[{"name": "pairs", "type": "qa_pairs", "caption": "Write questions"}],
        options={"is_shuffled": True, "hidden_keys": ["Born"]},
    )
    table = {"type": "table", "title": "Ada", "sections": [["", [["Born", "1815"], ["Club", "Rovers"], ["Cups", "2"]]]]}
    for stage, content in (
        (rewrite, [["question", "Water is wet."], ["verdict", "SUPPORTS"]]),
        (author, [["table", table]]),
    ):
        for _ in range(2):
            make_stage_item(stage, make_item(project, content, gold={"label": ["yes"]}, strata=[["domain", "sports"]]))
    judges = make_stage(project, kind="judge", order="sequential", form=first_fields("judge", "verdict"))
    judging.draw_judge_sample(stage=judges, by=None, draw=judging.Draw(runs=(run,), n=4, seed=1))
    audit = _drawn_audit(project, others[0])
    stages = {"label": label, "answer": answer, "rewrite": rewrite, "author": author, "judges": judges, "audit": audit}
    return SimpleNamespace(project=project, me=me, run=run, **stages)


def _drawn_audit(project: Project, other: Person) -> Stage:
    """Labels of items of their own, which the other reviewer has audited."""
    items = [make_item(project, gold={"label": ["yes"]}, strata=[["domain", "sports"]]) for _ in range(3)]
    form = [dict(field) for field in KINDS["audit"].fields]
    audit = make_stage(project, kind="audit", order="sequential", overlap=2, form=form)
    labels = Labels("label", population=make_item_set(project, items))
    auditing.draw_audit(stage=audit, by=None, labels=labels, k=3, keys=["domain"], seed=1)
    for place in audit.stage_items.order_by("rank"):
        make_annotation(place, other, {"verdict": {"verdict": "right"}})
    return audit


def change_what_is_hidden(world: SimpleNamespace) -> None:
    Gold.objects.update(answers=["no", "an answer that is much longer than the one before"], origin="adjudicator")
    ItemKey.objects.update(strata=[["domain", "politics"], ["hops", "3"]], is_check=True, extra=[["gold", "no"]])
    Prediction.objects.update(answer={"label": "not_sure"}, note="another note altogether")
    Call.objects.update(completion="Something else entirely.")
    drawn = world.audit.audit.item_set
    drawn.rule |= {"strata": [{"values": ["sports", "no"], "n_population": 9, "n_drawn": n} for n in (1, 2)]}
    drawn.save()
    JudgeSample.objects.update(seed=2, counts=[], shows="completion")
    CandidateOrigin.objects.all().delete()
    others = Annotation.objects.exclude(assignment__person=world.me)
    others.filter(assignment__stage=world.label).update(answer={"label": "no"}, is_flagged=True, flag_note="odd")
    others.filter(assignment__stage=world.answer).update(answer={"answer": "thirteen", "why": ""})
    said = {"verdict": {"verdict": "wrong", "correction": "no"}, "note": "The other reviewer looked it up."}
    others.filter(assignment__stage=world.audit).update(answer=said)
    # One vote of the label stage turns, so that unanimous items become undecided ones.
    half = others.filter(assignment__stage=world.label).order_by("pk")[::2]
    Annotation.objects.filter(pk__in=[row.pk for row in half]).update(answer={"label": "not_sure"})
    Resolution.objects.all().delete()
    for assignment in Assignment.objects.filter(state="submitted"):
        type(assignment.stage_item).objects.filter(pk=assignment.stage_item_id).update(due_at=timezone.now())
    resolve_due(limit=100)


Seen = list[tuple[str, int, dict[str, str], bytes]]


@contextmanager
def taken_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sitting in which chance falls the same way each time, and after which nothing has happened."""
    numbers = itertools.count()
    monkeypatch.setattr(secrets, "token_urlsafe", lambda n=None: f"token-{next(numbers):016d}")
    monkeypatch.setattr(secrets, "token_hex", lambda n=None: f"{next(numbers):032x}")
    cache.clear()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def note(seen: Seen, what: str, response: Any) -> Any:
    headers = {name: value for name, value in response.headers.items() if name not in CLOCKWORK}
    body = CLOCK.sub(b"clock", CSRF.sub(b"csrf", response.content))
    seen.append((what, response.status_code, headers, body))
    return response


def visit(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """What an annotator does in a sitting, and every response to it; all of it is taken back."""
    seen: Seen = []
    with taken_back(monkeypatch):
        client = Client()
        client.force_login(world.me)
        note(seen, "home", client.get("/"))
        for stage, given in ((world.label, {"label": "no"}), (world.answer, {"answer": "nine", "why": "a guess"})):
            address = f"/work/{world.project.slug}/{stage.slug}/"
            page = note(seen, f"work {stage.kind}", client.get(address))
            form = hidden_fields(page.content)
            token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
            draft = form | given | {"draft_version": "1"}
            note(seen, "draft", client.post(f"/work/a/{token}/draft/", draft, headers={"Accept": "application/json"}))
            note(seen, "nothing chosen", client.post(f"/work/a/{token}/submit/", form))
            note(seen, "submit", client.post(f"/work/a/{token}/submit/", form | given, headers={"HX-Request": "true"}))
            note(seen, "change", client.get(f"/work/a/{token}/revise/"))
            following = note(seen, "work again", client.get(address))
            token = re.search(rb'data-token="([^"]+)"', following.content)[1].decode()
            form = hidden_fields(following.content) | {"reason": "cannot_tell"}
            note(seen, "skip", client.post(f"/work/a/{token}/skip/", form))
        for stage, given in (
            (world.rewrite, {"question": "Is water wet"}),
            (world.author, {"pairs.question": "Did she win", "pairs.answer": "2"}),
        ):
            page = note(seen, f"work {stage.kind}", client.get(f"/work/{world.project.slug}/{stage.slug}/"))
            form = hidden_fields(page.content) | given
            token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
            note(seen, "hints", client.post(f"/work/a/{token}/hints/", form))
            note(seen, "look", client.post(f"/work/a/{token}/submit/", form | {"look.over": "1"}))
            note(seen, "submit", client.post(f"/work/a/{token}/submit/", form, headers={"HX-Request": "true"}))
        page = note(seen, "work judge", client.get(f"/work/{world.project.slug}/{world.judges.slug}/"))
        form = hidden_fields(page.content) | {"judgement": "wrong", "why": "It is even."}
        token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
        note(seen, "submit", client.post(f"/work/a/{token}/submit/", form, headers={"HX-Request": "true"}))
        note(seen, "change", client.get(f"/work/a/{token}/revise/"))
        page = note(seen, "work audit", client.get(f"/work/{world.project.slug}/{world.audit.slug}/"))
        form = hidden_fields(page.content) | {"verdict": "wrong", "verdict.correction": "no", "note": "No."}
        token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
        note(seen, "submit", client.post(f"/work/a/{token}/submit/", form, headers={"HX-Request": "true"}))
        note(seen, "change", client.get(f"/work/a/{token}/revise/"))
        note(seen, "home again", client.get("/"))
        # How long each sitting took is their own clock's.
        mine = Annotation.objects.filter(assignment__person=world.me)
        mine.update(active_seconds=3, wall_seconds=7)
        Participation.objects.filter(person=world.me).update(active_seconds=9)
        for place in ("me/", f"me/{world.label.slug}/", "my-questions/"):
            note(seen, f"my own {place}", client.get(f"/p/{world.project.slug}/{place}"))
        # What was decided, while it may still change.
        note(seen, "decided", client.get(f"/p/{world.project.slug}/me/{world.label.slug}/decided/"))
        note(seen, "guidelines", client.get(f"/work/{world.project.slug}/{world.label.slug}/guidelines/"))
        page = client.get(f"/work/{world.project.slug}/{world.label.slug}/")
        token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
        asked = hidden_fields(page.content) | {"text": "Is it?", "client_key": "asked"}
        note(seen, "ask", client.post(f"/work/a/{token}/ask/", asked, headers={"Accept": "application/json"}))
        for hidden in (
            "",
            "questions/",
            "items/",
            "reports/",
            "runs/",
            "people/",
            "side-by-side/",
            "agreement/",
            "export/answers.csv",
            f"stages/{world.judges.slug}/judge/",
            f"stages/{world.audit.slug}/audit/results/",
            f"stages/{world.audit.slug}/audit/verdicts.csv",
        ):
            note(seen, f"refused {hidden}", client.get(f"/p/{world.project.slug}/{hidden}"))
    return seen


def work_by_program(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, *, tries_doors: bool = False) -> Seen:
    """The same sitting through the API, with a token that has every scope.

    tries_doors: also of what is not theirs. Those addresses ask the hidden tables for rows of projects that the person
    reads, and get none.
    """
    seen: Seen = []
    with taken_back(monkeypatch):
        api = ApiClient(world.me)
        note(seen, "me", api.get("me/"))
        note(seen, "home", api.get("work/"))
        for stage, given in (
            (world.label, {"label": "no"}),
            (world.answer, {"answer": "nine", "why": "a guess"}),
            (world.judges, {"judgement": "right"}),
            (world.audit, {"verdict": {"verdict": "wrong", "correction": "no"}}),
        ):
            desk = f"work/{world.project.slug}/{stage.slug}/"
            note(seen, "stage", api.get(desk))
            held = note(seen, f"work {stage.kind}", api.post(f"{desk}next/")).json()["held"]
            sent = {"form_version": held["form"]["version"], "answer": given}
            address = f"assignments/{held['token']}"
            note(seen, "draft", api.post(f"{address}/draft/", **sent, draft_version=1))
            note(seen, "nothing chosen", api.post(f"{address}/submit/", **sent | {"answer": {}}, client_key="one"))
            following = note(seen, "submit", api.post(f"{address}/submit/", **sent, client_key="one")).json()["held"]
            note(seen, "submit again", api.post(f"{address}/submit/", **sent, client_key="one"))
            note(seen, "work again", api.post(f"{desk}next/"))
            note(seen, "skip", api.post(f"assignments/{following['token']}/skip/", reason="cannot_tell"))
        note(seen, "home again", api.get("work/"))
        mine = f"projects/{world.project.slug}"
        note(seen, "my work", api.get(f"{mine}/my-work/"))
        note(seen, "my questions", api.get(f"{mine}/my-questions/"))
        for stage in world.project.stages.order_by("pk"):
            for name in ("my-answers", "my-decided"):
                note(seen, f"{name} {stage.kind}", api.get(f"{mine}/stages/{stage.slug}/{name}/"))
        note(seen, "projects", api.get("projects/"))
        for name, door in sorted(API_DOORS.items()) if tries_doors else ():
            if "slug" in door.ids:
                ids = {"slug": world.project.slug, "stage_slug": world.label.slug, "name": "report.json"}
                address = reverse(f"api:{name}", kwargs={key: ids.get(key, world.run.pk) for key in door.ids})
                # What is one's own is no secret; it is read above, too.
                what = "my own" if name.startswith("api-my-") else "refused"
                note(seen, f"{what} {name}", api.get(address))
    return seen


def visit_by_program(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Seen:
    return work_by_program(world, monkeypatch, tries_doors=True)


def hidden_fields(page: bytes) -> dict[str, str]:
    form = page[page.index(b'id="answer-form"') :].partition(b"</form>")[0].decode()
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))


@pytest.mark.parametrize("sitting", [visit, visit_by_program])
def test_two_worlds_that_differ_in_what_is_hidden_look_the_same(sitting, world, monkeypatch):
    before = sitting(world, monkeypatch)
    change_what_is_hidden(world)
    after = sitting(world, monkeypatch)
    assert [step[:2] for step in before] == [step[:2] for step in after]
    different = [one[0] for one, other in zip(before, after, strict=True) if one != other]
    assert different == []
    # The visit itself was a real one: answers were taken and pages shown.
    statuses = {what: status for what, status, _, _ in before}
    if sitting is visit:
        assert {statuses[what] for what in ("work rewrite", "work author", "work judge", "work audit", "hints")} == {
            200
        }
    shown = ("home", "work label", "work answer", "draft", "submit", "work again", "skip", "home again")
    assert {statuses[what] for what in shown} <= {200, 302}
    assert statuses["nothing chosen"] == 422
    if sitting is visit:
        assert {status for what, status in statuses.items() if what.startswith("my own")} == {200}
        assert (statuses["decided"], statuses["guidelines"], statuses["ask"]) == (409, 200, 200)
    refused = [status for what, status in statuses.items() if what.startswith("refused")]
    assert len(refused) >= 8
    assert set(refused) <= {404, 405}


@pytest.mark.parametrize("sitting", [visit, work_by_program])
def test_an_annotators_requests_never_read_what_is_hidden(sitting, world, monkeypatch):
    with CaptureQueriesContext(connection) as queries:
        sitting(world, monkeypatch)
    read = {query["sql"] for query in queries if HIDDEN_TABLES.search(query["sql"])}
    assert len(queries) > 50
    assert read == set()
