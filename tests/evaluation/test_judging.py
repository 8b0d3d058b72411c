"""Models' answers for people to judge: what is drawn, what is one candidate, what is refused, what is hidden."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import FeedNotPossible, StageNotReady, WorkNotPossible
from annotate.models import Candidate, Event, Stage
from annotate.services import assigning, excluding, feeds, projects
from annotate.stage_kinds import first_fields
from evaluation.models import CandidateOrigin, JudgeSample, Run
from evaluation.services import judging
from evaluation.services.judging import discard_judge_sample, draw_judge_sample, plan_draw
from tests.api_client import ApiClient
from tests.evaluation.judged import Bench, judge, make_bench, place_of, say
from tests.factories import YES_NO, make_member, make_run, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def drawn(bench: Bench, *runs: Run, **asked: Any) -> JudgeSample:
    return draw_judge_sample(stage=bench.judges, by=bench.admin, draw=bench.draw(*runs, **asked))


def contents(stage: Stage) -> list[list[Any]]:
    return [row.candidate.content for row in stage.stage_items.select_related("candidate").order_by("rank")]


def items_drawn(sample: JudgeSample, run: Run) -> set[str]:
    rows = sample.origins.filter(prediction__run=run)
    return set(rows.values_list("prediction__revision__item__external_id", flat=True))


def test_equal_answers_to_an_item_are_one_candidate_with_several_origins():
    bench = make_bench(2)
    one, two, three = bench.run("A", ["x", "y"]), bench.run("B", ["x", "z"]), bench.run("C", ["x", None])
    sample = drawn(bench, one, two, three)
    judged = bench.judges.stage_items.select_related("candidate", "revision__item")
    assert sorted((row.revision.item.external_id, row.candidate.content[0][1]) for row in judged) == [
        ("q0", "x"),
        ("q1", "y"),
        ("q1", "z"),
    ]
    shared = place_of(bench.judges, one, bench.items[0]).candidate
    origins = CandidateOrigin.objects.filter(candidate=shared)
    assert set(origins.values_list("prediction__run__name", flat=True)) == {"A", "B", "C"}
    # What could not be read is drawn all the same, and there is nothing of it to judge.
    assert sample.origins.filter(candidate=None).get().prediction.run == three
    assert sample.origins.count() == 6


def test_a_plan_says_what_the_draw_comes_to():
    bench = make_bench(3)
    one, two = bench.run("A", ["x", "y", None]), bench.run("B", ["x", "z", "w"])
    plan = plan_draw(stage=bench.judges, draw=bench.draw(one, two, n=5))
    assert (plan.n_drawn, plan.n_places, plan.n_judged, plan.n_merged) == (6, 4, 5, 1)
    assert plan.nothing == {"unparsed": 1}
    assert [(part.runs, part.n_population, part.n_drawn, part.n_short) for part in plan.parts] == [
        (("A",), 3, 3, 2),
        (("B",), 3, 3, 2),
    ]
    assert not JudgeSample.objects.exists()
    sample = drawn(bench, one, two, n=5)
    assert judging.parts_of(sample) == plan.parts
    assert bench.judges.stage_items.count() == plan.n_places


def test_the_same_items_of_every_run_or_items_of_each_run_alone():
    bench = make_bench(40)
    runs = [bench.run(name, [f"{name}{k}" for k in range(40)]) for name in "AB"]
    same = drawn(bench, *runs, n=10)
    assert items_drawn(same, runs[0]) == items_drawn(same, runs[1])
    assert len(items_drawn(same, runs[0])) == 10
    other = make_stage(bench.project, kind="judge", form=first_fields("judge", "verdict"))
    alone = draw_judge_sample(stage=other, by=None, draw=bench.draw(*runs, n=10, rule="per_run"))
    assert items_drawn(alone, runs[0]) != items_drawn(alone, runs[1])
    assert [len(items_drawn(alone, run)) for run in runs] == [10, 10]


def test_a_draw_in_proportion_tells_its_strata():
    bench = make_bench(6, strata=[["domain", "music"]])
    for item in bench.items[:2]:
        item.key.strata = [["domain", "sports"]]
        item.key.save()
    run = bench.run("A", list("abcdef"))
    plan = plan_draw(stage=bench.judges, draw=bench.draw(run, n=3, stratum="domain"))
    assert plan.parts[0].strata == (("music", 4, 2), ("sports", 2, 1))
    with pytest.raises(WorkNotPossible, match="has a stratum called 'hops'"):
        plan_draw(stage=bench.judges, draw=bench.draw(run, stratum="hops"))


def test_the_same_draw_again_changes_nothing_and_another_is_refused():
    bench = make_bench()
    run = bench.run("A", list("abcd"))
    first = drawn(bench, run)
    places = list(bench.judges.stage_items.order_by("rank").values_list("pk", flat=True))
    assert drawn(bench, run) == first
    assert list(bench.judges.stage_items.order_by("rank").values_list("pk", flat=True)) == places
    assert Event.objects.filter(verb="judge_sample.drawn").count() == 1
    for other in ({"seed": 12}, {"n": 3}, {"shows": "completion"}):
        with pytest.raises(WorkNotPossible, match="drawn already, by seed 11"):
            drawn(bench, run, **other)


def test_a_draw_is_taken_back_before_anybody_judges_and_stays_after():
    bench = make_bench()
    run = bench.run("A", list("abcd"))
    drawn(bench, run)
    discard_judge_sample(stage=bench.judges, by=bench.admin, reason="Too many.")
    assert not JudgeSample.objects.exists()
    assert not CandidateOrigin.objects.exists()
    assert not bench.judges.stage_items.exists()
    assert Stage.objects.get(pk=bench.judges.pk).state == "draft"
    event = Event.objects.get(verb="judge_sample.discarded")
    assert (event.detail["reason"], event.detail["runs"], event.detail["n"]) == ("Too many.", [run.pk], 4)
    with pytest.raises(WorkNotPossible, match="Nothing was drawn"):
        discard_judge_sample(stage=bench.judges, by=bench.admin, reason="Again.")
    # The same answers are the same candidates, and another draw takes fewer of them.
    sample = drawn(bench, run, n=2, seed=3)
    assert (sample.seed, bench.judges.stage_items.count()) == (3, 2)
    judge(bench.judges, run, place_item(bench, sample), "right")
    with pytest.raises(WorkNotPossible, match="People have answered"):
        discard_judge_sample(stage=bench.judges, by=bench.admin, reason="Late.")
    assert JudgeSample.objects.get() == sample


def place_item(bench, sample):
    return sample.origins.order_by("pk").first().prediction.revision.item


def test_a_draw_depends_on_the_seed_alone():
    seen = []
    for seed in (1, 1, 2):
        bench = make_bench(30)
        drawn(bench, bench.run("A", [f"a{k}" for k in range(30)]), n=10, seed=seed)
        seen.append([content[0][1] for content in contents(bench.judges)])
    assert seen[0] == seen[1] != seen[2]


def test_what_was_said_can_be_judged_where_no_answer_was_read():
    bench = make_bench(3)
    run = bench.run("A", ["x", None, None])
    say(run, bench.items[1], "I would rather not say.", state="refused")
    say(run, bench.items[2], "", state="empty")
    plan = plan_draw(stage=bench.judges, draw=bench.draw(run, unanswered="as_said"))
    assert (plan.n_places, plan.nothing) == (2, {"empty": 1})
    drawn(bench, run, unanswered="as_said")
    assert sorted(content[0][1] for content in contents(bench.judges)) == ["I would rather not say.", "x"]


def test_judges_can_be_shown_everything_the_model_said():
    bench = make_bench(2)
    run = bench.run("A", ["x", None])
    call = run.predictions.get(state="answered").calls.get()
    call.completion = "Let me think.\nThe answer is x."
    call.save()
    drawn(bench, run, shows="completion")
    assert contents(bench.judges) == [[["answer", "Let me think.\nThe answer is x."]]]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        (YES_NO[0], "not_sure", "Not sure enough"),
        ({"type": "list"}, ["b", "a"], ["b", "a"]),
        ({"type": "number"}, "12.5", "12.5"),
        (
            {"type": "table", "columns": ["a"]},
            {"columns": ["a"], "rows": [["1"], [None]]},
            {"type": "grid", "columns": ["a"], "rows": [["1"], [None]]},
        ),
    ],
    ids=["choice", "list", "number", "table"],
)
def test_an_answer_is_shown_as_its_field_has_it(field, value, shown):
    spec = {"caption": "Answer", "decides": True} | field | {"name": "answer"}
    bench = make_bench(1, answers=[spec])
    drawn(bench, bench.run("A", [value]))
    assert contents(bench.judges) == [[["answer", shown]]]


def test_the_first_of_several_answers_of_a_run_is_judged():
    bench = make_bench(1)
    run = bench.run("A", ["x"])
    run.predictions.create(
        revision=bench.items[0].revisions.get(), position=0, repeat=1, state="answered", answer={"answer": "y"}
    )
    drawn(bench, run)
    assert contents(bench.judges) == [[["answer", "x"]]]


def test_an_item_that_is_left_out_of_figures_is_not_drawn():
    bench = make_bench(3)
    run = bench.run("A", list("abc"))
    excluding.exclude_item(item=bench.items[1], by=bench.admin, reason="Nobody can tell.", rule="bad item")
    assert plan_draw(stage=bench.judges, draw=bench.draw(run)).parts[0].n_population == 2


# The better of two


def test_two_answers_are_put_side_by_side_and_equal_ones_are_a_tie_without_asking():
    bench = make_bench(3, form="better")
    one, two = bench.run("A", ["x", "same", None]), bench.run("B", ["y", "same", "z"])
    plan = plan_draw(stage=bench.judges, draw=bench.draw(one, two))
    assert (plan.n_drawn, plan.n_places, plan.n_same, plan.nothing) == (3, 1, 1, {"unparsed": 1})
    sample = drawn(bench, one, two)
    assert [sorted(value for _, value in content) for content in contents(bench.judges)] == [["x", "y"]]
    origin = sample.origins.get(candidate__stage_items__isnull=False)
    content = dict(origin.candidate.content)
    assert content == {"first": origin.prediction.answer["answer"], "second": origin.other.answer["answer"]}


def test_each_pair_of_runs_is_compared_and_equal_pairs_once():
    bench = make_bench(1, form="better")
    runs = [bench.run("A", ["x"]), bench.run("B", ["y"]), bench.run("C", ["x"])]
    sample = drawn(bench, *runs)
    # A and B, and C and B, have the same two answers; A and C say the same.
    assert len(contents(bench.judges)) == 1
    assert sample.origins.count() == 3
    place = bench.judges.stage_items.get()
    pairs = sample.origins.filter(candidate=place.candidate)
    said = {(row.prediction.answer["answer"], row.other.answer["answer"]) for row in pairs}
    assert len(said) == 1, "the order belongs to the candidate, not to the runs"


def test_each_run_stands_first_about_as_often_as_second():
    bench = make_bench(60, form="better")
    one, two = bench.run("A", [f"a{k}" for k in range(60)]), bench.run("B", [f"b{k}" for k in range(60)])
    sample = drawn(bench, one, two)
    first = Counter(sample.origins.values_list("prediction__run__name", flat=True))
    assert 15 <= first["A"] <= 45
    assert first["A"] + first["B"] == 60


# Refusals


def test_what_cannot_be_judged_is_refused_with_its_reason():
    bench = make_bench(2)
    run = bench.run("A", ["x", "y"])
    unfinished = make_run(bench.answers, bench.item_set, name="Unfinished")
    elsewhere = make_bench(1)
    choosing = make_stage(bench.project, form=YES_NO)
    other_field = make_run(choosing, bench.item_set, name="Labels", state="done", frozen_at=timezone.now())
    refused = {
        "Choose at least one run": bench.draw(),
        "Not finished yet: Unfinished": bench.draw(unfinished),
        "run of another project": bench.draw(elsewhere.run("B", ["x"])),
        "answered different fields": bench.draw(run, other_field),
        "each once": bench.draw(run, run),
        "at least one answer": bench.draw(run, n=0),
        "more than 100,000": bench.draw(run, n=100_001),
    }
    for words, draw in refused.items():
        with pytest.raises(WorkNotPossible, match=words):
            draw_judge_sample(stage=bench.judges, by=None, draw=draw)
    assert not JudgeSample.objects.filter(stage=bench.judges).exists()
    assert not bench.judges.stage_items.exists()


def test_a_draw_of_nothing_to_judge_is_refused():
    bench = make_bench(1)
    with pytest.raises(WorkNotPossible, match="Nothing would be left to judge"):
        drawn(bench, bench.run("A", [None]))
    assert not JudgeSample.objects.exists()


def test_one_run_alone_has_no_better_one():
    bench = make_bench(1, form="better")
    with pytest.raises(WorkNotPossible, match="two runs or more"):
        drawn(bench, bench.run("A", ["x"]))


def test_only_a_stage_of_judges_with_their_form_is_drawn_for():
    bench = make_bench(1)
    run = bench.run("A", ["x"])
    with pytest.raises(WorkNotPossible, match="of the kind “judge”"):
        draw_judge_sample(stage=bench.answers, by=None, draw=bench.draw(run))
    asks_otherwise = make_stage(bench.project, kind="judge", form=YES_NO)
    with pytest.raises(WorkNotPossible, match="values right and wrong"):
        draw_judge_sample(stage=asks_otherwise, by=None, draw=bench.draw(run))


def test_an_item_without_an_answer_comes_into_no_stage_of_judges():
    bench = make_bench(1)
    with pytest.raises(StageNotReady, match="a draw of its own"):
        projects.add_items_to_stage(stage=bench.judges, item_set=bench.item_set)
    with pytest.raises(FeedNotPossible, match="a draw of its own"):
        feeds.set_feed(source=bench.answers, target=bench.judges, by=None, recipe={})


# Who sees what


HIDDEN = re.compile(r"evaluation_\w+|annotate_(itemkey|gold)\b")


def judged_by(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Everything that a judge is shown, from the first answer to the last."""
    judge = make_member(bench.project)
    client = Client()
    client.force_login(judge)
    address = reverse("work", args=[bench.project.slug, bench.judges.slug])
    pages = []
    for _ in range(bench.judges.stage_items.count()):
        page = client.get(address).content
        token = re.search(rb'data-token="([^"]+)"', page)[1].decode()
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.decode()))
        page = page[page.index(b'<section class="given') : page.index(b'<form id="answer-form"')]
        pages.append(page)
        chosen = "right" if bench.judges.stage_items.filter(candidate__content__0__0="answer").exists() else "first"
        assert client.post(reverse("work-submit", args=[token]), form | {"judgement": chosen}).status_code == 302
    assert b"All done" in client.get(address).content
    return pages


