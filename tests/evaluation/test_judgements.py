"""What judges say in numbers: each is worked out by hand beside the test."""

from __future__ import annotations

import csv
import io
import json

import pytest
from scipy.stats import binomtest

from annotate.exceptions import WorkNotPossible
from annotate.models import Annotation, Gold, Resolution, StageVersion
from annotate.services import excluding
from annotate.services.archiving import restore, write_archive
from evaluation.models import CandidateOrigin, Score
from evaluation.services.judgements import judge_results, matrix_rows, results_json
from evaluation.services.judging import draw_judge_sample
from tests.evaluation.judged import Bench, judge, make_bench, place_of, say
from tests.factories import YES_NO, make_annotation, make_member, make_staff

pytestmark = pytest.mark.django_db


def share(results, name):
    return next(one for one in results.runs if one.run.name == name)


def test_the_share_judged_right_has_two_denominators():
    bench = make_bench(6)
    run = bench.run("A", ["a0", "a1", "a2", "x", "y", None])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    for item, said in zip(bench.items, ["right", "right", "wrong", "unsure"], strict=False):
        judge(bench.judges, run, item, said)
    one = share(judge_results(stage=bench.judges), "A")
    # Two right of three that are right or wrong; the unparsed one is a fourth that is known. Unsure is
    # nothing of either, and one waits.
    assert one.counts == {"right": 2, "wrong": 1, "unsure": 1}
    assert (one.left_out, one.nothing, one.n_drawn) == ({"waiting": 1}, {"unparsed": 1}, 6)
    assert (one.judged["value"], one.judged["n"]) == (pytest.approx(2 / 3), 3)
    assert (one.judged_or_nothing["value"], one.judged_or_nothing["n"]) == (pytest.approx(2 / 4), 4)
    wilson = binomtest(2, 3).proportion_ci(method="wilson")
    assert (one.judged["lower"], one.judged["upper"]) == (pytest.approx(wilson.low), pytest.approx(wilson.high))
    assert one.judged["method"] == "wilson"


def test_one_judgement_counts_for_every_run_that_gave_the_answer():
    bench = make_bench(1)
    runs = [bench.run(name, ["same"]) for name in "AB"]
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*runs))
    judge(bench.judges, runs[0], bench.items[0], "right")
    results = judge_results(stage=bench.judges)
    assert [one.judged["value"] for one in results.runs] == [1.0, 1.0]
    assert len(results.judged.votes) == 1


