"""Endpoints, runs, predictions and reports, as programs run and read them."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Project
from evaluation.models import Endpoint, Prediction, Report, Run
from evaluation.services import answering, reporting, trials
from tests.api_client import ApiClient, body_of
from tests.factories import (
    make_annotation,
    make_endpoint,
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


class Study:
    """A project with a stage, three items with gold labels, a set of them, and an admin's program."""

    def __init__(self) -> None:
        self.project: Project = make_project()
        self.stage = make_stage(self.project)
        self.items = [make_item(self.project, external_id=f"00{n}", gold={"label": ["yes"]}) for n in range(3)]
        self.item_set = make_item_set(self.project, self.items)
        self.admin = make_member(self.project, "admin")
        self.api = ApiClient(self.admin)
        self.reader = ApiClient(make_member(self.project, "viewer"))
        self.at = f"projects/{self.project.slug}/"

    def run(self, **fields) -> Run:
        return make_run(self.stage, self.item_set, endpoint=make_endpoint(self.project), **fields)

    def new_run(self, **sent):
        endpoint = make_endpoint(self.project)
        asked = {
            "name": "Baseline",
            "endpoint": endpoint.pk,
            "stage": self.stage.slug,
            "item_set": self.item_set.pk,
            "strategy": "zero_shot",
        }
        return self.api.post(f"{self.at}runs/", **asked | sent)


@pytest.fixture
def study() -> Study:
    return Study()


# Endpoints


def test_an_endpoint_is_made_and_changed_and_never_holds_a_key(study):
    made = study.api.post(
        f"{study.at}endpoints/",
        name="A server",
        provider="openai",
        model="m-1",
        base_url="https://api.example.org/v1",
        key_variable="GOLDPANEL_KEY_EXAMPLE",
    )
    assert made.status_code == 201, made.json()
    told = made.json()
    assert (told["name"], told["key_variable"], told["max_in_flight"]) == ("A server", "GOLDPANEL_KEY_EXAMPLE", 8)
    address = f"{study.at}endpoints/{told['id']}/"
    assert study.api.patch(address, max_in_flight=2).json() == told | {"max_in_flight": 2}
    assert study.api.get(address).json()["max_in_flight"] == 2
    refused = study.api.patch(address, key_variable="sk-secret-0123456789")
    assert refused.status_code == 422
    assert "sk-secret" not in refused.content.decode(), "what may be a key is not repeated"
    assert Endpoint.objects.get().key_variable == "GOLDPANEL_KEY_EXAMPLE"


def test_an_endpoint_is_refused_in_the_words_of_the_page(study):
    taken = make_endpoint(study.project)
    good = {"name": "B", "provider": "baseline", "model": "majority_label"}
    for wrong, field in (
        ({"name": taken.name}, "name"),
        ({"model": "gpt"}, "model"),
        ({"provider": "openai", "model": "m"}, "base_url"),
        ({"provider": "telepathy"}, "provider"),
        ({"max_in_flight": 0}, "max_in_flight"),
    ):
        refused = study.api.post(f"{study.at}endpoints/", **good | wrong)
        assert refused.status_code == 422
        assert list(refused.json()["fields"]) == [field]
    no_http = study.api.post(f"{study.at}endpoints/", name="C", provider="openai", model="m", base_url="ftp://x.org")
    assert (no_http.status_code, no_http.json()["error"]) == (422, "address_not_allowed")


def test_the_model_of_an_endpoint_stays_once_a_run_has_begun(study):
    run = study.run()
    study.api.post(f"{study.at}runs/{run.pk}/state/", step="start")
    refused = study.api.patch(f"{study.at}endpoints/{run.endpoint_id}/", model="seeded_random")
    assert (refused.status_code, refused.json()["error"]) == (409, "endpoint_in_use")


# Runs and predictions


def test_a_run_is_made_started_and_read_to_its_last_completion(study):
    made = study.new_run(repeats=2, seed=7)
    assert made.status_code == 201, made.json()
    told = made.json()
    assert (told["state"], told["repeats"], told["progress"]["total"]) == ("draft", 2, 0)
    assert told["item_set"] == {"id": study.item_set.pk, "name": study.item_set.name, "n_items": 3}
    address = f"{study.at}runs/{told['id']}/"
    started = study.api.post(f"{address}state/", step="start").json()
    assert (started["state"], started["progress"]["counts"]) == ("waiting", {"pending": 6})
    answering.answer_chunk(run_id=told["id"])
    done = study.reader.get(address).json()
    assert (done["state"], done["progress"]["counts"]) == ("done", {"answered": 6})
    rows = study.reader.rows(f"{address}predictions/", limit=4)
    assert [(row["item"], row["repeat"]) for row in rows] == [(f"00{n}", repeat) for repeat in (0, 1) for n in range(3)]
    assert rows[0]["answer"] == {"label": "yes"}
    assert rows[0]["calls"][0]["completion"] == "Yes"
    assert study.reader.rows(f"{address}predictions/", state="unparsed") == []
    assert [row["id"] for row in study.reader.rows(f"{study.at}runs/", state="done")] == [told["id"]]
    assert study.reader.rows(f"{study.at}runs/", state="draft") == []


