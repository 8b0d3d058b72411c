"""Questions with SQL and their database, imported: by page, command and API, whole or not at all."""

from __future__ import annotations

import io
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotate.models import Gold, ImportJob, Item, ItemKey, ItemRevision, Project, StageItem
from annotate.services import importing
from tests.annotate.sources.test_databases import sqlite_bytes, zip_of
from tests.annotate.test_import_pages import fields_of
from tests.api_client import ApiClient
from tests.factories import make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

QUESTIONS = (
    b"q_id;question;sql\n"
    b"q1;Which cities are there, and how many people live in them?;SELECT name, people FROM target.city\n"
    b"q2;When was each city founded, the oldest first?;"
    b"SELECT name, founded FROM city WHERE founded IS NOT NULL ORDER BY founded\n"
    b"q3;How many cities are there?;SELECT count(*) AS n FROM city\n"
)
TABLE = [
    {
        "name": "rows",
        "type": "table",
        "caption": "Table",
        "decides": True,
        "required": True,
        "columns_from": "columns",
    }
]


@pytest.fixture
def project() -> Project:
    return make_project(slug="facts", languages=["en"])


@pytest.fixture
def stage(project: Project):
    return make_stage(project, slug="answer", kind="answer", form=TABLE, shown_keys=["question", "columns"])


@pytest.fixture
def browser(project: Project) -> Client:
    client = Client()
    client.force_login(make_member(project, "admin"))
    return client


def upload(browser: Client, questions: bytes = QUESTIONS, *, stage: Any = "", database: bytes | None = None, **named):
    files = {
        "file": SimpleUploadedFile("questions.csv", questions),
        "tables": SimpleUploadedFile(named.get("name", "world.sqlite"), database or sqlite_bytes()),
    }
    return browser.post(reverse("import", args=["facts"]), files | {"stage": stage})


def say(browser: Client, job: ImportJob, **changes: str) -> Any:
    page = browser.get(reverse("import-job", args=["facts", job.pk])).content.decode()
    posted = {name: value for name, value in (fields_of(page) | changes).items() if value is not None}
    return browser.post(reverse("import-mapping", args=["facts", job.pk]), posted)


def test_questions_become_items_with_tables_as_gold(browser, project, stage):
    response = upload(browser, stage=stage.pk)
    job = ImportJob.objects.get()
    assert response["Location"] == reverse("import-job", args=["facts", job.pk])
    page = browser.get(response["Location"]).content.decode()
    assert "All 3 rows were checked." in page
    assert "people: number" in page
    assert Item.objects.count() == 0

    say(browser, job, step="start", dates_as_years="on")
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    assert StageItem.objects.filter(stage=stage).count() == 3
    gold = {item.external_id: Gold.objects.get(item=item) for item in Item.objects.all()}
    assert {row.origin for row in gold.values()} == {"program"}
    assert {row.field for row in gold.values()} == {"rows"}
    # By hand: Skarvoy was founded in 1190 and Belm in 1804; of Ost nobody knows.
    assert json.loads(gold["q2"].answers[0]) == {
        "columns": ["name", "founded"],
        "rows": [["Skarvoy", "1190"], ["Belm", "1804"]],
    }
    content = dict(ItemRevision.objects.get(item__external_id="q2").content)
    assert content["columns"] == ["name: text", "founded: year"]
    assert content["row_order"] == "Write the rows in the order that the question asks for."
    key = ItemKey.objects.get(item__external_id="q2")
    assert key.strata == [
        ["attributes", "2"], ["tuples", "2"], ["cells", "4"], ["operator", "where"], ["operator", "order by"],
        ["kind", "mixed"],
    ]  # fmt: skip
    assert dict(key.extra) == {"sql_database": "world"}


def test_one_fault_keeps_everything_out_and_names_the_question(browser, stage):
    upload(browser, QUESTIONS + b"q4;Which rivers?;SELECT * FROM river\nq5;What?;DROP TABLE city\n", stage=stage.pk)
    job = ImportJob.objects.get()
    page = browser.get(reverse("import-job", args=["facts", job.pk])).content.decode()
    assert "question q4" in page.lower()
    assert "no such table: river" in page
    assert "only SELECT gives a table" in page
    say(browser, job, step="start")
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert len(job.report["problems"]) == 2
    assert (Item.objects.count(), Gold.objects.count(), StageItem.objects.count()) == (0, 0, 0)


