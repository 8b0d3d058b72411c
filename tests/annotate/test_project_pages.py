"""The pages of a project: what its admin can do there, and what everybody else gets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, Person, Project, Resolution, Stage, StageItem, WorkerHeartbeat
from annotate.services import overview
from annotate.services.counting import stage_counts
from annotate.services.files import store_file
from annotate.services.heartbeats import hear
from tests.factories import (
    YES_NO,
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


class Cast:
    """The admin, a viewer, an annotator, an admin of another project, and a browser for each."""

    def __init__(self) -> None:
        self.project = make_project(slug="claims", title="Claims")
        self.admin = make_member(self.project, "admin")
        self.viewer = make_member(self.project, "viewer")
        self.annotator = make_member(self.project)
        self.stranger = make_member(make_project(), "admin")

    def browser(self, person: Person) -> Client:
        client = Client()
        client.force_login(person)
        return client


@pytest.fixture
def cast() -> Cast:
    return Cast()


def text(response: Any) -> str:
    """What is read on the page, without the markup of white space."""
    return " ".join(response.content.decode().split())


def n_queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def form_data(**changes: Any) -> dict[str, Any]:
    """What the browser sends for the first form of a label stage."""
    data = {
        "title": "Label",
        "kind": "label",
        "overlap": "3",
        "roles": ["annotator"],
        "lease_minutes": "30",
        "order": "seeded",
        "is_closed_book": "on",
        "shown_keys": "question\r\ncontext",
        "instruction": "",
        "fields-TOTAL_FORMS": "2",
        "fields-INITIAL_FORMS": "1",
        "fields-0-name": "label",
        "fields-0-type": "choice",
        "fields-0-caption": "Is it so?",
        "fields-0-options": "yes | Yes\r\nno | No\r\nnot_sure | Not sure enough",
        "fields-0-decides": "on",
        "fields-0-required": "on",
        "fields-1-type": "choice",
        "fields-1-decides": "on",
        "fields-1-required": "on",
    }
    return data | changes


# Project home


def test_the_home_reads_as_one_sentence(cast: Cast):
    stage = make_stage(cast.project, title="Label", overlap=3)
    first, second = make_stage_item(stage), make_stage_item(stage)
    for answer in ("yes", "no", "not_sure"):
        make_annotation(first, make_member(cast.project), {"label": answer})
    make_assignment(second, cast.annotator)
    Resolution.objects.create(stage_item=first, field="label", status="tie", key_version=1, n_votes=3)
    StageItem.objects.update(due_at=None)
    page = text(cast.browser(cast.admin).get("/p/claims/"))
    assert (
        "<strong>3 of 6 answers</strong> · 1 being given · 2 to come · 1 of 2 items are done · 1 without a majority"
    ) in page
    assert "1 item of “<bdi>Label</bdi>” has all its answers and no majority" in page
    assert '<p class="figure-value">3</p>' in page  # today


def test_what_waits_for_the_admin_stands_beside_its_action(cast: Cast):
    admin = cast.browser(cast.admin)
    page = text(admin.get("/p/claims/"))
    assert "No worker has ever been heard from" in page
    assert "There are no items yet." in page
    assert "Nothing is asked yet" in page
    draft = make_stage(cast.project, title="Draft", slug="draft", state="draft")
    assert "“<bdi>Draft</bdi>” has no items yet." in text(admin.get("/p/claims/"))
    make_stage_item(draft)
    hear(name="machine", role="worker")
    page = text(admin.get("/p/claims/"))
    assert "No worker" not in page
    assert "is a draft with 1 item: nobody sees it yet." in page
    assert admin.post("/p/claims/stages/draft/state/", {"step": "open", "from": "project"}).url == "/p/claims/"
    draft.refresh_from_db()
    assert draft.state == "open"
    # One annotator, overlap 1: nothing is missing any more.
    assert "Needs you" not in text(admin.get("/p/claims/"))
    StageItem.objects.update(wanted=3)
    assert "1: they want 3 answers each, and 1 person may take this stage." in text(admin.get("/p/claims/"))


def test_a_reader_sees_the_funnel_and_nothing_to_press(cast: Cast):
    make_stage_item(make_stage(cast.project, slug="label"))
    page = text(cast.browser(cast.viewer).get("/p/claims/"))
    assert "0 of 1 answers" in page
    for word in ("Needs you", "New stage", "Download answers", "Settings", "/p/claims/people/"):
        assert word not in page


def test_days_begin_and_end_by_the_projects_clock():
    project = make_project(time_zone="Asia/Kolkata")
    stage = make_stage(project)
    # 18:29 UTC is one minute to midnight in Kolkata (UTC+5:30), 18:31 the next day.
    for hour_minute in ((18, 29), (18, 31), (18, 31)):
        at = datetime(2026, 3, 9, *hour_minute, tzinfo=UTC)
        make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"}, created_at=at)
    changed = Annotation.objects.first()
    assert changed is not None
    changed.assignment.annotations.create(
        stage_version=changed.stage_version, number=2, is_current=False, answer={}, client_key="again",
        created_at=datetime(2026, 3, 9, 18, 31, tzinfo=UTC),
    )  # fmt: skip
    days = overview.answers_per_day(project, now=datetime(2026, 3, 10, 12, tzinfo=UTC))
    assert [(day.date.isoformat(), day.n_answers) for day in days][-3:] == [
        ("2026-03-08", 0),
        ("2026-03-09", 1),
        ("2026-03-10", 2),
    ]
    assert len(days) == 7


def test_the_home_asks_as_much_of_the_database_for_many_items_as_for_few(cast: Cast):
    stage = make_stage(cast.project)
    make_stage_item(stage)
    admin = cast.browser(cast.admin)
    few = n_queries(admin, "/p/claims/")
    for _ in range(8):
        make_annotation(make_stage_item(stage), make_member(cast.project), {"label": "yes"})
    assert n_queries(admin, "/p/claims/") == few
    assert few <= 37


def test_sample_data_is_called_so(cast: Cast):
    Project.objects.update(is_sample=True)
    assert "sample data" in text(cast.browser(cast.admin).get("/p/claims/"))


# A new project


def test_staff_make_a_project_and_run_it():
    staff = make_staff()
    client = Client()
    client.force_login(staff)
    sent = {
        "title": "Yes and no",
        "languages": "en, zh-Hans",
        "time_zone": "Europe/Berlin",
        "guidelines": "# Read\r\n",
    }
    assert client.post("/projects/new/", sent).url == "/p/yes-and-no/"
    project = Project.objects.get(slug="yes-and-no")
    assert (project.languages, project.time_zone) == (["en", "zh-Hans"], "Europe/Berlin")
    assert project.memberships.get().person == staff
    again = client.post("/projects/new/", sent)
    assert again.status_code == 422
    assert "There is a project with the address yes-and-no already." in text(again)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": "english please"}, "english please is no language tag"),
        ({"languages": "english"}, "english is no language tag"),
        ({"time_zone": "Middle/Earth"}, "Select a valid choice"),
        ({"title": "Вопросы"}, "Write a short address in Latin letters"),
    ],
)
def test_a_project_that_cannot_be_is_refused_at_its_field(changes: dict[str, str], message: str):
    client = Client()
    client.force_login(make_staff())
    response = client.post("/projects/new/", {"title": "Claims", "time_zone": "UTC"} | changes)
    assert response.status_code == 422
    assert message in text(response)
    assert not Project.objects.exists()


def test_an_annotator_makes_no_project(cast: Cast):
    assert cast.browser(cast.annotator).get("/projects/new/").status_code == 403


def test_settings_are_changed_and_guidelines_get_a_version(cast: Cast):
    admin = cast.browser(cast.admin)
    sent = {
        "title": "Claims, renamed",
        "languages": "ta",
        "time_zone": "Asia/Kolkata",
        "current_date": "December 2022",
        "guidelines": "Look twice.",
    }
    assert admin.post("/p/claims/settings/", sent).url == "/p/claims/"
    cast.project.refresh_from_db()
    assert (cast.project.title, cast.project.slug, cast.project.languages) == ("Claims, renamed", "claims", ["ta"])
    assert "current date <bdi>December 2022</bdi>" in text(admin.get("/p/claims/"))
    admin.post("/p/claims/settings/", sent | {"guidelines": "Look three times."})
    assert list(cast.project.guideline_versions.order_by("number").values_list("number", "markdown")) == [
        (1, "Look twice."),
        (2, "Look three times."),
    ]
    refused = admin.post("/p/claims/settings/", sent | {"title": ""})
    assert refused.status_code == 422
    assert 'value="December 2022"' in text(refused)


# Stages


def test_a_reader_sees_how_a_stage_is_run_and_nothing_to_press(cast: Cast):
    stage = make_stage(cast.project, slug="label", overlap=3, is_closed_book=False, permitted_sources="Wikipedia")
    make_stage_item(stage, make_item(cast.project, [["question", "Is it?"]]))
    page = text(cast.browser(cast.viewer).get("/p/claims/stages/label/"))
    assert "with <bdi>Wikipedia</bdi>" in page
    assert "Answer what is asked." in page  # the guidelines
    assert "Is it?" in page
    own, _, previewed = page.partition("<main")[2].partition("<fieldset disabled")
    assert "<form" not in own
    assert "<form" not in previewed.partition("</fieldset> </div>")[2].partition("</main>")[0]


def test_a_stage_is_made_as_a_draft_with_its_form(cast: Cast):
    admin = cast.browser(cast.admin)
    make_item(cast.project, [["question", "Is it?"], ["context", "It may be."]])
    page = text(admin.get("/p/claims/stages/new/?kind=label"))
    assert "question\ncontext" in admin.get("/p/claims/stages/new/").content.decode()
    assert "not_sure | Not sure enough" in page
    assert admin.post("/p/claims/stages/new/", form_data()).url == "/p/claims/stages/label/"
    stage = Stage.objects.get()
    assert (stage.kind, stage.state, stage.overlap, stage.roles) == ("label", "draft", 3, ["annotator"])
    version = stage.versions.get()
    assert version.shown_keys == ["question", "context"]
    assert version.fields[0]["options"][2] == {"value": "not_sure", "caption": "Not sure enough"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fields-0-options": "yes | Yes"}, "a choice needs at least two options"),
        ({"fields-0-decides": ""}, "At least one field must decide"),
        ({"fields-0-name": "Label"}, "must be lower-case letters"),
        ({"shown_keys": " "}, "This field is required"),
        ({"overlap": "0"}, "greater than or equal to 1"),
        ({"permitted_sources": "Wikipedia"}, "Closed book has no sources"),
        ({"is_closed_book": ""}, "Name the sources people may use"),
        ({"slug": "new"}, "The address new is taken"),
    ],
)
def test_a_stage_that_could_not_be_counted_is_refused_with_what_was_typed(
    cast: Cast, changes: dict[str, str], message: str
):
    response = cast.browser(cast.admin).post("/p/claims/stages/new/", form_data(title="Kept title", **changes))
    assert response.status_code == 422
    assert message in text(response)
    assert 'value="Kept title"' in text(response)
    assert not Stage.objects.exists()


def test_the_editor_shows_the_first_item_as_people_will_see_it(cast: Cast):
    stage = make_stage(cast.project, slug="label", state="draft", shown_keys=["question", "context"])
    make_stage_item(stage, make_item(cast.project, [["question", "Is <b>it</b>?"], ["label_source", "SUPPORTS"]]))
    page = text(cast.browser(cast.admin).get("/p/claims/stages/label/"))
    assert "Is &lt;b&gt;it&lt;/b&gt;?" in page
    assert "This item has nothing under context." in page
    assert "SUPPORTS" not in page.partition("As people see it")[2]


def test_the_preview_follows_the_form_before_it_is_saved(cast: Cast):
    stage = make_stage(cast.project, slug="label", state="draft")
    make_stage_item(stage)
    admin = cast.browser(cast.admin)
    url = "/p/claims/stages/label/preview/"
    fragment = admin.post(url, form_data(**{"fields-0-caption": "Could it be?"}), headers={"HX-Request": "true"})
    assert "Could it be?" in text(fragment)
    assert "<html" not in text(fragment)
    assert "<html" in text(admin.post(url, form_data()))
    broken = admin.post(url, form_data(**{"fields-0-options": ""}), headers={"HX-Request": "true"})
    assert "cannot be shown yet" in text(broken)
    assert stage.versions.get().fields == YES_NO


def test_a_frozen_form_offers_a_new_version_and_keeps_what_was_typed(cast: Cast):
    stage = make_stage(cast.project, slug="label")
    make_annotation(make_stage_item(stage), cast.annotator, {"label": "yes"})
    admin = cast.browser(cast.admin)
    changed = form_data(**{"fields-0-options": "yes | Yes\r\nno | No", "shown_keys": "question"})
    refused = admin.post("/p/claims/stages/label/form/", changed)
    assert refused.status_code == 409
    assert "make a new version of it" in text(refused)
    assert "Save as a new version" in text(refused)
    assert "yes | Yes\nno | No</textarea>" in refused.content.decode().replace("\r", "")
    assert admin.post("/p/claims/stages/label/form/", changed | {"new_version": "1"}).status_code == 302
    assert stage.versions.get(is_current=True).number == 2


def test_a_removed_field_is_gone_and_an_empty_one_is_none(cast: Cast):
    stage = make_stage(cast.project, slug="label", state="draft")
    why = {
        "fields-1-name": "why",
        "fields-1-type": "long_text",
        "fields-1-caption": "Why?",
        "fields-1-decides": "",
        "fields-1-required": "",
    }
    admin = cast.browser(cast.admin)
    admin.post("/p/claims/stages/label/form/", form_data(**why))
    assert [field["name"] for field in stage.versions.get().fields] == ["label", "why"]
    both = form_data(**why) | {"fields-TOTAL_FORMS": "3", "fields-INITIAL_FORMS": "2", "fields-1-DELETE": "on"}
    admin.post("/p/claims/stages/label/form/", both | {"fields-2-type": "choice", "fields-2-decides": "on",
                                                       "fields-2-required": "on"})  # fmt: skip
    assert [field["name"] for field in stage.versions.get().fields] == ["label"]


def test_settings_guidelines_items_and_steps_of_a_stage(cast: Cast):
    stage = make_stage(cast.project, slug="label", state="draft", overlap=1)
    item_set = make_item_set(cast.project, [make_item(cast.project), make_item(cast.project)])
    admin = cast.browser(cast.admin)
    address = "/p/claims/stages/label/"
    empty = admin.post(address + "state/", {"step": "open"}, follow=True)
    assert "There are no items in this stage yet" in text(empty)
    assert "2 items added." in text(admin.post(address + "items/", {"item_set": item_set.pk}, follow=True))
    assert "had all of these" in text(admin.post(address + "items/", {"item_set": item_set.pk}, follow=True))
    admin.post(address + "guidelines/", {"markdown": "Look twice."})
    assert stage.guideline_versions.order_by("-number")[0].markdown == "Look twice."
    admin.post(address, form_data(overlap="2", title="Labels", time_limit_seconds="60"))
    stage.refresh_from_db()
    assert (stage.title, stage.overlap, stage.time_limit_seconds) == ("Labels", 2, 60)
    assert stage_counts([stage])[stage.pk].wanted == 4
    for step, state in (("open", "open"), ("pause", "paused"), ("open", "open"), ("close", "closed")):
        admin.post(address + "state/", {"step": step})
        stage.refresh_from_db()
        assert stage.state == state


def test_an_item_set_of_another_project_cannot_be_added(cast: Cast):
    stage = make_stage(cast.project, slug="label", state="draft")
    other = make_project()
    foreign = make_item_set(other, [make_item(other)])
    response = cast.browser(cast.admin).post("/p/claims/stages/label/items/", {"item_set": foreign.pk})
    assert response.status_code == 422
    assert not stage.stage_items.exists()


# Items


def test_the_list_shows_beginnings_gold_and_what_the_votes_come_to(cast: Cast):
    stage = make_stage(cast.project, slug="label", title="Label")
    long = make_item(
        cast.project,
        [["question", "Is " + "x" * 1000 + "?"], ["table", {"type": "table", "title": "SS Example", "sections": []}]],
        external_id="0007",
        gold={"label": ["no"]},
    )
    place = make_stage_item(stage, long)
    make_annotation(place, cast.annotator, {"label": "yes"})
    Resolution.objects.create(
        stage_item=place, field="label", status="unanimous", answer="yes", answer_key="yes", key_version=1, n_votes=1
    )
    for person in (cast.admin, cast.viewer):
        page = text(cast.browser(person).get("/p/claims/items/"))
        assert "0007" in page
        assert "x" * 170 in page
        assert "x" * 200 not in page
        assert "SS Example" in page
        assert '<span class="tag gold"><bdi>no</bdi></span>' in page
        assert "1 of 1" in page
        assert '<span class="tag people"><bdi>yes</bdi></span> <span class="interval">unanimous</span>' in page


def test_pages_follow_one_another_and_filters_narrow_them(cast: Cast):
    for n in range(60):
        make_item(cast.project, external_id=f"item-{n:03}", gold={"label": ["yes"]} if n != 55 else None)
    admin = cast.browser(cast.admin)
    first = admin.get("/p/claims/items/")
    assert [row.external_id for row in first.context["page"].rows] == [f"item-{n:03}" for n in range(50)]
    second = admin.get(first.context["next_url"])
    assert [row.external_id for row in second.context["page"].rows] == [f"item-{n:03}" for n in range(50, 60)]
    assert second.context["next_url"] == ""
    without = admin.get("/p/claims/items/?show=no-gold").context["page"].rows
    assert [row.external_id for row in without] == ["item-055"]
    begins = admin.get("/p/claims/items/?id=item-01").context["page"].rows
    assert [row.external_id for row in begins] == [f"item-01{n}" for n in range(10)]
    assert "No item is like that" in text(admin.get("/p/claims/items/?show=review"))
    # Not a filter, not a place: the list from the beginning.
    odd = admin.get("/p/claims/items/?show=golds__answers&after=99999999999999999999999")
    assert odd.context["page"].rows[0].external_id == "item-000"


def test_the_list_asks_as_much_of_the_database_for_fifty_items_as_for_one(cast: Cast):
    stage = make_stage(cast.project)
    make_stage_item(stage, make_item(cast.project, gold={"label": ["yes"]}))
    viewer = cast.browser(cast.viewer)
    few = n_queries(viewer, "/p/claims/items/")
    for _ in range(49):
        make_annotation(make_stage_item(stage, make_item(cast.project, gold={"label": ["no"]})), cast.annotator,
                        {"label": "yes"})  # fmt: skip
    with CaptureQueriesContext(connection) as queries:
        viewer.get("/p/claims/items/")
    assert len(queries) == few
    assert not [query for query in queries if "COUNT(" in query["sql"]]


def test_an_item_without_a_majority_is_found_once_all_its_answers_are_there(cast: Cast):
    stage = make_stage(cast.project, overlap=2)
    complete, waiting = make_stage_item(stage), make_stage_item(stage)
    for answer in ("yes", "no"):
        make_annotation(complete, make_member(cast.project), {"label": answer})
    make_annotation(waiting, cast.annotator, {"label": "yes"})
    for place, status in ((complete, "tie"), (waiting, "plurality")):
        Resolution.objects.create(stage_item=place, field="label", status=status, key_version=1)
    rows = cast.browser(cast.admin).get("/p/claims/items/?show=no-majority").context["page"].rows
    assert [row.pk for row in rows] == [complete.revision.item_id]
    assert stage_counts([stage])[stage.pk].undecided == 1


@pytest.mark.parametrize(("step", "state"), [("return", "open"), ("withdraw", "withdrawn")])
def test_an_item_in_review_goes_back_or_out(cast: Cast, step: str, state: str):
    place = make_stage_item(make_stage(cast.project), state="review")
    admin = cast.browser(cast.admin)
    assert "Hand out again" in text(admin.get("/p/claims/items/?show=review"))
    admin.post(f"/p/claims/items/review/{place.pk}/", {"step": step})
    place.refresh_from_db()
    assert place.state == state
    late = admin.post(f"/p/claims/items/review/{place.pk}/", {"step": "withdraw"}, follow=True)
    assert "does not wait for review any more" in text(late)


# Files and exports


def test_the_admin_downloads_the_answers_in_both_forms(cast: Cast):
    form = [{"name": "answer", "type": "text", "caption": "Answer", "decides": True, "required": True}]
    stage = make_stage(cast.project, form=form)
    make_annotation(make_stage_item(stage), cast.annotator, {"answer": "=1+1"})
    admin = cast.browser(cast.admin)
    exact = admin.get("/p/claims/export/answers.csv")
    assert exact["Content-Disposition"] == 'attachment; filename="claims-answers.csv"'
    lines = b"".join(exact.streaming_content).decode().splitlines()
    assert lines[0].endswith(",answer.answer,key.answer")
    assert lines[1].endswith(",=1+1,=1+1")
    eyes = b"".join(admin.get("/p/claims/export/answers.csv?form=spreadsheet").streaming_content).decode()
    assert eyes.startswith("\ufeff")
    assert "'=1+1" in eyes
    assert admin.get("/p/claims/export/answers.csv?form=xlsx").status_code == 400


def test_a_file_comes_as_an_attachment(cast: Cast):
    stored = store_file(
        project=cast.project, purpose="export", name="claims.html", media_type="text/html", content=b"<script>"
    )
    response = cast.browser(cast.viewer).get(f"/files/{stored.pk}/")
    assert response["Content-Disposition"] == 'attachment; filename="claims.html"'
    assert b"".join(response.streaming_content) == b"<script>"
    assert cast.browser(cast.stranger).get(f"/files/{stored.pk}/").status_code == 404
    assert cast.browser(cast.annotator).get(f"/files/{stored.pk}/").status_code == 404


@pytest.mark.parametrize("purpose", ["upload", "data"])
def test_what_was_uploaded_and_everybodys_data_are_for_admins(cast: Cast, purpose: str):
    stored = store_file(project=cast.project, purpose=purpose, name="a.csv", media_type="text/csv", content=b"1")
    assert cast.browser(cast.admin).get(f"/files/{stored.pk}/").status_code == 200
    assert cast.browser(cast.viewer).get(f"/files/{stored.pk}/").status_code == 404


# Refusals


def addresses(cast: Cast) -> dict[str, tuple[str, list[Any]]]:
    """Every page and step here: name -> (GET or POST, arguments of the address), with rows that exist."""
    stage = make_stage(cast.project, slug="label", state="draft")
    place = make_stage_item(stage, state="review")
    return {
        "project": ("GET", ["claims"]),
        "items": ("GET", ["claims"]),
        "stage-item-review": ("POST", ["claims", place.pk]),
        "project-settings": ("GET", ["claims"]),
        "stage-new": ("GET", ["claims"]),
        "stage": ("GET", ["claims", "label"]),
        "stage-form": ("POST", ["claims", "label"]),
        "stage-preview": ("POST", ["claims", "label"]),
        "stage-guidelines": ("POST", ["claims", "label"]),
        "stage-items": ("POST", ["claims", "label"]),
        "stage-state": ("POST", ["claims", "label"]),
        "export-answers": ("GET", ["claims"]),
    }


READ_BY_VIEWERS = {"project", "items", "stage"}


def test_strangers_and_annotators_find_nothing_and_viewers_change_nothing(cast: Cast):
    sent = {"step": "withdraw", "markdown": "x"}
    for name, (method, arguments) in addresses(cast).items():
        url = reverse(name, args=arguments)
        for person in (cast.stranger, cast.annotator, cast.viewer):
            browser = cast.browser(person)
            response = browser.get(url) if method == "GET" else browser.post(url, sent)
            expected = 200 if person == cast.viewer and name in READ_BY_VIEWERS else 404
            assert response.status_code == expected, (name, person)
    assert StageItem.objects.get().state == "review"
    assert Stage.objects.get(slug="label").guideline_versions.count() == 1


def test_the_unknown_are_asked_to_sign_in_and_a_fragment_gets_no_page(cast: Cast):
    for name, (method, arguments) in addresses(cast).items():
        url = reverse(name, args=arguments)
        response = Client().get(url) if method == "GET" else Client().post(url)
        assert response.status_code == 302
        assert response.url.startswith("/sign-in/?next=/")
        fragment = Client().generic(method, url, headers={"HX-Request": "true"})
        assert fragment.status_code == 401


def test_a_paused_admin_is_a_stranger(cast: Cast):
    cast.project.memberships.filter(person=cast.admin).update(state="paused")
    assert cast.browser(cast.admin).get("/p/claims/").status_code == 404


def test_a_worker_heard_long_ago_is_said_with_the_time(cast: Cast):
    hear(name="machine", role="worker")
    WorkerHeartbeat.objects.update(heard_at=timezone.now() - timedelta(hours=3))
    assert "No worker has been heard from for 3" in text(cast.browser(cast.admin).get("/p/claims/"))


def test_staff_find_the_way_to_a_first_project_at_home_and_annotators_do_not(cast: Cast):
    newcomer = cast.browser(make_staff())
    assert "No projects yet" in text(newcomer.get("/"))
    assert '"/projects/new/"' in text(newcomer.get("/"))
    assert '"/projects/new/"' in text(cast.browser(cast.admin).get("/"))
    assert "/projects/new/" not in text(cast.browser(cast.annotator).get("/"))
