"""The life of a run, and what a worker writes for it: rows and real HTTP, in one process."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import WorkNotPossible
from annotate.models import Event, Item, Stage
from evaluation import strategies as facts
from evaluation.exported import prediction_rows
from evaluation.models import Call, Prediction, Run
from evaluation.prompts import STRATEGIES, RenderFailure
from evaluation.services import answering, prompting, running
from evaluation.services.endpoints import EndpointInUse, change_endpoint
from tests.evaluation.runs import (
    GOLD,
    a_moment_ago,
    asking_server,
    claims,
    make_due,
    outcomes,
    started,
    verbs,
    work,
    worker_vanishes,
)
from tests.factories import (
    SHORT_ANSWER,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_run,
    make_stage,
)

pytestmark = pytest.mark.django_db

# A run from draft to done


def test_a_run_gives_every_item_and_repeat_one_prediction_and_one_call():
    run = work(started(5, repeats=2, seed=7))
    assert outcomes(run) == {"answered": 10}
    assert Call.objects.filter(prediction__run=run).count() == 10
    assert (run.state, run.n_done, run.n_total, run.due_at) == ("done", 10, 10, None)
    assert verbs(run) == ["run.created", "run.started", "run.done"]


def test_nothing_is_asked_before_the_start():
    stage = make_stage()
    run = make_run(stage, make_item_set(stage.project, claims(stage.project, 2)))
    assert answering.claim_chunk(run_id=run.pk) is None
    assert run.predictions.count() == 0


def test_answers_depend_neither_on_chunks_nor_on_the_order_of_claims(monkeypatch):
    stage = make_stage()
    items = make_item_set(stage.project, claims(stage.project, 12))
    endpoint = make_endpoint(stage.project, model="seeded_random")
    whole = work(started(items, stage=stage, endpoint=endpoint, name="whole", seed=3))
    monkeypatch.setattr(answering, "BASELINE_CHUNK", 5)
    cut = work(started(items, stage=stage, endpoint=endpoint, name="cut", seed=3))
    assert outcomes(cut) == {"answered": 12}
    by_item = [list(run.predictions.order_by("position").values_list("answer", flat=True)) for run in (whole, cut)]
    assert by_item[0] == by_item[1]


def test_a_bell_is_rung_for_the_next_worker_exactly_while_more_can_be_claimed(monkeypatch):
    monkeypatch.setattr(answering, "BASELINE_CHUNK", 2)
    run = started(5)
    rung: list[int] = []
    for n in range(4):
        answering.answer_chunk(run_id=run.pk, when_more=lambda n=n: rung.append(n))
    # 5 predictions in chunks of 2: after the first and the second claim others wait; the fourth bell finds nothing.
    assert rung == [0, 1]
    run.refresh_from_db()
    assert run.state == "done"


def test_what_was_sent_and_what_came_back_is_stored_verbatim(server):
    server.play(text="  **Yes**, it is.\n")
    run = work(asking_server(server, 1))
    prediction = run.predictions.get()
    call = prediction.calls.get()
    assert prediction.answer == {"label": "yes"}
    assert call.completion == "  **Yes**, it is.\n"
    assert call.messages[-1]["content"].startswith("question: Is claim 0 true?")
    assert (call.prompt_tokens, call.completion_tokens, call.http_status, call.attempts) == (11, 3, 200, 1)
    assert server.calls()[0]["asked"] == {
        "model": "small",
        "temperature": 0.0,
        "max_tokens": 50,
        "stream": False,
    }


def test_a_server_of_plain_text_is_sent_one_text_and_its_words_are_read_alike(server):
    server.play(text=" Yes\n\n")
    stage = make_stage()
    exemplar = make_item(stage.project, [["question", "Is ice cold?"]], gold={"label": ["not_sure"]})
    endpoint = make_endpoint(
        stage.project, provider="openai", protocol="text", model="base", base_url=server.base_url, max_in_flight=1
    )
    parameters = {"temperature": 0.0, "max_tokens": 5}
    run = work(few_shot(stage, [exemplar], claims(stage.project, 1), endpoint=endpoint, parameters=parameters))
    prediction = run.predictions.get()
    (message,) = prediction.calls.get().messages
    # In the order of the chat, without the names of its roles: a question, its answer, and the question that is asked.
    turns = message["content"].split("\n\n")
    assert turns[-1] == ""
    assert turns.index("Not sure enough") > next(n for n, turn in enumerate(turns) if "Is ice cold?" in turn)
    assert "Is claim 0 true?" in message["content"].partition("Not sure enough")[2]
    (call,) = server.calls()
    assert call["text"] == message["content"]
    # Where a turn ends its answer ends: a base model would go on with a question of its own.
    assert call["asked"]["stop"] == ["\n\n"]
    assert call["asked"].keys() == {"model", "prompt", "stop", "stream", *parameters}
    assert (prediction.state, prediction.answer) == ("answered", {"label": "yes"})


def test_log_probabilities_are_stored_shown_exported_and_taken_over_with_an_answer(server):
    token = {"token": " Yes", "logprob": -0.105, "top_logprobs": [{"token": "\nNo", "logprob": -2.3}]}
    server.play(text=" Yes", logprobs={"content": [token]})
    stage = make_stage()
    endpoint = make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url)
    items = make_item_set(stage.project, claims(stage.project, 1))
    asked = {"temperature": 0, "logprobs": True, "top_logprobs": 1}
    first = work(started(items, stage=stage, endpoint=endpoint, parameters=asked))
    again = work(started(items, stage=stage, endpoint=endpoint, name="again", parameters=asked, reuses_answers=True))
    assert len(server.calls()) == 1
    stored = [[" Yes", -0.105, [["\nNo", -2.3]]]]
    for run in (first, again):
        assert run.predictions.get().calls.get().logprobs == stored
    columns, *rows = prediction_rows(project=stage.project)
    for row in rows:
        told = dict(zip(columns, row, strict=True))
        assert (told["logprob"], told["logprobs"]) == (-0.105, stored)
    client = Client()
    client.force_login(make_member(stage.project, "admin"))
    page = client.get(reverse("prediction", args=[stage.project.slug, first.pk, first.predictions.get().pk]))
    text = " ".join(page.content.decode().split())
    assert "Log probability −0.10, one token" in text
    assert '␣Yes</bdi></td><td class="n">90.0</td>' in text
    assert '⏎No</bdi></span> <span class="soft">10.0</span>' in text


def test_a_run_without_log_probabilities_says_nothing_of_them(server):
    server.play(text="Yes")
    run = work(asking_server(server, 1))
    assert run.predictions.get().calls.get().logprobs is None
    columns, row = prediction_rows(project=run.project)
    told = dict(zip(columns, row, strict=True))
    assert (told["logprob"], told["logprobs"]) == (None, None)
    client = Client()
    client.force_login(make_member(run.project, "admin"))
    page = client.get(reverse("prediction", args=[run.project.slug, run.pk, run.predictions.get().pk]))
    assert "Log probability" not in page.content.decode()


def test_how_a_server_is_asked_stays_once_a_run_has_begun(server):
    run = work(asking_server(server, 1))
    with pytest.raises(EndpointInUse):
        change_endpoint(endpoint=run.endpoint, by=make_member(run.project, "admin"), protocol="text")


def test_the_seed_that_is_sent_differs_for_every_repeat(server):
    stage = make_stage()
    endpoint = make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url, max_in_flight=1)
    work(started(1, stage=stage, endpoint=endpoint, parameters={"seed": 40}, repeats=3))
    assert sorted(call["asked"]["seed"] for call in server.calls()) == [40, 41, 42]


def test_a_model_sees_what_people_are_shown_and_never_the_gold_label(server):
    stage = make_stage(form=SHORT_ANSWER, shown_keys=["question"])
    item = make_item(
        stage.project,
        [["question", "Who built it?"], ["hint", "hidden-from-people"]],
        gold={"answer": ["the-gold-answer"]},
    )
    run = asking_server(server, make_item_set(stage.project, [item]), stage=stage)
    work(run)
    sent = str(Call.objects.get(prediction__run=run).messages)
    assert "Who built it?" in sent
    assert "hidden-from-people" not in sent
    assert "the-gold-answer" not in sent


# Every outcome by its own name


@pytest.mark.parametrize(
    ("behaviour", "state", "note"),
    [
        ({"text": "Yes"}, "answered", ""),
        ({"text": "It depends on what you mean."}, "unparsed", "No answer found"),
        ({"text": "Yes and no."}, "unparsed", "More than one answer"),
        ({"text": "I'm sorry, but I can't help with that."}, "refused", ""),
        ({"text": "", "finish_reason": "content_filter"}, "refused", "The provider's filter stepped in."),
        ({"text": "  \n"}, "empty", "The completion is empty."),
        ({"text": "Let us first", "finish_reason": "length"}, "cut_off", "The token limit ended the completion."),
        ({"status": 400, "message": "too long"}, "error", "HTTP 400: too long"),
        ({"body": "<html>"}, "error", "The body is not JSON"),
        ({"mode": "endless"}, "error", "The body is above 4 MiB"),
    ],
)
def test_what_came_of_an_item_is_told_by_its_own_name(server, behaviour, state, note):
    server.play(**behaviour)
    run = work(asking_server(server, 1))
    prediction = run.predictions.get()
    assert prediction.state == state
    assert note in prediction.note
    assert (prediction.answer is not None) == (state == "answered")
    assert run.state == "done"
    assert prediction.calls.count() == 1


@pytest.mark.parametrize(
    ("behaviour", "kind", "state"),
    [
        ({"status": 500, "message": "down"}, "server_error", "error"),
        ({"mode": "drop"}, "connection", "error"),
        ({"mode": "hang"}, "timeout", "timed_out"),
    ],
)
def test_what_may_heal_is_asked_three_times_and_then_told(server, behaviour, kind, state):
    server.play(**behaviour)
    run = asking_server(server, 1)
    for n in (1, 2):
        work(run)
        prediction = run.predictions.get()
        assert (prediction.state, prediction.attempts) == ("pending", n)
        assert prediction.due_at > timezone.now()
        assert prediction.note
        make_due(run)
    work(run)
    prediction = run.predictions.get()
    assert (prediction.state, prediction.attempts) == (state, 3)
    call = prediction.calls.get()
    assert (call.attempts, call.error_kind, call.completion) == (3, kind, "")
    assert len(server.calls()) == 3


def test_an_endpoint_at_which_nobody_listens_is_told_by_every_item(server, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [nobody])
    run = asking_server(server, 2, base_url=f"http://{nobody}/v1")
    for _ in range(3):
        work(run)
        make_due(run)
    assert outcomes(run) == {"error": 2}
    assert all("Cannot connect" in note for note in run.predictions.values_list("note", flat=True))
    assert set(Call.objects.values_list("error_kind", "completion")) == {("connection", "")}


def test_an_error_that_heals_leaves_one_prediction_one_call_and_the_number_of_requests(server):
    server.play({"contains": "claim", "times": 2, "behaviour": {"status": 503}})
    run = asking_server(server, 1)
    for _ in range(3):
        work(run)
        make_due(run)
    prediction = run.predictions.get()
    assert prediction.answer == {"label": "yes"}
    call = prediction.calls.get()
    assert (call.attempts, call.error_kind, call.error, call.completion) == (3, "", "", "Yes")


def test_being_told_to_slow_down_waits_as_asked_and_says_nothing_about_the_item(server):
    server.play(status=429, retry_after="120")
    run = work(asking_server(server, 3))
    prediction = run.predictions.get(calls__isnull=False)
    assert prediction.due_at >= timezone.now() + timedelta(seconds=115)
    # The others were never sent: no attempt of theirs is used up, and they wait as long.
    others = run.predictions.filter(calls__isnull=True)
    assert list(others.values_list("attempts", flat=True)) == [0, 0]
    assert all(due >= timezone.now() + timedelta(seconds=115) for due in others.values_list("due_at", flat=True))
    assert len(server.calls()) == 1
    # No bell rings before anything is due.
    assert run.due_at >= timezone.now() + timedelta(seconds=100)


def test_ten_requests_are_sent_before_a_rate_limit_becomes_an_error():
    row = answering.Claimed(1, 1, 0, n_sent=8, last_error="rate_limited")
    limit = answering.ClientError(answering.ErrorKind.RATE_LIMITED, "slow down")
    assert answering.after_error(row, limit)["state"] == "pending"
    last = answering.Claimed(1, 1, 0, n_sent=9, last_error="rate_limited")
    assert answering.after_error(last, limit)["state"] == "error"


def test_a_prompt_that_cannot_be_rendered_is_an_error_of_that_item_alone(monkeypatch):
    run = started(3)
    render = answering.render_chunk

    def second_fails(*arguments: Any) -> list[Any]:
        return [RenderFailure("too long") if n == 1 else chat for n, chat in enumerate(render(*arguments))]

    monkeypatch.setattr(answering, "render_chunk", second_fails)
    work(run)
    assert outcomes(run) == {"answered": 2, "error": 1}
    assert run.predictions.get(state="error").note == "No prompt: too long"


# What will not heal stops the run


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ({"status": 401, "message": "no such key"}, "HTTP 401: no such key"),
        ({"status": 404, "message": "no such model"}, "HTTP 404: no such model"),
        ({"status": 302, "location": "https://elsewhere.example"}, "redirects are not followed"),
    ],
)
def test_what_will_not_heal_stops_the_run_at_once_and_says_why(server, behaviour, said):
    server.play(**behaviour)
    run = work(asking_server(server, 20))
    assert (run.state, run.due_at) == ("paused", None)
    assert said in run.stopped_because
    assert len(server.calls()) == 1
    assert outcomes(run) == {"pending": 20}
    told = run.predictions.get(calls__isnull=False)
    assert said in told.note
    assert verbs(run)[-1] == "run.stopped"
    server.play()
    running.resume_run(run=run, by=run.created_by)
    run = work(run)
    assert outcomes(run) == {"answered": 20}
    assert (run.state, run.stopped_because) == ("done", "")


def test_a_private_address_that_the_settings_do_not_list_is_never_called(server, monkeypatch):
    monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [])
    run = work(asking_server(server, 2))
    assert run.state == "paused"
    assert "not a public address" in run.stopped_because
    assert server.calls() == []


def test_a_key_that_is_not_there_stops_the_run_before_anything_is_sent(server):
    run = work(asking_server(server, 2, key_variable="GOLDPANEL_KEY_NOWHERE"))
    assert run.state == "paused"
    assert run.stopped_because == "The environment variable GOLDPANEL_KEY_NOWHERE is not set."
    assert set(run.predictions.values_list("attempts", "state")) == {(0, "pending")}
    assert server.calls() == []


def test_a_key_goes_to_its_own_host_and_into_no_row(server, monkeypatch):
    monkeypatch.setenv("GOLDPANEL_KEY_LOCAL", "canary-0123456789")
    monkeypatch.setenv("GOLDPANEL_KEY_LOCAL_HOSTS", server.host_and_port)
    server.play(status=400, message="your key canary-0123456789 is fine, the request is not")
    run = work(asking_server(server, 1, key_variable="GOLDPANEL_KEY_LOCAL"))
    assert server.calls()[0]["headers"]["Authorization"] == "Bearer canary-0123456789"
    rows = [*Call.objects.values(), *Prediction.objects.values(), *Run.objects.values(), *Event.objects.values()]
    assert run.predictions.get().note
    assert "canary" not in str(rows)


def test_a_server_that_is_down_uses_up_no_item_before_the_run_is_paused(server):
    server.play(status=500)
    run = asking_server(server, 60)
    for _ in range(answering.MAX_FRUITLESS_SHIFTS):
        assert run.state != "paused"
        work(run)
        make_due(run)
    assert run.state == "paused"
    assert "no completion at all" in run.stopped_because
    assert "HTTP 500" in run.stopped_because
    # Five requests in a row fail, and the rest of a chunk is not sent: 5 chunks, 25 items asked once each.
    assert len(server.calls()) == 25
    assert outcomes(run) == {"pending": 60}
    assert Counter(run.predictions.values_list("attempts", flat=True)) == {1: 25, 0: 35}


def test_one_completion_ends_the_row_of_fruitless_chunks(server):
    server.play(status=500)
    run = work(asking_server(server, 8))
    assert run.attempts == 1
    server.play({"contains": "claim", "times": 1, "behaviour": {"text": "Yes"}}, status=500)
    make_due(run)
    assert work(run).attempts == 0


# Claims


def test_two_claims_share_no_prediction(monkeypatch):
    monkeypatch.setattr(answering, "BASELINE_CHUNK", 3)
    run = started(5)
    first, second = answering.claim_chunk(run_id=run.pk), answering.claim_chunk(run_id=run.pk)
    assert first is not None
    assert second is not None
    assert (len(first.predictions), len(second.predictions)) == (3, 2)
    assert not first.predictions.keys() & second.predictions.keys()
    assert (first.has_more, second.has_more) == (True, False)
    assert answering.claim_chunk(run_id=run.pk) is None


def test_a_silent_worker_loses_its_claims_and_its_late_results_are_dropped(server):
    run = asking_server(server, 2)
    lost = worker_vanishes(run)
    work(run)
    assert outcomes(run) == {"answered": 2}
    # The first worker wakes up and sees its chunk through: it asks, and nothing of it is written.
    server.play(text="No")
    answering._Shift(lost).work()
    assert set(run.predictions.values_list("answer__label", flat=True)) == {"yes"}
    assert Call.objects.filter(prediction__run=run, completion="Yes").count() == 2
    assert Call.objects.filter(prediction__run=run).count() == 2


def test_a_worker_that_is_alive_keeps_its_claims():
    run = started(2)
    chunk = answering.claim_chunk(run_id=run.pk)
    long_ago = timezone.now() - 2 * answering.claim_lifetime()
    run.predictions.update(claimed_at=long_ago)
    answering._Shift(chunk).tick()
    assert answering.claim_chunk(run_id=run.pk) is None


def test_three_claims_without_a_result_make_worker_lost():
    run = started(2)
    for n in (1, 2, 3):
        worker_vanishes(run)
        assert set(run.predictions.values_list("attempts", "state")) == {(n, "pending")}
    work(run)
    run.refresh_from_db()
    assert outcomes(run) == {"worker_lost": 2}
    assert run.state == "done"
    assert run.predictions.first().note == answering.LOST_NOTE


def test_requests_that_failed_do_not_count_as_lost_workers(server):
    server.play(status=500)
    run = asking_server(server, 1)
    for _ in range(2):
        work(run)
        make_due(run)
    # Two requests were sent. Now two workers vanish: four claims, but only two of them without a word.
    for _ in range(2):
        worker_vanishes(run)
    server.play()
    work(run)
    assert outcomes(run) == {"answered": 1}


def test_a_run_that_waits_only_for_claims_is_rung_when_they_would_be_lost():
    run = started(2)
    answering.claim_chunk(run_id=run.pk)
    run.refresh_from_db()
    wait = run.due_at - timezone.now()
    assert timedelta(0) < answering.claim_lifetime() - wait < timedelta(seconds=5)
    assert running.runs_to_ring() == []


def test_a_due_run_is_rung_once_in_a_while_not_all_the_time():
    run = started(1)
    assert running.runs_to_ring() == [run.pk]
    assert running.runs_to_ring() == []
    Run.objects.filter(pk=run.pk).update(due_at=a_moment_ago())
    assert running.runs_to_ring() == [run.pk]


# Pause, resume, cancel, repeat


def test_a_paused_run_hands_nothing_out_and_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr(answering, "BASELINE_CHUNK", 2)
    run = started(5)
    answering.answer_chunk(run_id=run.pk)
    running.pause_run(run=run, by=run.created_by)
    assert answering.claim_chunk(run_id=run.pk) is None
    assert running.runs_to_ring() == []
    assert outcomes(run) == {"answered": 2, "pending": 3}
    running.resume_run(run=run, by=run.created_by)
    work(run)
    assert outcomes(run) == {"answered": 5}
    assert verbs(run) == ["run.created", "run.started", "run.paused", "run.resumed", "run.done"]


def pausing_after(n: int, change: Callable[..., Any], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody presses the button when the worker has stored n results."""
    write, stored = answering._Shift._write, []

    def write_and_change(self: Any, results: Any) -> None:
        write(self, results)
        stored.extend(results)
        if len(stored) == n:
            change(run=run, by=run.created_by)
            self.tick()

    monkeypatch.setattr(answering._Shift, "_write", write_and_change)