def test_queries_are_asked_only_if_somebody_wants_it(browser, project):
    tables = zip_of(**{"q1.csv": b"a,b\n1,2\n", "q2.csv": b"a,b\n3,4\n", "q3.csv": b"a,b\n5,6\n"}).getvalue()
    questions = QUESTIONS.replace(b"FROM target.city", b"FROM q1").replace(b"FROM city", b"FROM q1")
    upload(browser, questions, database=tables, name="shown.zip")
    job = ImportJob.objects.get()
    assert job.options["query"]["column"] == "sql"
    say(browser, job, query_column="")
    job.refresh_from_db()
    assert job.options["join"]["column"] == "q_id"
    assert [entry["column"] for entry in job.mapping["content"]][-1] == "table"
    say(browser, job, query_column="sql")
    job.refresh_from_db()
    assert (job.options["join"], job.options["query"]["column"]) == (None, "sql")


@pytest.mark.parametrize(
    ("database", "name", "words"),
    [
        (b"SQLite format 3\x00" + b"\xff" * 4_000, "a.db", "cannot be read"),
        (sqlite_bytes()[:5_000], "a.db", "cannot be read"),
        (zip_of(**{"a.txt": b"x"}).getvalue(), "a.zip", "holds no database"),
    ],
)
def test_what_is_no_database_is_told_in_the_draft(browser, database, name, words):
    upload(browser, database=database, name=name)
    job = ImportJob.objects.get()
    assert words in browser.get(reverse("import-job", args=["facts", job.pk])).content.decode()


def test_a_database_without_a_query_is_refused(browser):
    response = upload(browser, b"id,question\n1,Which?\n")
    assert response.status_code == 422
    assert "no column holds queries" in response.content.decode()
    assert ImportJob.objects.count() == 0


def import_items(folder: Path, *arguments: str) -> str:
    (folder / "questions.csv").write_bytes(QUESTIONS.replace(b"q_id;question;sql", b"q_id;question;statement"))
    (folder / "world.db").write_bytes(sqlite_bytes())
    out = StringIO()
    file, database = str(folder / "questions.csv"), str(folder / "world.db")
    call_command("import_items", "facts", file, "--tables", database, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_asks_the_database_too(project, stage, tmp_path):
    assert "3 items imported" in import_items(tmp_path, "--sql", "statement", "--years", "--stage", "answer")
    assert "1190" in Gold.objects.get(item__external_id="q2").answers[0]
    assert "3 unchanged" in import_items(tmp_path, "--sql", "statement", "--years", "--stage", "answer")
    with pytest.raises(CommandError, match="need --sql"):
        import_items(tmp_path, "--years")
    with pytest.raises(CommandError, match="no such column"):
        import_items(tmp_path, "--sql", "elsewhere")


def test_several_databases_are_told_apart_by_a_column(project, tmp_path):
    questions = tmp_path / "questions.jsonl"
    lines = [
        {"id": 1, "question": "How many?", "sql": "SELECT count(*) AS n FROM city", "db_id": "world1"},
        {"id": 2, "question": "Which?", "sql": "SELECT river FROM river", "db_id": "waters"},
    ]
    questions.write_text("\n".join(json.dumps(line) for line in lines))
    databases = zip_of(**{"world_1/world_1.sqlite": sqlite_bytes(), "waters/river.csv": b"river\nElm\n"})
    job = importing.import_file(
        project=project, by=None, file=questions, tables=io.BytesIO(databases.getvalue()), tables_name="all.zip"
    )
    assert job.report["imported"] == 2
    assert job.report["groups"] == 2
    assert [json.loads(gold.answers[0])["rows"] for gold in Gold.objects.order_by("item_id")] == [[["3"]], [["Elm"]]]


def test_a_program_uploads_questions_with_their_database(project, stage):
    program = ApiClient(make_member(project, "admin"))
    files = {
        "file": SimpleUploadedFile("questions.csv", QUESTIONS),
        "tables": SimpleUploadedFile("world.sqlite", sqlite_bytes()),
    }
    made = program.upload(
        f"projects/{project.slug}/imports/", **files, stage=stage.slug, query_column="sql", dates_as_years="true"
    )
    assert made.status_code == 201, made.json()
    assert made.json()["mapping"]["gold"][0]["column"] == "gold_table"
    assert ImportJob.objects.get().options["query"]["dates_as_years"] is True
