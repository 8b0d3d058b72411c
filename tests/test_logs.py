"""What logs, error pages and messages never say. Canaries are put wherever somebody's words or a secret may be."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from celery import shared_task
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import IntegrityError, connection
from django.test import Client
from django.test.client import ClientHandler
from django.urls import reverse

from annotate.models import Assignment, Event
from annotate.person_token import person_token
from annotate.services import importing
from config import logs
from config.bells import ring
from config.env import PROJECT
from config.requests import LoggedRequests
from config.testing import clean_environment
from evaluation.services import answering, running
from tests.evaluation.studies import make_study
from tests.factories import (
    SHORT_ANSWER,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)
from tests.openai_server import serving
from tests.workers import stoppable_broker, wait_until

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """Everything is logged as in production, as much as can be; calling it reads the lines since the last call."""
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    logging.config.dictConfig(logs.configuration("json", "DEBUG"))
    logs._secrets.cache_clear()

    def read() -> list[dict[str, Any]]:
        written = stderr.getvalue()
        stderr.seek(0)
        stderr.truncate()
        return [json.loads(line) for line in written.splitlines()]

    yield read
    monkeypatch.undo()
    logging.config.dictConfig(settings.LOGGING)
    logs._secrets.cache_clear()


class Handler(ClientHandler, LoggedRequests):
    """What the web server calls, asked by a test's client."""


def browser(**options: Any) -> Client:
    client = Client(raise_request_exception=False, **options)
    client.handler = Handler(enforce_csrf_checks=options.get("enforce_csrf_checks", False))
    return client


# One line for a request


@pytest.mark.django_db
def test_a_request_is_a_line_with_its_route_and_who_asked(lines: Lines):
    project = make_project()
    admin = make_member(project, "admin")
    client = browser()
    client.force_login(admin)
    client.get(reverse("items", args=[project.slug]), {"show": "canary"})
    (line,) = lines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert 0 < line.pop("duration_ms") < 60_000
    assert line == {
        "level": "INFO",
        "logger": "config.requests",
        "process": os.getpid(),
        "message": "GET /p/<slug:slug>/items/ 200",
        "method": "GET",
        "route": "/p/<slug:slug>/items/",
        "status": 200,
        "person": admin.pseudonym,
    }


def test_who_asked_is_not_looked_up_for_the_log(lines: Lines):
    # No django_db mark: a query would fail the test.
    client = browser()
    client.cookies = SimpleCookie({"sessionid": "canary-session"})
    client.get("/health/live/")
    (line,) = lines()
    assert (line["route"], line["status"], "person" in line) == ("/health/live/", 200, False)


def test_static_files_and_pages_that_are_not_there_have_one_name_each(lines: Lines, db):
    client = browser()
    client.get("/static/goldpanel.css")
    client.get("/canary/nowhere/")
    requests = [line for line in lines() if line["logger"] == "config.requests"]
    assert [(line["route"], line["status"]) for line in requests] == [("/static/*", 200), ("(no such page)", 404)]


def test_the_web_server_calls_what_writes_these_lines():
    from config.wsgi import application

    assert isinstance(application, LoggedRequests)


def test_text_has_no_line_for_requests():
    levels = {name: logs.configuration(name, "INFO")["loggers"][logs.REQUESTS]["level"] for name in ("json", "text")}
    assert levels == {"json": "INFO", "text": "WARNING"}


@pytest.mark.parametrize(
    ("mode", "asked", "written"),
    [("production", None, "json"), ("demo", None, "text"), ("production", "text", "text"), ("demo", "json", "json")],
)
def test_production_writes_json_unless_told_otherwise(mode: str, asked: str | None, written: str):
    assert logs.format_of({"GOLDPANEL_MODE": mode, "GOLDPANEL_LOG_FORMAT": asked}) == written


# Errors


def fail() -> None:
    try:
        raise KeyError("canary-answer")
    except KeyError as problem:
        raise IntegrityError("Failing row contains (canary-answer).") from problem


def formatted(formatter: logging.Formatter, message: str = "It failed.", *args: object) -> str:
    try:
        fail()
    except IntegrityError:
        record = logging.LogRecord("annotate", logging.ERROR, "", 0, message, args, sys.exc_info())
    assert logs.TypeOfError().filter(record)
    return formatter.format(record)