def test_items_of_one_table_are_resampled_together():
    bench = make_bench(4)
    table = bench.items[0]
    for item in bench.items[1:3]:
        type(item).objects.filter(pk=item.pk).update(root=table)
    run = bench.run("A", ["a0", "a1", "x", "y"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    for item, said in zip(bench.items, ["right", "right", "wrong", "wrong"], strict=True):
        judge(bench.judges, run, item, said)
    one = share(judge_results(stage=bench.judges), "A")
    assert (one.judged["value"], one.judged["n"], one.judged["n_roots"]) == (0.5, 4, 2)
    few_roots = "Wilson with the effective number of trials, by percentile bootstrap over roots"
    assert (one.judged["method"], one.judged["seed"]) == (few_roots, 1)


def test_most_judges_decide_and_a_tie_of_judges_decides_nothing():
    bench = make_bench(3, overlap=3)
    run = bench.run("A", ["a0", "a1", "a2"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    judge(bench.judges, run, bench.items[0], "right", "right", "wrong")
    judge(bench.judges, run, bench.items[1], "right", "wrong")
    judge(bench.judges, run, bench.items[2], "right", "wrong", "unsure")
    results = judge_results(stage=bench.judges)
    one = share(results, "A")
    assert (one.counts["right"], one.left_out) == (1, {"undecided": 1, "waiting": 1})
    assert results.judged.n_waiting == 1
    # Pairs that agree: 1 of 3, 0 of 1, 0 of 3; the mean over the three candidates.
    agreement = {figure["measure"]: figure for figure in results.agreement}
    assert agreement["percent_agreement"]["value"] == pytest.approx(1 / 9)
    assert agreement["percent_agreement"]["n"] == 3
    assert {"krippendorff_alpha_nominal", "gwet_ac1"} < agreement.keys()
    assert sum(judge.n for judge in results.judges) == 8


@pytest.mark.parametrize("form", ["verdict", "better"])
def test_the_first_of_three_judges_decides_nothing_and_neither_do_two_who_agree(form):
    bench = make_bench(1, form=form, overlap=3)
    runs = [bench.run("A", ["a0"]), bench.run("B", ["b0"])][: 1 if form == "verdict" else 2]
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*runs))
    said = "right" if form == "verdict" else "first"
    for n_said, n_waiting in ((1, 2), (2, 1), (3, 0)):
        judge(bench.judges, runs[0], bench.items[0], said)
        results = judge_results(stage=bench.judges)
        (one,) = results.runs or results.pairs
        (origin,) = results.judged.origins
        assert results.judged.n_waiting == n_waiting
        assert origin.judgement.votes == {said: n_said}
        if n_waiting:
            assert (origin.judgement.key, one.left_out) == (None, {"waiting": 1})
        else:
            assert (origin.judgement.key, one.left_out) == (said, {})


def test_more_judges_asked_for_later_are_waited_for_and_an_adjudicator_is_not():
    bench = make_bench(2)
    run = bench.run("A", ["a0", "a1"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    for item in bench.items:
        judge(bench.judges, run, item, "right")
    # As an escalation asks more people, or another overlap does.
    bench.judges.stage_items.update(wanted=3)
    assert share(judge_results(stage=bench.judges), "A").left_out == {"waiting": 2}
    Resolution.objects.create(
        stage_item=place_of(bench.judges, run, bench.items[0]),
        field="judgement", status="adjudicated", answer="wrong", answer_key="wrong", key_version=1,
    )  # fmt: skip
    one = share(judge_results(stage=bench.judges), "A")
    assert (one.counts["wrong"], one.left_out) == (1, {"waiting": 1})


def test_what_is_excluded_or_changed_counts_as_elsewhere():
    bench = make_bench(2)
    run = bench.run("A", ["a0", "a1"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    (careless,) = judge(bench.judges, run, bench.items[0], "wrong")
    (kept,) = judge(bench.judges, run, bench.items[1], "wrong")
    excluding.exclude_annotation(annotation=careless, by=bench.admin, reason="Clicked through.")
    Annotation.objects.filter(pk=kept.pk).update(answer={"judgement": "right"})
    assert share(judge_results(stage=bench.judges), "A").counts == {"right": 1, "wrong": 0, "unsure": 0}
    excluding.exclude_item(item=bench.items[1], by=bench.admin, reason="Two readings.", rule="bad item")
    one = share(judge_results(stage=bench.judges), "A")
    assert (one.counts["right"], one.left_out) == (0, {"waiting": 1, "left_out": 1})
    assert (one.judged["value"], one.judged["undefined"]) == (None, "no_trials")


def test_an_adjudicator_outranks_the_judges():
    bench = make_bench(1, overlap=2)
    run = bench.run("A", ["a0"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    judge(bench.judges, run, bench.items[0], "right", "wrong")
    place = place_of(bench.judges, run, bench.items[0])
    Resolution.objects.create(
        stage_item=place, field="judgement", status="adjudicated", answer="wrong", answer_key="wrong", key_version=1
    )
    assert share(judge_results(stage=bench.judges), "A").counts == {"right": 0, "wrong": 1, "unsure": 0}


# The better of two


def prefer(bench: Bench, run, item, *, over) -> None:
    """A judge finds the answer of this run better."""
    origin = CandidateOrigin.objects.get(
        sample__stage=bench.judges,
        prediction__run__in=[run, over],
        other__run__in=[run, over],
        prediction__revision__item=item,
    )
    place = bench.judges.stage_items.get(candidate=origin.candidate)
    said = "first" if origin.prediction.run == run else "second"
    make_annotation(place, make_member(bench.project), {"judgement": said})


def test_wins_ties_and_losses_of_two_runs_with_the_exact_sign_test():
    bench = make_bench(8, form="better")
    one = bench.run("A", ["a", "b", "c", "d", "e", "same", "g", None])
    two = bench.run("B", ["1", "2", "3", "4", "5", "same", "7", "8"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two))
    for item in bench.items[:3]:
        prefer(bench, one, item, over=two)
    prefer(bench, two, bench.items[3], over=one)
    judge(bench.judges, one, bench.items[4], "both_bad")
    results = judge_results(stage=bench.judges)
    (pair,) = results.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.both_bad, pair.n_same) == (3, 1, 1, 1, 1)
    assert (pair.left_out, pair.nothing, pair.n_drawn) == ({"waiting": 1}, {"unparsed": 1}, 8)
    # (3 - 1) of the 6 that are decided: 3 wins, 1 loss, 1 tie without asking, 1 where both are bad.
    assert (pair.difference["value"], pair.difference["n"]) == (pytest.approx(2 / 6), 6)
    # Two-sided: of 4 tosses 3 or more alike, 2 * (4 + 1) / 16.
    assert (pair.test, pair.difference["p"]) == ("sign", pytest.approx(10 / 16))
    assert pair.difference["lower"] <= pair.difference["value"] <= pair.difference["upper"]
    assert sum(results.positions.values()) == 4


def test_swapping_two_runs_mirrors_what_is_said_of_them():
    values = []
    for names in ("AB", "BA"):
        bench = make_bench(5, form="better")
        better = bench.run(names[0], list("abcde"))
        worse = bench.run(names[1], list("vwxyz"))
        draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(better, worse))
        for item in bench.items[:4]:
            prefer(bench, better, item, over=worse)
        (pair,) = judge_results(stage=bench.judges).pairs
        values.append((pair.difference["value"], pair.difference["p"]))
    assert values[0][0] == -values[1][0] == 1.0
    assert values[0][1] == values[1][1] == 2 / 16


def test_items_that_share_a_table_get_a_permutation_test():
    bench = make_bench(4, form="better")
    type(bench.items[1]).objects.filter(pk=bench.items[1].pk).update(root=bench.items[0])
    one, two = bench.run("A", list("abcd")), bench.run("B", list("wxyz"))
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two))
    for item in bench.items:
        prefer(bench, one, item, over=two)
    (pair,) = judge_results(stage=bench.judges).pairs
    # Three roots, all for the first run: 2 of 8 assignments of signs are as extreme.
    assert (pair.test, pair.difference["p"]) == ("permutation", pytest.approx(2 / 8))


def test_several_pairs_are_tested_as_one_family():
    bench = make_bench(4, form="better")
    one, two, three = (bench.run(name, [f"{name}{k}" for k in range(4)]) for name in "ABC")
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two, three))
    for item in bench.items:
        prefer(bench, one, item, over=two)
    pairs = judge_results(stage=bench.judges).pairs
    assert [(pair.first.name, pair.second.name) for pair in pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    # 2 * 1/16 = 0.125 for the first pair alone: the others have no judgement yet, so no test.
    assert [pair.difference["p"] for pair in pairs] == [0.125, None, None]
    for item in bench.items:
        prefer(bench, three, item, over=two)
    pairs = judge_results(stage=bench.judges).pairs
    assert [(pair.difference["p_adjusted"], pair.difference["n_family"]) for pair in pairs] == [
        (0.25, 2),
        (None, None),
        (0.25, 2),
    ]


# Metrics against judges


def score(bench: Bench, run, scorer: str, values: list[float | None], version: int = 1) -> None:
    for item, value in zip(bench.items, values, strict=True):
        if value is not None:
            Score.objects.create(
                prediction=run.predictions.get(revision__item=item),
                field="answer",
                scorer=scorer,
                scorer_version=version,
                gold=Gold.objects.get(item=item, is_current=True),
                value=value,
            )


def test_a_scorer_is_held_against_the_judges_by_answer_and_by_run():
    bench = make_bench(4)
    one, two, three = (bench.run(name, [f"{name}{k}" for k in range(4)]) for name in "ABC")
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two, three))
    said = {one: "rrrr", two: "rrww", three: "wwww"}
    for run, judgements in said.items():
        for item, letter in zip(bench.items, judgements, strict=True):
            judge(bench.judges, run, item, "right" if letter == "r" else "wrong")
    # It orders the runs as judges do, and within the second run the answers the other way round.
    score(bench, one, "rouge_l", [1, 1, 1, 1])
    score(bench, two, "rouge_l", [0, 0, 1, 1])
    score(bench, three, "rouge_l", [0, 0, 0, 0])
    results = judge_results(stage=bench.judges)
    (study,) = results.studies
    by = {figure["measure"]: figure for figure in study.items}
    # Phi of the table 4 right and 1, 2 right and 0, 2 wrong and 1, 4 wrong and 0: (4 * 4 - 2 * 2) / (6 * 6).
    assert by["pearson"]["value"] == pytest.approx(1 / 3)
    assert by["kendall_tau_b"]["value"] == pytest.approx(1 / 3)
    assert (by["pearson"]["n"], by["pearson"]["n_left_out"]) == (12, 0)
    assert by["pearson"]["lower"] - 1e-9 <= 1 / 3 <= by["pearson"]["upper"] + 1e-9
    assert by["pearson"]["method"] == "percentile bootstrap over roots"
    systems = {figure["measure"]: figure for figure in study.systems}
    # Means 1, 1/2, 0 on both sides.
    assert (systems["pearson"]["value"], systems["pearson"]["n"]) == (pytest.approx(1), 3)


def test_a_metric_study_is_about_the_same_answers():
    bench = make_bench(4)
    run = bench.run("A", ["a", "b", "c", None])
    say(run, bench.items[3], "I do not know.")
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run, unanswered="as_said"))
    for item, said in zip(bench.items, ["right", "wrong", "unsure", "wrong"], strict=True):
        judge(bench.judges, run, item, said)
    score(bench, run, "exact_match", [1, 0, 1, None])
    (study,) = judge_results(stage=bench.judges).studies
    pearson = study.items[0]
    # Two answers have both; one is scored and not decided, one is decided and was never scored.
    assert (pearson["value"], pearson["n"], pearson["n_left_out"]) == (pytest.approx(1), 2, 2)
    assert [(figure["value"], figure["undefined"]) for figure in study.systems] == [(None, "too_few")] * 3


