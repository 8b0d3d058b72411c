"""Nothing hidden reaches an annotator: not by a word, not by a header, not by the length of a page.

The same visit is made twice. In between everything that an annotator must not see is changed: gold labels, strata,
check flags, predictions, and what others answered. Each response must be the same to the byte, clock and CSRF
token aside.
"""

from __future__ import annotations

import itertools
import re
import secrets
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Annotation, Assignment, Gold, ItemKey, Resolution
from annotate.services.resolving import resolve_due
from evaluation.models import Call, Prediction
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

pytestmark = pytest.mark.django_db

HIDDEN_TABLES = re.compile(r"annotate_(itemkey|gold)\b|evaluation_\w+")
CSRF = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|"csrf_token": "\w+"|name="csrf-token" content="\w+"')
CLOCKWORK = {"Expires"}
CLOCK = re.compile(rb"\b\d\d:\d\d(:\d\d)?\b")


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
    return SimpleNamespace(project=project, me=me, label=label, answer=answer)


def change_what_is_hidden(world: SimpleNamespace) -> None:
    Gold.objects.update(answers=["no", "an answer that is much longer than the one before"], origin="adjudicator")
    ItemKey.objects.update(strata=[["domain", "politics"], ["hops", "3"]], is_check=True, extra=[["gold", "no"]])
    Prediction.objects.update(answer={"label": "not_sure"}, note="another note altogether")
    Call.objects.update(completion="Something else entirely.")
    others = Annotation.objects.exclude(assignment__person=world.me)
    others.filter(assignment__stage=world.label).update(answer={"label": "no"}, is_flagged=True, flag_note="odd")
    others.filter(assignment__stage=world.answer).update(answer={"answer": "thirteen", "why": ""})
    # One vote of the label stage turns, so that unanimous items become undecided ones.
    half = others.filter(assignment__stage=world.label).order_by("pk")[::2]
    Annotation.objects.filter(pk__in=[row.pk for row in half]).update(answer={"label": "not_sure"})
    Resolution.objects.all().delete()
    for assignment in Assignment.objects.filter(state="submitted"):
        type(assignment.stage_item).objects.filter(pk=assignment.stage_item_id).update(due_at=timezone.now())
    resolve_due(limit=100)


def visit(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, dict[str, str], bytes]]:
    """What an annotator does in a sitting, and every response to it; all of it is taken back."""
    numbers = itertools.count()
    monkeypatch.setattr(secrets, "token_urlsafe", lambda n=None: f"token-{next(numbers):016d}")
    monkeypatch.setattr(secrets, "token_hex", lambda n=None: f"{next(numbers):032x}")
    cache.clear()
    seen: list[tuple[str, int, dict[str, str], bytes]] = []
    with transaction.atomic():
        client = Client()
        client.force_login(world.me)

        def note(what: str, response: Any) -> Any:
            headers = {name: value for name, value in response.headers.items() if name not in CLOCKWORK}
            body = CLOCK.sub(b"clock", CSRF.sub(b"csrf", b"".join([response.content])))
            seen.append((what, response.status_code, headers, body))
            return response

        note("home", client.get("/"))
        for stage, given in ((world.label, {"label": "no"}), (world.answer, {"answer": "nine", "why": "a guess"})):
            address = f"/work/{world.project.slug}/{stage.slug}/"
            page = note(f"work {stage.kind}", client.get(address))
            form = hidden_fields(page.content)
            token = re.search(rb'data-token="([^"]+)"', page.content)[1].decode()
            draft = form | given | {"draft_version": "1"}
            note("draft", client.post(f"/work/a/{token}/draft/", draft, headers={"Accept": "application/json"}))
            note("nothing chosen", client.post(f"/work/a/{token}/submit/", form))
            note("submit", client.post(f"/work/a/{token}/submit/", form | given, headers={"HX-Request": "true"}))
            note("change", client.get(f"/work/a/{token}/revise/"))
            following = note("work again", client.get(address))
            token = re.search(rb'data-token="([^"]+)"', following.content)[1].decode()
            form = hidden_fields(following.content) | {"reason": "cannot_tell"}
            note("skip", client.post(f"/work/a/{token}/skip/", form))
        note("home again", client.get("/"))
        for hidden in (
            "",
            "items/",
            "reports/",
            "runs/",
            "people/",
            "side-by-side/",
            "agreement/",
            "export/answers.csv",
        ):
            note(f"refused {hidden}", client.get(f"/p/{world.project.slug}/{hidden}"))
        transaction.set_rollback(True)
    return seen


def hidden_fields(page: bytes) -> dict[str, str]:
    form = page[page.index(b'id="answer-form"') :].partition(b"</form>")[0].decode()
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))


def test_two_worlds_that_differ_in_what_is_hidden_look_the_same(world, monkeypatch):
    before = visit(world, monkeypatch)
    change_what_is_hidden(world)
    after = visit(world, monkeypatch)
    assert [step[:2] for step in before] == [step[:2] for step in after]
    different = [one[0] for one, other in zip(before, after, strict=True) if one != other]
    assert different == []
    # The visit itself was a real one: answers were taken and pages shown.
    statuses = {what: status for what, status, _, _ in before}
    assert {statuses[what] for what in ("home", "work label", "draft", "submit", "change", "work again")} == {200}
    assert statuses["nothing chosen"] == 422
    assert {status for what, status in statuses.items() if what.startswith("refused")} == {404}


def test_an_annotators_requests_never_read_what_is_hidden(world, monkeypatch):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        visit(world, monkeypatch)
    read = {query["sql"] for query in queries if HIDDEN_TABLES.search(query["sql"])}
    assert len(queries) > 50
    assert read == set()