def test_pausing_in_the_middle_of_a_chunk_gives_the_rest_back_unasked(server, monkeypatch):
    server.play(text="Yes", latency_ms=200)
    run = asking_server(server, 6)
    pausing_after(2, running.pause_run, run, monkeypatch)
    work(run)
    # One request at a time: at most the one under way at the pause was still sent.
    n_sent = len(server.calls())
    assert 2 <= n_sent <= 3
    assert outcomes(run) == {"answered": n_sent, "pending": 6 - n_sent}
    assert set(run.predictions.filter(state="pending").values_list("attempts", "claim_token")) == {(0, "")}


def test_cancelling_keeps_what_was_paid_for_and_ends_the_rest(server, monkeypatch):
    server.play(text="Yes", latency_ms=200)
    run = asking_server(server, 6)
    pausing_after(2, running.cancel_run, run, monkeypatch)
    run = work(run)
    n_sent = len(server.calls())
    assert outcomes(run) == {"answered": n_sent, "cancelled": 6 - n_sent}
    assert run.state == "cancelled"
    assert Call.objects.filter(prediction__run=run).count() == n_sent
    assert run.n_done == 6


def test_a_cancelled_run_hands_nothing_out_and_can_be_taken_up_again():
    run = started(3)
    running.cancel_run(run=run, by=run.created_by)
    assert answering.claim_chunk(run_id=run.pk) is None
    assert outcomes(run) == {"cancelled": 3}
    running.repeat_failed(run=run, by=run.created_by)
    run = work(run)
    assert outcomes(run) == {"answered": 3}
    assert run.state == "done"