def test_only_the_newest_scores_against_the_gold_of_now_are_studied():
    bench = make_bench(2)
    run = bench.run("A", ["a", "b"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(run))
    for item, said in zip(bench.items, ["right", "wrong"], strict=True):
        judge(bench.judges, run, item, said)
    score(bench, run, "exact_match", [0, 1], version=1)
    score(bench, run, "exact_match", [1, 0], version=2)
    (study,) = judge_results(stage=bench.judges).studies
    assert study.items[0]["value"] == pytest.approx(1)
    Gold.objects.filter(item__in=bench.items).update(is_current=False)
    assert judge_results(stage=bench.judges).studies == []


# What goes out


def test_the_matrix_has_a_row_for_everything_that_was_drawn():
    bench = make_bench(3)
    one, two = bench.run("A", ["x", "y", None]), bench.run("B", ["x", "z", "w"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two))
    judge(bench.judges, one, bench.items[0], "right")
    score(bench, one, "exact_match", [0, 1, None])
    buffer = io.StringIO()
    csv.writer(buffer).writerows(matrix_rows(stage=bench.judges))
    rows = list(csv.DictReader(io.StringIO(buffer.getvalue())))
    assert len(rows) == 6
    shown = [(row["item"], row["run"], row["outcome"], row["judgement"], row["status"]) for row in rows]
    assert shown == [
        ("q0", "A", "answered", "right", "majority"),
        ("q0", "B", "answered", "right", "majority"),
        ("q1", "A", "answered", "", "waiting"),
        ("q1", "B", "answered", "", "waiting"),
        ("q2", "A", "unparsed", "", "nothing_to_judge"),
        ("q2", "B", "answered", "", "waiting"),
    ]
    assert rows[0]["candidate"] == rows[1]["candidate"] != ""
    assert (rows[0]["votes.right"], rows[0]["score.exact_match"], rows[2]["score.exact_match"]) == ("1", "0.0", "1.0")


@pytest.mark.parametrize("form", ["verdict", "better"])
def test_the_figures_are_json_with_their_circumstances(form):
    bench = make_bench(2, form=form)
    one, two = bench.run("A", ["x", "y"]), bench.run("B", ["v", "w"])
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two))
    told = json.loads(json.dumps(results_json(judge_results(stage=bench.judges))))
    assert (told["mode"], told["draw"]["seed"], told["draw"]["rule"]) == (form, 11, "same_items")
    assert len(told["runs"]) == (2 if form == "verdict" else 0)
    assert len(told["pairs"]) == (0 if form == "verdict" else 1)
    rows = list(matrix_rows(stage=bench.judges))
    assert len(rows) == 1 + (4 if form == "verdict" else 2)
    assert {len(row) for row in rows} == {len(rows[0])}