def test_a_run_is_paused_resumed_cancelled_and_its_failures_repeated(study):
    run = study.run()
    address = f"{study.at}runs/{run.pk}/state/"
    for step, state in (
        ("start", "waiting"),
        ("pause", "paused"),
        ("resume", "waiting"),
        ("cancel", "cancelled"),
        ("repeat_failed", "waiting"),
    ):
        told = study.api.post(address, step=step)
        assert (told.status_code, told.json()["state"]) == (200, state), step
    again = study.api.post(address, step="start")
    assert (again.status_code, again.json()["error"]) == (409, "work_not_possible")
    assert study.api.post(address, step="explode").status_code == 422


def test_a_draft_can_be_removed_and_a_run_that_began_stays(study):
    draft, begun = study.run(), study.run()
    study.api.post(f"{study.at}runs/{begun.pk}/state/", step="start")
    assert study.api.delete(f"{study.at}runs/{draft.pk}/").status_code == 204
    assert study.api.delete(f"{study.at}runs/{begun.pk}/").status_code == 409
    assert Run.objects.get() == begun


def test_a_run_of_what_is_not_there_is_refused(study):
    foreign = Study()
    taken = study.run()
    for wrong, field in (
        ({"endpoint": make_endpoint(foreign.project).pk}, "endpoint"),
        ({"item_set": foreign.item_set.pk}, "item_set"),
        ({"stage": foreign.stage.slug}, "stage"),
        ({"name": taken.name}, "name"),
        ({"temperature": 3}, "temperature"),
        ({"repeats": 0}, "repeats"),
        ({"strategy": "guess"}, "strategy"),
    ):
        refused = study.new_run(**wrong)
        assert refused.status_code == 422, wrong
        assert list(refused.json()["fields"]) == [field]
    no_exemplars = study.new_run(strategy="few_shot")
    assert (no_exemplars.status_code, no_exemplars.json()["error"]) == (409, "work_not_possible")
    assert Run.objects.get() == taken


# Reports


def test_a_report_is_named_made_and_read_with_its_files(study):
    for item in study.items:
        make_annotation(make_stage_item(study.stage, item), make_member(study.project), {"label": "yes"})
    run = study.run(state="done", frozen_at=study.item_set.frozen_at)
    for item in study.items:
        make_prediction(run, item, {"label": "no"})
    made = study.api.post(
        f"{study.at}reports/",
        title="People against a baseline",
        stage=study.stage.slug,
        item_set=study.item_set.pk,
        field="label",
        primary_scorer="label_accuracy",
        runs=[run.pk],
        primary_run=run.pk,
        n_resamples=200,
    )
    assert made.status_code == 202, made.json()
    told = made.json()
    assert (told["state"], told["runs"], told["figures"], told["files"]) == ("waiting", [run.pk], [], [])
    reporting.make_report(report_id=told["id"])
    done = study.reader.get(f"{study.at}reports/{told['id']}/").json()
    assert done["state"] == "done"
    assert done["figures"]
    assert done["manifest"]
    files = {file["name"]: file for file in done["files"]}
    download = study.reader.get(files["figures.csv"]["address"])
    assert download["Content-Type"] == "text/csv; charset=utf-8"
    assert len(body_of(download)) == files["figures.csv"]["n_bytes"]
    listed = study.reader.rows(f"{study.at}reports/")
    assert [row["id"] for row in listed] == [told["id"]]
    assert "figures" not in listed[0]
    assert study.reader.get(f"{study.at}reports/{told['id']}/files/nothing.csv").status_code == 404


def test_a_report_is_cancelled_and_made_again(study):
    report = Report.objects.create(
        project=study.project,
        title="A comparison",
        stage=study.stage,
        item_set=study.item_set,
        field="label",
        primary_scorer="label_accuracy",
    )
    address = f"{study.at}reports/{report.pk}/state/"
    assert study.api.post(address, step="cancel").json()["state"] == "cancelled"
    assert study.api.post(address, step="cancel").status_code == 409
    assert study.api.post(address, step="again").json()["state"] == "waiting"


