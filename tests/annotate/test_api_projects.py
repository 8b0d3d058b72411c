"""Projects, items, sets, stages, resolutions and exports, as programs read and run them."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import GuidelineVersion, Item, Membership, Project, Stage
from annotate.services.resolving import resolve_due
from tests.api_client import ApiClient, body_of
from tests.factories import (
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

FIELDS = [
    {
        "name": "label",
        "type": "choice",
        "caption": "Is it so?",
        "options": [{"value": "yes", "caption": "Yes"}, {"value": "no", "caption": "No"}],
    }
]


def test_staff_make_a_project_and_run_it():
    person = make_staff()
    api = ApiClient(person)
    made = api.post("projects/", title="Claims & tables", languages=["en", "zh-Hans"], guidelines="# Read")
    assert made.status_code == 201
    assert (made.json()["slug"], made.json()["languages"]) == ("claims-tables", ["en", "zh-Hans"])
    project = Project.objects.get()
    assert Membership.objects.get(project=project).person == person
    assert GuidelineVersion.objects.get(project=project).markdown == "# Read"
    assert api.rows("projects/") == [made.json()]
    taken = api.post("projects/", title="Claims & tables")
    assert (taken.status_code, set(taken.json()["fields"])) == (422, {"slug"})


def test_only_what_is_sent_is_changed():
    project = make_project(description="As it was", current_date="December 2022")
    api = ApiClient(make_member(project, "admin"))
    told = api.patch(f"projects/{project.slug}/", title="Another title").json()
    assert (told["title"], told["description"], told["current_date"]) == (
        "Another title",
        "As it was",
        "December 2022",
    )
    api.patch(f"projects/{project.slug}/", guidelines="New ones")
    api.patch(f"projects/{project.slug}/", description="")
    assert [version.markdown for version in project.guideline_versions.all()] == ["New ones"]
    project.refresh_from_db()
    assert (project.title, project.description) == ("Another title", "")


def test_readers_see_items_with_their_gold_labels_and_ids_as_text():
    project = make_project()
    table = Item.objects.create(project=project, external_id="table-1")
    make_item(
        project,
        [["question", "How many?"], ["n", 12]],
        external_id="0012345678901234567",
        root=table,
        parent=table,
        gold={"label": ["yes", "no"]},
        strata=[["domain", "sports"], ["domain", "film"]],
    )
    (row,) = ApiClient(make_member(project, "viewer")).rows(f"projects/{project.slug}/items/")
    assert row["id"] == "0012345678901234567"
    assert (row["root"], row["parent"]) == ("table-1", "table-1")
    assert row["content"] == [["question", "How many?"], ["n", 12]]
    assert row["gold"] == [
        {"field": "label", "label_set": "", "answers": ["yes", "no"], "origin": "source", "version": 1}
    ]
    assert row["strata"] == [["domain", "sports"], ["domain", "film"]]


def test_items_are_filtered_by_what_the_page_filters_by():
    project = make_project()
    for external_id in ("a/1", "a/2", "b 1"):
        make_item(project, external_id=external_id, gold={"label": ["yes"]} if external_id == "a/1" else None)
    api = ApiClient(make_member(project, "viewer"))

    def found(**filters):
        return [row["id"] for row in api.rows(f"projects/{project.slug}/items/", **filters)]

    assert found(id="a/1") == ["a/1"]
    assert found(starts_with="a/") == ["a/1", "a/2"]
    assert found(show="no-gold") == ["a/2", "b 1"]
    assert found(show="no-gold", starts_with="b") == ["b 1"]
    assert api.get(f"projects/{project.slug}/items/", show="gold").status_code == 422


def test_a_stage_is_made_filled_opened_paused_and_closed():
    project = make_project()
    item_set = make_item_set(project, [make_item(project) for _ in range(3)])
    api = ApiClient(make_member(project, "admin"))
    stages = f"projects/{project.slug}/stages/"
    made = api.post(
        stages, kind="label", title="First pass", shown_keys=["question"], fields=FIELDS, overlap=2, guidelines="Do."
    )
    assert made.status_code == 201
    told = made.json()
    assert (told["slug"], told["state"], told["overlap"]) == ("first-pass", "draft", 2)
    assert told["form"]["fields"][0]["options"] == FIELDS[0]["options"]
    assert GuidelineVersion.objects.get(stage__slug="first-pass").markdown == "Do."
    early = api.post(f"{stages}first-pass/state/", step="open")
    assert (early.status_code, early.json()["error"]) == (409, "stage_not_ready")
    assert api.post(f"{stages}first-pass/items/", item_set=item_set.pk).json() == {"n_added": 3}
    assert api.post(f"{stages}first-pass/items/", item_set=item_set.pk).json() == {"n_added": 0}
    for step, state in (("open", "open"), ("pause", "paused"), ("close", "closed")):
        assert api.post(f"{stages}first-pass/state/", step=step).json()["state"] == state
    told = api.get(f"{stages}first-pass/").json()
    assert (told["counts"]["n_items"], told["counts"]["wanted"], told["counts"]["waiting"]) == (3, 6, 6)
    assert api.rows(stages) == [told]


def test_a_stage_that_could_not_work_is_refused_in_the_words_of_the_page():
    project, other = make_project(), make_project()
    foreign = make_item_set(other, [make_item(other)])
    stage = make_stage(project)
    api = ApiClient(make_member(project, "admin"))
    good = {"kind": "label", "title": "T", "shown_keys": ["question"], "fields": FIELDS}
    for wrong, status, field in (
        ({"slug": "new"}, 422, "slug"),
        ({"slug": stage.slug}, 422, "slug"),
        ({"is_closed_book": False}, 422, "permitted_sources"),
        ({"overlap": 0}, 422, "overlap"),
        ({"roles": ["viewer"]}, 422, "roles[0]"),
        ({"fields": []}, 422, "fields"),
    ):
        refused = api.post(f"projects/{project.slug}/stages/", **good | wrong)
        assert refused.status_code == status, wrong
        assert field in refused.json()["fields"], refused.json()
    for fields in ([FIELDS[0] | {"decides": False}], [FIELDS[0] | {"name": "client_key"}], [FIELDS[0]] * 2):
        refused = api.post(f"projects/{project.slug}/stages/", **good | {"fields": fields})
        assert (refused.status_code, refused.json()["error"]) == (422, "field_spec_invalid")
    assert api.post(f"projects/{project.slug}/stages/{stage.slug}/items/", item_set=foreign.pk).status_code == 422
    assert Stage.objects.count() == 1


def test_resolutions_say_how_votes_ended_and_nobodys_name():
    project = make_project()
    stage = make_stage(project, overlap=2)
    people = [make_member(project) for _ in range(2)]
    for external_id, answers in (("agreed", ("yes", "yes")), ("split", ("yes", "no"))):
        place = make_stage_item(stage, make_item(project, external_id=external_id))
        for person, answer in zip(people, answers, strict=True):
            make_annotation(place, person, {"label": answer})
    resolve_due(limit=100)
    api = ApiClient(make_member(project, "viewer"))
    address = f"projects/{project.slug}/stages/{stage.slug}/resolutions/"
    rows = {row["item"]: row for row in api.rows(address)}
    agreed, split = rows["agreed"], rows["split"]
    assert (agreed["status"], agreed["answer"], agreed["n_votes"], agreed["margin"]) == ("unanimous", "yes", 2, 2)
    assert (split["status"], split["answer"], split["margin"]) == ("tie", None, 0)
    assert sorted(split["counts"]) == [["no", 1], ["yes", 1]]
    assert [row["item"] for row in api.rows(address, status="tie")] == ["split"]
    assert api.rows(address, field="another") == []
    text = str(api.rows(address))
    assert not any(person.pseudonym in text for person in people)


def test_admins_export_answers_as_the_page_does():
    project = make_project()
    stage = make_stage(project)
    person = make_member(project)
    make_annotation(make_stage_item(stage, make_item(project, external_id="007")), person, {"label": "yes"})
    response = ApiClient(make_member(project, "admin"), "export").get(f"projects/{project.slug}/exports/answers.csv")
    assert response.streaming
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(body_of(response).decode()))
    assert (row["item"], row["person"], row["answer.label"]) == ("007", person.pseudonym, "yes")
    marked = ApiClient(make_member(project, "admin")).get(
        f"projects/{project.slug}/exports/answers.csv", form="spreadsheet"
    )
    assert "'007" in body_of(marked).decode()


def test_lists_cost_the_same_however_many_rows_they_have():
    def costs(n: int) -> dict[str, int]:
        project = make_project()
        items = [make_item(project) for _ in range(n)]
        person = make_member(project)
        for _ in range(n):
            stage = make_stage(project)
            for item in items:
                make_annotation(make_stage_item(stage, item), person, {"label": "yes"})
            make_item_set(project, items)
        resolve_due(limit=1_000)
        api, found = ApiClient(make_member(project, "admin")), {}
        for address in ("item-sets/", "stages/", f"stages/{stage.slug}/resolutions/", "imports/"):
            with CaptureQueriesContext(connection) as queries:
                assert api.get(f"projects/{project.slug}/{address}").status_code == 200
            found[address.rpartition("/")[0].rpartition("/")[2]] = len(queries)
        with CaptureQueriesContext(connection) as queries:
            assert ApiClient(person).get("work/").status_code == 200
        # Making the client wrote its token.
        found["work"] = len(queries) - 1
        return found

    assert costs(2) == costs(6) == {"item-sets": 3, "stages": 7, "resolutions": 3, "imports": 3, "work": 7}
