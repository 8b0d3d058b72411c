"""Logs of other programs as runs: matched, told, stored as a whole, and read like any run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection

from annotate.exceptions import ImportRefused, WorkNotPossible
from annotate.models import Event, Item, ItemSet, Stage, StoredFile
from annotate.services.background import cancel_work, claim_work
from evaluation.models import Call, Endpoint, LogImport, Prediction, Run
from evaluation.services import log_importing, reporting, running
from evaluation.services.log_importing import AlreadyImported
from evaluation.services.side_by_side import item_side_by_side
from tests.evaluation.clients.logs.files import lines
from tests.evaluation.studies import make_study
from tests.factories import SHORT_ANSWER, make_endpoint, make_item, make_item_set, make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

QUESTIONS = ("Is ice cold?", "Is fire cold?", "Is the sea salty?", "Is lead light?")


class Place:
    """A project with four items, a form, and a way to import a log for them."""

    def __init__(self, folder: Path, form: list[dict[str, Any]] | None = None) -> None:
        self.folder = folder
        self.project = make_project()
        self.admin = make_member(self.project, "admin")
        self.stage: Stage = make_stage(self.project, form=form)
        self.items: list[Item] = [
            make_item(self.project, [["question", question]], external_id=f"q{n}")
            for n, question in enumerate(QUESTIONS, start=1)
        ]
        self.item_set: ItemSet = make_item_set(self.project, self.items)

    def put(self, data: bytes, name: str = "log.jsonl", **asked: Any) -> LogImport:
        path = self.folder / name
        path.write_bytes(data)
        return log_importing.import_log(**self.asked | {"file": path} | asked)

    def draft(self, data: bytes, name: str = "log.jsonl", **asked: Any) -> LogImport:
        return log_importing.draft_log_import(**self.asked | {"file": ContentFile(data), "name": name} | asked)

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "project": self.project,
            "by": self.admin,
            "item_set": self.item_set,
            "stage_version": self.stage.versions.get(is_current=True),
        }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def asks_for_text(tmp_path: Path) -> Place:
    return Place(tmp_path, SHORT_ANSWER)


def said(external_id: str, completion: str, **fields: Any) -> dict[str, Any]:
    return {"id": external_id, "model": "acme/m-1", "completion": completion} | fields


def states(run: Run) -> dict[str, str]:
    rows = run.predictions.order_by("pk").values_list("revision__item__external_id", "state")
    return dict(rows)


def answers(run: Run) -> dict[str, Any]:
    rows = run.predictions.filter(state="answered").order_by("pk")
    return dict(rows.values_list("revision__item__external_id", "answer"))


def nothing_is_stored() -> bool:
    return not any(model._default_manager.exists() for model in (Run, Prediction, Call, Endpoint))


# What is stored

TOLD = [["Yes", -0.5, []]]


def test_a_log_becomes_a_run_that_is_done_with_every_completion_word_for_word(place):
    job = place.put(
        lines(
            said("q2", " No.\u2028\n", prompt="Is fire cold?", reasoning="Hot.", finished_at="2026-08-01T10:00:00Z"),
            said(
                "q1", "Yes, it is.", prompt_tokens=12, completion_tokens=4, latency_ms=90, logprobs=[["Yes", -0.5, []]]
            ),
        )
    )
    (run,) = job.runs.all()
    assert (run.state, run.name, run.n_total, run.n_done, run.repeats) == ("done", "acme/m-1", 2, 2, 1)
    assert (run.item_set, run.stage_version.stage, run.created_by) == (place.item_set, place.stage, place.admin)
    assert (run.endpoint.provider, run.endpoint.model) == ("log", "acme/m-1")
    assert run.frozen_at is not None
    # In the order of the item set, whatever that of the log.
    assert answers(run) == {"q1": {"label": "yes"}, "q2": {"label": "no"}}
    assert list(run.predictions.order_by("pk").values_list("position", flat=True)) == [0, 1]
    first, second = Call.objects.order_by("pk")
    assert (first.completion, first.prompt_tokens, first.completion_tokens, first.latency_ms) == (
        "Yes, it is.",
        12,
        4,
        90,
    )
    assert (first.logprobs, second.logprobs) == (TOLD, None)
    assert (second.completion, second.reasoning) == (" No.\u2028\n", "Hot.")
    assert second.messages == [{"role": "user", "content": "Is fire cold?"}]
    assert second.finished_at == datetime(2026, 8, 1, 10, tzinfo=UTC)
    assert run.parameters["log_sha256"] == job.source.sha256
    assert {"run.imported", "logimport.done"} <= set(Event.objects.values_list("verb", flat=True))


def test_every_outcome_is_told_apart_as_in_a_live_run(place):
    job = place.put(
        lines(
            said("q1", "Yes and no."),
            said("q2", "I cannot help with that."),
            said("q3", "  "),
            said("q4", "The answer is", finish_reason="length"),
        )
    )
    assert states(job.runs.get()) == {"q1": "unparsed", "q2": "refused", "q3": "empty", "q4": "cut_off"}
    assert job.report["runs"][0]["outcomes"] == [["unparsed", 1], ["refused", 1], ["empty", 1], ["cut_off", 1]]


def test_an_error_of_the_log_is_an_error_and_no_wrong_answer(place):
    job = place.put(lines(said("q1", "yes"), {"id": "q2", "model": "acme/m-1", "error": "out of memory"}))
    run = job.runs.get()
    assert states(run) == {"q1": "answered", "q2": "error"}
    assert (job.report["matched"], job.report["errored"]) == (2, 1)
    assert job.report["first"]["errored"][0] | {"excerpt": ""} == {
        "line": 2, "row": 2, "id": "q2", "excerpt": "", "item": "q2", "error": "out of memory",
    }  # fmt: skip
    call = Call.objects.get(prediction__state="error")
    assert (call.error_kind, call.error, call.completion) == ("log", "out of memory", "")


@pytest.mark.parametrize(
    ("read_as", "state", "answer"),
    [
        ("no", "answered", {"label": "no"}),
        ("Not sure enough", "answered", {"label": "not_sure"}),
        ("false", "answered", {"label": "no"}),
        ("maybe", "unparsed", None),
    ],
)
def test_an_answer_that_was_parsed_elsewhere_is_taken_as_one_of_the_labels(place, read_as, state, answer):
    job = place.put(lines(said("q1", "Yes, I think.", parsed_answer=read_as)))
    prediction = job.runs.get().predictions.get()
    assert (prediction.state, prediction.answer) == (state, answer)
    assert prediction.calls.get().completion == "Yes, I think."


def test_a_text_that_was_parsed_elsewhere_is_taken_word_for_word_and_a_completion_is_read(asks_for_text):
    job = asks_for_text.put(
        lines(
            said("q1", "Answer: Lake Como. Because it is deep."),
            said("q2", "whatever", parsed_answer="Lake Como. Because it is deep."),
        )
    )
    assert answers(job.runs.get()) == {
        "q1": {"answer": "Lake Como"},
        "q2": {"answer": "Lake Como. Because it is deep."},
    }


def harness(question: str, *completions: str, **fields: Any) -> dict[str, Any]:
    return {
        "doc_id": 900,
        "doc": {"question": question, "answer": "no"},
        "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {"until": ["\n"]}}},
        "resps": [list(completions)],
        "filtered_resps": [completions[0]],
        "filter": "none",
        "doc_hash": f"hash of {question}",
        "exact_match": float("nan"),
    } | fields


def test_each_filter_of_the_harness_is_a_run_of_its_own(place):
    records = [
        harness(question, "I say yes, or no", filter=name, filtered_resps=[text])
        for name, text in (("strict-match", "[invalid]"), ("flexible-extract", "no"))
        for question in QUESTIONS[:2]
    ]
    job = place.put(lines(*records), model="acme/m-2")
    strict, flexible = job.runs.order_by("pk")
    assert (strict.name, flexible.name) == ("acme/m-2 (strict-match)", "acme/m-2 (flexible-extract)")
    assert states(strict) == {"q1": "unparsed", "q2": "unparsed"}
    assert answers(flexible) == {"q1": {"label": "no"}, "q2": {"label": "no"}}
    assert set(Call.objects.values_list("completion", flat=True)) == {"I say yes, or no"}
    assert strict.endpoint == flexible.endpoint


def test_each_repeat_is_a_run_of_its_own(place):
    job = place.put(lines(*(harness(q, "yes", "no", "yes") for q in QUESTIONS[:2])), model="m")
    assert [run.name for run in job.runs.order_by("pk")] == ["m (repeat 1)", "m (repeat 2)", "m (repeat 3)"]
    assert answers(job.runs.get(name="m (repeat 2)")) == {"q1": {"label": "no"}, "q2": {"label": "no"}}


def test_the_runs_of_one_log_are_called_as_somebody_says_and_told_apart(place):
    long = "a name of a run " * 9
    job = place.put(
        lines(said("q1", "yes", repeat=1, filter="f"), said("q1", "no", repeat=2, filter="f")), run_name=long
    )
    names = [run.name for run in job.runs.order_by("pk")]
    assert [name.rpartition(" (")[2] for name in names] == ["f, repeat 1)", "f, repeat 2)"]
    assert {len(name) for name in names} == {120}
    again = place.put(
        lines(said("q1", "no", repeat=1, filter="f"), said("q2", "no", repeat=2, filter="f")), run_name=long
    )
    assert [run.name.rpartition(" (")[2] for run in again.runs.order_by("pk")] == [
        "f, repeat 1, no. 2)",
        "f, repeat 2, no. 2)",
    ]


# How items are recognised, and what is told


def test_the_report_counts_every_record_once(place):
    job = place.put(
        lines(
            said("q1", "yes", prompt="Q: Is ice cold?"),
            said("q2", "no"),
            said("q1", "yes", prompt="Q: Is ice cold?"),
            said("q1", "no", prompt="Q: Is ice cold?"),
            said("q3", "no", prompt="Is the sea dry?"),
            said("q9", "no"),
            {"question": "is lead  LIGHT?", "model": "acme/m-1", "error": "timeout"},
        )
    )
    report = job.report
    assert {name: n for name, n in report.items() if isinstance(n, int) and not isinstance(n, bool)} == {
        "records": 7,
        "matched": 3,
        "by_id": 2,
        "by_hash": 0,
        "by_text": 1,
        "unchecked": 1,
        "errored": 1,
        "unmatched": 1,
        "changed": 1,
        "duplicates": 2,
        "duplicates_that_differ": 1,
        "n_items": 4,
    }
    assert [(row["line"], row["other_line"], row["differs"]) for row in report["first"]["duplicates"]] == [
        (3, 1, False),
        (4, 1, True),
    ]
    assert [(row["line"], row["id"], row["excerpt"]) for row in report["first"]["changed"]] == [
        (5, "q3", "Is the sea dry?")
    ]
    (unmatched,) = report["first"]["unmatched"]
    assert (unmatched["line"], unmatched["reason"]) == (6, "no item of the set has this id, and none this content")
    # The first answer stays, and what the log lacks is not asked.
    assert states(job.runs.get()) == {"q1": "answered", "q2": "answered", "q4": "error"}
    assert report["runs"][0]["missing"] == 1


def test_a_changed_text_counts_only_if_somebody_says_so(place):
    data = lines(said("q1", "yes"), said("q3", "no", prompt="Is the sea dry?"))
    careful = place.put(data)
    assert states(careful.runs.get()) == {"q1": "answered"}
    trusting = place.put(data, accept_changed=True)
    run = trusting.runs.get()
    assert answers(run) == {"q1": {"label": "yes"}, "q3": {"label": "no"}}
    assert "the log has another text than the item" in run.predictions.get(position=2).note
    assert (trusting.report["matched"], trusting.report["changed"]) == (2, 1)


def test_the_content_wins_over_an_id_that_merely_counts(place):
    data = json.dumps(
        {
            "version": 2,
            "status": "success",
            "eval": {"model": "acme/m-3"},
            "samples": [
                # Ids of a log in another order than ours, and one epoch more.
                {"id": "q1", "epoch": 1, "input": QUESTIONS[3], "output": {"completion": "no"}},
                {"id": "q4", "epoch": 1, "input": QUESTIONS[0], "output": {"completion": "yes"}},
                {"id": "q4", "epoch": 2, "input": QUESTIONS[0], "output": {"completion": "no"}},
            ],
        }
    ).encode()
    job = place.put(data, "run.json")
    assert [answers(run) for run in job.runs.order_by("pk")] == [
        {"q1": {"label": "yes"}, "q4": {"label": "no"}},
        {"q1": {"label": "no"}},
    ]
    assert job.report["by_text"] == 3


@pytest.mark.shared_data
def test_a_real_log_becomes_a_run(place, shared_path):
    path = shared_path("data/model-logs-inspect/tests/analysis/test_logs/2025-05-12T20-28-13-04-00_popularity.json")
    samples = json.loads(path.read_text())["samples"]
    items = [
        make_item(place.project, [["question", sample["input"]]], external_id=f"p{sample['id']}") for sample in samples
    ]
    job = place.put(path.read_bytes(), path.name, item_set=make_item_set(place.project, items))
    run = job.runs.get()
    assert run.name == "openai/gpt-4o-mini"
    assert answers(run) == {"p1": {"label": "yes"}, "p2": {"label": "no"}, "p3": {"label": "no"}}
    assert [note for note in job.report["notes"] if "ended as “cancelled”" in note]


# All or nothing


def test_a_fault_far_down_keeps_everything_out_and_is_told_with_its_place(place):
    data = lines(*(said(f"q{n}", "yes") for n in (1, 2, 3))) + b'{"id": "q4", "completion": \n'
    with pytest.raises(ImportRefused) as refused:
        place.put(data)
    (problem,) = refused.value.problems
    assert problem["line"] == 4
    assert nothing_is_stored()
    assert LogImport.objects.get().state == "failed"


def test_a_log_of_other_items_is_refused(place):
    with pytest.raises(ImportRefused, match="none of the 1 records belongs to an item of this set"):
        place.put(lines(said("elsewhere", "yes")))
    assert nothing_is_stored()


def test_what_is_no_log_is_not_even_kept(place):
    for data in (b"PK\x03\x04zip", b"", b"{broken", lines({"id": "q1", "note": "no completion"})):
        with pytest.raises(ImportRefused):
            place.draft(data)
    assert not LogImport.objects.exists()
    assert not StoredFile.objects.exists()


def test_a_log_that_names_no_model_needs_one(place):
    data = lines({"id": "q1", "completion": "yes"})
    with pytest.raises(WorkNotPossible, match="does not name its model"):
        place.put(data)
    assert nothing_is_stored()
    assert not LogImport.objects.exists()
    assert place.put(data, model="acme/m-9").runs.get().endpoint.model == "acme/m-9"


def test_a_log_of_endless_runs_is_refused(place):
    data = lines(*(said("q1", "yes", filter=f"f{n}") for n in range(101)))
    with pytest.raises(ImportRefused, match="more than 100 runs"):
        place.put(data)
    assert nothing_is_stored()


def test_the_same_file_twice_changes_nothing_and_the_runs_are_named(place):
    data = lines(said("q1", "yes"))
    place.put(data, run_name="First")
    with pytest.raises(AlreadyImported, match="nothing has changed: see “First”"):
        place.put(data, "other-name.jsonl", run_name="Second")
    assert Run.objects.count() == 1
    assert StoredFile.objects.count() == 1


def test_of_two_drafts_of_one_file_only_one_can_be_imported(place):
    first, second = (place.draft(lines(said("q1", "yes"))) for _ in range(2))
    for job in (first, second):
        log_importing.start_log_import(job=job, by=place.admin)
    for job in (first, second):
        log_importing.run_log_import(job_id=job.pk)
        job.refresh_from_db()
    assert (first.state, second.state) == ("done", "failed")
    assert "was imported before" in second.error
    assert Run.objects.count() == 1


def test_a_dry_run_reports_and_keeps_nothing(place):
    job = place.put(lines(said("q1", "yes"), said("q9", "no")), dry_run=True)
    assert (job.report["matched"], job.report["unmatched"]) == (1, 1)
    assert nothing_is_stored()
    assert not LogImport.objects.exists()
    assert not StoredFile.objects.exists()


def test_rows_of_another_project_are_refused(place):
    elsewhere = make_stage()
    foreign = {
        "item_set": make_item_set(elsewhere.project, [make_item(elsewhere.project)]),
        "stage_version": elsewhere.versions.get(),
    }
    for name, row in foreign.items():
        with pytest.raises(WorkNotPossible, match="must belong to the project"):
            place.draft(lines(said("q1", "yes")), **{name: row})


# The life of an import


def test_a_draft_shows_what_would_be_matched_and_may_be_read_in_another_way(place):
    job = place.draft(lines({"key": "q1", "id": "other", "completion": "yes"}))
    assert (job.state, job.report["matched"], job.report["unmatched"], job.report["is_whole"]) == ("draft", 0, 1, True)
    assert nothing_is_stored()
    changed = log_importing.change_log_draft(
        job=job,
        model="acme/m-1",
        run_name="",
        id_field="key",
        accept_changed=False,
        stage_version=job.stage_version,
    )
    assert (changed.report["matched"], changed.report["needs_model"]) == (1, False)
    assert changed.report["runs"][0]["outcomes"] == [["answered", 1]]


def test_the_look_at_a_draft_reads_only_the_beginning_and_says_so(place, monkeypatch):
    monkeypatch.setattr("evaluation.services.log_importing.jobs.SAMPLE_RECORDS", 2)
    short = place.draft(lines(said("q1", "yes"), said("q2", "yes")))
    long = place.draft(lines(said("q1", "yes"), said("q2", "yes"), said("q3", "yes")))
    assert [(job.report["records"], job.report["is_whole"]) for job in (short, long)] == [(2, True), (2, False)]


def test_a_draft_with_a_fault_further_down_shows_it(place):
    job = place.draft(lines(said("q1", "yes")) + b"{broken\n")
    assert job.report["matched"] == 1
    assert [problem["line"] for problem in job.report["problems"]] == [2]


def test_a_worker_does_what_was_started_once(place):
    job = place.draft(lines(said("q1", "yes")))
    log_importing.run_log_import(job_id=job.pk)
    assert nothing_is_stored()
    log_importing.start_log_import(job=job, by=place.admin)
    with pytest.raises(WorkNotPossible, match="has started already"):
        log_importing.start_log_import(job=job, by=place.admin)
    for _ in range(2):
        log_importing.run_log_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, Run.objects.count(), job.n_done) == ("done", 1, job.n_total)


def test_a_cancelled_import_writes_nothing_and_can_be_opened_again_or_discarded(place, monkeypatch):
    job = place.draft(lines(said("q1", "yes")))
    log_importing.start_log_import(job=job, by=place.admin)
    claimed = claim_work(model=LogImport, pk=job.pk)
    assert claimed is not None
    cancel_work(work=job, by=place.admin)
    # The worker that had claimed it finds its claim gone when it comes to write.
    from evaluation.services.log_importing import jobs

    jobs._run(claimed)
    assert nothing_is_stored()
    job.refresh_from_db()
    assert job.state == "cancelled"
    reopened = log_importing.reopen_log_import(job=job, by=place.admin)
    assert (reopened.state, reopened.report["matched"]) == ("draft", 1)
    log_importing.discard_log_import(job=reopened)
    assert not StoredFile.objects.exists()


def test_what_has_ended_stays_as_it_is(place):
    job = place.put(lines(said("q1", "yes")))
    for step in (
        lambda: log_importing.discard_log_import(job=job),
        lambda: log_importing.reopen_log_import(job=job, by=place.admin),
        lambda: log_importing.start_log_import(job=job, by=place.admin),
    ):
        with pytest.raises(WorkNotPossible):
            step()
    assert Run.objects.count() == 1


def test_statements_do_not_grow_with_the_log(place, django_assert_max_num_queries):
    def n_statements(data: bytes) -> int:
        with django_assert_max_num_queries(100) as counted:
            place.put(data)
        return len(counted)

    few = n_statements(lines(said("q1", "yes")))
    assert n_statements(lines(*(said(f"q{n}", "no") for n in (1, 2, 3, 4)))) <= few
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM evaluation_call")
        assert cursor.fetchone() == (5,)


# Read like any run


def test_nothing_can_be_asked_of_a_log(place):
    run = place.put(lines({"id": "q1", "model": "m", "error": "timeout"})).runs.get()
    with pytest.raises(WorkNotPossible, match="imported"):
        running.repeat_failed(run=run, by=place.admin)
    assert states(run) == {"q1": "error"}
    with pytest.raises(WorkNotPossible, match="imported"):
        running.create_run(
            project=place.project,
            by=place.admin,
            name="again",
            item_set=place.item_set,
            stage_version=place.stage.versions.get(),
            endpoint=run.endpoint,
        )
    assert make_endpoint(place.project).provider == "baseline"


def test_an_imported_run_stands_in_reports_and_side_by_side_like_any_other(tmp_path):
    study = make_study(n_runs=1)
    right = {item.external_id: item.golds.get().answers[0] for item in study.items}
    # Right on all but the first, where it is silent; one item is not in the log at all.
    records = [said(key, f"Answer: {value}") for key, value in list(right.items())[:-1]]
    records[0]["completion"] = "Hard to say."
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(*records))
    job = log_importing.import_log(
        project=study.project,
        by=study.admin,
        file=path,
        item_set=study.item_set,
        stage_version=study.stage.versions.get(),
    )
    run = job.runs.get()
    report = study.made_report(runs=[*study.runs, run], primary_run=run)
    figures = {
        figure["denominator"]: (figure["value"], figure["n"])
        for figure in report.figures
        if (figure["section"], figure["run"], figure["measure"]) == ("accuracy", run.pk, "label_accuracy")
    }
    # 24 items: 23 in the log, 22 of them answered, all of these right; one silent answer counts as wrong among all.
    assert figures == {"all": (pytest.approx(22 / 23), 23), "answered": (pytest.approx(1.0), 22)}
    described = next(entry for entry in report.manifest["runs"] if entry["run"] == run.pk)
    assert (described["provider"], described["model"], described["strategy"]) == ("log", "acme/m-1", "imported")
    assert described["parameters"]["log_sha256"] == job.source.sha256
    model = next(row for row in item_side_by_side(report=report, unit=1)["models"] if row["run"] == run.pk)
    captions = {"yes": "Yes", "no": "No", "not_sure": "Not sure enough"}
    assert (model["answer"], model["score"]) == (captions[right["q001"]], 1.0)
    assert [one["excerpt"] for one in model["said"]] == [f"Answer: {right['q001']}"]
    assert reporting.deciding_field(stage=study.stage).name == "label"
