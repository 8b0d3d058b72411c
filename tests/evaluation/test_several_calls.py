"""Runs whose answers take several calls: rows and real HTTP, in one process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.exceptions import WorkNotPossible
from annotate.models import Stage
from evaluation.exported import prediction_rows
from evaluation.models import Call, Prediction, Run, Trial
from evaluation.services import answering, prompting, running, trials
from tests.evaluation.runs import claims, make_due, outcomes, started, work, worker_vanishes
from tests.evaluation.studies import make_study
from tests.factories import make_endpoint, make_item_set, make_member, make_run, make_stage
from tests.openai_server import Running

pytestmark = pytest.mark.django_db
THINKS = {"contains": "step by step", "behaviour": {"text": "Claims are mostly so.", "usage": [20, 9]}}


def two_stages(server: Running, n_items: int = 3, *, stage: Stage | None = None, **fields: Any) -> Run:
    stage = stage or make_stage()
    limits = fields.pop("limits", {})
    endpoint = make_endpoint(
        stage.project,
        **{"provider": "openai", "model": "small", "base_url": server.base_url, "max_in_flight": 1} | limits,
    )
    items = make_item_set(stage.project, claims(stage.project, n_items))
    values = {"strategy": "zero_shot_cot", "parameters": {"temperature": 0, "max_tokens": 50}}
    return started(items, stage=stage, endpoint=endpoint, **values | fields)


def steps(run: Run, *names: str) -> list[tuple[Any, ...]]:
    calls = Call.objects.filter(prediction__run=run).order_by("prediction__position", "step")
    return list(calls.values_list("step", *names))


def page(run: Run, name: str = "run", *arguments: Any) -> str:
    client = Client()
    client.force_login(make_member(run.project, "admin"))
    response = client.get(reverse(name, args=[run.project.slug, run.pk, *arguments]))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


# Both calls, stored, shown and exported


def test_a_model_reasons_and_is_then_asked_for_the_answer(server):
    server.play(THINKS, text="Yes")
    run = work(two_stages(server))
    assert outcomes(run) == {"answered": 3}
    assert steps(run, "completion", "attempts") == 3 * [(0, "Claims are mostly so.", 1), (1, "Yes", 1)]
    assert set(run.predictions.values_list("answer__label", "attempts", "claim_token")) == {("yes", 2, "")}
    first, second = run.predictions.first().calls.order_by("step")
    assert second.messages == [
        *first.messages,
        {"role": "assistant", "content": "Claims are mostly so."},
        {
            "role": "user",
            "content": "Therefore, the answer is one of: Yes / No / Not sure enough\nReply with it and nothing else.",
        },
    ]
    # 3 times 20 and 9 tokens for the reasoning, 11 and 3 for the answer.
    assert (run.state, run.n_done, run.prompt_tokens, run.completion_tokens) == ("done", 3, 93, 36)
    assert (run.n_counted, len(server.calls())) == (6, 6)


def test_both_steps_stand_on_the_pages_and_in_the_export(server):
    server.play(THINKS, text="Yes")
    run = work(two_stages(server, 1))
    text = page(run, "prediction", run.predictions.get().pk)
    at = [text.index(words) for words in ("Step 1 of 2: reasoning", "Claims are mostly so.", "Step 2 of 2: answer")]
    assert at == sorted(at)
    listed = page(run)
    assert "zero-shot chain of thought" in listed
    # Requests of both, and the last completion beside the answer.
    assert '<td class="n">2</td>' in listed
    columns, *rows = prediction_rows(project=run.project)
    told = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [(row["step"], row["completion"], row["answer.label"]) for row in told] == [
        (0, "Claims are mostly so.", "yes"),
        (1, "Yes", "yes"),
    ]


def test_side_by_side_shows_what_each_step_said(client):
    study = make_study(n_items=4, n_runs=1)
    (run,) = study.runs
    Run.objects.filter(pk=run.pk).update(strategy="zero_shot_cot")
    prediction = run.predictions.order_by("position").first()
    first = prediction.calls.get()
    Call.objects.filter(pk=first.pk).update(completion="Rivers run.")
    Call.objects.create(
        prediction=prediction, step=1, messages=[], completion="So I say it.", finished_at=first.finished_at
    )
    report = study.made_report()
    client.force_login(study.admin)
    text = client.get(reverse("side-by-side", args=[study.project.slug]), {"report": report.pk}).content.decode()
    at = [
        text.index(words) for words in ("Step 1 of 2: reasoning", "Rivers run.", "Step 2 of 2: answer", "So I say it.")
    ]
    assert at == sorted(at)


def test_a_server_of_plain_text_gets_both_stages_as_texts(server):
    server.play({"contains": "Therefore", "behaviour": {"text": "No"}}, text="Claims are seldom so.")
    run = work(two_stages(server, 1, limits={"protocol": "text"}))
    assert run.predictions.get().answer == {"label": "no"}
    first, second = (call["text"] for call in server.calls())
    assert second.startswith(first.rstrip("\n"))
    assert "Claims are seldom so.\n\nTherefore" in second


# Votes

CHANCE = {"temperature": 0.7, "max_tokens": 50, "seed": 40}


def voting(server: Running, n_items: int = 1, **fields: Any) -> Run:
    values = {"strategy": "self_consistency", "parameters": CHANCE, "n_steps": 3}
    return two_stages(server, n_items, **values | fields)


def saying(*texts: str) -> list[dict[str, Any]]:
    """The first call gets the first text, and so on."""
    return [{"contains": "claim", "times": 1, "behaviour": {"text": text}} for text in texts]


def test_the_answers_of_the_samples_vote(server):
    server.play(*saying("Perhaps. Answer: No", "Hm. Answer: Yes"), text="So it is. Answer: Yes")
    run = work(voting(server, repeats=2))
    first, second = run.predictions.order_by("repeat")
    assert (first.answer, first.attempts) == ({"label": "yes"}, 3)
    assert first.note == "Vote of 3 samples, majority (more than half): Yes 2, No 1"
    assert second.note == "Vote of 3 samples, unanimous: Yes 3"
    readings = [call.reading for call in first.calls.order_by("step")]
    assert [reading["answer"] for reading in readings] == [{"label": "no"}, {"label": "yes"}, {"label": "yes"}]
    # No two samples of the run have the same seed.
    assert sorted(call["asked"]["seed"] for call in server.calls()) == [40, 41, 42, 43, 44, 45]
    assert (run.n_counted, run.prompt_tokens) == (6, 66)


def test_the_votes_stand_on_the_page_of_the_prediction_and_in_the_export(server):
    server.play(*saying("Answer: No", "Who knows?"), text="Answer: Yes")
    run = work(voting(server))
    prediction = run.predictions.get()
    assert prediction.state == "tied"
    text = page(run, "prediction", prediction.pk)
    assert "tied vote" in text
    assert "Vote of 3 samples, tie (nobody wins): No 1, Yes 1; without a vote: 1 unparsed" in text
    rows = [
        f'<th scope="row">Sample {n}</th><td>{state}</td>'
        for n, state in ((1, "answered"), (2, "unparsed"), (3, "answered"))
    ]
    assert all(row in text for row in rows)
    listed = page(run)
    assert "self-consistency" in listed
    assert "<dt>Samples</dt><dd>3</dd>" in listed
    assert "tied vote" in listed
    columns, *exported = prediction_rows(project=run.project)
    told = [dict(zip(columns, row, strict=True)) for row in exported]
    assert [(row["step"], row["reading"]["state"], row["n_steps"]) for row in told] == [
        (0, "answered", 3),
        (1, "unparsed", 3),
        (2, "answered", 3),
    ]


def test_a_vote_goes_on_after_a_fault_with_the_samples_that_there_are(server):
    server.play(
        *saying("Answer: No", "Answer: No"),
        {"contains": "claim", "times": 1, "behaviour": {"status": 503}},
        text="Answer: Yes",
    )
    run = work(voting(server))
    assert outcomes(run) == {"pending": 1}
    make_due(run)
    work(run)
    prediction = run.predictions.get()
    # What the first two samples said was kept with them, and is counted as it was read then.
    assert prediction.note == "Vote of 3 samples, majority (more than half): No 2, Yes 1"
    assert steps(run, "attempts") == [(0, 1), (1, 1), (2, 2)]


def test_a_trial_of_a_vote_shows_its_samples(server):
    server.play(text="Answer: Yes")
    run = draft(server, 1, strategy="self_consistency", parameters={"temperature": 1.0}, n_steps=4)
    (result,) = tried(run).results
    assert [call["reading"]["answer"] for call in result["calls"]] == [{"label": "yes"}] * 4
    assert trials.estimate_of(trials.latest_trial(run), run).requests.mean == 4
    text = page(run, "run-trial")
    assert "Sample 4" in text
    assert "Vote of 4 samples, unanimous: Yes 4" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"parameters": {"temperature": 0}}, "all samples would be the same"),
        ({"n_steps": 1}, "Samples: from 2 to 50"),
        ({"n_steps": 51}, "Samples: from 2 to 50"),
        ({"strategy": "zero_shot", "n_steps": 3}, "leave samples and rounds empty"),
    ],
)
def test_a_vote_that_could_not_be_one_is_refused(server, fields, said):
    with pytest.raises(WorkNotPossible, match=said):
        voting(server, **fields)


def test_as_many_samples_as_usual_vote_where_none_are_asked_for(server):
    assert voting(server, n_steps=None).n_steps == 5


# Rounds

TABLE = [
    {"name": "rows", "type": "table", "caption": "Which cities?", "decides": True, "columns": ["city", "people"]},
]
MORE = "List more rows"


def table(*names: str) -> str:
    return json.dumps([{"city": name, "people": 100} for name in names])


def in_rounds(server: Running, n_items: int = 1, **fields: Any) -> Run:
    return two_stages(server, n_items, stage=make_stage(form=TABLE), strategy="until_empty", **fields)


def replying(*texts: str) -> list[dict[str, Any]]:
    """To each request for more, in turn."""
    return [{"contains": MORE, "times": 1, "behaviour": {"text": text}} for text in texts]


def test_rows_are_asked_for_until_there_are_none_and_joined(server):
    server.play(*replying(table("Jena", "Ulm"), "[]"), text=table("Ulm"))
    run = work(in_rounds(server))
    prediction = run.predictions.get()
    assert prediction.answer == {"rows": {"columns": ["city", "people"], "rows": [["Ulm", "100"], ["Jena", "100"]]}}
    assert prediction.note == "Rows: 2. Rounds: 3. Repeated rows left out: 1. Ended by: an empty table"
    # The tokens of all rounds are counted.
    assert (run.n_counted, run.prompt_tokens, run.completion_tokens) == (3, 33, 9)
    readings = [reading["answer"]["rows"]["rows"] for _step, reading in steps(run, "reading")]
    assert readings == [[["Ulm", "100"]], [["Jena", "100"], ["Ulm", "100"]], []]
    text = page(run, "prediction", prediction.pk)
    assert "2 rows of city, people" in text
    assert "Call 3" in text
    assert "Ended by: an empty table" in text
    assert "<dt>Rounds at most</dt><dd>10</dd>" in page(run)


def test_the_page_takes_a_last_reply_that_names_no_columns(server):
    server.play(*replying("[]"), text=table("Ulm"))
    form = [{key: value for key, value in TABLE[0].items() if key != "columns"}]
    run = work(two_stages(server, 1, stage=make_stage(form=form), strategy="until_empty"))
    text = page(run, "prediction", run.predictions.get().pk)
    assert "1 row of city, people" in text
    assert "a table without rows" in text


def test_broken_json_in_a_later_round_is_asked_for_once_more(server):
    mended = {"contains": "cannot be read", "behaviour": {"text": table("Jena")}}
    server.play(*replying("the city of Jena", "[]"), mended, text=table("Ulm"))
    run = work(in_rounds(server))
    prediction = run.predictions.get()
    assert prediction.answer is not None
    assert prediction.answer["rows"]["rows"] == [["Ulm", "100"], ["Jena", "100"]]
    assert [reading["state"] for _step, reading in steps(run, "reading")] == [
        "answered", "unparsed", "answered", "answered"
    ]  # fmt: skip
    server.play(
        *replying("the city of Jena"), {"contains": "cannot be read", "behaviour": {"text": "Jena!"}}, text=table("Ulm")
    )
    run = work(in_rounds(server))
    prediction = run.predictions.get()
    assert prediction.note.endswith("Ended by: a reply that could not be read, asked for twice")
    assert prediction.answer is not None


def test_a_round_that_fails_is_repeated_and_the_rows_before_it_stay(server):
    server.play({"contains": MORE, "times": 1, "behaviour": {"status": 500}}, *replying("[]"), text=table("Ulm"))
    run = work(in_rounds(server))
    assert outcomes(run) == {"pending": 1}
    make_due(run)
    work(run)
    assert steps(run, "attempts") == [(0, 1), (1, 2)]
    assert run.predictions.get().note.startswith("Rows: 1. Rounds: 2.")


def test_a_chat_that_grew_too_long_ends_the_rounds_with_the_rows_that_there_are(server):
    server.play({"contains": MORE, "behaviour": {"status": 400, "message": "too long"}}, text=table("Ulm"))
    run = work(in_rounds(server))
    prediction = run.predictions.get()
    assert (prediction.state, run.state) == ("answered", "done")
    assert prediction.note.endswith("Ended by: an error: HTTP 400: too long")
    assert steps(run, "error_kind") == [(0, ""), (1, "bad_request")]


def test_the_limit_and_the_kind_of_question_are_checked(server):
    server.play(text=table("Ulm"))
    run = work(in_rounds(server, n_steps=1))
    assert run.predictions.get().note == "Rows: 1. Rounds: 1. Ended by: the limit of rounds"
    assert len(server.calls()) == 1
    with pytest.raises(WorkNotPossible, match="for answers that are tables"):
        two_stages(server, strategy="until_empty")


def test_a_trial_of_rounds_reckons_with_as_many_calls_as_its_items_took(server):
    server.play(*replying("[]"), text=table("Ulm"))
    run = draft(server, 2, stage=make_stage(form=TABLE), strategy="until_empty", n_steps=3)
    assert "Further ones follow" in page(run)
    results = tried(run).results
    # The first reply to "more" is empty, every other one says the same again.
    assert sorted(len(result["calls"]) for result in results) == [2, 2]
    found = trials.estimate_of(trials.latest_trial(run), run)
    assert (found.n_answers, found.requests.mean) == (2, 4)


# Faults between the steps


def test_an_error_in_the_second_step_repeats_that_step_alone(server):
    server.play(
        THINKS, {"contains": "Therefore", "times": 2, "behaviour": {"status": 500, "message": "down"}}, text="Yes"
    )
    run = two_stages(server, 1)
    for n_sent in (1, 2):
        work(run)
        prediction = run.predictions.get()
        assert (prediction.state, prediction.note) == ("pending", "HTTP 500: down")
        assert steps(run, "attempts", "error_kind") == [(0, 1, ""), (1, n_sent, "server_error")]
        make_due(run)
    work(run)
    prediction = run.predictions.get()
    assert (prediction.state, prediction.answer, prediction.attempts) == ("answered", {"label": "yes"}, 4)
    assert steps(run, "attempts", "error_kind") == [(0, 1, ""), (1, 3, "")]
    assert [call["text"].startswith("Therefore") for call in server.calls()] == [False, True, True, True]


def test_a_step_that_fails_for_good_is_repeated_on_request_without_the_steps_before_it(server):
    server.play(THINKS, {"contains": "Therefore", "behaviour": {"body": '{"choices": [{"mess'}})
    run = work(two_stages(server, 1))
    assert outcomes(run) == {"error": 1}
    server.play(THINKS, text="No")
    running.repeat_failed(run=run, by=run.created_by)
    # One request is in the books, that of the first step.
    assert run.predictions.get().attempts == 1
    work(run)
    assert run.predictions.get().answer == {"label": "no"}
    assert [call["text"].startswith("Therefore") for call in server.calls()] == [True]


def test_being_told_to_slow_down_between_the_steps_loses_nothing(server):
    server.play(
        THINKS, {"contains": "Therefore", "times": 1, "behaviour": {"status": 429, "retry_after": "60"}}, text="Yes"
    )
    run = work(two_stages(server, 2))
    assert outcomes(run) == {"pending": 2}
    assert run.due_at is not None
    n_reasoned = Call.objects.filter(prediction__run=run, step=0).count()
    make_due(run)
    work(run)
    assert outcomes(run) == {"answered": 2}
    n_first = sum(not call["text"].startswith("Therefore") for call in server.calls())
    assert (n_first, Call.objects.filter(prediction__run=run, step=0).count()) == (2, 2)
    assert n_reasoned >= 1


def test_a_worker_that_vanishes_between_the_steps_costs_the_call_in_flight_and_no_other(server):
    server.play(THINKS, {"contains": "Therefore", "behaviour": {"status": 500}})
    run = work(two_stages(server, 1))
    make_due(run)
    server.play(THINKS, text="Yes")
    worker_vanishes(run)
    work(run)
    prediction = run.predictions.get()
    # The first step, the failed second, the one that vanished unsent, and the one that was answered.
    assert (prediction.answer, prediction.attempts) == ({"label": "yes"}, 4)
    assert len(server.calls()) == 1


def test_a_reply_to_a_claim_that_was_lost_meanwhile_is_dropped_and_nothing_further_is_asked(server, monkeypatch):
    server.play(THINKS, text="Yes")
    run = two_stages(server, 1)
    write = answering._Shift._write

    def lose_and_write(self: Any, results: Any) -> None:
        if results:
            run.predictions.update(claim_token="somebody else's")
        write(self, results)

    with monkeypatch.context() as patched:
        patched.setattr(answering._Shift, "_write", lose_and_write)
        run = work(run)
    assert (len(server.calls()), Call.objects.count()) == (1, 0)
    # It was paid for all the same.
    assert run.prompt_tokens == 20


def test_pausing_between_the_steps_keeps_the_first_and_goes_on_with_the_second(server, monkeypatch):
    server.play(THINKS, text="Yes")
    run = two_stages(server, 2)
    write = answering._Shift._write

    def write_and_pause(self: Any, results: Any) -> None:
        if results and Run.objects.filter(pk=run.pk, state="running").exists():
            running.pause_run(run=run, by=run.created_by)
            self.tick()
        write(self, results)

    with monkeypatch.context() as patched:
        patched.setattr(answering._Shift, "_write", write_and_pause)
        work(run)
    n_before = len(server.calls())
    assert set(run.predictions.values_list("state", "claim_token")) == {("pending", "")}
    kept = steps(run, "completion")
    assert {step for step, _ in kept} == {0}
    running.resume_run(run=run, by=run.created_by)
    work(run)
    assert outcomes(run) == {"answered": 2}
    assert len(server.calls()) == 4
    assert n_before == len(kept)


def test_a_completion_of_a_cancelled_run_is_kept_and_nothing_further_is_asked(server, monkeypatch):
    server.play(THINKS, text="Yes")
    run = two_stages(server, 1)
    write = answering._Shift._write

    def cancel_and_write(self: Any, results: Any) -> None:
        if results:
            running.cancel_run(run=run, by=run.created_by)
        write(self, results)

    with monkeypatch.context() as patched:
        patched.setattr(answering._Shift, "_write", cancel_and_write)
        run = work(run)
    assert outcomes(run) == {"cancelled": 1}
    assert steps(run, "completion") == [(0, "Claims are mostly so.")]
    assert (len(server.calls()), run.prompt_tokens) == (1, 20)
    running.repeat_failed(run=run, by=run.created_by)
    work(run)
    assert (outcomes(run), len(server.calls())) == ({"answered": 1}, 2)


def test_a_worker_whose_time_for_claims_is_over_leaves_the_next_step_to_the_next_bell(server, monkeypatch):
    monkeypatch.setattr(answering, "CLAIMING_SECONDS", 0.0)
    server.play(THINKS, text="Yes")
    run = two_stages(server, 2)
    assert answering.answer_chunk(run_id=run.pk)
    assert {step for (step,) in steps(run)} == {0}
    assert set(run.predictions.values_list("attempts", "claim_token")) == {(1, "")}
    for _ in range(3):
        answering.answer_chunk(run_id=run.pk)
    assert outcomes(run) == {"answered": 2}
    assert len(server.calls()) == 4


# Budget, store, trial


def test_the_budget_ends_between_the_steps_and_a_raised_one_goes_on_there(server):
    server.play(THINKS, text="Yes")
    run = work(two_stages(server, 5, budget_tokens=60))
    # 29 tokens for a first step, 14 for a second: with the third completion 58 or more are spent.
    assert run.state == "paused"
    assert "budget of 60 tokens is spent" in run.stopped_because
    spent = run.prompt_tokens + run.completion_tokens
    assert 60 <= spent < 60 + 29
    n_before = len(server.calls())
    Run.objects.filter(pk=run.pk).update(budget_tokens=None)
    running.resume_run(run=run, by=run.created_by)
    assert outcomes(work(run)) == {"answered": 5}
    assert len(server.calls()) == 10 > n_before


def test_both_steps_are_taken_from_an_earlier_run(server):
    server.play(THINKS, text="Yes")
    stage = make_stage()
    first = work(two_stages(server, 2, stage=stage))
    again = started(
        first.item_set,
        stage=stage,
        endpoint=first.endpoint,
        name="again",
        strategy="zero_shot_cot",
        parameters=first.parameters,
        reuses_answers=True,
    )
    again = work(again)
    assert outcomes(again) == {"answered": 2}
    assert len(server.calls()) == 4
    assert steps(again, "completion", "attempts") == 2 * [(0, "Claims are mostly so.", 0), (1, "Yes", 0)]
    assert set(Call.objects.filter(prediction__run=again).values_list("reused_from", flat=True)) == set(
        Call.objects.filter(prediction__run=first).values_list("pk", flat=True)
    )
    assert again.prompt_tokens == 0


def tried(run: Run) -> Trial:
    trial = trials.start_trial(run=run, by=run.created_by)
    trials.make_trial(trial_id=trial.pk)
    trial.refresh_from_db()
    return trial


def draft(server: Running, n_items: int = 6, **fields: Any) -> Run:
    stage = fields.pop("stage", None) or make_stage()
    limits = fields.pop("limits", {})
    endpoint = make_endpoint(
        stage.project, provider="openai", model="small", base_url=server.base_url, max_in_flight=2, **limits
    )
    values = {"strategy": "zero_shot_cot", "parameters": {"max_tokens": 50}}
    items = make_item_set(stage.project, claims(stage.project, n_items))
    admin = make_member(stage.project, "admin")
    return make_run(stage, items, endpoint=endpoint, created_by=admin, **values | fields)


def test_a_trial_asks_both_steps_and_reckons_with_twice_the_calls(server):
    server.play(THINKS, text="Yes")
    run = draft(server, 6, repeats=2, limits={"input_price": 1, "output_price": 1, "currency": "EUR"})
    trial = tried(run)
    assert (trial.state, trial.n_done) == ("done", 5)
    for result in trial.results:
        assert [call["completion"] for call in result["calls"]] == ["Claims are mostly so.", "Yes"]
        assert (result["state"], result["answer"]) == ("answered", {"label": "yes"})
    found = trials.estimate_of(trial, run)
    assert (found.n_tried, found.n_answers, found.requests.mean) == (5, 12, 24)
    # 12 times 31 tokens in and 12 out.
    assert (found.tokens_in.mean, found.tokens_out.mean) == (372, 144)
    assert not Prediction.objects.exists()
    text = page(run, "run-trial")
    assert "Step 1 of 2: reasoning" in text
    assert "<dt>Requests</dt><dd>24</dd>" in text
    assert "Starting sends 24 requests" in page(run)


def test_an_error_in_the_second_step_of_a_trial_is_told_beside_the_first(server):
    server.play(THINKS, {"contains": "Therefore", "times": 1, "behaviour": {"status": 500, "message": "down"}})
    run = draft(server, 2)
    failed = [result for result in tried(run).results if result["error"]]
    assert [result["error"] for result in failed] == ["HTTP 500: down"]
    assert [call["completion"] for call in failed[0]["calls"]] == ["Claims are mostly so.", ""]
    text = page(run, "run-trial")
    assert "HTTP 500: down" in text


def test_the_prompts_of_a_draft_show_where_the_model_speaks(server):
    run = draft(server, 1)
    (prompt,) = prompting.sample_prompts(run)
    assert [message["role"] for message in prompt.messages] == ["system", "user", "reply", "user"]
    assert "what the model replies" in page(run, "run-prompts")
    assert server.calls() == []


def test_a_baseline_is_asked_once():
    with pytest.raises(WorkNotPossible, match="answers at once"):
        started(1, strategy="zero_shot_cot")