def test_repeating_asks_only_what_failed_and_leaves_every_answer(server):
    server.play(
        {"contains": "claim 0", "behaviour": {"status": 400}},
        {"contains": "claim 1", "behaviour": {"text": "I'm sorry, but I can't help with that."}},
        {"contains": "claim 2", "behaviour": {"text": "Perhaps."}},
    )
    run = work(asking_server(server, 4))
    assert outcomes(run) == {"error": 1, "refused": 1, "unparsed": 1, "answered": 1}
    server.play(text="No")
    running.repeat_failed(run=run, by=run.created_by)
    work(run)
    assert outcomes(run) == {"refused": 1, "unparsed": 1, "answered": 2}
    assert [call["text"].splitlines()[0] for call in server.calls()] == ["question: Is claim 0 true?"]
    assert Call.objects.filter(prediction__run=run).count() == 4


def test_steps_that_a_state_does_not_allow_are_refused():
    run = started(1)
    by = run.created_by
    for step in (running.start_run, running.resume_run, running.discard_draft, running.repeat_failed):
        with pytest.raises(WorkNotPossible):
            step(run=run, by=by)
    work(run)
    for step in (running.pause_run, running.resume_run, running.cancel_run, running.repeat_failed):
        with pytest.raises(WorkNotPossible):
            step(run=run, by=by)
    assert verbs(run) == ["run.created", "run.started", "run.done"]