def test_a_restored_project_has_the_draw_and_the_same_figures():
    bench = make_bench(3)
    runs = [bench.run("A", ["x", "y", None]), bench.run("B", ["x", "z", "w"])]
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*runs))
    judge(bench.judges, runs[0], bench.items[0], "right")
    score(bench, runs[0], "exact_match", [0, 1, None])
    file = io.BytesIO()
    write_archive(bench.project, file, lambda n: None)
    restored = restore(file=file, by=make_staff(), slug="restored", joins_people=True).project
    told = [
        [(one.run.name, one.counts, one.left_out, one.nothing, one.judged["value"]) for one in results.runs]
        + [[figure["value"] for figure in study.items] for study in results.studies]
        for stage in (bench.judges, restored.stages.get(kind="judge"))
        for results in [judge_results(stage=stage)]
    ]
    assert told[0] == told[1]
    draw = bench.draw(*restored.runs.order_by("name"), seed=5)
    with pytest.raises(WorkNotPossible, match="drawn already"):
        draw_judge_sample(stage=restored.stages.get(kind="judge"), by=None, draw=draw)


def test_without_a_draw_or_with_another_form_there_is_nothing_to_tell():
    bench = make_bench(1)
    with pytest.raises(WorkNotPossible, match="Nothing was drawn"):
        judge_results(stage=bench.judges)
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(bench.run("A", ["x"])))
    StageVersion.objects.filter(stage=bench.judges).update(fields=YES_NO)
    with pytest.raises(WorkNotPossible, match="asks something else"):
        judge_results(stage=bench.judges)
