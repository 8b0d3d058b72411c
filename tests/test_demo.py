"""The demonstration: set up once and no more, played over HTTP by real processes, reported and computed again."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotate.exceptions import SignInRefused
from annotate.models import Annotation, Exclusion, Gold, ItemKey, Membership, Person, Project, Stage, StageItem
from annotate.services import people
from config import local_model
from config.env import PROJECT, read_settings
from config.processes import MANAGE, Processes, model_command, scheduler_command, web_command, worker_command
from evaluation.demo.browser import PageMissing, read_page
from evaluation.demo.sample_people import SEED, reply
from evaluation.demo.sign_ins import NAME, read_sign_ins
from evaluation.models import Endpoint, Run
from evaluation.services.demo import DemoNotPossible, set_up_demo
from tests.evaluation.recompute import recompute
from tests.factories import make_annotation, make_annotator, make_project, make_stage, make_stage_item

LABELS = ["yes", "no", "not_sure"]


# Setting up


@pytest.mark.django_db
def test_sample_people_are_not_let_loose_on_what_somebody_has_tried_by_hand(tmp_path: Path):
    make_annotation(make_stage_item(make_stage()), make_annotator(), {"label": "yes"})
    said = io.StringIO()
    call_command("demo_headless", base_url="http://127.0.0.1:9", out=tmp_path, unless_answered=True, stdout=said)
    assert "stay out" in said.getvalue()
    assert Annotation.objects.count() == 1
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_the_demo_has_its_people_items_and_baselines_and_says_that_they_are_samples(tmp_path: Path):
    sign_ins = set_up_demo(folder=tmp_path)
    project = Project.objects.get()
    assert project.is_sample
    assert not Person.objects.filter(is_sample=False).exists()
    assert Counter(entry.role for entry in sign_ins) == {"admin": 1, "annotator": 3, "meta-reviewer": 1}
    claims, tables = project.stages.order_by("position")
    assert [(stage.kind, stage.state, stage.overlap) for stage in (claims, tables)] == [
        ("label", "open", 3),
        ("answer", "open", 3),
    ]
    # What the task of the demo promises: at least 60 questions with gold and domains, 40 about 12 tables.
    assert claims.stage_items.count() >= 60
    assert tables.stage_items.count() >= 40
    asked = StageItem.objects.filter(stage=tables)
    assert asked.values("revision__item__root").distinct().count() >= 12
    assert Gold.objects.filter(item__revisions__stage_items__stage=claims, field="label").count() >= 60
    assert Gold.objects.filter(item__revisions__stage_items__stage=tables, field="answer").count() >= 40
    strata = {name for row in ItemKey.objects.values_list("strata", flat=True) for name, _ in row}
    assert "domain" in strata
    assert claims.guideline_versions.exists()
    assert tables.guideline_versions.exists()
    assert Endpoint.objects.filter(provider="baseline").count() >= 3


@pytest.mark.django_db
def test_what_is_printed_opens_the_door(tmp_path: Path):
    for entry in set_up_demo(folder=tmp_path):
        if entry.username:
            person = people.sign_in_with_password(username=entry.username, password=entry.secret, address="127.0.0.1")
        else:
            person = people.sign_in_with_code(code=entry.secret, address="127.0.0.1")
        assert person.pseudonym == entry.pseudonym
        assert Membership.objects.get(person=person).get_role_display() == entry.role


@pytest.mark.django_db
def test_a_second_start_changes_nothing_and_shows_the_same_codes(tmp_path: Path):
    def everything() -> list[Any]:
        tables = (Project, Person, Membership, Stage, StageItem, Gold, Endpoint, Exclusion)
        return [list(table.objects.order_by("pk").values()) for table in tables]

    first = set_up_demo(folder=tmp_path)
    stored, written = everything(), (tmp_path / NAME).stat().st_mtime_ns
    assert set_up_demo(folder=tmp_path) == first
    assert everything() == stored
    assert (tmp_path / NAME).stat().st_mtime_ns == written


@pytest.mark.django_db
def test_the_codes_are_their_owners_only_and_replaced_when_the_file_is_gone(tmp_path: Path):
    first = set_up_demo(folder=tmp_path)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    (tmp_path / NAME).write_text("[{")
    again = set_up_demo(folder=tmp_path)
    assert [entry.pseudonym for entry in again] == [entry.pseudonym for entry in first]
    assert not {entry.secret for entry in again} & {entry.secret for entry in first}
    assert read_sign_ins(tmp_path) == again
    with pytest.raises(SignInRefused):
        people.sign_in_with_code(code=first[1].secret, address="127.0.0.1")


@pytest.mark.django_db
def test_what_an_interrupted_start_left_out_is_made_by_the_next(tmp_path: Path):
    set_up_demo(folder=tmp_path)
    tables = Stage.objects.get(slug="tables")
    tables.stage_items.all().delete()
    tables.state = "draft"
    tables.save()
    Endpoint.objects.all().delete()
    set_up_demo(folder=tmp_path)
    tables.refresh_from_db()
    assert (tables.state, tables.stage_items.count() >= 40) == ("open", True)
    assert Endpoint.objects.exists()


@pytest.mark.django_db
def test_a_real_project_at_the_same_address_is_left_alone(tmp_path: Path):
    make_project(slug="demo", title="Mine")
    with pytest.raises(DemoNotPossible, match="no sample"):
        set_up_demo(folder=tmp_path)
    assert Project.objects.get().title == "Mine"
    assert not Person.objects.exists()


@pytest.mark.django_db
def test_the_local_model_is_an_endpoint_where_it_is_installed_and_its_address_follows(settings, tmp_path: Path):
    settings.LOCAL_MODEL_PORT = None
    set_up_demo(folder=tmp_path)
    assert not Endpoint.objects.filter(provider="openai").exists()
    for port in (5001, 5002):
        settings.LOCAL_MODEL_PORT = port
        set_up_demo(folder=tmp_path)
        endpoint = Endpoint.objects.get(provider="openai")
        assert (endpoint.name, endpoint.model) == ("SmolLM2 135M (local)", local_model.MODEL)
        assert (endpoint.base_url, endpoint.key_variable) == (f"http://127.0.0.1:{port}/v1", "")


# The sample people


def test_what_somebody_answers_depends_on_person_and_item_alone():
    replies = [reply(person, "geo-01", ["yes"], LABELS) for person in range(3)]
    assert replies == [reply(person, "geo-01", ["yes"], LABELS) for person in range(3)]
    assert len({reply(1, f"item-{n}", ["yes"], LABELS).active_seconds for n in range(50)}) > 5


def test_the_sample_people_agree_disagree_tie_and_skip():
    votes = [
        [one.answer for one in (reply(person, f"item-{n}", ["yes"], LABELS) for person in range(3)) if one.answer]
        for n in range(200)
    ]
    kinds = Counter((len(each), len(set(each))) for each in votes)
    assert kinds[3, 1] > 60  # unanimous
    assert kinds[3, 2] > 20  # two against one
    assert kinds[3, 3] > 0  # everybody for themselves
    assert sum(n for (given, _), n in kinds.items() if given < 3) > 5
    assert SEED == 2024  # the figures of the documentation are those of this seed


def test_right_short_answers_differ_in_spelling_only():
    right = [reply(0, f"q-{n}", ["Norling Line", "the Norling Line"], []).answer for n in range(100)]
    folded = Counter(text.strip().casefold() for text in right if text)
    assert folded["norling line"] > 60
    assert folded["the norling line"] > 3
    assert {"norling line", "Norling Line", "Norling Line "} <= set(right)


# The small browser

PAGE = """<html><a href="/a/t/revise/">change</a>
<div id="item" data-state="open" data-token="t1"><p class="item-meta"><bdi>geo-01</bdi> · <span>en</span></p>
<bdi>no</bdi>
<form id="answer-form" method="post" action="/a/t1/submit/"><input type="hidden" name="client_key" value="k&amp;1">
<input type="radio" name="label" value="yes"><input type="radio" name="label" value="no" checked>
<textarea name="why">
first line
second</textarea></form>
<input type="checkbox" name="flag" value="1" form="answer-form">
<form action="/a/t1/skip/"><input name="note"></form></div></html>"""


def test_a_page_is_read_with_its_forms_as_they_would_be_sent():
    page = read_page("http://x/", 200, PAGE)
    form = page.form_to("/submit/")
    assert form.values == {"client_key": "k&1", "label": "no", "why": "first line\nsecond"}
    assert form.choices == {"label": ["yes", "no"]}
    assert form.names == {"client_key", "label", "why", "flag"}
    assert page.form_to("/skip/").values == {"note": ""}
    assert (page.item_id, page.data["token"], page.links) == ("geo-01", "t1", ["/a/t/revise/"])
    with pytest.raises(PageMissing, match="no form to …/renew/"):
        page.form_to("/renew/")


# The whole job


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A data folder of its own on the embedded services, migrated, with a web server on `GOLDPANEL_PORT`."""
    folder = tmp_path_factory.mktemp("demo")
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "GOLDPANEL_DATA": str(folder),
        "GOLDPANEL_ENV_FILE": "",
        "GOLDPANEL_MODE": "demo",
        "GOLDPANEL_PORT": str(free_port()),
        "GOLDPANEL_LOCAL_MODEL_PORT": str(free_port()),
    }
    subprocess.run([*MANAGE, "migrate", "--verbosity", "0"], cwd=PROJECT, env=environment, check=True)
    with Processes(environment, folder / "log") as processes:
        processes.start("web", web_command(read_settings(environment)))
        wait_for(f"http://127.0.0.1:{environment['GOLDPANEL_PORT']}/sign-in/")
        yield environment


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def headless(environment: dict[str, str], out: Path) -> subprocess.CompletedProcess[str]:
    base_url = f"http://127.0.0.1:{environment['GOLDPANEL_PORT']}"
    command = [*MANAGE, "demo_headless", "--base-url", base_url, "--out", str(out)]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=280)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.embedded