def test_a_draft_can_be_discarded():
    stage = make_stage()
    admin = make_member(stage.project, "admin")
    run = make_run(stage, make_item_set(stage.project, claims(stage.project, 1)))
    running.discard_draft(run=run, by=admin)
    assert not Run.objects.exists()


def test_a_run_whose_question_was_changed_under_it_stops():
    run = started(2)
    version = run.stage_version
    version.fields[0]["caption"] = "Is it false?"
    version.save()
    run = work(run)
    assert (run.state, run.stopped_because) == ("paused", answering.WORDING_CHANGED)
    assert outcomes(run) == {"pending": 2}


# Exemplars, and what a baseline was fitted on


def few_shot(stage: Stage, exemplars: list[Item], evaluated: list[Item], **fields: Any) -> Run:
    return started(
        make_item_set(stage.project, evaluated),
        stage=stage,
        strategy="few_shot",
        exemplar_set=make_item_set(stage.project, exemplars),
        **fields,
    )


def test_exemplars_are_shown_with_their_gold_answer_in_words():
    stage = make_stage()
    exemplar = make_item(stage.project, [["question", "Is ice cold?"]], gold={"label": ["not_sure"]})
    run = few_shot(stage, [exemplar], claims(stage.project, 1))
    work(run)
    messages = Call.objects.get(prediction__run=run).messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1]["content"].startswith("question: Is ice cold?")
    assert messages[2]["content"] == "Not sure enough"