def test_an_error_is_its_types_and_where_it_passed():
    line = json.loads(formatted(logs.JsonLines()))
    assert [error["type"] for error in line["error"]] == ["IntegrityError", "KeyError"]
    assert [frame.rpartition(" ")[2] for frame in line["error"][0]["at"]] == ["formatted", "fail"]
    assert re.fullmatch(r"tests/test_logs\.py:\d+ fail", line["error"][1]["at"][0])
    assert "canary" not in str(line)


def test_in_text_as_well(settings):
    settings.DEBUG = False
    text = formatted(logs.TextLines("{message}", style="{"))
    assert text.startswith("It failed.\nIntegrityError\n  tests/test_logs.py:")
    assert "canary" not in text
    # Debug pages show it all; whoever switched them on looks for it here, too.
    settings.DEBUG = True
    assert "Failing row contains" in formatted(logs.TextLines("{message}", style="{"))


def test_an_error_given_to_a_message_is_its_type():
    said = json.loads(formatted(logs.JsonLines(), "%s, %s", ValueError("canary"), 3))["message"]
    assert said == "ValueError, 3"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "ConnectionRefusedError: [Errno 111] Connection refused"),
        (AttributeError("no attribute 'x'\ncanary"), "AttributeError: no attribute 'x'"),
        (KeyError("canary"), "KeyError"),
        (UnicodeDecodeError("utf-8", b"canary", 0, 1, "canary"), "UnicodeDecodeError"),
    ],
)
def test_the_reason_is_told_where_it_quotes_nobody(error: Exception, told: str):
    assert logs._told(error) == told


def test_secrets_of_this_installation_are_struck_out_of_whatever_is_said(lines: Lines, monkeypatch):
    monkeypatch.setenv("GOLDPANEL_KEY_LAB", "canary-key-of-a-lab")
    monkeypatch.setenv("GOLDPANEL_KEY_LAB_HOSTS", "api.example.org")
    monkeypatch.setenv("DATABASE_URL", "postgres://ann:canary%2Dpassword@db/study")
    monkeypatch.setenv("REDIS_URL", "redis://:canary-redis@cache/0")
    monkeypatch.setenv("GOLDPANEL_METRICS_TOKEN", "canary-token-of-the-metrics-page")
    secrets = f"{settings.SECRET_KEY} {settings.CODE_KEY} canary-key-of-a-lab canary%2Dpassword canary-password"
    logging.getLogger("some.library").error("%s", f"{secrets} canary-redis canary-token-of-the-metrics-page at db")
    (line,) = lines()
    assert line["message"] == " ".join(["[secret]"] * 7) + " at db"


@shared_task
def fail_with_words(answer: str) -> None:
    raise ValueError(f"canary in {answer}")


def test_a_task_that_fails_says_which_and_where(lines: Lines):
    fail_with_words.apply(args=["canary-answer"], throw=False)
    (line,) = lines()
    assert re.fullmatch(
        r"Task tests\.test_logs\.fail_with_words\[[0-9a-f-]+\] raised unexpected: ValueError", line["message"]
    )
    assert [error["type"] for error in line["error"]] == ["ValueError"]
    assert line["error"][0]["at"][-1].endswith(" fail_with_words")
    assert "canary" not in str(line)


def test_what_asyncio_says_of_a_lost_error_ends_before_its_message(lines: Lines):
    logging.getLogger("asyncio").error(
        "Task exception was never retrieved\nfuture: <Task exception=ValueError('canary')>"
    )
    (line,) = lines()
    assert line["message"] == "Task exception was never retrieved"


# Canaries everywhere


def words(client: Client) -> str:
    return str([str(message) for message in client.session.get("_messages", [])])