@pytest.mark.parametrize("form", ["verdict", "better"])
def test_judges_see_the_same_whichever_model_said_what(form, monkeypatch):
    said = (["x", "same", "z"], ["y", "same", "w"])
    seen = []
    for one, two in (said, said[::-1]):
        bench = make_bench(3, form=form)
        Stage.objects.filter(pk=bench.judges.pk).update(order="sequential")
        bench.judges.refresh_from_db()
        drawn(bench, bench.run("A", one), bench.run("B", two))
        seen.append(judged_by(bench, monkeypatch))
    assert seen[0] == seen[1]
    assert len(seen[0]) == (5 if form == "verdict" else 2)
    assert not any(b"Model" in page or b"run" in page for page in seen[0])


def test_a_judge_works_without_asking_who_wrote_what(client):
    bench = make_bench(2)
    drawn(bench, bench.run("Model A", ["x", "y"]))
    judge = make_member(bench.project)
    client.force_login(judge)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"/work/{bench.project.slug}/{bench.judges.slug}/")
        held = ApiClient(judge).post(f"work/{bench.project.slug}/{bench.judges.slug}/next/").json()["held"]
    assert [query["sql"] for query in queries if HIDDEN.search(query["sql"])] == []
    assert "Model A" not in page.text
    assert held["beside"]["content"] in ([["answer", "x"]], [["answer", "y"]])
    assert Candidate.objects.count() == 2
    for part in ("judge/", "judge/draw/", "judge/judged.csv", "judge/judged.json", ""):
        assert client.get(f"/p/{bench.project.slug}/stages/{bench.judges.slug}/{part}").status_code == 404


