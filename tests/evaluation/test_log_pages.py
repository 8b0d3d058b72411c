"""The pages that import a log, and the command: what an admin does there, and what everybody else gets."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import StoredFile
from evaluation.models import Endpoint, LogImport, Run
from evaluation.services import log_importing
from evaluation.services.ringing import _due
from tests.evaluation.clients.logs.files import lines
from tests.evaluation.test_run_pages import Cast, text_of
from tests.factories import make_item, make_item_set, make_member, make_project, make_staff, make_stage

pytestmark = pytest.mark.django_db

LOG = lines(
    {"id": "q1", "model": "acme/m-1", "completion": "Yes."},
    {"id": "q2", "model": "acme/m-1", "error": "out of memory"},
    {"id": "<b>q9</b>", "model": "acme/m-1", "completion": "<script>alert(1)</script>"},
)


@pytest.fixture
def cast() -> Cast:
    project = make_project()
    cast = Cast(project, make_stage(project))
    for role in ("admin", "viewer", "annotator"):
        cast.people[role] = make_member(project, role)
    cast.people["other admin"] = make_member(make_project(), "admin")
    cast.people["stranger"] = make_staff()
    make_item_set(project, [make_item(project, external_id=f"q{n}") for n in (1, 2, 3)], name="Questions")
    return cast


def address(cast: Cast) -> str:
    return reverse("run-import", args=[cast.project.slug])


def fields(cast: Cast, data: bytes = LOG, name: str = "log.jsonl", **changes: Any) -> dict[str, Any]:
    return {
        "file": SimpleUploadedFile(name, data),
        "item_set": cast.project.item_sets.get().pk,
        "stage": cast.stage.pk,
        "model": "",
        "run_name": "",
        "id_field": "",
    } | changes


def uploaded(cast: Cast, browser: Client, **changes: Any) -> tuple[LogImport, str]:
    response = browser.post(address(cast), fields(cast, **changes))
    assert response.status_code == 302
    job = LogImport.objects.latest("pk")
    assert response["Location"] == reverse("run-import-job", args=[cast.project.slug, job.pk])
    return job, response["Location"]


def test_an_admin_uploads_looks_and_imports(cast):
    browser = cast.browser("admin")
    assert address(cast) in text_of(browser.get(reverse("runs", args=[cast.project.slug])))
    assert browser.get(address(cast)).status_code == 200
    job, page = uploaded(cast, browser)
    draft = text_of(browser.get(page))
    assert "Import 2 predictions" in draft
    assert "1 answered, 1 error" in draft
    assert "no item of the set has this id, and none this content" in draft
    assert not Run.objects.exists()

    asked = {name: value for name, value in fields(cast).items() if name not in ("file", "item_set")}
    assert browser.post(page, asked | {"step": "start", "run_name": "From elsewhere"}).status_code == 302
    waiting = text_of(browser.get(page))
    assert "Waiting for a worker" in waiting
    assert "every 1s" in waiting
    assert ("import_log", (job.pk,)) in {(task.name.rpartition(".")[2], ids) for task, ids in _due()}

    log_importing.run_log_import(job_id=job.pk)
    run = Run.objects.get()
    done = text_of(browser.get(page))
    assert "2 predictions became 1 run." in done
    assert reverse("run", args=[cast.project.slug, run.pk]) in done
    assert "From elsewhere" in done
    assert "every 1s" not in done
    assert "Logs so far" in text_of(browser.get(address(cast)))


def test_what_a_log_says_is_shown_as_text(cast):
    browser = cast.browser("admin")
    _, page = uploaded(cast, browser)
    draft = text_of(browser.get(page))
    assert "<script>alert" not in draft
    assert "<b>q9" not in draft
    assert "&lt;script&gt;alert(1)" in draft


def test_the_pages_of_an_imported_run_offer_nothing_that_cannot_be(cast):
    browser = cast.browser("admin")
    job, _ = uploaded(cast, browser)
    log_importing.start_log_import(job=job, by=cast.people["admin"])
    log_importing.run_log_import(job_id=job.pk)
    run = Run.objects.get()
    page = text_of(browser.get(reverse("run", args=[cast.project.slug, run.pk])))
    assert "1 answered, 0 unparsed" in page
    assert "imported log" in page
    assert "repeat-failed" not in page
    assert reverse("endpoint", args=[cast.project.slug, run.endpoint.pk]) not in page
    assert browser.get(reverse("endpoint", args=[cast.project.slug, run.endpoint.pk])).status_code == 404
    assert run.endpoint.name not in text_of(browser.get(reverse("endpoints", args=[cast.project.slug])))
    assert run.endpoint.name not in text_of(browser.get(reverse("run-new", args=[cast.project.slug])))
    assert "imported log" in text_of(browser.get(reverse("runs", args=[cast.project.slug])))
    for prediction in run.predictions.all():
        answer = text_of(browser.get(reverse("prediction", args=[cast.project.slug, run.pk, prediction.pk])))
        assert "The log has no prompt." in answer
    assert browser.get(reverse("run-prompts", args=[cast.project.slug, run.pk])).status_code == 200


def test_an_endpoint_of_a_log_is_not_made_by_hand(cast):
    asked = {"name": "x", "provider": "log", "model": "m", "base_url": "", "max_in_flight": 1, "timeout_seconds": 9}
    response = cast.browser("admin").post(reverse("endpoint-new", args=[cast.project.slug]), asked)
    assert response.status_code == 422
    assert not Endpoint.objects.exists()


def test_a_draft_is_read_in_another_way_and_looked_at_again(cast):
    browser = cast.browser("admin")
    job, page = uploaded(cast, browser, data=lines({"key": "q1", "completion": "yes"}))
    assert "Say below which one answered" not in text_of(browser.get(page))
    asked = {"stage": cast.stage.pk, "id_field": "key", "step": "look"}
    assert browser.post(page, asked).status_code == 302
    assert "Say below which one answered" in text_of(browser.get(page))
    refused = browser.post(page, asked | {"step": "start"})
    assert refused.status_code == 422
    assert "does not name its model" in text_of(refused)
    assert browser.post(page, asked | {"step": "start", "model": "m"}).status_code == 302
    job.refresh_from_db()
    assert job.state == "waiting"
    # What has started is not changed by a page that was left open.
    assert browser.post(page, asked | {"id_field": "other"}).status_code == 302
    job.refresh_from_db()
    assert job.options["id_field"] == "key"


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"data": b"PK\x03\x04", "name": "run.eval"}, 422, "inspect log convert --to json"),
        ({"data": b'{"id": "q1", "completion": "x"}\n{broken'}, 302, ""),
        ({"data": b"{broken\n"}, 422, "Line 1, column 2"),
        ({"item_set": 0}, 422, "Select a valid choice"),
        ({"stage": 0}, 422, "Select a valid choice"),
    ],
)
def test_what_cannot_be_read_is_said_on_the_upload_page_and_not_kept(cast, changes, status, said):
    response = cast.browser("admin").post(address(cast), fields(cast, **changes))
    assert response.status_code == status
    assert said in text_of(response)
    assert StoredFile.objects.exists() is (status == 302)


def test_a_fault_further_down_is_shown_on_the_draft_and_ends_the_import(cast):
    browser = cast.browser("admin")
    job, page = uploaded(cast, browser, data=LOG + b"{broken\n")
    assert "line 4, column 2" in text_of(browser.get(page))
    log_importing.start_log_import(job=job, by=cast.people["admin"])
    log_importing.run_log_import(job_id=job.pk)
    failed = text_of(browser.get(page))
    assert "Nothing was imported" in failed
    assert "line 4, column 2" in failed
    step = reverse("run-import-step", args=[cast.project.slug, job.pk])
    browser.post(step, {"step": "reopen"})
    assert "Discard this draft" in text_of(browser.get(page))
    assert browser.post(step, {"step": "discard"})["Location"] == address(cast)
    assert browser.get(page).status_code == 404


def test_the_same_log_twice_is_refused_and_the_run_named(cast):
    browser = cast.browser("admin")
    job, _ = uploaded(cast, browser)
    log_importing.start_log_import(job=job, by=cast.people["admin"])
    log_importing.run_log_import(job_id=job.pk)
    again = browser.post(address(cast), fields(cast))
    assert again.status_code == 409
    assert "imported before, and nothing has changed: see “acme/m-1”" in text_of(again)


def test_a_waiting_import_is_cancelled(cast):
    browser = cast.browser("admin")
    job, page = uploaded(cast, browser)
    log_importing.start_log_import(job=job, by=cast.people["admin"])
    fragment = browser.get(
        reverse("run-import-progress", args=[cast.project.slug, job.pk]), headers={"HX-Request": "true"}
    )
    assert "No worker has ever been heard from" in text_of(fragment)
    assert "<html" not in text_of(fragment)
    step = reverse("run-import-step", args=[cast.project.slug, job.pk])
    browser.post(step, {"step": "cancel"})
    assert "was cancelled. Nothing was imported." in text_of(browser.get(page))
    assert "already ended" in text_of(browser.post(step, {"step": "cancel"}, follow=True))


@pytest.mark.parametrize("who", ["viewer", "annotator", "other admin", "stranger", "anonymous"])
def test_imports_of_logs_are_for_admins(cast, who):
    job, page = uploaded(cast, cast.browser("admin"))
    browser = cast.browser(who)
    expected = 302 if who == "anonymous" else 404
    ids = [cast.project.slug, job.pk]
    assert browser.get(address(cast)).status_code == expected
    assert browser.post(address(cast), fields(cast)).status_code == expected
    assert browser.get(page).status_code == expected
    assert browser.post(page, {"step": "start", "stage": cast.stage.pk}).status_code == expected
    assert browser.post(reverse("run-import-step", args=ids), {"step": "discard"}).status_code == expected
    assert [row.state for row in LogImport.objects.all()] == ["draft"]
    assert address(cast) not in browser.get(reverse("runs", args=[cast.project.slug])).content.decode()


def test_the_page_needs_as_many_queries_for_a_long_report_as_for_a_short_one(cast, django_assert_max_num_queries):
    browser = cast.browser("admin")

    def n_queries(data: bytes) -> int:
        _, page = uploaded(cast, browser, data=data)
        with django_assert_max_num_queries(30) as counted:
            browser.get(page)
        return len(counted)

    long = lines(*({"id": f"x{n}", "model": "m", "completion": "yes"} for n in range(40)))
    assert n_queries(LOG) == n_queries(LOG + long)


# The command


def run_command(cast: Cast, path: Any, *more: str) -> str:
    out = io.StringIO()
    where = ["--item-set", "Questions", "--stage", cast.stage.slug]
    call_command("import_log", cast.project.slug, str(path), *where, *more, stdout=out, stderr=out)
    return out.getvalue()


def test_the_command_imports_and_reports(cast, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG)
    dry = run_command(cast, path, "--dry-run")
    assert dry.startswith("Nothing was kept.\n")
    assert not Run.objects.exists()
    said = run_command(cast, path, "--name", "Elsewhere", "--by", cast.people["admin"].username)
    assert said.splitlines() == [
        "log.jsonl: Goldpanel's own columns, 3 records",
        "2 matched (2 by id, 0 by content, 0 by text; 2 by id alone), 1 of them in error",
        "1 unmatched, 0 changed, 0 repeated (0 with another answer)",
        "  unmatched: line 3, <b>q9</b>",
        "run Elsewhere: 1 answered, 1 error; 1 items without a prediction",
    ]
    assert Run.objects.get().created_by == cast.people["admin"]
    with pytest.raises(CommandError, match="was imported before"):
        run_command(cast, path)


def test_the_command_finds_the_model_beside_samples_of_the_harness(cast, tmp_path):
    path = tmp_path / "samples_questions_2026-08-01T10-00-00.jsonl"
    path.write_bytes(lines({"doc": {"id": "q1"}, "resps": [["yes"]], "filtered_resps": ["yes"], "filter": "none"}))
    with pytest.raises(CommandError, match="does not name its model"):
        run_command(cast, path)
    (tmp_path / "results_2026-08-01T10-00-00.json").write_text('{"model_name": "acme/m-7"}')
    run_command(cast, path)
    assert Run.objects.get().endpoint.model == "acme/m-7"


def test_the_command_refuses_with_the_reason(cast, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG + b"{broken")
    with pytest.raises(CommandError, match="Line 4, column 2"):
        run_command(cast, path)
    for wrong in (["--stage", "nowhere"], ["--item-set", "nothing"], ["--by", "nobody"]):
        with pytest.raises(CommandError, match="There is no"):
            run_command(cast, path, *wrong)
    with pytest.raises(CommandError, match="There is no file"):
        run_command(cast, tmp_path / "absent")