@pytest.mark.django_db
def test_what_strangers_send_is_in_no_log_and_on_no_error_page(lines: Lines):
    client = browser()
    pages = [
        client.get("/join/canary-invite/", {"next": "/canary-query/"}),
        client.post("/join/canary-invite/?canary"),
        client.get("/canary-path/", {"secret": "canary"}),
        client.get("/sign-out/?canary"),
        client.get("/metrics?token=canary", headers={"Authorization": "Bearer canary-token"}),
        client.get("/api/v1/me/?token=canary", headers={"Authorization": "Bearer canary-token"}),
        client.get("/health/ready/?canary"),
        browser(enforce_csrf_checks=True).post(
            "/sign-in/?canary",
            {"code": "canary"},
            secure=True,
            headers={"Referer": "https://else.example/canary?q=canary"},
        ),
    ]
    for form in ({"code": "CANARY-CODE-0000"}, {"username": "canary", "password": "canary-password"}):
        client.post("/sign-in/?next=/canary/", form)
        client.post("/sign-in/", form, headers={"Accept": "application/json"})
    # Whoever was signed out meanwhile gets their own words back with the sign-in page; the log gets nothing.
    client.post("/work/a/canary-assignment/submit/", {"answer": "canary"})
    refused = [page for page in pages if page.status_code >= 400]
    assert len(refused) >= 6
    assert [page.status_code for page in refused if b"canary" in page.content.lower()] == []
    said = lines()
    # Each was asked and written down; and what Django says of refusals is there, too.
    assert len([line for line in said if line["logger"] == "config.requests"]) == len(pages) + 5
    assert {line["logger"] for line in said} >= {"django.request", "django.security.csrf"}
    assert [line for line in said if "canary" in str(line).lower()] == []


@pytest.mark.django_db
def test_an_answer_is_in_no_log_and_on_no_error_page_whatever_becomes_of_it(lines: Lines):
    stage = make_stage(make_project(), form=SHORT_ANSWER)
    for _ in range(3):
        make_stage_item(stage)
    person = make_member(stage.project, languages=["en"])
    client = browser()
    client.force_login(person)
    client.get(reverse("work", args=[stage.project.slug, stage.slug]))

    def send(name: str, **data: Any) -> Any:
        held = Assignment.objects.filter(person=person, state="leased").first()
        form = {"person": person_token(person), "client_key": "canary-client", "draft_version": 1} | data
        return client.post(f"{reverse(name, args=[held.token])}?canary", form)

    statuses = [
        send("work-draft", answer="canary-draft").status_code,
        send("work-submit", answer="", why="canary-why").status_code,
        send("work-submit", answer="canary-answer", person="canary-somebody").status_code,
    ]
    assert statuses == [200, 422, 409]

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        # By what it carries, because a prepared statement has only a name.
        if "canary-client" in str(params) and not sql.startswith("SELECT"):
            # What PostgreSQL says of a broken constraint.
            raise IntegrityError(f"new row violates a constraint\nDETAIL:  Failing row contains {params}.")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        page = send("work-submit", answer="canary-answer")
    assert page.status_code == 500
    assert "Something failed on the server" in page.content.decode()
    assert b"canary" not in page.content
    assert send("work-submit", answer="canary-answer").status_code == 302
    assert send("work-skip", reason="other", note="canary-note").status_code == 302
    assert set(Assignment.objects.filter(person=person).values_list("state", flat=True)) >= {"submitted", "skipped"}
    said = lines()
    (failure,) = [line for line in said if "error" in line]
    assert failure["route"] == "/work/a/<str:token>/submit/"
    assert failure["error"][0]["type"] == "IntegrityError"
    assert any("submitting.py" in frame for frame in failure["error"][0]["at"])
    assert [line for line in said if "canary" in str(line)] == []
    assert "canary" not in words(client)
    assert "canary" not in str(list(Event.objects.values()))