def test_exemplars_that_overlap_with_the_evaluated_items_are_refused_by_name():
    stage = make_stage()
    table = make_item(stage.project, [["title", "A table"]])
    shared_root = make_item(
        stage.project, [["question", "How old?"]], root=table, parent=table, external_id="ex-1", gold=GOLD
    )
    same_text = make_item(stage.project, [["question", "IS it TRUE"]], external_id="ex-2", gold=GOLD)
    evaluated = [
        make_item(stage.project, [["question", "How tall?"]], root=table, parent=table, external_id="ev-1"),
        make_item(stage.project, [["question", "Is it true?"]], external_id="ev-2"),
    ]
    with pytest.raises(WorkNotPossible, match=r"ex-1 and ev-1 \(same root\); ex-2 and ev-2 \(same text\)"):
        few_shot(stage, [shared_root, same_text], evaluated)
    assert not Run.objects.exists()


def test_exemplars_without_a_usable_gold_label_are_refused_by_name():
    stage = make_stage()
    nameless = make_item(stage.project, [["question", "One?"]], external_id="no-gold")
    unknown = make_item(stage.project, [["question", "Two?"]], external_id="odd-gold", gold={"label": ["perhaps"]})
    with pytest.raises(WorkNotPossible, match="none for no-gold, odd-gold"):
        few_shot(stage, [nameless, unknown], claims(stage.project, 1))


