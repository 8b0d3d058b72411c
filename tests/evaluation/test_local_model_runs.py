"""A real language model answers: through its own server and a real worker, shown everywhere as it spoke."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Person, Project, StageItem
from annotate.stage_kinds import first_fields
from config import local_model
from config.bells import ring
from config.env import PROJECT
from config.local_model import MODEL, Answering, who_answers
from config.processes import model_command
from evaluation.models import Call, Endpoint, Prediction, Report, Run
from evaluation.services import demo, judging, reporting, running
from evaluation.tasks import answer_chunk
from tests.factories import make_annotation, make_member, make_stage
from tests.workers import empty_queue, processes, wait_until

pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.embedded,  # what the model says does not depend on the database
    pytest.mark.skipif(not local_model.is_installed(), reason="./goldpanel model install was not run"),
]
PARAMETERS = {"temperature": 0, "max_tokens": 48, "seed": 7, "logprobs": True, "top_logprobs": 2}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where the model's server answers, started as the launcher starts it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    log = tmp_path_factory.mktemp("model") / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(model_command(port), cwd=PROJECT, stdout=output, stderr=output)
    try:
        assert wait_until(lambda: server.poll() is not None or who_answers(port) == Answering.MODEL, 60)
        assert server.poll() is None, log.read_text()
        yield port
    finally:
        server.terminate()
        assert server.wait(timeout=10) == 0
    # Prompts are nothing for a log.
    assert log.read_text() == f"SmolLM2 135M answers at http://127.0.0.1:{port}/v1\n"


def said(port: int, messages: list[dict[str, str]], **parameters: Any) -> str:
    body = json.dumps({"model": MODEL, "messages": messages, **parameters}).encode()
    request = urllib.request.Request(
        f"{local_model.base_url(port)}/chat/completions", body, {"Content-Type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=100) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.django_db(transaction=True)
def test_twenty_items_of_the_demo_are_answered_and_shown_as_the_model_spoke(settings, tmp_path: Path, port: int):
    settings.LOCAL_MODEL_PORT = port
    demo.set_up_demo(folder=tmp_path)
    project = Project.objects.get()
    admin = Person.objects.get(username=demo.ADMIN)
    stage = project.stages.get(slug=demo.CLAIMS)
    claims = project.item_sets.get(entries__revision__stage_items__stage=stage, entries__position=0)
    items = demo.items_for_local_model(claims=claims, by=admin)
    endpoint = Endpoint.objects.get(name=demo.LOCAL_MODEL)
    assert (endpoint.model, endpoint.base_url) == (MODEL, f"http://127.0.0.1:{port}/v1")

    empty_queue()
    with processes(tmp_path, GOLDPANEL_LOCAL_MODEL_PORT=str(port)) as started:
        started.worker()
        started.scheduler()
        draft = running.create_run(
            project=project,
            by=admin,
            name="SmolLM2",
            item_set=items,
            stage_version=stage.versions.get(),
            endpoint=endpoint,
            parameters=PARAMETERS,
        )
        run = running.start_run(run=draft, by=admin)
        ring(answer_chunk, run.pk)
        assert wait_until(lambda: Run.objects.filter(pk=run.pk, state__in=["done", "paused"]).exists(), 150)
        report = report_beside_people(project, admin, run)
        assert wait_until(lambda: Report.objects.filter(pk=report.pk, state__in=["done", "failed"]).exists(), 60)

    run.refresh_from_db()
    assert (run.state, run.n_total, run.n_done, run.error) == ("done", 20, 20, "")
    predictions = list(run.predictions.select_related("revision__item").order_by("position"))
    assert len(predictions) == 20
    assert all(prediction.finished_at for prediction in predictions)
    outcomes = Counter(prediction.state for prediction in predictions)
    assert outcomes.total() == 20
    # Whatever it said: something came back every time, and was named.
    assert outcomes.keys() <= {"answered", "unparsed", "refused", "empty", "cut_off"}
    calls = {call.prediction_id: call for call in Call.objects.filter(prediction__run=run)}
    assert len(calls) == 20
    for call in calls.values():
        assert (call.server_model, call.http_status, call.error, call.attempts) == (MODEL, 200, "", 1)
        assert call.prompt_tokens > 20
        # At temperature 0 the likeliest token is taken, and with its probability goes that of the second.
        if call.completion:
            assert call.logprobs is not None
            assert "".join(token for token, _, _ in call.logprobs).strip().startswith(call.completion.strip()[:10])
            assert all(logprob <= 0 and len(likeliest) == 2 for _, logprob, likeliest in call.logprobs)
    # A model that is asked, not a constant.
    assert len({call.completion for call in calls.values()}) > 1

    # Verbatim, and the same again: a server to itself has no other answer to these words.
    for prediction in predictions[:3]:
        call = calls[prediction.pk]
        assert said(port, call.messages, **PARAMETERS) == call.completion

    client = Client()
    client.force_login(admin)
    shown_on_the_run(client, project, run, predictions, calls, outcomes)
    shown_side_by_side(client, project, report, predictions, calls)
    report.refresh_from_db()
    assert report.state == "done", report.error
    shown_in_the_comparison(client, project, report, run, outcomes)
    judged_without_a_word_about_who_spoke(client, project, run, predictions, calls)


def report_beside_people(project: Project, admin: Person, run: Run) -> Report:
    """One sample person has answered the same items, always yes."""
    stage = project.stages.get(slug=demo.CLAIMS)
    person = Person.objects.filter(memberships__project=project, is_staff=False).order_by("pk")[0]
    asked = StageItem.objects.filter(stage=stage, revision__in=run.item_set.entries.values("revision"))
    assert asked.count() == 20
    for stage_item in asked:
        make_annotation(stage_item, person, {"label": "yes"})
    return reporting.create_report(
        project=project,
        by=admin,
        title="A person and a model",
        stage=stage,
        item_set=run.item_set,
        runs=[run],
        field="label",
        primary_scorer="label_accuracy",
        primary_run=run,
    )


def shown_on_the_run(
    client: Client,
    project: Project,
    run: Run,
    predictions: list[Prediction],
    calls: dict[int, Call],
    outcomes: Counter[str],
) -> None:
    page = client.get(reverse("run", args=[project.slug, run.pk])).content.decode()
    assert MODEL in page
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)[1:]
    assert len(rows) == 20
    n_shown = Counter[str]()
    for prediction, row in zip(predictions, rows, strict=True):
        marked_up = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        cells = [html.unescape(one_line(re.sub(r"<[^>]+>", " ", cell))) for cell in marked_up]
        assert cells[0] == prediction.revision.item.external_id
        assert cells[1] == prediction.get_state_display()
        assert cells[3].startswith(one_line(calls[prediction.pk].completion)[:80])
        n_shown[prediction.state] += 1
        alone = client.get(reverse("prediction", args=[project.slug, run.pk, prediction.pk])).content.decode()
        exchanges = [html.unescape(text) for text in re.findall(r"<pre class=[^>]*>(.*?)</pre>", alone, re.DOTALL)]
        assert calls[prediction.pk].completion in exchanges
    assert n_shown == outcomes


def shown_side_by_side(
    client: Client, project: Project, report: Report, predictions: list[Prediction], calls: dict[int, Call]
) -> None:
    by_item = {prediction.revision.item.external_id: prediction for prediction in predictions}
    captions = {"yes": "Yes", "no": "No", "not_sure": "Not sure enough"}
    seen = set()
    for at in range(1, 21):
        asked = {"report": report.pk, "at": at}
        page = client.get(reverse("side-by-side", args=[project.slug]), asked).content.decode()
        found = re.search(r'<p class="item-meta">Item <bdi>(.*?)</bdi>', page)
        assert found, page
        prediction = by_item[html.unescape(found[1])]
        seen.add(prediction.pk)
        models = page[page.index('id="models-title"') :]
        texts = [html.unescape(text) for text in re.findall(r"<p[^>]*>(.*?)</p>", models, re.DOTALL)]
        completion = one_line(calls[prediction.pk].completion)
        # A long completion is shown by its end, where the answer is given.
        shown = completion if len(completion) <= 280 else f"… {completion[-280:]}"
        if prediction.state == "answered":
            assert texts[:2] == [captions[prediction.answer["label"]], shown]
        else:
            assert shown in texts or prediction.state == "empty"
    assert seen == {prediction.pk for prediction in predictions}


def shown_in_the_comparison(client: Client, project: Project, report: Report, run: Run, outcomes: Counter[str]) -> None:
    page = client.get(reverse("report", args=[project.slug, report.pk]))
    assert page.status_code == 200
    assert run.name in page.content.decode()
    listed = next(row for row in report.matrices["runs"] if row["run"] == run.pk)["answers"]
    assert Counter(listed["outcome"]) == outcomes
    # Right answers counted here by hand, from the database: answered and equal to the gold label.
    gold = {
        prediction.pk: prediction.revision.item.golds.get(field="label", is_current=True).answers
        for prediction in run.predictions.select_related("revision__item")
    }
    n_right = sum(
        prediction.state == "answered" and prediction.answer["label"] in gold[prediction.pk]
        for prediction in run.predictions.all()
    )
    accuracies = [
        figure["value"]
        for figure in report.figures
        if (figure["section"], figure["measure"], figure["denominator"], figure["run"], figure["stratum"])
        == ("accuracy", "label_accuracy", "all", run.pk, "")
    ]
    assert accuracies == [pytest.approx(n_right / 20)]


def judged_without_a_word_about_who_spoke(
    client: Client, project: Project, run: Run, predictions: list[Prediction], calls: dict[int, Call]
) -> None:
    """What the model said, put before a person who marks all of it wrong, by what was said where no answer was read."""
    asked = run.stage_version.shown_keys
    stage = make_stage(project, kind="judge", form=first_fields("judge", "verdict"), shown_keys=asked)
    draw = judging.Draw(runs=(run,), n=20, seed=7, unanswered="as_said")
    judging.draw_judge_sample(stage=stage, by=None, draw=draw)
    spoken = {prediction.pk for prediction in predictions if calls[prediction.pk].completion.strip()}
    n = stage.stage_items.count()
    assert n == len(spoken)

    judge = Client()
    judge.force_login(make_member(project))
    work = reverse("work", args=[project.slug, stage.slug])
    by_item = {prediction.revision.item.external_id: prediction for prediction in predictions}
    for _ in range(n):
        page = judge.get(work).content.decode()
        assert run.name not in page
        assert MODEL not in page
        prediction = by_item[html.unescape(re.search(r'class="item-meta"><bdi>(.*?)</bdi>', page)[1])]
        shown = re.search(r'class="judged-value"[^>]*>(.*?)</div>', page, re.DOTALL)[1]
        said_by_model = one_line(html.unescape(re.sub(r"<[^>]+>", " ", shown)))
        captions = {"yes": "Yes", "no": "No", "not_sure": "Not sure enough"}
        answer = captions[prediction.answer["label"]] if prediction.answer else calls[prediction.pk].completion
        assert said_by_model == one_line(answer)
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
        token = re.search(r'data-token="([^"]+)"', page)[1]
        sent = judge.post(reverse("work-submit", args=[token]), form | {"judgement": "wrong"})
        assert sent.status_code == 302
    told = client.get(reverse("judge-figures", args=[project.slug, stage.slug])).json()
    (share,) = told["runs"]
    assert (share["name"], share["counts"]["wrong"], share["judged"]["value"]) == (run.name, n, 0.0)
    # The report has scored these very answers; judges who say the same of all leave nothing to correlate.
    assert {metric["scorer"] for metric in told["metrics"]} == {"label_accuracy"}
    assert {figure["undefined"] for figure in told["metrics"][0]["items"]} == {"no_variation"}


def test_the_same_request_has_the_same_answer_in_any_company(port: int):
    questions = [
        [{"role": "user", "content": f"Question: {words}\nAnswer in one sentence."}]
        for words in ("Is water wet?", "Who wrote Hamlet?", "What is seven times six?", "Where is Peru?")
    ]

    def ask(messages: list[dict[str, str]]) -> str:
        return said(port, messages, temperature=0, max_tokens=24, seed=1)

    alone = [ask(messages) for messages in questions]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(ask, questions[::-1]))[::-1]
    assert together == alone


def test_a_seed_repeats_a_draw_and_another_one_makes_another(port: int):
    messages = [{"role": "user", "content": "Name a town and a river, then tell a short story about them."}]
    first, again, other = (said(port, messages, temperature=1.5, max_tokens=24, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_only_this_machine_reaches_it_and_no_page_of_another_origin(port: int):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{local_model.base_url(port)}/models", headers={"Origin": "http://evil.example"})
    with opener.open(request, timeout=10) as response:
        assert response.headers["Access-Control-Allow-Origin"] in (None, "")
    listening = Path("/proc/net/tcp")
    if listening.exists():
        at = [line.split()[1] for line in listening.read_text().splitlines() if line.split()[3] == "0A"]
        assert [address for address in at if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
        others = Path("/proc/net/tcp6")
        assert not others.exists() or f":{port:04X} " not in others.read_text()


def test_a_taken_port_is_told(port: int):
    done = subprocess.run(model_command(port), cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"cannot be served on 127.0.0.1:{port}" in done.stderr


def test_it_stops_at_once_even_with_an_answer_under_way(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    server = subprocess.Popen(model_command(port), cwd=PROJECT, stdout=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: who_answers(port) == Answering.MODEL, 60)
        url = f"{local_model.base_url(port)}/chat/completions"
        body = json.dumps({"messages": [{"role": "user", "content": "Tell a very long story."}]}).encode()
        code = f"import urllib.request; urllib.request.urlopen({url!r}, {body!r}, timeout=60)"
        asking = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
        assert not wait_until(lambda: asking.poll() is not None, 0.7)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=3) == 0
        asking.wait(timeout=30)
    finally:
        server.kill()
        server.wait()
