"""When processes die, brokers vanish and bells ring twice: real workers, real HTTP, exact numbers."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Person, Stage
from config.bells import ring
from evaluation.models import Call, EndpointShare, Prediction, Run, Trial
from evaluation.services import running
from evaluation.tasks import answer_chunk
from tests.factories import make_endpoint, make_item, make_item_set, make_member, make_project, make_stage
from tests.openai_server import Running, serving
from tests.workers import Processes, empty_queue, processes, stoppable_broker, wait_until

# Other processes see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def server(log: Path) -> Iterator[Running]:
    with serving(log=log) as server:
        yield server


@pytest.fixture
def started(tmp_path: Path, server: Running) -> Iterator[Processes]:
    empty_queue()
    with processes(tmp_path, GOLDPANEL_PRIVATE_ENDPOINTS=server.host_and_port) as started:
        yield started


@pytest.fixture
def stage() -> Stage:
    return make_stage(make_project())


@pytest.fixture
def admin(stage: Stage) -> Person:
    return make_member(stage.project, "admin")


@pytest.fixture
def draft(stage: Stage, admin: Person, server: Running) -> Callable[..., Run]:
    """draft(n, name): a run on n new items that has not started."""

    def make(
        n: int, name: str = "run", *, in_flight: int = 4, timeout: int = 20, strategy: str = "zero_shot", **limits: int
    ) -> Run:
        endpoint = make_endpoint(
            stage.project,
            provider="openai",
            model="small",
            base_url=server.base_url,
            max_in_flight=in_flight,
            timeout_seconds=timeout,
            **limits,
        )
        items = [make_item(stage.project, [["question", f"Is {name} {k} true?"]]) for k in range(n)]
        return running.create_run(
            project=stage.project,
            by=admin,
            name=name,
            item_set=make_item_set(stage.project, items),
            stage_version=stage.versions.get(),
            endpoint=endpoint,
            strategy=strategy,
        )

    return make


def asked_items(log: Path, what: str = "arrived") -> Counter[str]:
    """How often the server got (or answered) each question, from its own log."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    entries = [json.loads(line) for line in lines]
    return Counter(entry["text"].splitlines()[0] for entry in entries if entry["what"] == what)


def question(prediction: Prediction) -> str:
    return f"question: {prediction.revision.content[0][1]}"


def outcomes(run: Run) -> dict[str, int]:
    return dict(Counter(run.predictions.values_list("state", flat=True)))


def ends(run: Run, seconds: float = 60) -> bool:
    return wait_until(lambda: Run.objects.filter(pk=run.pk, state__in=["done", "paused"]).exists(), seconds)


def test_kill_9_while_calls_are_in_flight_repeats_those_and_nothing_else(started, server, log, draft, admin):
    # Short, so that the second worker need not wait long; long enough for a busy machine to renew its claims.
    started.environment["GOLDPANEL_CLAIM_SECONDS"] = "6"
    # The sentinel: the server is still busy with this one when the worker dies.
    slow = {"contains": "run 9 true", "times": 1, "behaviour": {"text": "Yes", "latency_ms": 4000}}
    server.play(slow, text="Yes", latency_ms=150)
    run = running.start_run(run=draft(40), by=admin)
    started.scheduler()
    worker = started.worker()
    sentinel = "question: Is run 9 true?"
    assert wait_until(lambda: asked_items(log)[sentinel] == 1 and run.predictions.filter(state="answered").count() > 12)
    worker.kill()
    arrived = asked_items(log)
    stored = {question(row) for row in run.predictions.filter(state="answered").select_related("revision")}
    in_flight = arrived.keys() - stored
    assert sentinel in in_flight
    assert asked_items(log, "finished")[sentinel] == 0
    # Four places, and a result may be on its way from each to its row.
    assert 1 <= len(in_flight) <= 8
    assert outcomes(run)["pending"] == 40 - len(stored)

    started.worker()
    assert ends(run)
    assert outcomes(run) == {"answered": 40}
    assert Call.objects.filter(prediction__run=run).count() == 40
    # Every item was asked once, and once more exactly where the answer died with the worker.
    asked = asked_items(log)
    assert {text for text, n in asked.items() if n == 2} == in_flight
    assert asked.total() == 40 + len(in_flight)
    attempts = Counter(run.predictions.values_list("attempts", flat=True))
    assert attempts.keys() <= {1, 2}
    assert Run.objects.get(pk=run.pk).state == "done"