def test_the_majority_baseline_says_what_it_was_fitted_on():
    stage = make_stage()
    evaluated = claims(stage.project, 2)
    fitted_on = [make_item(stage.project, gold={"label": [label]}) for label in ("no", "no", "yes")]
    endpoint = make_endpoint(stage.project, model="majority_label")
    apart = make_item_set(stage.project, fitted_on, name="training labels")
    run = work(started(make_item_set(stage.project, evaluated), stage=stage, endpoint=endpoint, exemplar_set=apart))
    assert set(run.predictions.values_list("answer__label", flat=True)) == {"no"}
    assert run.parameters == {
        "label_counts": {"no": 2, "yes": 1},
        "fitted_on": "gold labels of 3 items of training labels",
    }


def test_the_majority_baseline_without_a_set_of_its_own_says_that_it_saw_the_evaluated_labels():
    run = work(started(3, endpoint=None, stage=(stage := make_stage())))
    assert run.endpoint.model == "seeded_random"
    endpoint = make_endpoint(stage.project, model="majority_label")
    run = work(started(run.item_set, stage=stage, endpoint=endpoint, name="majority"))
    assert run.parameters["label_counts"] == {"yes": 3}
    assert "the evaluated items themselves" in run.parameters["fitted_on"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"strategy": "few_shot"}, "Few-shot needs exemplars"),
        ({"strategy": "three_shot"}, "no prompt strategy"),
        ({"repeats": 0}, "1 to 20 times"),
        ({"repeats": 21}, "1 to 20 times"),
    ],
)
def test_what_could_not_run_is_refused_at_once(fields, said):
    with pytest.raises(WorkNotPossible, match=said):
        started(1, **fields)
    assert not Run.objects.exists()