@pytest.mark.django_db
def test_keys_completions_and_files_are_in_no_log_and_no_message(lines: Lines, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("GOLDPANEL_KEY_LAB", "canary-key-0123456789")
    project = make_project()
    admin = make_member(project, "admin")
    stage = make_stage(project)
    with serving() as server, stoppable_broker(tmp_path) as broker:
        monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [server.host_and_port])
        monkeypatch.setenv("GOLDPANEL_KEY_LAB_HOSTS", server.host_and_port)
        refusing = {"contains": "the first", "behaviour": {"status": 400, "message": "no: canary-key-0123456789"}}
        broken = {"contains": "the second", "behaviour": {"body": "canary-body {"}}
        server.play(refusing, broken, text="canary-completion")
        items = [
            make_item(project, [["question", f"canary-item, {n}"]]) for n in ("the first", "the second", "a third")
        ]
        endpoint = make_endpoint(
            project, provider="openai", model="m", base_url=server.base_url, key_variable="GOLDPANEL_KEY_LAB"
        )
        run = running.create_run(
            project=project,
            by=admin,
            name="r",
            item_set=make_item_set(project, items),
            stage_version=stage.versions.get(),
            endpoint=endpoint,
        )
        running.start_run(run=run, by=admin)
        answering.answer_chunk(run_id=run.pk)
        assert run.predictions.exclude(state="pending").count() >= 2
        assert "canary-key" not in str([*run.predictions.values(), *Event.objects.values()])
        client = browser()
        client.force_login(admin)
        page = client.get(reverse("run", args=[project.slug, run.pk]))
        assert page.status_code == 200
        assert b"canary-key" not in page.content

        file = ContentFile(b'id,question,label\n1,"canary-question",yes\n2,"canary-broken\n', name="canary.csv")
        client.post(reverse("import", args=[project.slug]), {"file": file})
        job = importing.draft_import(
            project=project, by=admin, file=ContentFile(b"id,question\n1,canary-question\n"), name="canary.csv"
        )
        importing.run_import(job_id=job.pk)
        broker.stop()
        assert not ring(fail_with_words, "canary-argument")
    said = lines()
    assert any("No worker was rung" in line["message"] for line in said)
    assert [line for line in said if "canary" in str(line)] == []
    assert "canary-key" not in words(client)


@pytest.mark.django_db
def test_a_report_holds_no_secret(monkeypatch):
    monkeypatch.setenv("GOLDPANEL_KEY_LAB", "canary-key-0123456789")
    study = make_study(n_people=3)
    for run in study.project.runs.all():
        run.endpoint.key_variable = "GOLDPANEL_KEY_LAB"
        run.endpoint.save()
    report = study.made_report()
    everything = json.dumps([report.manifest, report.figures, report.matrices]).encode()
    for stored in report.files.all():
        with stored.file.open("rb") as file:
            everything += file.read()
    assert b"manifest" in everything
    for secret in ("canary", settings.SECRET_KEY, settings.CODE_KEY, settings.METRICS_TOKEN):
        assert secret.encode() not in everything


# The real processes


@pytest.mark.embedded
def test_in_production_every_line_of_every_process_is_json(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        port, model_port = one.getsockname()[1], other.getsockname()[1]
    environment = clean_environment(tmp_path) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "GOLDPANEL_MODE": "production",
        "GOLDPANEL_DATA": str(tmp_path / "data"),
        "GOLDPANEL_PORT": str(port),
        "GOLDPANEL_LOCAL_MODEL_PORT": str(model_port),
        "GOLDPANEL_WEB_PROCESSES": "1",
        "GOLDPANEL_ALLOWED_HOSTS": "panel.example.org",
        "GOLDPANEL_SECRET_KEY": "canary-secret-key-0123456789-0123456789",
        "GOLDPANEL_CODE_KEY": "canary-code-key-0123456789-0123456789",
        "GOLDPANEL_METRICS_TOKEN": "canary-metrics-0123456789-0123456789",
    }
    command = [sys.executable, "-m", "config.launcher", "serve"]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=stderr)
    try:

        def ask(path: str, host: str = "panel.example.org", data: bytes | None = None, **headers: str) -> int:
            address = f"http://127.0.0.1:{port}{path}"
            request = urllib.request.Request(address, data, headers={"Host": host, **headers})
            try:
                with urllib.request.urlopen(request, timeout=10) as response:
                    return int(response.status)
            except urllib.error.HTTPError as answer:
                return answer.code
            except OSError:
                return 0

        assert wait_until(lambda: ask("/health/live/") == 200, 60)
        assert ask("/health/ready/") == 200
        assert ask("/join/canary-invite/?q=canary") == 410
        assert ask("/sign-in/?q=canary", data=b"code=canary") == 403
        assert ask("/", host="canary-host.example.org") == 400
        assert ask("/metrics", Authorization="Bearer canary") == 401
        assert ask("/metrics", Authorization=f"Bearer {environment['GOLDPANEL_METRICS_TOKEN']}") == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    said = [json.loads(line) for line in log.read_text().splitlines()]
    routes = [(line["route"], line["status"]) for line in said if line["logger"] == "config.requests"]
    assert ("/join/<str:token>/", 410) in routes
    assert ("/sign-in/", 403) in routes
    about_hosts = [line for line in said if line["logger"] == "django.security.DisallowedHost"]
    assert about_hosts
    assert [line for line in said if "canary" in str(line) and line not in about_hosts] == []
