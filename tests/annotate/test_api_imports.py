"""Import by a program: a file, a mapping, a start, and what came of it."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import ImportJob, Item, StageItem, StoredFile
from annotate.services import importing
from tests.annotate.sources.test_parquet import parquet
from tests.annotate.sources.workbooks import workbook, zipped
from tests.api_client import ApiClient
from tests.factories import make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

RECORDS = [
    {"id": "007", "question": "Is the sea salty?", "verdict": "SUPPORTS"},
    {"id": "008", "question": "Is the moon a cheese?", "verdict": "REFUTES"},
]


def as_file(records=RECORDS, name="claims.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(f"{json.dumps(record)}\n" for record in records).encode())


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def api(project) -> ApiClient:
    return ApiClient(make_member(project, "admin"))


def test_a_file_becomes_a_draft_then_items(project, api):
    stage = make_stage(project)
    address = f"projects/{project.slug}/imports/"
    draft = api.upload(address, file=as_file(), stage=stage.slug)
    assert draft.status_code == 201
    told = draft.json()
    assert (told["state"], told["file"], told["stage"]) == ("draft", "claims.jsonl", stage.slug)
    assert told["mapping"]["id_column"] == "id"
    assert not Item.objects.exists()

    mapping = told["mapping"] | {
        "content": [{"column": "question", "key": "question"}],
        "gold": [{"field": "label", "column": "verdict", "values": {"SUPPORTS": "yes", "REFUTES": "no"}}],
    }
    started = api.post(f"{address}{told['id']}/start/", mapping=mapping)
    assert (started.status_code, started.json()["state"]) == (202, "waiting")
    importing.run_import(job_id=told["id"])
    done = api.get(f"{address}{told['id']}/").json()
    assert (done["state"], done["report"]["imported"], done["error"]) == ("done", 2, "")
    rows = api.rows(f"projects/{project.slug}/items/")
    assert [(row["id"], row["gold"][0]["answers"]) for row in rows] == [("007", ["yes"]), ("008", ["no"])]
    assert StageItem.objects.filter(stage=stage).count() == 2
    assert done["item_set"] == api.rows(f"projects/{project.slug}/item-sets/")[0]["id"]
    assert [row["id"] for row in api.rows(address)] == [told["id"]]


def test_a_refused_file_says_where_it_is_wrong_and_can_be_opened_again(project, api):
    address = f"projects/{project.slug}/imports/"
    repeated = [*RECORDS, RECORDS[0] | {"question": "Another one?"}]
    told = api.upload(address, file=as_file(repeated)).json()
    api.post(f"{address}{told['id']}/start/")
    importing.run_import(job_id=told["id"])
    failed = api.get(f"{address}{told['id']}/").json()
    assert failed["state"] == "failed"
    assert failed["report"]["problems"][0]["line"] == 3
    assert api.post(f"{address}{told['id']}/state/", step="reopen").json()["state"] == "draft"
    assert api.delete(f"{address}{told['id']}/").status_code == 204
    assert not ImportJob.objects.exists()
    assert not StoredFile.objects.exists()


def test_a_draft_that_waits_is_cancelled_and_not_started_twice(project, api):
    address = f"projects/{project.slug}/imports/"
    told = api.upload(address, file=as_file()).json()
    api.post(f"{address}{told['id']}/start/")
    again = api.post(f"{address}{told['id']}/start/")
    assert (again.status_code, again.json()["error"]) == (409, "work_not_possible")
    assert api.delete(f"{address}{told['id']}/").status_code == 409
    assert api.post(f"{address}{told['id']}/state/", step="cancel").json()["state"] == "cancelled"
    assert api.post(f"{address}{told['id']}/state/", step="cancel").status_code == 409


def test_what_is_no_file_of_items_is_refused_and_not_kept(project, api, settings):
    address = f"projects/{project.slug}/imports/"
    assert set(api.upload(address).json()["fields"]) == {"file"}
    binary = api.upload(address, file=SimpleUploadedFile("x.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20))
    assert (binary.status_code, binary.json()["error"]) == (422, "import_refused")
    assert set(api.upload(address, file=as_file(), stage="nowhere").json()["fields"]) == {"stage"}
    assert api.send("post", address, {"file": "text"}).status_code == 415
    settings.MAX_UPLOAD_BYTES = 100
    assert api.upload(address, file=as_file(RECORDS * 3)).status_code == 413
    assert not StoredFile.objects.exists()


def test_a_mapping_that_cannot_be_used_is_refused(project, api):
    address = f"projects/{project.slug}/imports/"
    told = api.upload(address, file=as_file()).json()
    for mapping in (
        {"content": []},
        {"content": [{"column": "question", "key": "q", "kind": "hologram"}]},
        {"content": [{"column": "question", "key": "q"}, {"column": "id", "key": "q"}]},
        {"content": [{"column": "question", "key": "q"}], "language": "not a tag"},
        {"content": "question"},
    ):
        assert api.post(f"{address}{told['id']}/start/", mapping=mapping).status_code == 422, mapping
    assert api.get(f"{address}{told['id']}/").json()["state"] == "draft"


def test_answers_by_a_program(project, api):
    address = f"projects/{project.slug}/imports/"
    rows = [
        {"item_id": "q1", "question": "Is it?", "annotator": name, "label": label, "seconds": 4}
        for name, label in (("a", "yes"), ("b", "no"), ("a", "no"))
    ]
    draft = api.upload(address, file=as_file(rows, "answers.jsonl")).json()
    answers = draft["mapping"]["answers"]
    assert (answers["annotator_column"], answers["seconds_column"]) == ("annotator", "seconds")
    assert [(field["field"], field["column"]) for field in answers["fields"]] == [("label", "label")]
    started = api.post(
        f"{address}{draft['id']}/start/", mapping=draft["mapping"], repeats="order", stage_title="By the crowd"
    )
    assert started.status_code == 202, started.json()
    importing.run_import(job_id=draft["id"])
    done = api.get(f"{address}{draft['id']}/").json()
    assert (done["state"], done["stage"]) == ("done", "imported")
    assert (done["report"]["answers"]["answers"], done["report"]["answers"]["revised"]) == (2, 1)
    wrong = api.post(f"{address}{draft['id']}/start/", repeats="sometimes")
    assert wrong.status_code == 422


@pytest.mark.parametrize("kind", ["workbook", "parquet", "label_studio", "json_files"])
def test_every_kind_of_file_by_a_program(project, api, kind):
    files = {
        "workbook": workbook(("About", [["x"]]), ("Items", [["id", "question"], ["007", "Is it?"]])),
        "parquet": parquet({"id": ["007"], "question": ["Is it?"]}),
        "label_studio": json.dumps([{"id": 7, "data": {"question": "Is it?"}, "annotations": []}]).encode(),
        "json_files": zipped({"en/007.json": '{"id": "007", "question": "Is it?"}'}),
    }
    address = f"projects/{project.slug}/imports/"
    more = {"sheet": "Items"} if kind == "workbook" else {}
    draft = api.upload(address, file=SimpleUploadedFile("items.bin", files[kind]), **more)
    assert draft.status_code == 201, draft.json()
    number = draft.json()["id"]
    assert api.post(f"{address}{number}/start/").status_code == 202
    importing.run_import(job_id=number)
    told = api.get(f"{address}{number}/").json()
    assert (told["state"], told["error"], told["report"]["imported"]) == ("done", "", 1)
    assert Item.objects.get(project=project).external_id in ("007", "7")