def test_the_whole_job_plays_by_itself_and_its_reports_can_be_computed_again(stand: dict[str, str], tmp_path: Path):
    folder = Path(stand["GOLDPANEL_DATA"])
    with Processes(stand, folder / "log") as processes:
        processes.start("worker", worker_command(2))
        processes.start("scheduler", scheduler_command())
        if local_model.is_installed():
            processes.start("model", model_command(int(stand["GOLDPANEL_LOCAL_MODEL_PORT"])))
        done = headless(stand, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 late answer, 1 changed answer" in done.stdout
    assert "People, mean person" in done.stdout
    with closing(sqlite3.connect(folder / "goldpanel.sqlite3")) as database:

        def one(query: str) -> int:
            return int(database.execute(query).fetchone()[0])

        n_late = one(
            "SELECT COUNT(*) FROM annotate_annotation a JOIN annotate_assignment s ON s.id = a.assignment_id "
            "WHERE a.created_at > s.lease_expires_at"
        )
        assert n_late == 1
        assert one("SELECT COUNT(*) FROM annotate_annotation WHERE number = 2") == 1
        assert one("SELECT COUNT(*) FROM annotate_assignment WHERE state = 'skipped' AND skip_reason <> ''") > 3
        assert one("SELECT COUNT(*) FROM annotate_assignment WHERE state NOT IN ('skipped', 'submitted')") == 0
        assert one("SELECT COUNT(*) FROM annotate_resolution WHERE status = 'tie'") > 0
        assert one("SELECT COUNT(*) FROM evaluation_prediction WHERE state = 'unparsed'") > 0
        assert one("SELECT COUNT(*) FROM evaluation_prediction WHERE state = 'pending'") == 0
        assert one("SELECT COUNT(*) FROM evaluation_run WHERE state = 'done'") == 4 + local_model.is_installed()
    reports = [("claims", ["label_accuracy"], LABELS), ("tables", ["exact_match", "token_f1"], [])]
    if local_model.is_installed():
        # A fifth run, of a real model, on items that were drawn for it.
        reports.append(("local_model", ["label_accuracy"], LABELS))
        assert len({row["item"] for row in rows(tmp_path / "local_model" / "answers.csv")}) == 20
    for folder_name, scorers, labels in reports:
        out = tmp_path / folder_name
        names = {"answers.csv", "figures.csv", "report.json", "report.md", "report.tex", "chart.svg", "chart.png"}
        assert names <= {path.name for path in out.iterdir()}
        answers = rows(out / "answers.csv")
        assert {row["sample"] for row in answers if row["who"] == "person"} == {"yes"}
        assert json.loads((out / "report.json").read_text())["figures"]
        again = recompute(out / "answers.csv", scorers=scorers, labels=labels)
        compared = 0
        for row in rows(out / "figures.csv"):
            place = (row["section"], row["row"], row["measure"], row["denominator"])
            if row["section"] == "mcnemar" and row["p"]:
                compared += 1
                p = again["mcnemar", row["row"], "mcnemar_p", "all"]
                assert float(row["p"]) == pytest.approx(p, abs=1e-12), place
            if row["section"] in ("accuracy", "difference", "agreement", "mcnemar"):
                compared += 1
                assert (row["value"] == "") == (again[place] is None), place
                assert not row["value"] or float(row["value"]) == pytest.approx(again[place], abs=1e-12), place
        assert compared == len(again) > 10


@pytest.mark.embedded
def test_without_a_worker_the_demo_says_so_and_fails(stand: dict[str, str], tmp_path: Path):
    hurried = "from evaluation.management.commands import demo_headless as d; d.SILENCE_SECONDS = 2.0; "
    base_url = f"http://127.0.0.1:{stand['GOLDPANEL_PORT']}"
    database = Path(stand["GOLDPANEL_DATA"]) / "goldpanel.sqlite3"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM annotate_workerheartbeat")
    code = (
        "import django; django.setup(); from django.core.management import call_command; from pathlib import Path; "
        f"{hurried} call_command('demo_headless', base_url={base_url!r}, out=Path({str(tmp_path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=stand, capture_output=True, text=True)
    assert done.returncode != 0
    assert "No worker has been heard from ever" in done.stderr
    assert "./goldpanel worker" in done.stderr


@pytest.mark.embedded
def test_a_server_that_is_not_there_is_named(stand: dict[str, str], tmp_path: Path):
    done = headless(stand | {"GOLDPANEL_PORT": str(free_port())}, tmp_path)
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
