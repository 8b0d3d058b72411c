"""Pages of runs and endpoints: what they show, what they refuse, and to whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Person, Project, Stage
from annotate.services.heartbeats import hear
from evaluation.clients import baselines
from evaluation.models import Call, Endpoint, Run
from evaluation.run_forms import STRATEGY_WORDS, RunForm
from evaluation.services import answering, run_progress, running
from evaluation.services import endpoints as endpoint_service
from evaluation.strategies import STRATEGIES
from tests.factories import (
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

ADDRESS = "https://api.example.org/v1"
KEY_TYPED_BY_MISTAKE = "sk-canary-0123456789"


@dataclass
class Cast:
    """Whoever might come: each with a browser of their own."""

    project: Project
    stage: Stage
    people: dict[str, Person] = field(default_factory=dict)

    def browser(self, name: str) -> Client:
        client = Client()
        if name != "anonymous":
            client.force_login(self.people[name])
        return client


@pytest.fixture
def cast() -> Cast:
    project = make_project()
    cast = Cast(project, make_stage(project))
    for role in ("admin", "viewer", "annotator"):
        cast.people[role] = make_member(project, role)
    cast.people["other admin"] = make_member(make_project(), "admin")
    cast.people["stranger"] = make_staff()
    return cast


@pytest.fixture
def draft(cast: Cast) -> Run:
    items = [make_item(cast.project, [["question", f"Is claim {n} true?"]]) for n in range(6)]
    endpoint = make_endpoint(cast.project, model="chatty_random")
    return make_run(cast.stage, make_item_set(cast.project, items), endpoint=endpoint, name="Chatty")


@pytest.fixture
def done(cast: Cast, draft: Run) -> Run:
    running.start_run(run=draft, by=cast.people["admin"])
    answering.answer_chunk(run_id=draft.pk)
    draft.refresh_from_db()
    return draft


def url(name: str, run: Run, *more: Any) -> str:
    return reverse(name, args=[run.project.slug, run.pk, *more])


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


READERS = {"admin": 200, "viewer": 200, "annotator": 404, "other admin": 404, "stranger": 404, "anonymous": 302}
ADMINS = READERS | {"viewer": 404}


# Who may come in


@pytest.mark.parametrize(("who", "status"), READERS.items())
def test_results_are_read_by_those_who_read_the_project(cast, done, who, status):
    browser = cast.browser(who)
    for address in (
        reverse("runs", args=[cast.project.slug]),
        url("run", done),
        url("run-prompts", done),
        url("prediction", done, done.predictions.first().pk),
    ):
        assert browser.get(address).status_code == status, address


@pytest.mark.parametrize(("who", "status"), ADMINS.items())
def test_endpoints_and_new_runs_are_for_admins(cast, draft, who, status):
    browser = cast.browser(who)
    slug = cast.project.slug
    for address in (
        reverse("endpoints", args=[slug]),
        reverse("endpoint-new", args=[slug]),
        reverse("endpoint", args=[slug, draft.endpoint.pk]),
        reverse("run-new", args=[slug]),
    ):
        assert browser.get(address).status_code == status, address


@pytest.mark.parametrize("who", ["viewer", "annotator", "other admin", "stranger", "anonymous"])
def test_nobody_else_moves_a_run(cast, draft, who):
    browser = cast.browser(who)
    for name in ("start", "pause", "resume", "cancel", "repeat-failed", "discard"):
        response = browser.post(url(f"run-{name}", draft))
        assert response.status_code == (302 if who == "anonymous" else 404)
        draft.refresh_from_db()
        assert (draft.state, draft.predictions.count()) == ("draft", 0)


def test_a_run_is_not_found_under_another_project(cast, draft):
    elsewhere = make_project()
    make_member(elsewhere, "admin")
    browser = cast.browser("admin")
    assert browser.get(reverse("run", args=[elsewhere.slug, draft.pk])).status_code == 404
    assert browser.get(reverse("endpoint", args=[elsewhere.slug, draft.endpoint.pk])).status_code == 404


def test_buttons_are_posts(cast, draft):
    browser = cast.browser("admin")
    for name in ("start", "pause", "resume", "cancel", "repeat-failed", "discard"):
        assert browser.get(url(f"run-{name}", draft)).status_code == 405


def test_a_viewer_is_offered_no_button(cast, draft):
    page = text_of(cast.browser("viewer").get(url("run", draft)))
    assert "run-start" not in page
    assert "Discard" not in page
    assert text_of(cast.browser("admin").get(url("run", draft))).count("/start/") == 1


# From an endpoint to a started run, without scripts


def test_an_admin_sets_up_a_model_reads_its_prompts_and_starts_it(cast):
    browser, slug = cast.browser("admin"), cast.project.slug
    items = make_item_set(cast.project, [make_item(cast.project, [["question", "Is ice cold?"]])], name="One item")
    response = browser.post(
        reverse("endpoint-new", args=[slug]),
        {"name": "Dice", "provider": "baseline", "model": "seeded_random", "max_in_flight": 1, "timeout_seconds": 60},
    )
    assert response.status_code == 302
    response = browser.post(
        reverse("run-new", args=[slug]),
        {
            "name": "First",
            "endpoint": Endpoint.objects.get(name="Dice").pk,
            "stage": cast.stage.pk,
            "item_set": items.pk,
            "strategy": "zero_shot",
            "seed": 5,
            "repeats": 2,
        },
    )
    run = Run.objects.get(name="First")
    assert response["Location"] == url("run", run)
    assert (run.state, run.predictions.count(), run.seed, run.repeats) == ("draft", 0, 5, 2)
    assert "Nothing has been sent yet" in text_of(browser.get(url("run", run)))
    assert "question: Is ice cold?" in text_of(browser.get(url("run-prompts", run)))
    assert browser.post(url("run-start", run))["Location"] == url("run", run)
    run.refresh_from_db()
    assert (run.state, run.predictions.count()) == ("waiting", 2)


def test_items_without_what_the_stage_shows_are_refused_before_empty_prompts_are_sent(cast, draft):
    capitals = make_item_set(cast.project, [make_item(cast.project, [["country", "Peru"]])])
    fields = {"name": "new", "endpoint": draft.endpoint.pk, "stage": cast.stage.pk, "item_set": capitals.pk}
    response = cast.browser("admin").post(
        reverse("run-new", args=[cast.project.slug]), fields | {"strategy": "zero_shot", "seed": 3, "repeats": 1}
    )
    assert response.status_code == 422
    assert "These items have nothing under" in text_of(response)
    assert not Run.objects.filter(name="new").exists()


def test_a_new_run_starts_from_a_stage_and_the_items_it_asks_about(cast):
    item, other = make_item(cast.project), make_item(cast.project)
    make_stage_item(cast.stage, item)
    asked = make_item_set(cast.project, [item], name="asked")
    make_item_set(cast.project, [other], name="newer, and asked nowhere")
    form = RunForm(project=cast.project)
    assert (form.initial["stage"], form.initial["item_set"]) == (cast.stage, asked)


def test_parameters_that_are_left_empty_are_not_sent(cast):
    endpoint = make_endpoint(cast.project, provider="openai", model="small", base_url=ADDRESS)
    items = make_item_set(cast.project, [make_item(cast.project)])
    fields = {"endpoint": endpoint.pk, "stage": cast.stage.pk, "item_set": items.pk, "strategy": "zero_shot"}
    fields |= {"seed": 3, "repeats": 1}
    address = reverse("run-new", args=[cast.project.slug])
    cast.browser("admin").post(address, fields | {"name": "bare"})
    cast.browser("admin").post(
        address, fields | {"name": "full", "temperature": "0.5", "max_tokens": 9, "sends_seed": "on"}
    )
    assert Run.objects.get(name="bare").parameters == {}
    assert Run.objects.get(name="full").parameters == {"temperature": 0.5, "max_tokens": 9, "seed": 3}
    for alternatives, sent in (("0", {}), ("5", {"top_logprobs": 5})):
        cast.browser("admin").post(address, fields | {"name": alternatives, "top_logprobs": alternatives})
        assert Run.objects.get(name=alternatives).parameters == {"logprobs": True, **sent}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Chatty"}, "There is a run of that name already."),
        ({"strategy": "few_shot"}, "Few-shot needs exemplars"),
        ({"repeats": 0}, "greater than or equal to 1"),
        ({"temperature": "nan"}, "Enter a number."),
        ({"temperature": "3"}, "less than or equal to 2"),
        ({"top_logprobs": "21"}, "less than or equal to 20"),
    ],
)
def test_a_run_that_could_not_be_is_refused_on_its_form(cast, draft, changed, said):
    fields = {
        "name": "new",
        "endpoint": draft.endpoint.pk,
        "stage": cast.stage.pk,
        "item_set": draft.item_set.pk,
        "strategy": "zero_shot",
        "seed": 0,
        "repeats": 1,
    }
    response = cast.browser("admin").post(reverse("run-new", args=[cast.project.slug]), fields | changed)
    assert response.status_code == 422
    assert said in text_of(response)
    assert Run.objects.count() == 1


def test_rows_of_another_project_cannot_be_chosen(cast, draft):
    elsewhere = make_stage()
    foreign = {
        "endpoint": make_endpoint(elsewhere.project).pk,
        "stage": elsewhere.pk,
        "item_set": make_item_set(elsewhere.project, [make_item(elsewhere.project)]).pk,
    }
    own = {"endpoint": draft.endpoint.pk, "stage": cast.stage.pk, "item_set": draft.item_set.pk}
    for name, pk in foreign.items():
        fields = own | {name: pk, "name": "new", "strategy": "zero_shot", "seed": 0, "repeats": 1}
        response = cast.browser("admin").post(reverse("run-new", args=[cast.project.slug]), fields)
        assert response.status_code == 422
    assert Run.objects.count() == 1


# Endpoints


def endpoint_fields(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Server",
        "provider": "openai",
        "model": "small",
        "base_url": ADDRESS,
        "key_variable": "",
        "max_in_flight": 4,
        "requests_per_minute": "",
        "timeout_seconds": 30,
    } | changes


def test_a_listed_baseline_can_be_chosen_and_comes_filled_in(cast):
    address = reverse("endpoint-new", args=[cast.project.slug])
    browser = cast.browser("admin")
    assert 'href="?baseline=lexical_overlap"' in browser.get(address).content.decode()
    form = browser.get(address, {"baseline": "lexical_overlap"}).context["form"]
    assert [form[name].value() for name in ("name", "provider", "model")] == [
        "Lexical overlap",
        "baseline",
        "lexical_overlap",
    ]
    assert browser.get(address, {"baseline": "<b>"}).context["form"]["provider"].value() is None


def test_an_endpoint_keeps_the_name_of_a_key_variable(cast):
    address = reverse("endpoint-new", args=[cast.project.slug])
    cast.browser("admin").post(address, endpoint_fields(key_variable="GOLDPANEL_KEY_EXAMPLE"))
    endpoint = Endpoint.objects.get()
    assert (endpoint.key_variable, endpoint.base_url, endpoint.requests_per_minute) == (
        "GOLDPANEL_KEY_EXAMPLE",
        ADDRESS,
        None,
    )


@pytest.mark.parametrize(
    "name", [KEY_TYPED_BY_MISTAKE, "OPENAI_API_KEY", "DATABASE_URL", "goldpanel_key_x", "GOLDPANEL_KEY_A_HOSTS"]
)
def test_what_is_no_name_of_a_key_variable_is_neither_stored_nor_shown_again(cast, name):
    address = reverse("endpoint-new", args=[cast.project.slug])
    response = cast.browser("admin").post(address, endpoint_fields(key_variable=name))
    assert response.status_code == 422
    assert "it was not stored" in text_of(response)
    assert name not in text_of(response)
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org",
        "file:///etc/passwd",
        "https://user:secret@example.org/v1",
        "https://example.org/v1?key=secret",
        "http://2130706433/",
        "http://127.1/",
        "api.example.org",
        "",
    ],
)
def test_an_address_outside_the_rule_is_refused(cast, address):
    response = cast.browser("admin").post(
        reverse("endpoint-new", args=[cast.project.slug]), endpoint_fields(base_url=address)
    )
    assert response.status_code == 422
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"provider": "baseline", "model": "oracle", "base_url": ""},
        {"provider": "baseline", "model": "seeded_random"},
        {"timeout_seconds": 301},
        {"max_in_flight": 0},
        {"requests_per_minute": 0},
    ],
)
def test_an_endpoint_that_could_not_answer_is_refused(cast, changes):
    response = cast.browser("admin").post(reverse("endpoint-new", args=[cast.project.slug]), endpoint_fields(**changes))
    assert response.status_code == 422
    assert not Endpoint.objects.exists()


def test_the_model_of_an_endpoint_stays_once_a_run_has_begun_and_its_limits_may_change(cast, done):
    address = reverse("endpoint", args=[cast.project.slug, done.endpoint.pk])
    fields = {"name": "Slower", "provider": "baseline", "max_in_flight": 2, "timeout_seconds": 60}
    response = cast.browser("admin").post(address, fields | {"model": "seeded_random"})
    assert response.status_code == 422
    assert "Runs have begun with this endpoint" in text_of(response)
    assert cast.browser("admin").post(address, fields | {"model": "chatty_random"}).status_code == 302
    done.endpoint.refresh_from_db()
    assert (done.endpoint.name, done.endpoint.model, done.endpoint.max_in_flight) == ("Slower", "chatty_random", 2)


# What pages say


def test_the_page_counts_every_outcome_by_its_name(cast, draft):
    states = [
        "answered",
        "unparsed",
        "refused",
        "empty",
        "cut_off",
        "tied",
        "timed_out",
        "error",
        "worker_lost",
        "cancelled",
    ]
    stage = cast.stage
    items = [make_item(cast.project) for _ in states]
    run = make_run(stage, make_item_set(cast.project, items), state="done", frozen_at=timezone.now())
    for item, state in zip(items, states, strict=True):
        make_prediction(run, item, {"label": "yes"} if state == "answered" else None, state=state)
    page = text_of(cast.browser("viewer").get(url("run", run)))
    for words in (
        "answered",
        "unparsed",
        "refused",
        "empty",
        "cut off",
        "timed out",
        "error",
        "worker lost",
        "cancelled",
    ):
        assert f"</span>1 {words}</li>" in page
    # The bar says the same to a screen reader, and so does the list of runs.
    assert "Outcomes: 1 answered, 1 unparsed, 1 refused, 1 empty, 1 cut off, 1 tied vote, 1 timed out, 1 error" in page
    listed = text_of(cast.browser("viewer").get(reverse("runs", args=[cast.project.slug])))
    assert "1 answered, 1 unparsed, 1 refused" in listed


def test_the_moving_part_asks_again_only_while_the_run_is_under_way(cast, draft):
    admin = cast.people["admin"]
    running.start_run(run=draft, by=admin)
    browser, headers = cast.browser("viewer"), {"HX-Request": "true"}
    fragment = browser.get(url("run-progress", draft), headers=headers)
    assert "every 2s" in text_of(fragment)
    assert "6 pending" in text_of(fragment)
    assert "<html" not in text_of(fragment)
    running.pause_run(run=draft, by=admin)
    halted = browser.get(url("run-progress", draft), headers=headers)
    assert (halted.status_code, halted["HX-Refresh"]) == (204, "true")
    page = text_of(browser.get(url("run", draft)))
    assert "every 2s" not in page
    # Without scripts the address leads to the page.
    assert browser.get(url("run-progress", draft))["Location"] == url("run", draft)


def test_a_page_that_waits_says_that_no_worker_is_heard(cast, draft):
    running.start_run(run=draft, by=cast.people["admin"])
    assert "No worker has ever been heard from" in text_of(cast.browser("admin").get(url("run", draft)))
    hear(name="worker@here", role="worker")
    page = text_of(cast.browser("admin").get(url("run", draft)))
    assert "No worker has" not in page
    assert "a worker was last heard from" in page


def test_a_stopped_run_says_why_and_offers_to_go_on(cast, draft, monkeypatch):
    monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [])
    endpoint = make_endpoint(cast.project, provider="openai", model="small", base_url="http://127.0.0.1:9/v1")
    run = make_run(cast.stage, draft.item_set, endpoint=endpoint, name="Stopped")
    running.start_run(run=run, by=cast.people["admin"])
    answering.answer_chunk(run_id=run.pk)
    page = text_of(cast.browser("admin").get(url("run", run)))
    assert "127.0.0.1 leads to 127.0.0.1, which is not a public address" in page
    assert "Resume" in page
    assert '<span class="pill is-bad">stopped</span>' in text_of(
        cast.browser("admin").get(reverse("runs", args=[cast.project.slug]))
    )


def test_a_step_that_is_not_possible_is_refused_in_words(cast, done):
    response = cast.browser("admin").post(url("run-pause", done), follow=True)
    assert "Only a run that is under way can be paused." in text_of(response)


def test_a_completion_is_shown_as_text_whatever_it_says(cast, draft):
    hostile = "<script>alert(1)</script>"
    item = make_item(cast.project, [["question", "?"]], external_id="<b>id</b>")
    run = make_run(cast.stage, make_item_set(cast.project, [item]), state="done", frozen_at=timezone.now())
    prediction = make_prediction(run, item, None, note=hostile)
    Call.objects.update(completion=hostile, messages=[{"role": "user", "content": hostile}], error="")
    for address in (url("run", run), url("prediction", run, prediction.pk), url("run-prompts", run)):
        page = text_of(cast.browser("viewer").get(address))
        assert "<script>alert" not in page
        assert "<b>id" not in page
        assert "&lt;script&gt;alert" in page


def test_predictions_are_filtered_by_outcome_and_paged_by_key(cast, monkeypatch):
    monkeypatch.setattr(run_progress, "PAGE", 2)
    items = [make_item(cast.project, external_id=f"row-{n}") for n in range(5)]
    run = make_run(cast.stage, make_item_set(cast.project, items), state="done", frozen_at=timezone.now())
    for n, item in enumerate(items):
        make_prediction(run, item, None, state="refused" if n == 4 else "unparsed")
    browser = cast.browser("viewer")
    first = browser.get(url("run", run), {"outcome": "unparsed"})
    assert [row.external_id for row in first.context["page"].rows] == ["row-0", "row-1"]
    second = browser.get(first.context["next_url"].partition("#")[0])
    assert [row.external_id for row in second.context["page"].rows] == ["row-2", "row-3"]
    assert second.context["next_url"] == ""
    refused = browser.get(url("run", run), {"outcome": "refused"})
    assert [row.external_id for row in refused.context["page"].rows] == ["row-4"]
    mended_by_hand = browser.get(url("run", run), {"outcome": "'; --", "after": "1e9"})
    assert len(mended_by_hand.context["page"].rows) == 2


def test_the_pages_need_as_many_queries_for_many_runs_and_predictions_as_for_few(
    cast, draft, django_assert_max_num_queries
):
    browser = cast.browser("viewer")

    def n_queries(address: str) -> int:
        with django_assert_max_num_queries(40) as counted:
            assert browser.get(address).status_code == 200
        return len(counted)

    def add_run() -> Run:
        items = [make_item(cast.project) for _ in range(4)]
        run = make_run(cast.stage, make_item_set(cast.project, items), state="done", frozen_at=timezone.now())
        for item in items:
            make_prediction(run, item, {"label": "yes"})
        return run

    listed = reverse("runs", args=[cast.project.slug])
    run = add_run()
    few = n_queries(listed), n_queries(url("run", run))
    for _ in range(3):
        add_run()
    for item in (make_item(cast.project) for _ in range(20)):
        make_prediction(run, item, None)
    assert (n_queries(listed), n_queries(url("run", run))) == few


def test_time_left_is_reckoned_from_the_pace_of_the_last_minutes(cast, draft):
    running.start_run(run=draft, by=cast.people["admin"])
    now = timezone.now()
    Run.objects.filter(pk=draft.pk).update(started_at=now - timedelta(seconds=20))
    for prediction in draft.predictions.all()[:2]:
        prediction.state, prediction.finished_at = "unparsed", now
        prediction.save()
    draft.refresh_from_db()
    # Two in 20 s, and four are left: 40 s.
    progress = run_progress.progress_of([draft])[draft.pk]
    assert progress.seconds_left == pytest.approx(40, abs=1)
    running.pause_run(run=draft, by=cast.people["admin"])
    draft.refresh_from_db()
    assert run_progress.progress_of([draft])[draft.pk].seconds_left is None


# Lists that name what others define


def test_the_form_offers_the_strategies_and_baselines_there_are():
    assert set(STRATEGY_WORDS) == set(STRATEGIES)
    assert set(endpoint_service.BASELINES) == set(baselines.BASELINES)
    assert running.FITTED_BASELINE in baselines.BASELINES
    assert {state for state, _ in Run._meta.get_field("state").choices} >= set(running.LIVE)


def test_every_outcome_has_a_place_in_the_bar():
    from evaluation.models import Prediction
    from evaluation.views.runs import KINDS

    assert set(run_progress.OUTCOMES) == set(KINDS) == set(Prediction.State)


# Budget and growth


def test_a_budget_is_set_on_its_page_and_a_spent_run_says_so(admin_client_of_run):
    client, run = admin_client_of_run
    address = reverse("run-budget", args=[run.project.slug, run.pk])
    assert "overshoots by the calls that are in flight" in client.get(address).content.decode()
    assert client.post(address, {"budget_tokens": "0"}).status_code == 422
    refused = client.post(address, {"budget_money": "5"})
    assert (refused.status_code, "needs the endpoint&#x27;s prices" in refused.content.decode()) == (422, True)
    assert client.post(address, {"budget_tokens": "50000"}).status_code == 302
    Run.objects.update(prompt_tokens=40_000, completion_tokens=10_001, n_counted=9)
    refused = client.post(reverse("run-resume", args=[run.project.slug, run.pk]), follow=True).content.decode()
    assert "The budget of 50,000 tokens is spent: 50,001 so far." in refused
    assert "Cost so far: cannot be said, because the endpoint has no prices; the budget is 50,000 tokens." in refused
    assert client.post(address, {"budget_tokens": "60000"}).status_code == 302
    client.post(reverse("run-resume", args=[run.project.slug, run.pk]))
    run.refresh_from_db()
    assert run.state == "waiting"


def test_a_run_is_extended_on_its_page(admin_client_of_run):
    client, run = admin_client_of_run
    address = reverse("run-extend", args=[run.project.slug, run.pk])
    assert run.item_set.name in client.get(address).content.decode()
    same = {"repeats": "1", "item_set": run.item_set_id}
    refused = client.post(address, same)
    assert (refused.status_code, "would ask nothing new" in refused.content.decode()) == (422, True)
    assert client.post(address, same | {"repeats": "2"}).status_code == 302
    assert run.predictions.count() == 2 * run.item_set.n_items


@pytest.fixture
def admin_client_of_run():
    stage = make_stage()
    endpoint = make_endpoint(stage.project, provider="openai", model="m", base_url="https://api.example.org/v1")
    admin = make_member(stage.project, "admin")
    items = make_item_set(stage.project, [make_item(stage.project) for _ in range(3)])
    run = make_run(stage, items, endpoint=endpoint, created_by=admin)
    running.start_run(run=run, by=admin)
    running.pause_run(run=run, by=admin)
    client = Client()
    client.force_login(admin)
    run.refresh_from_db()
    return client, run