def test_a_report_that_could_not_be_made_is_refused(study):
    good = {
        "title": "T",
        "stage": study.stage.slug,
        "item_set": study.item_set.pk,
        "field": "label",
        "primary_scorer": "label_accuracy",
    }
    draft = study.run()
    for wrong, field in (
        ({"field": "mood"}, "comparison"),
        ({"primary_scorer": "token_f1"}, "comparison"),
        ({"stage": "nowhere"}, "stage"),
        ({"runs": [draft.pk]}, "runs"),
        ({"n_resamples": 1}, "n_resamples"),
    ):
        refused = study.api.post(f"{study.at}reports/", **good | wrong)
        assert refused.status_code == 422, wrong
        assert field in refused.json()["fields"]
    assert not Report.objects.exists()


def test_lists_cost_the_same_however_many_rows_they_have():
    def costs(n: int) -> dict[str, int]:
        study = Study()
        items = [make_item(study.project) for _ in range(n)]
        for _ in range(n):
            run = study.run(state="done", frozen_at=study.item_set.frozen_at)
            for item in items:
                make_prediction(run, item, {"label": "no"})
            Report.objects.create(
                project=study.project, title="R", stage=study.stage, item_set=study.item_set, field="label",
                primary_scorer="label_accuracy",
            )  # fmt: skip
        found = {}
        for address in ("endpoints/", "runs/", f"runs/{run.pk}/predictions/", "reports/"):
            with CaptureQueriesContext(connection) as queries:
                assert study.api.get(f"{study.at}{address}").status_code == 200
            found[address.rpartition("/")[0].rpartition("/")[2]] = len(queries)
            assert not any("messages" in query["sql"] for query in queries), "prompts hold whole items"
        return found

    assert costs(2) == costs(6) == {"endpoints": 3, "runs": 4, "predictions": 4, "reports": 3}
    assert Prediction.objects.count() == 2 * 2 + 6 * 6


# Budgets, growth, trials


def test_prices_and_limits_of_an_endpoint_and_the_budget_of_a_run(study):
    server = {"name": "Priced", "provider": "openai", "model": "m", "base_url": "https://api.example.org/v1"}
    prices = {"input_price": "0.5", "output_price": "2", "currency": "USD", "tokens_per_minute": 9000}
    endpoint = study.api.post(f"{study.at}endpoints/", **server | prices).json()
    assert (endpoint["input_price"], endpoint["tokens_per_minute"]) == ("0.500000", 9000)
    half = study.api.post(f"{study.at}endpoints/", **server | {"name": "Half", "input_price": "1", "currency": "USD"})
    assert (half.status_code, list(half.json()["fields"])) == (422, ["output_price"])
    run = study.new_run(endpoint=endpoint["id"], budget_money="1.5").json()
    assert (run["budget_money"], run["budget_tokens"], run["reuses_answers"]) == ("1.500000", None, False)
    assert run["cost"] == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "money": "0.000000",
        "currency": "USD",
        "why_undefined": "",
    }
    address = f"{study.at}runs/{run['id']}/"
    told = study.api.patch(address, budget_tokens=5000).json()
    assert (told["budget_money"], told["budget_tokens"]) == ("1.500000", 5000)
    assert study.api.patch(address, budget_money=None).json()["budget_money"] is None
    assert study.api.patch(address, budget_tokens=0).status_code == 422
    assert study.api.patch(address, seed=3).status_code == 422
    unpriced = study.new_run(name="Unpriced", budget_money="1").json()
    assert "needs no budget" in str(unpriced)


def test_a_run_is_extended(study):
    run = study.run()
    study.api.post(f"{study.at}runs/{run.pk}/state/", step="start")
    answering.answer_chunk(run_id=run.pk)
    address = f"{study.at}runs/{run.pk}/extension/"
    told = study.api.post(address, repeats=2, item_set=study.item_set.pk).json()
    assert (told["state"], told["repeats"], told["progress"]["total"]) == ("waiting", 2, 6)
    again = study.api.post(address, repeats=2, item_set=study.item_set.pk)
    assert (again.status_code, again.json()["error"]) == (409, "work_not_possible")


def test_a_draft_is_tried_and_the_trial_is_read(study):
    run = study.run()
    address = f"{study.at}runs/{run.pk}/trial/"
    assert study.reader.get(address).status_code == 404
    assert study.api.post(address, step="start").json()["state"] == "waiting"
    assert study.reader.get(address).json()["estimate"] is None
    trials.make_trial(trial_id=trials.latest_trial(run).pk)
    told = study.reader.get(address).json()
    assert (told["state"], told["n_done"], len(told["results"])) == ("done", 3, 3)
    assert told["results"][0]["state"] == "answered"
    assert told["estimate"]["n_answers"] == 3
    assert told["estimate"]["requests"] is None  # a baseline is not asked
    assert Prediction.objects.count() == 0
    assert study.api.post(address, step="cancel").status_code == 409