def test_who_wrote_a_question_does_not_judge_answers_to_it():
    bench = make_bench(1)
    author = make_member(bench.project)
    type(bench.items[0]).objects.filter(pk=bench.items[0].pk).update(author=author)
    drawn(bench, bench.run("A", ["x"]))
    assert not isinstance(assigning.claim_next(stage=bench.judges, person=author), assigning.Assignment)
    assert assigning.claim_next(stage=bench.judges, person=make_member(bench.project)).stage_item.candidate


def test_who_was_shown_a_models_answer_answers_the_item_no_more():
    bench = make_bench(1)
    drawn(bench, bench.run("A", ["x"]))
    judge = make_member(bench.project)
    assert assigning.claim_next(stage=bench.judges, person=judge).stage_item.candidate
    people = make_stage(bench.project)
    make_stage_item(people, bench.items[0])
    assert assigning.claim_next(stage=people, person=judge).kind == assigning.Left.NOBODY_ELIGIBLE
    assert assigning.claim_next(stage=people, person=make_member(bench.project)).stage_item.stage == people


def test_adjudicators_have_no_word_on_models_answers():
    bench = make_bench(1)
    settles = make_stage(bench.project, kind="adjudicate", form=bench.judges.versions.get().fields)
    with pytest.raises(StageNotReady, match="Judges have the last word"):
        projects.adjudicate_in(stage=bench.judges, judges=settles, by=bench.admin)


