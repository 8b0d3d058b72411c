"""More of a run that has begun, and answers that another run was given before."""

from __future__ import annotations

from collections import Counter

import pytest

from annotate.exceptions import WorkNotPossible
from evaluation.models import Call
from evaluation.services import running
from tests.evaluation.runs import asking_server, claims, outcomes, started, verbs, work
from tests.factories import make_endpoint, make_item, make_item_set, make_stage

pytestmark = pytest.mark.django_db


def test_more_repeats_ask_only_what_is_new(server):
    run = work(asking_server(server, 3))
    before = dict(run.predictions.values_list("pk", "answer"))
    running.extend_run(run=run, by=run.created_by, repeats=3)
    run = work(run)
    assert (run.state, run.n_total, run.repeats) == ("done", 9, 3)
    assert len(server.calls()) == 9
    assert Counter(run.predictions.values_list("repeat", flat=True)) == {0: 3, 1: 3, 2: 3}
    assert before.items() <= dict(run.predictions.values_list("pk", "answer")).items()
    assert verbs(run) == ["run.created", "run.started", "run.done", "run.extended", "run.done"]


def test_a_set_that_has_grown_adds_its_further_items_in_its_own_order(server):
    stage = make_stage()
    items = claims(stage.project, 5)
    run = work(asking_server(server, make_item_set(stage.project, items[:3]), stage=stage))
    server.play(text="No")
    # Another order: the places of what was answered follow the new set.
    grown = make_item_set(stage.project, [items[4], *items[:3], items[3]])
    running.extend_run(run=run, by=run.created_by, item_set=grown)
    run = work(run)
    assert (run.state, run.item_set, run.n_total) == ("done", grown, 5)
    answers = run.predictions.order_by("position").values_list("answer__label", flat=True)
    assert list(answers) == ["no", "yes", "yes", "yes", "no"]
    assert len(server.calls()) == 2


def test_a_run_under_way_can_be_extended(monkeypatch):
    run = started(4)
    running.extend_run(run=run, by=run.created_by, repeats=2)
    run = work(run)
    assert outcomes(run) == {"answered": 8}


def test_what_a_run_cannot_grow_into_is_refused_and_changes_nothing(server):
    stage = make_stage()
    items = claims(stage.project, 4)
    whole = make_item_set(stage.project, items[:3])
    run = work(asking_server(server, whole, stage=stage))
    by = run.created_by
    with pytest.raises(WorkNotPossible, match="nothing new"):
        running.extend_run(run=run, by=by)
    with pytest.raises(WorkNotPossible, match="lacks 1 of the 3 items"):
        running.extend_run(run=run, by=by, item_set=make_item_set(stage.project, items[1:]))
    with pytest.raises(WorkNotPossible, match="up to 20"):
        running.extend_run(run=run, by=by, repeats=21)
    elsewhere = make_stage()
    with pytest.raises(WorkNotPossible, match="the run's project"):
        running.extend_run(run=run, by=by, item_set=make_item_set(elsewhere.project, claims(elsewhere.project, 1)))
    run.refresh_from_db()
    assert (run.state, run.item_set, run.repeats, run.n_total) == ("done", whole, 1, 3)
    assert verbs(run)[-1] == "run.done"


def test_exemplars_must_not_be_among_the_further_items():
    stage = make_stage()
    gold = {"label": ["yes"]}
    exemplar = make_item(stage.project, [["question", "Is ice cold?"]], gold=gold)
    items = claims(stage.project, 2)
    run = work(
        started(
            make_item_set(stage.project, items),
            stage=stage,
            strategy="few_shot",
            exemplar_set=make_item_set(stage.project, [exemplar]),
        )
    )
    with pytest.raises(WorkNotPossible, match="same root"):
        running.extend_run(run=run, by=run.created_by, item_set=make_item_set(stage.project, [*items, exemplar]))


def test_a_baseline_fitted_on_its_own_items_does_not_grow():
    stage = make_stage()
    items = claims(stage.project, 3)
    endpoint = make_endpoint(stage.project, model="majority_label")
    run = work(started(make_item_set(stage.project, items[:2]), stage=stage, endpoint=endpoint))
    with pytest.raises(WorkNotPossible, match="fitted on the labels of its own items"):
        running.extend_run(run=run, by=run.created_by, item_set=make_item_set(stage.project, items))


# Answers of earlier runs


def same_again(run, *, name: str, **fields):
    parameters = {"temperature": 0.0, "max_tokens": 50}
    stage = run.stage_version.stage
    return started(run.item_set, stage=stage, endpoint=run.endpoint, name=name, **{"parameters": parameters} | fields)


def test_the_same_request_at_temperature_0_is_answered_from_an_earlier_run_and_says_so(server):
    first = work(asking_server(server, 3))
    server.play(text="No")
    again = work(same_again(first, name="again", reuses_answers=True))
    assert server.calls() == []
    assert again.state == "done"
    calls = Call.objects.filter(prediction__run=again).select_related("reused_from__prediction", "prediction")
    assert {call.reused_from.prediction.run_id for call in calls} == {first.pk}
    assert all(call.reused_from.prediction.revision_id == call.prediction.revision_id for call in calls)
    assert {(call.completion, call.attempts, call.latency_ms) for call in calls} == {("Yes", 0, None)}
    # Nothing was sent, so nothing was spent.
    assert (again.prompt_tokens, again.n_counted) == (0, 0)


def test_without_the_option_and_for_other_requests_everything_is_sent(server):
    first = work(asking_server(server, 2))
    work(same_again(first, name="plain"))
    assert len(server.calls()) == 4
    work(same_again(first, name="longer", reuses_answers=True, parameters={"temperature": 0.0, "max_tokens": 51}))
    assert len(server.calls()) == 6


def test_repeats_of_one_run_are_never_copies_of_each_other(server):
    first = work(asking_server(server, 2))
    # The first repeat was asked before, the second was not.
    again = work(same_again(first, name="again", reuses_answers=True, repeats=2))
    assert len(server.calls()) == 4
    reused = Call.objects.filter(prediction__run=again).exclude(reused_from=None)
    assert set(reused.values_list("prediction__repeat", flat=True)) == {0}


def test_answers_that_were_left_to_chance_are_not_taken(server):
    first = asking_server(server, 1)
    with pytest.raises(WorkNotPossible, match="only at temperature 0"):
        same_again(first, name="warm", reuses_answers=True, parameters={"temperature": 0.5})