def asked_steps(log: Path, what: str = "arrived") -> Counter[tuple[int, int]]:
    """How often the server got (or answered) each step of each item, by the turns it was sent."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    entries = [json.loads(line) for line in lines]
    return Counter(
        (int(entry["turns"][1].split()[3]), (len(entry["turns"]) - 2) // 2)
        for entry in entries
        if entry["what"] == what
    )


def test_kill_9_between_two_steps_repeats_what_was_in_flight_and_nothing_else(started, server, log, draft, admin):
    started.environment["GOLDPANEL_CLAIM_SECONDS"] = "6"
    # The sentinel: the server is still busy with the second step of this one when the worker dies.
    slow = {"contains": "Therefore", "anywhere": "run 2 true", "times": 1, "behaviour": {"latency_ms": 4000}}
    server.play(
        slow, {"contains": "step by step", "behaviour": {"text": "It is so.", "latency_ms": 150}}, latency_ms=150
    )
    run = running.start_run(run=draft(24, strategy="zero_shot_cot"), by=admin)
    started.scheduler()
    worker = started.worker()
    assert wait_until(lambda: asked_steps(log)[2, 1] == 1 and run.predictions.filter(state="answered").count() > 4)
    worker.kill()
    arrived = asked_steps(log)
    stored = {
        (position, step)
        for position, step in Call.objects.filter(prediction__run=run).values_list("prediction__position", "step")
    }
    in_flight = arrived.keys() - stored
    assert (2, 1) in in_flight
    assert (2, 0) in stored
    assert 1 <= len(in_flight) <= 8

    started.worker()
    assert ends(run)
    assert outcomes(run) == {"answered": 24}
    calls = Call.objects.filter(prediction__run=run)
    assert set(calls.values_list("step", "completion")) == {(0, "It is so."), (1, "Yes")}
    assert calls.count() == 48
    # Every step was asked once, and once more exactly where the answer died with the worker.
    asked = asked_steps(log)
    assert {step for step, n in asked.items() if n == 2} == in_flight
    assert asked.total() == 48 + len(in_flight)


def test_a_stopped_broker_holds_up_no_request_and_loses_no_work(tmp_path, server, log, draft, stage, admin):
    with (
        stoppable_broker(tmp_path) as broker,
        processes(tmp_path, GOLDPANEL_PRIVATE_ENDPOINTS=server.host_and_port, **broker.environment) as started,
    ):
        empty_queue()
        server.play(text="Yes", latency_ms=100)
        first = draft(60, "first", in_flight=2)
        second = draft(15, "second", in_flight=2)
        started.scheduler()
        started.worker()
        client = Client()
        client.force_login(admin)
        client.post(reverse("run-start", args=[stage.project.slug, first.pk]))
        assert wait_until(lambda: asked_items(log).total() > 3)

        broker.stop()
        begun = time.monotonic()
        response = client.post(reverse("run-start", args=[stage.project.slug, second.pk]))
        assert response.status_code == 302
        assert time.monotonic() - begun < 3
        second.refresh_from_db()
        assert (second.state, second.predictions.count()) == ("waiting", 15)
        # The chunk in the worker's hands needs no broker.
        n_asked = asked_items(log).total()
        assert wait_until(lambda: asked_items(log).total() > n_asked)
        broker.start()

        assert ends(first)
        assert ends(second)
        assert (outcomes(first), outcomes(second)) == ({"answered": 60}, {"answered": 15})
        assert Call.objects.count() == 75
        assert asked_items(log).total() == 75
        assert set(asked_items(log).values()) == {1}


def test_many_bells_and_two_workers_make_no_second_call(started, server, log, draft, admin):
    server.play(text="Yes", latency_ms=30)
    run = running.start_run(run=draft(90, in_flight=2), by=admin)
    for _ in range(12):
        assert ring(answer_chunk, run.pk)
    started.worker(n_processes=2)
    started.worker()
    assert ends(run)
    assert outcomes(run) == {"answered": 90}
    assert Call.objects.filter(prediction__run=run).count() == 90
    assert asked_items(log).total() == 90
    assert set(run.predictions.values_list("attempts", flat=True)) == {1}
    # A bell for a run that is done finds nothing.
    assert ring(answer_chunk, run.pk)
    time.sleep(1)
    assert asked_items(log).total() == 90


def test_every_kind_of_failure_is_told_and_none_is_taken_for_an_answer(started, server, log, draft, admin):
    server.play(
        {"contains": "run 0 true", "behaviour": {"status": 500}},
        {"contains": "run 1 true", "times": 1, "behaviour": {"status": 429, "retry_after": "1"}},
        {"contains": "run 2 true", "behaviour": {"mode": "hang"}},
        {"contains": "run 3 true", "behaviour": {"text": ""}},
        {"contains": "run 4 true", "behaviour": {"mode": "endless"}},
        {"contains": "run 5 true", "behaviour": {"text": "Perhaps, who knows."}},
        {"contains": "run 6 true", "times": 1, "behaviour": {"mode": "drop"}},
        text="Yes",
    )
    run = running.start_run(run=draft(12, in_flight=3, timeout=1), by=admin)
    started.scheduler()
    started.worker()
    assert ends(run)
    run.refresh_from_db()
    assert run.state == "done"
    states = list(run.predictions.order_by("position").values_list("state", flat=True))
    assert states == ["error", "answered", "timed_out", "empty", "error", "unparsed", *["answered"] * 6]
    assert run.predictions.filter(answer__isnull=True).exclude(note="").count() == 5
    asked = {int(text.split()[3]): n for text, n in asked_items(log).items()}
    # What may heal is asked three times, or until it healed; what said something is asked once.
    assert asked == {0: 3, 1: 2, 2: 3, 3: 1, 4: 1, 5: 1, 6: 2, **dict.fromkeys(range(7, 12), 1)}
    assert Call.objects.filter(prediction__run=run).count() == 12


def test_an_endpoint_that_refuses_us_stops_the_run_and_costs_no_item(started, server, draft, admin):
    server.play(status=401, message="no such key")
    refused = running.start_run(run=draft(30, "refused"), by=admin)
    started.worker()
    assert ring(answer_chunk, refused.pk)
    assert ends(refused)
    refused.refresh_from_db()
    assert (refused.state, refused.stopped_because) == ("paused", "HTTP 401: no such key")
    assert outcomes(refused) == {"pending": 30}
    # At most what was in flight when the first refusal came.
    assert 1 <= len(server.calls()) <= 4


def both_have_places() -> bool:
    """Whether two workers share an endpoint at the same moment."""
    return wait_until(lambda: EndpointShare.objects.filter(places__gt=0).count() == 2)


def test_two_workers_together_keep_to_the_limits_of_an_endpoint(started, server, draft, admin):
    # 1,200 requests a minute are 20 a second, and of 60 tokens each no more than 72,000 tokens.
    server.play(text="Yes", latency_ms=250, usage=[50, 10])
    limits = {"requests_per_minute": 1200, "tokens_per_minute": 72_000}
    started.workers(2)
    run = running.start_run(run=draft(260, in_flight=6, **limits), by=admin)
    started.scheduler()
    assert both_have_places()
    assert ends(run)
    assert outcomes(run) == {"answered": 260}
    calls = sorted(server.calls(), key=lambda call: call["arrived"])
    assert len(calls) == 260
    # As the server counted them: never more than six at once, whoever sent them.
    assert max(sum(one["arrived"] <= call["arrived"] < one["finished"] for one in calls) for call in calls) <= 6
    # A place in the minute may be used a second late, so k seconds hold k + 1 seconds' worth, and not one call more.
    arrived = [call["arrived"] for call in calls]
    for first, last in itertools.combinations(range(len(arrived)), 2):
        assert last - first + 1 <= 20 * (arrived[last] - arrived[first] + 1) + 1
    assert not EndpointShare.objects.exists()


def test_a_pause_that_one_worker_is_told_of_holds_for_the_other(started, server, draft, admin):
    server.play(text="Yes", latency_ms=200)
    started.workers(2)
    run = running.start_run(run=draft(240, in_flight=4), by=admin)
    started.scheduler()
    assert both_have_places()
    server.play(
        {"contains": "true", "times": 1, "behaviour": {"status": 429, "retry_after": "4"}}, text="Yes", latency_ms=200
    )
    assert ends(run)
    assert outcomes(run) == {"answered": 240}
    calls = server.calls()
    when = calls[0]["finished"]
    # The other one hears of it within a second, at its next renewal; then nothing is sent until the four are over.
    assert [call for call in calls if when + 1.5 < call["arrived"] < when + 3.9] == []


def test_a_run_through_every_fault_at_once_ends_whole(started, server, log, draft, admin):
    server.play(
        {"share": 0.05, "behaviour": {"status": 429}},
        {"share": 0.03, "behaviour": {"status": 500}},
        {"share": 0.02, "behaviour": {"mode": "hang"}},
        {"share": 0.01, "behaviour": {"body": '{"choices": [{"mess'}},
        text="Yes",
        latency_ms=20,
    )
    run = running.start_run(run=draft(80, in_flight=16, timeout=1), by=admin)
    started.scheduler()
    started.worker()
    assert ends(run, 120)
    run.refresh_from_db()
    assert (run.state, run.n_done) == ("done", 80)
    told = outcomes(run)
    # Broken JSON is an error at once; the others heal, but for what fails three times in a row.
    assert told.keys() <= {"answered", "error", "timed_out"}
    assert told["answered"] >= 74
    assert not run.predictions.exclude(state="answered").filter(note="").exists()
    assert Call.objects.filter(prediction__run=run).count() == 80
    answered = Call.objects.filter(prediction__run=run, prediction__state="answered")
    assert set(answered.values_list("completion", "error")) == {("Yes", "")}
    # Every request that the server saw is in the books, and none was sent that is not.
    assert sum(run.predictions.values_list("calls__attempts", flat=True)) == asked_items(log).total()
    assert asked_items(log).keys() == {question(row) for row in run.predictions.select_related("revision")}


def test_a_trial_is_made_by_a_worker_that_nobody_rang(started, server, draft, admin):
    run = draft(8)
    trial = Trial.objects.create(run=run, created_by=admin, n_total=5)
    started.scheduler()
    started.worker()
    assert wait_until(lambda: Trial.objects.filter(pk=trial.pk, state="done").exists())
    trial.refresh_from_db()
    assert [result["answer"] for result in trial.results] == [{"label": "yes"}] * 5
    assert run.predictions.count() == 0