def test_meta_reviewers_who_judge_cannot_look_up_what_is_whose(client):
    bench = make_bench(1)
    Stage.objects.filter(pk=bench.judges.pk).update(roles=["meta_reviewer"])
    drawn(bench, bench.run("A", ["x"]))
    client.force_login(make_member(bench.project, "meta_reviewer"))
    address = f"/p/{bench.project.slug}/stages/{bench.judges.slug}/judge/"
    assert client.get(address).status_code == 404
    Stage.objects.filter(pk=bench.judges.pk).update(state="closed")
    assert client.get(address).status_code == 200


def test_a_project_may_judge_an_answer_in_two_stages():
    bench = make_bench(1)
    run = bench.run("A", ["x"])
    drawn(bench, run)
    other = make_stage(bench.project, kind="judge", form=first_fields("judge", "verdict"))
    draw_judge_sample(stage=other, by=None, draw=bench.draw(run))
    assert Candidate.objects.count() == 1
    assert other.stage_items.get().candidate == bench.judges.stage_items.get().candidate


@pytest.mark.django_db(transaction=True)
def test_two_draws_at_once_make_one():
    bench = make_bench(20)
    run = bench.run("A", [f"a{k}" for k in range(20)])

    def draw() -> int:
        try:
            return drawn(bench, run).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        made = {future.result(timeout=60) for future in [pool.submit(draw) for _ in range(3)]}
    assert made == {JudgeSample.objects.get().pk}
    assert bench.judges.stage_items.count() == 20
    assert CandidateOrigin.objects.count() == 20