def test_parameters_that_are_ours_to_set_are_refused(server):
    stage = make_stage()
    endpoint = make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url)
    with pytest.raises(WorkNotPossible, match="cannot be set: messages"):
        started(1, stage=stage, endpoint=endpoint, parameters={"messages": []})


def test_rows_of_another_project_are_refused():
    stage, elsewhere = make_stage(), make_stage()
    foreign = make_item_set(elsewhere.project, claims(elsewhere.project, 1))
    with pytest.raises(WorkNotPossible, match="one project"):
        started(foreign, stage=stage)


# Prompts before anything is spent


def test_the_first_prompts_can_be_read_before_the_start_and_are_those_that_are_sent(server):
    stage = make_stage()
    endpoint = make_endpoint(stage.project, provider="openai", model="small", base_url=server.base_url, max_in_flight=1)
    admin = make_member(stage.project, "admin")
    draft = running.create_run(
        project=stage.project,
        by=admin,
        name="draft",
        item_set=make_item_set(stage.project, claims(stage.project, 7)),
        stage_version=stage.versions.get(),
        endpoint=endpoint,
    )
    before = prompting.sample_prompts(draft)
    assert len(before) == 5
    assert server.calls() == []
    assert not any(prompt.was_sent or prompt.failure for prompt in before)
    run = work(running.start_run(run=draft, by=admin))
    after = prompting.sample_prompts(run)
    assert all(prompt.was_sent for prompt in after)
    assert [prompt.messages for prompt in after] == [prompt.messages for prompt in before]


def test_the_strategies_offered_are_those_there_are():
    assert set(facts.STRATEGIES) == set(STRATEGIES)
