"""Five items before a run: really asked, shown, and part of nothing."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import WorkNotPossible
from evaluation.models import Call, Endpoint, EndpointShare, Prediction, Run, Score, Trial
from evaluation.services import prompting, running, trials
from tests.evaluation.runs import claims
from tests.factories import make_endpoint, make_item_set, make_member, make_run, make_stage
from tests.openai_server import Running

pytestmark = pytest.mark.django_db


def draft(server: Running | None, n_items: int = 12, **fields: Any) -> Run:
    stage = make_stage()
    limits = {"max_in_flight": 4, "timeout_seconds": 1} | fields
    if server is None:
        endpoint = make_endpoint(stage.project, model="seeded_random")
    else:
        endpoint = make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url, **limits)
    items = make_item_set(stage.project, claims(stage.project, n_items))
    return make_run(
        stage, items, endpoint=endpoint, parameters={"max_tokens": 50}, created_by=make_member(stage.project, "admin")
    )


def tried(run: Run) -> Trial:
    trial = trials.start_trial(run=run, by=run.created_by)
    trials.make_trial(trial_id=trial.pk)
    trial.refresh_from_db()
    return trial


def test_five_seeded_items_are_asked_and_nothing_of_it_is_a_prediction(server):
    server.play(text="<think>It is so.</think>Yes", model="small-2026", usage=[120, 30], latency_ms=20)
    run = draft(server)
    trial = tried(run)
    assert (trial.state, trial.n_done, trial.n_total) == ("done", 5, 5)
    asked = sorted(call["text"].splitlines()[0] for call in server.calls())
    positions = trials.tried_positions(run)
    assert asked == sorted(f"question: Is claim {position} true?" for position in positions)
    assert [result["answer"] for result in trial.results] == [{"label": "yes"}] * 5
    (first,) = trial.results[0]["calls"]
    assert (first["reasoning"], first["completion"]) == ("It is so.", "<think>It is so.</think>Yes")
    assert (first["server_model"], first["prompt_tokens"], first["completion_tokens"]) == ("small-2026", 120, 30)
    assert first["messages"][-1]["content"].startswith("question: Is claim")
    assert not any(model.objects.exists() for model in (Prediction, Call, Score, EndpointShare))
    run.refresh_from_db()
    assert (run.state, run.prompt_tokens) == ("draft", 0)


def messages(trial: Trial) -> list[Any]:
    """Of the first call for each item."""
    return [result["calls"][0]["messages"] for result in trial.results]


def test_the_same_seed_tries_the_same_items_and_what_is_tried_is_what_is_sent(server):
    run = draft(server, 30)
    first, second = tried(run), tried(run)
    assert messages(first) == messages(second)
    assert [one["external_id"] for one in first.results] == [one["external_id"] for one in second.results]
    entries = {entry.revision.item.external_id: entry.revision for entry in run.item_set.entries.all()}
    asked = [entries[one["external_id"]] for one in first.results]
    assert messages(first) == prompting.render_items(run, prompting.asking_of(run), asked)
    run.seed = run.seed + 1
    assert trials.tried_positions(run) != trials.tried_positions(draft(server, 30))


def test_a_trial_tells_what_went_wrong_item_by_item(server):
    run = draft(server, 5)
    server.play(
        {"contains": "claim 0", "behaviour": {"status": 500, "message": "down"}},
        {"contains": "claim 1", "behaviour": {"text": "Perhaps."}},
        {"contains": "claim 2", "behaviour": {"body": "<html>"}},
    )
    results = tried(run).results
    assert results[0]["error"] == "HTTP 500: down"
    assert results[1]["state"] == "unparsed"
    assert results[1]["note"].startswith("No answer found")
    assert "not JSON" in results[2]["error"]
    assert [result["state"] for result in results[3:]] == ["answered", "answered"]


def test_the_whole_run_is_reckoned_from_what_was_tried(server):
    server.play(usage=[100, 10], latency_ms=50)
    run = draft(server, 12, input_price=Decimal(1), output_price=Decimal(5), currency="EUR", requests_per_minute=6000)
    run.repeats = 2
    run.save()
    trial = tried(run)
    estimate = trials.estimate_of(trial, run)
    assert (estimate.n_tried, estimate.n_answers) == (5, 24)
    # 24 calls of 100 tokens in at 1 and 10 out at 5 a million.
    assert estimate.money.mean == pytest.approx(24 * (100 + 50) / 1e6)
    assert estimate.tokens_out.high == 240
    assert 0.05 * 6 <= estimate.seconds.low <= estimate.seconds.mean


def test_a_baseline_can_be_tried_and_costs_nothing():
    trial = tried(draft(None))
    assert [result["state"] for result in trial.results] == ["answered"] * 5
    assert {call["latency_ms"] for result in trial.results for call in result["calls"]} == {None}


def test_a_trial_waits_for_a_place_at_the_endpoint(server):
    run = draft(server)
    Endpoint.objects.update(held_until=timezone.now() + timedelta(seconds=60))
    trial = tried(run)
    assert (trial.state, trial.attempts) == ("waiting", 0)
    assert trial.due_at > timezone.now() + timedelta(seconds=50)
    assert server.calls() == []
    Endpoint.objects.update(held_until=None)
    Trial.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    trials.make_trial(trial_id=trial.pk)
    trial.refresh_from_db()
    assert trial.state == "done"


def test_an_endpoint_without_its_key_is_told(server):
    trial = tried(draft(server, key_variable="GOLDPANEL_KEY_NOWHERE"))
    assert (trial.state, trial.error) == ("failed", "The environment variable GOLDPANEL_KEY_NOWHERE is not set.")
    assert not EndpointShare.objects.exists()


def test_only_a_draft_is_tried_and_one_trial_at_a_time(server):
    run = draft(server)
    trials.start_trial(run=run, by=run.created_by)
    with pytest.raises(WorkNotPossible, match="is under way"):
        trials.start_trial(run=run, by=run.created_by)
    trials.cancel_trial(run=run, by=run.created_by)
    trials.make_trial(trial_id=trials.latest_trial(run).pk)
    assert server.calls() == []
    running.start_run(run=run, by=run.created_by)
    with pytest.raises(WorkNotPossible, match="has begun"):
        trials.start_trial(run=run, by=run.created_by)


def test_a_draft_that_was_tried_can_be_discarded(server):
    run = draft(server)
    tried(run)
    running.discard_draft(run=run, by=run.created_by)
    assert not Trial.objects.exists()


def page(run: Run, person: Any, **headers: str) -> Any:
    client = Client()
    client.force_login(person)
    return client.get(reverse("run-trial", args=[run.project.slug, run.pk]), headers=headers)


def test_the_page_shows_prompt_completion_reasoning_answer_and_estimate(server):
    server.play(text="Yes, <b>surely</b>.", reasoning="Because I say so.", usage=[120, 30])
    run = draft(server, input_price=Decimal(1), output_price=Decimal(5), currency="EUR")
    assert "Not tried yet" in page(run, run.created_by).content.decode()
    tried(run)
    text = page(run, run.created_by).content.decode()
    assert "Yes, &lt;b&gt;surely&lt;/b&gt;." in text
    for said in (
        "Because I say so.",
        "question: Is claim",
        "120 in, 30 out",
        "n = 5 items",
        "EUR",
        "Try the same items",
    ):
        assert said in text, said
    fragment = page(run, run.created_by, HX_Request="true").content.decode()
    assert fragment.strip().startswith("<div")
    assert "hx-trigger" not in fragment


def test_readers_see_a_trial_and_cannot_start_one_and_gold_is_nowhere(server):
    run = draft(server)
    item = run.item_set.entries.first().revision.item
    item.golds.update(answers=["canary-gold"])
    tried(run)
    viewer = make_member(run.project, "viewer")
    text = page(run, viewer).content.decode()
    assert "Completion" in text
    assert "canary-gold" not in text
    assert reverse("trial-start", args=[run.project.slug, run.pk]) not in text
    assert page(run, make_member(run.project)).status_code == 404
