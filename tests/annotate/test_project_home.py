"""The home of a project: the funnel in its order, what waits for whom, and each alert with its action beside it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    Feed,
    GuidelineVersion,
    ImportJob,
    Membership,
    Person,
    Project,
    Question,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services import needs, overview, resolving
from annotate.services.exporting import answer_rows
from annotate.services.files import store_file
from annotate.services.heartbeats import hear
from annotate.services.submitting import skip_assignment
from evaluation.models import Run
from evaluation.services.needs import run_needs
from tests.factories import (
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """With a worker that is heard."""
    hear(name="machine", role="worker")
    return make_project(slug="claims")


@pytest.fixture
def admin(project: Project) -> Person:
    return make_member(project, "admin")


def page(person: Person, address: str = "/p/claims/") -> Any:
    client = Client()
    client.force_login(person)
    return client.get(address)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def kinds(project: Project) -> list[str]:
    return [need.kind for need in needs.needs(project, overview.funnel(project))]


# The funnel


def test_stages_stand_in_the_order_in_which_items_pass_through_them(project: Project):
    judge = make_stage(project, title="Adjudicate", kind="adjudicate", position=0)
    label = make_stage(project, title="Label", position=1, adjudicated_in=judge)
    rewrite = make_stage(project, title="Rewrite", kind="rewrite", position=2)
    apart = make_stage(project, title="Apart", position=3)
    Feed.objects.create(source=rewrite, target=label)
    rows = overview.funnel(project)
    assert [row.stage.title for row in rows] == ["Rewrite", "Label", "Adjudicate", "Apart"]
    assert [row.fed_by for row in rows] == [(), (rewrite,), (label,), ()]
    assert rows[-1].stage == apart


def test_a_circle_of_feeds_still_shows_every_stage_once(project: Project):
    first, second = make_stage(project), make_stage(project)
    Feed.objects.create(source=first, target=second)
    Feed.objects.create(source=second, target=first)
    assert [row.stage for row in overview.funnel(project)] == [first, second]


def test_the_numbers_of_the_home_are_those_of_the_export(project: Project, admin: Person):
    stage = make_stage(project, overlap=2)
    people = [make_member(project) for _ in range(3)]
    items = [make_stage_item(stage) for _ in range(4)]
    for item in items[:2]:
        for person, label in zip(people, ("yes", "no"), strict=False):
            make_annotation(item, person, {"label": label})
    make_annotation(items[2], people[0], {"label": "yes"})
    make_assignment(items[2], people[1])
    skip_assignment(assignment=make_assignment(items[3], people[2]), reason="broken")
    resolving.resolve_due()

    (row,) = overview.funnel(project)
    head, *exported = answer_rows(project=project)
    statuses = Counter(dict(zip(head, line, strict=True))["status"] for line in exported)

    assert row.counts.done == statuses["counted"] == 5
    assert row.counts.skipped == statuses["skipped"] == 1
    assert (row.counts.wanted, row.counts.active, row.counts.waiting, row.counts.undecided) == (8, 1, 2, 2)
    assert overview.answers_per_day(project)[-1].n_answers == 5
    words = text(page(admin))
    assert "5 of 8 answers</strong> · 1 being given · 2 to come · 2 of 4 items are done · 2 without a majority" in words
    assert '<p class="figure-value">5</p>' in words


def test_answers_per_day_can_be_read_without_seeing_the_drawing(project: Project, admin: Person):
    make_annotation(make_stage_item(make_stage(project)), make_member(project), {"label": "yes"})
    words = text(page(admin))
    today = timezone.now()
    assert f'{today:%A} 1"' in words  # the drawing's name ends with today
    assert f'<th scope="row">{today:%A}, {today.day} {today:%B}</th><td class="n">1</td>' in words


# What waits for whom


def test_open_stages_wait_for_the_people_of_their_roles(project: Project, admin: Person):
    label = make_stage(project, title="Label", overlap=3)
    judge = make_stage(project, title="Judge", kind="adjudicate", roles=["adjudicator", "admin"])
    make_stage_item(make_stage(project, title="Not open", state="paused"))
    half = make_stage_item(label)
    make_stage_item(label)
    make_annotation(half, make_member(project), {"label": "yes"})
    make_stage_item(judge)
    waiting = overview.waiting_for(overview.funnel(project))
    assert [(one.role, one.stage.title, one.n_items, one.n_places) for one in waiting] == [
        ("admin", "Judge", 1, 1),
        ("adjudicator", "Judge", 1, 1),
        ("annotator", "Label", 2, 5),
    ]
    words = text(page(admin))
    assert "5 answers in “<bdi>Label</bdi>”" in words
    # Only what the reader may take themselves has a way there.
    assert words.count(f'href="{reverse("work", args=["claims", judge.slug])}"') == 2  # once for each of its roles
    assert f'href="{reverse("work", args=["claims", label.slug])}"' not in words


def test_somebody_with_one_role_hears_on_their_own_home_what_waits_for_them(project: Project):
    adjudicator = make_member(project, "adjudicator")
    judge = make_stage(project, title="Judge", kind="adjudicate", roles=["adjudicator"])
    for _ in range(2):
        make_stage_item(judge)
    assert page(adjudicator).status_code == 404  # whoever judges reads no results meanwhile
    assert "2 items wait for you." in text(page(adjudicator, "/"))


# Alerts


def say_nothing(project: Project) -> None:
    """A project that needs nobody: somebody may answer, and guidelines say how."""
    make_stage_item(make_stage(project))
    make_member(project)


def test_a_project_that_goes_on_by_itself_needs_nobody(project: Project, admin: Person):
    say_nothing(project)
    assert kinds(project) == []
    assert "Needs you" not in text(page(admin))


def out_of_reach(project: Project) -> None:
    make_stage_item(make_stage(project, title="Label", overlap=2), make_item(project, language="ta"), language="ta")
    make_member(project, languages=["en"])
    make_member(project)


def nobody_may(project: Project) -> None:
    make_stage_item(make_stage(project, title="Label", roles=["adjudicator"]))
    make_member(project)


def finished(project: Project) -> None:
    stage = make_stage(project, title="Label")
    make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"})
    StageItem.objects.update(due_at=None)


def leases_stuck(project: Project) -> None:
    long_ago = timezone.now() - timedelta(hours=2)
    make_assignment(make_stage_item(make_stage(project)), make_member(project), lease_expires_at=long_ago)


def votes_stuck(project: Project) -> None:
    say_nothing(project)
    StageItem.objects.update(due_at=timezone.now() - timedelta(minutes=20))


def undecided(project: Project) -> None:
    finished(project)
    Stage.objects.update(state="closed")
    item = StageItem.objects.get()
    Resolution.objects.create(stage_item=item, field="label", status="tie", key_version=1, n_votes=1)


def no_guidelines(project: Project) -> None:
    say_nothing(project)
    GuidelineVersion.objects.all().delete()


def feed_broken(project: Project) -> None:
    say_nothing(project)
    target = make_stage(project, state="closed")
    recipe = {"content": [["question", "answer.no_longer_asked"]]}
    Feed.objects.create(source=Stage.objects.earliest("pk"), target=target, recipe=recipe)


def import_failed(project: Project) -> None:
    say_nothing(project)
    source = store_file(project=project, purpose="upload", name="rows.csv", content=b"id\n1\n", media_type="text/csv")
    ImportJob.objects.create(
        project=project, source=source, state="failed", error="It broke.", due_at=None, finished_at=timezone.now()
    )


def question(project: Project) -> None:
    say_nothing(project)
    asker = Membership.objects.filter(role="annotator").earliest("pk").person
    Question.objects.create(project=project, person=asker, text="What is it?", client_key="k")


def flagged(project: Project) -> None:
    say_nothing(project)
    stage = Stage.objects.get()
    make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"}, is_flagged=True)
    StageItem.objects.update(due_at=None)


@pytest.mark.parametrize(
    ("arrange", "kind", "words", "action"),
    [
        (out_of_reach, "out_of_reach", "1 in ta: 1 person reads it, 2 answers are wanted.", "/reach/"),
        (nobody_may, "out_of_reach", "1: nobody may take this stage at the moment.", "/people/#invite"),
        (finished, "stage_finished", "is done: its item has the answers it needs.", 'name="step" value="close"'),
        (leases_stuck, "leases_stuck", "1 item is held by somebody whose time ran out", "/p/claims/leases/"),
        (votes_stuck, "votes_stuck", "have waited", "recount --check"),
        (undecided, "undecided", "and nobody is asked to settle it.", "?kind=adjudicate&amp;for="),
        (no_guidelines, "no_guidelines", "nothing says how to answer", "#guidelines"),
        (feed_broken, "feed_broken", "cannot be followed: &#x27;answer.no_longer_asked&#x27;", "#feeds"),
        (import_failed, "import_failed", "The import of <bdi>rows.csv</bdi> failed: It broke.", "/import/"),
        (question, "questions", "1 question of an annotator waits for an answer", ""),
        (
            flagged,
            "flagged",
            "1 item was flagged by somebody who answered it, and nobody has dealt with that.",
            "/flags/",
        ),
    ],
)
def test_what_keeps_the_work_from_going_on_is_said_with_its_action(
    project: Project, admin: Person, arrange: Any, kind: str, words: str, action: str
):
    arrange(project)
    assert kinds(project) == [kind]
    said = text(page(admin))
    assert words in said.replace("has waited", "have waited")
    assert action in said.partition("Needs you")[2]


def test_an_item_without_a_majority_is_no_alert_where_adjudicators_get_it(project: Project):
    undecided(project)
    judge = make_stage(project, kind="adjudicate", roles=["adjudicator"], state="closed")
    Stage.objects.exclude(pk=judge.pk).update(adjudicated_in=judge)
    assert kinds(project) == []


def test_a_stage_is_not_done_while_more_may_come(project: Project):
    finished(project)
    label = Stage.objects.get()
    source = make_stage(project)
    make_stage_item(source)
    Feed.objects.create(source=source, target=label)
    assert kinds(project) == []
    Stage.objects.filter(pk=source.pk).update(state="closed")
    assert kinds(project) == ["stage_finished"]


def test_places_that_nobody_gave_back_are_given_back_at_a_press(project: Project, admin: Person):
    leases_stuck(project)
    client = Client()
    client.force_login(admin)
    response = client.post("/p/claims/leases/", follow=True)
    assert "1 place is free again." in text(response)
    assert Assignment.objects.get().state == "expired"
    assert StageItem.objects.get().active == 0


def test_a_failed_import_is_no_news_once_the_mended_file_came_in(project: Project):
    import_failed(project)
    assert kinds(project) == ["import_failed"]
    failed = ImportJob.objects.get()
    mended = ImportJob.objects.create(project=project, source=failed.source, state="cancelled", due_at=None)
    assert kinds(project) == ["import_failed"]
    ImportJob.objects.filter(pk=mended.pk).update(state="done", finished_at=timezone.now())
    assert kinds(project) == []
    ImportJob.objects.filter(pk=failed.pk).delete()
    import_failed_again = ImportJob.objects.create(
        project=project, source=failed.source, state="failed", error="Again.", due_at=None, finished_at=timezone.now()
    )
    assert kinds(project) == ["import_failed"], import_failed_again


@pytest.mark.parametrize(
    ("arrange", "kind", "name", "sent"),
    [
        (finished, "stage_finished", "stage-state", {"from": "project", "step": "close"}),
        (leases_stuck, "leases_stuck", "project-leases", {}),
        (flagged, "flagged", "flags-settle", {}),
        (question, "questions", "question-answer", {}),
    ],
)
def test_what_the_action_beside_an_alert_does_makes_the_alert_go(
    project: Project, admin: Person, arrange, kind: str, name: str, sent: dict[str, str]
):
    arrange(project)
    assert kind in kinds(project)
    args: list[object] = [project.slug]
    if name == "stage-state":
        args.append(Stage.objects.get().slug)
    elif name == "flags-settle":
        sent = {"flag": str(Annotation.objects.get(is_flagged=True).pk)}
    elif name == "question-answer":
        asked = Question.objects.get()
        args.append(asked.pk)
        sent = {f"q{asked.pk}-answer": "It is."}
    client = Client()
    client.force_login(admin)
    assert client.post(reverse(name, args=args), sent).status_code == 302
    assert kind not in kinds(project)


def test_the_list_of_items_shows_those_that_were_flagged(project: Project, admin: Person):
    flagged(project)
    item = StageItem.objects.get(done=1).revision.item
    response = page(admin, "/p/claims/items/?show=flagged")
    assert [row.external_id for row in response.context["page"].rows] == [item.external_id]


def test_items_out_of_reach_are_listed_by_pages_with_a_way_to_each(project: Project, admin: Person):
    stage = make_stage(project, slug="label", overlap=2)
    items = [make_stage_item(stage) for _ in range(55)]
    make_member(project)
    first = page(admin, "/p/claims/stages/label/reach/")
    assert "55 items cannot reach their answers" in text(first)
    assert f'href="/p/claims/items/?id={items[0].revision.item.external_id}"' in text(first)
    assert len(first.context["rows"]) == 50
    second = page(admin, first.context["next_url"])
    assert len(second.context["rows"]) == 5
    assert second.context["next_url"] == ""
    make_member(project)
    assert "Every item can reach its answers" in text(page(admin, "/p/claims/stages/label/reach/"))


def test_runs_that_stopped_or_failed_wait_for_an_admin(project: Project, admin: Person):
    stage = make_stage(project)
    item_set = make_item_set(project, [make_item(project)])
    now = timezone.now()
    for n, fields in enumerate(
        (
            {"state": "paused", "stopped_because": "The budget is spent."},
            {"state": "paused"},
            {"state": "failed", "error": "Lost.", "finished_at": now},
            {"state": "failed", "error": "Long ago.", "finished_at": now - timedelta(days=30)},
        )
    ):
        make_run(stage, item_set, name=f"run {n}", frozen_at=now, **fields)
    found = run_needs(project=project)
    assert [run.name for run in (*found.stopped, *found.failed)] == ["run 0", "run 2"]
    words = text(page(admin, "/p/claims/runs/needs/"))
    assert "Run “<bdi>run 0</bdi>” has stopped: The budget is spent." in words
    client = Client()
    client.force_login(admin)
    fragment = client.get("/p/claims/runs/needs/", headers={"HX-Request": "true"})
    assert "<html" not in text(fragment)
    Run.objects.all().delete()
    assert text(client.get("/p/claims/runs/needs/", headers={"HX-Request": "true"})) == ""


def test_alerts_cost_as_many_statements_for_many_stages_and_items_as_for_few(project: Project, admin: Person):
    client = Client()
    client.force_login(admin)

    def n_statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/p/claims/").status_code == 200
        return len(queries)

    out_of_reach(project)
    undecided_in = make_stage(project)
    make_stage_item(undecided_in)
    few = n_statements()
    for _ in range(4):
        stage = make_stage(project, overlap=4)
        for _ in range(3):
            person = make_member(project, languages=["en"])
            make_annotation(make_stage_item(stage), person, {"label": "yes"}, is_flagged=True)
    assert n_statements() == few
