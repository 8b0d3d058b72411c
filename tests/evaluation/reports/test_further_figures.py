"""McNemar, correlations of measures, spread over runs and over a grid, and accounts of n: by hand. No database."""

from dataclasses import replace

import numpy as np
import pytest

import evaluation.reports.spread as spread_module
from evaluation.reports.account import ITEM, PERSON, Decision, LeftOut, Removed, account_figures
from evaluation.reports.differences import planning_figures
from evaluation.reports.further_sections import further_sections
from evaluation.reports.mcnemar import mcnemar_figures
from evaluation.reports.metric_study import metric_figures
from evaluation.reports.spread import Asked, grid_figures, grid_of, prompt_figures
from evaluation.reports.strata_compared import strata_compared_figures
from evaluation.stats import power_of, two_proportions
from tests.evaluation.reports.test_differences import with_second_run
from tests.evaluation.reports.test_figures import BOOTSTRAP, NO, NONE, YES, comparison, one

SCORER = "label_accuracy"


def against_people(people, run, **fields):
    found = mcnemar_figures(comparison(people, [YES] * len(people), run, **fields), scorer=SCORER)
    return {figure.measure: figure for figure in found}


def test_mcnemar_counts_who_alone_is_right_and_says_the_exact_p():
    # Only the run is right of one item, only the person of four: 2 * (1 + 5) / 32; mid-p leaves half of P(X = 1) out.
    people = [[NO]] + [[YES]] * 5
    run = [[YES]] + [[NO]] * 4 + [[YES]]
    found = against_people(people, run)
    assert (found["only_first_right"].count, found["only_second_right"].count) == (1, 4)
    test = found["mcnemar_exact"]
    assert (test.value, test.n, test.p) == (pytest.approx(-3 / 6), 6, pytest.approx(12 / 32))
    assert found["mcnemar_mid_p"].value == pytest.approx(12 / 32 - 5 / 32)
    assert test.note == "one person’s answer"


def test_mcnemar_against_several_people_takes_their_vote_and_describes():
    found = against_people([[YES, YES, NO]] * 3, [[NO], [NO], [YES]])
    assert found["only_second_right"].count == 2
    assert found["mcnemar_exact"].note == "described only: the people’s vote"


def test_mcnemar_of_a_missing_answer_counts_it_as_not_right():
    found = against_people([[YES]] * 2, [[NONE], [YES]])
    assert (found["only_second_right"].count, found["mcnemar_exact"].n) == (1, 2)


def test_mcnemar_without_a_difference_has_p_1():
    found = against_people([[YES]] * 2, [[YES]] * 2)
    assert (found["mcnemar_exact"].value, found["mcnemar_exact"].p) == (0, 1)


@pytest.mark.parametrize(
    ("fields", "run", "why"),
    [
        ({"roots": [1, 1, 2]}, [[NO]] * 3, "not_independent"),
        ({}, [[NO, YES]] * 3, "several_answers"),
        ({"asked": [[False]] * 3}, [[NONE]] * 3, "no_trials"),
    ],
)
def test_mcnemar_says_why_it_tests_nothing(fields, run, why):
    found = against_people([[YES]] * 3, run, **fields)
    assert list(found) == ["mcnemar_exact"]
    test = found["mcnemar_exact"]
    assert (test.undefined, test.value, test.p) == (why, None, None)


def test_mcnemar_is_not_for_scores_in_between():
    data = comparison([[YES]] * 3, [YES] * 3, [[NO]] * 3)
    half = {SCORER: np.full((3, 1), 0.5)}
    found = mcnemar_figures(replace(data, runs=[replace(data.runs[0], scores=half)]), scorer=SCORER)
    assert one(found).undefined == "not_binary"


def test_mcnemar_is_a_family_of_its_own():
    people, gold = [[YES]] * 8, [YES] * 8
    data = with_second_run(comparison(people, gold, [[NO]] * 8), [[YES]] * 4 + [[NO]] * 4)
    found = [figure for figure in mcnemar_figures(data, scorer=SCORER) if figure.p is not None]
    # 8 against 0: 2/256; 4 against 0: 2/16, twice. Benjamini-Hochberg: 3 * 2/256, and 2/16 for the others.
    assert [figure.p for figure in found] == [pytest.approx(p) for p in (2 / 256, 2 / 16, 2 / 16)]
    assert [figure.p_adjusted for figure in found] == [pytest.approx(p) for p in (6 / 256, 2 / 16, 2 / 16)]
    assert {(figure.adjustment, figure.n_family) for figure in found} == {("benjamini_hochberg", 3)}


def test_measures_are_correlated_over_answers_and_over_those_who_gave_them():
    data = comparison([[YES], [NO]] * 6, [YES] * 12, [[YES], [NO], [NO]] * 4)

    def with_half(side):
        return replace(side, scores=side.scores | {"other": side.scores[SCORER] / 2})

    data = replace(data, people=with_half(data.people), runs=[with_half(data.runs[0])])
    found = list(
        metric_figures(data, scorers=[SCORER, "other"], primary_scorer=SCORER, bootstrap=BOOTSTRAP),
    )
    assert {figure.row for figure in found} == {"other"}
    answers = one(found, measure="pearson", denominator="answers")
    assert (answers.value, answers.n, answers.lower) == (pytest.approx(1), 24, pytest.approx(1))
    systems = one(found, measure="spearman", denominator="systems")
    assert (systems.value, systems.n, systems.lower) == (pytest.approx(1), 2, None)
    assert list(metric_figures(data, scorers=[SCORER], primary_scorer=SCORER, bootstrap=BOOTSTRAP)) == []


def test_a_measure_without_variation_is_undefined_with_its_reason():
    data = comparison([[YES], [YES]], [YES] * 2)
    data = replace(data, people=replace(data.people, scores=data.people.scores | {"other": np.array([[0.1], [0.2]])}))
    found = list(metric_figures(data, scorers=[SCORER, "other"], primary_scorer=SCORER, bootstrap=BOOTSTRAP))
    assert {(figure.value, figure.undefined) for figure in found if figure.denominator == "answers"} == {
        (None, "no_variation")
    }
    assert {figure.undefined for figure in found if figure.denominator == "systems"} == {"too_few"}


def test_runs_of_one_model_tell_their_spread_on_shared_items():
    # On the first three items, which both were asked: 3/3 and 1/3.
    data = with_second_run(comparison([[YES]] * 4, [YES] * 4, [[YES]] * 4), [[YES], [NO], [NO], [YES]])
    asked = np.array([[True], [True], [True], [False]])
    data = replace(data, runs=[data.runs[0], replace(data.runs[1], offered=asked)])
    same = {7: Asked("m", "zero_shot"), 8: Asked("m", "few_shot")}
    found = prompt_figures(data, scorer=SCORER, asked=same, bootstrap=BOOTSTRAP)
    mean = one(found, measure="mean_over_runs")
    assert (mean.value, mean.n, mean.n_items, mean.note) == (pytest.approx(2 / 3), 2, 3, "2 prompt strategies")
    assert one(found, measure="sd_over_runs").value == pytest.approx(np.std([1, 1 / 3], ddof=1))
    assert (one(found, measure="lowest_run").note, one(found, measure="highest_run").note) == ("Model B", "Model A")
    assert (
        prompt_figures(data, scorer=SCORER, asked=same | {8: Asked("another", "zero_shot")}, bootstrap=BOOTSTRAP) == []
    )


def test_runs_of_one_model_without_a_shared_item_have_no_spread():
    data = with_second_run(comparison([[YES]] * 2, [YES] * 2, [[YES]] * 2), [[YES], [NO]])
    sides = [replace(run, offered=np.array([[n == 0], [n == 1]])) for n, run in enumerate(data.runs)]
    asked = {7: Asked("m", "a"), 8: Asked("m", "b")}
    (figure,) = prompt_figures(replace(data, runs=sides), scorer=SCORER, asked=asked, bootstrap=BOOTSTRAP)
    assert (figure.value, figure.undefined) == (None, "no_shared_items")


CELLS = [[["depth", "1"], ["width", "1"]], [["depth", "1"], ["width", "1"]], [["depth", "2"], ["width", "1"]]]


def test_the_mean_over_runs_has_an_interval_by_root():
    labels = [[YES]] * 6 + [[NO]] * 6
    data = with_second_run(comparison([[YES]] * 12, [YES] * 12, labels, roots=[1] * 6 + [2] * 6), labels)
    asked = {7: Asked("m", "a"), 8: Asked("m", "b")}
    mean = one(prompt_figures(data, scorer=SCORER, asked=asked, bootstrap=BOOTSTRAP), measure="mean_over_runs")
    # Two tables, one all right and one all wrong, tell next to nothing.
    assert (mean.value, mean.n_roots) == (0.5, 2)
    assert (mean.lower, mean.upper) == (pytest.approx(0, abs=0.02), pytest.approx(1, abs=0.02))


def test_a_cell_of_few_items_has_no_mean_and_the_sd_says_how_many_are_small():
    strata = [[["depth", str(1 + (n >= 20))], ["width", str(1 + (n == 20))]] for n in range(22)]
    found = grid_figures(comparison([[YES]] * 22, [YES] * 22, strata=strata), scorer=SCORER)
    cells = {figure.stratum_value: (figure.value, figure.n, figure.undefined) for figure in found}
    assert cells["1 × 1"] == (1.0, 20, "")
    assert cells["2 × 2"] == cells["2 × 1"] == (None, 1, "too_few")
    spread = one(found, measure="sd_over_cells")
    assert (spread.value, spread.n, spread.note) == (0.0, 3, "cells of fewer than 20 items: 2")


def test_a_grid_has_a_mean_for_each_cell_and_the_sd_over_cells(monkeypatch):
    monkeypatch.setattr(spread_module, "MIN_STRATUM_ITEMS", 1)
    strata = [*CELLS, [["depth", "2"], ["width", "2"]], [["depth", "3"]]]
    data = comparison([[YES], [NO], [YES], [NO], [YES]], [YES] * 5, [[NO]] * 5, strata=strata)
    found = grid_figures(data, scorer=SCORER)
    people = [figure for figure in found if figure.row == "people_mean"]
    assert {figure.stratum_value: (figure.value, figure.n) for figure in people if figure.stratum_value} == {
        "1 × 1": (0.5, 2),
        "2 × 1": (1.0, 1),
        "2 × 2": (0.0, 1),
    }
    spread = one(people, measure="sd_over_cells")
    assert (spread.value, spread.n, spread.n_items, spread.n_left_out) == (pytest.approx(0.5), 3, 4, 1)


def test_only_whole_numbers_that_are_one_for_an_item_make_a_grid():
    def grid(*strata):
        return grid_of(comparison([[YES]] * len(strata), [YES] * len(strata), strata=list(strata)))

    assert grid(*CELLS) is None  # one width alone
    assert grid(*CELLS, [["depth", "2"], ["width", "2"]]) == ("depth", "width")
    assert grid([["depth", "1"], ["width", "1"]], [["depth", "2"], ["width", "wide"]]) is None
    assert grid([["depth", "1"], ["depth", "2"], ["width", "1"]], [["depth", "2"], ["width", "2"]]) is None
    assert grid_figures(comparison([[YES]], [YES]), scorer=SCORER) == []


def test_an_account_goes_from_everything_to_both_denominators():
    data = comparison([[YES, NONE], [NO, YES]], [YES] * 2, [[YES], [NONE]], skipped=[(0, 1)])
    people = replace(data.people, outcomes={"answered": 3, "skipped": 1, "excluded": 5, "surplus": 2})
    data = replace(data, people=people)
    speed, bad = Decision(PERSON, "speed", "2026-01-02"), Decision(ITEM, "bad item", "2026-01-03")
    left_out = LeftOut(
        n_items=3,
        items=[Removed(bad, 1, 0, 0)],
        people=[Removed(bad, 2, 1, 2), Removed(speed, 4, 2, 1)],
        runs={7: [Removed(bad, 1, 1, 0)]},
    )
    found = account_figures(data, left_out, scorer=SCORER)
    assert [(f.measure, f.count, f.n, f.rule) for f in found if f.row == "people"] == [
        ("finished", 13, 13, ""),
        ("item_excluded", 2, 11, "bad item"),
        ("person_excluded", 4, 7, "speed"),
        # Read as excluded, and by no decision that stands: it was lifted in between.
        ("excluded", 1, 6, ""),
        ("surplus", 2, 4, ""),
        ("counted", 4, 4, ""),
        ("scored_all", 4, 4, ""),
        ("no_answer", 1, 3, ""),
        ("scored_answered", 3, 3, ""),
    ]
    assert [(f.measure, f.count) for f in found if f.row == "items"] == [
        ("in_set", 3),
        ("item_excluded", 1),
        ("units", 2),
        ("scored_all", 2),
    ]
    assert [(f.measure, f.count) for f in found if f.row == "run_7"] == [
        ("planned", 3),
        ("item_excluded", 1),
        ("asked", 2),
        ("scored_all", 2),
        ("no_answer", 1),
        ("scored_answered", 1),
    ]
    assert [(f.measure, f.count, f.n_items) for f in found if f.row == "agreement"] == [
        ("counted", 4, 0),
        ("no_answer", 1, 0),
        ("given", 3, 2),
        ("alone", 1, 1),
        ("in_pairs", 2, 1),
    ]
    assert [(f.measure, f.count) for f in found if f.row == "difference_run_7"] == [
        ("units", 2),
        ("shared", 2),
        ("unanswered_side", 1),
        ("shared_answered", 1),
    ]


def test_an_answer_that_a_score_cannot_score_is_counted_apart():
    data = comparison([[YES], [NO]], [YES] * 2)
    data = replace(data, people=replace(data.people, scores={SCORER: np.array([[np.nan], [0.0]])}))
    found = account_figures(data, LeftOut(n_items=2), scorer=SCORER)
    assert [(f.measure, f.count) for f in found if f.row == "people"][-2:] == [
        ("unscorable", 1),
        ("scored_answered", 1),
    ]


def test_a_stratum_is_compared_with_all_other_items_as_two_proportions():
    # 20 easy items, all right; 20 hard ones, half right.
    strata = [[["kind", "easy" if n < 20 else "hard"]] for n in range(40)]
    run = [[YES]] * 30 + [[NO]] * 10
    data = comparison([[YES]] * 40, [YES] * 40, run, strata=strata)
    found = strata_compared_figures(data, scorer=SCORER, level=0.95)
    people, model = found
    expected = two_proportions(20, 20, 10, 20)
    assert (model.value, model.p) == (pytest.approx(0.5), pytest.approx(expected.p))
    assert (model.lower, model.upper) == (expected.interval.lower, expected.interval.upper)
    assert (model.n, model.n_items, model.stratum_value, model.adjustment) == (20, 40, "easy", "benjamini_hochberg")
    # All alike on both sides: no difference, and nothing speaks against equality.
    assert (people.value, people.p, people.n_family) == (0, 1, 2)


@pytest.mark.parametrize(
    ("fields", "run", "why"),
    [
        ({"roots": [n // 2 for n in range(40)]}, [[YES]] * 40, "not_independent"),
        ({}, [[YES, NO]] * 40, "several_answers"),
    ],
)
def test_strata_that_are_no_independent_answers_are_not_compared(fields, run, why):
    strata = [[["kind", str(n % 2)]] for n in range(40)]
    data = comparison([[YES]] * 40, [YES] * 40, run, strata=strata, **fields)
    model = strata_compared_figures(data, scorer=SCORER, level=0.95)[-1]
    assert (model.value, model.p, model.undefined) == (None, None, why)


def test_strata_of_few_items_are_not_compared():
    strata = [[["kind", "a" if n < 19 else "b"]] for n in range(40)]
    (people,) = strata_compared_figures(comparison([[YES]] * 40, [YES] * 40, strata=strata), scorer=SCORER, level=0.95)
    assert (people.value, people.undefined, people.note) == (None, "too_few", "fewer than 20 items")


def test_a_report_tells_the_power_of_its_items():
    run = [[YES]] * 15 + [[NO]] * 5
    data = comparison([[YES]] * 20, [YES] * 20, run)
    found = planning_figures(data, scorer=SCORER, run=7)
    powers = {figure.stratum_value: figure.value for figure in found if figure.measure == "power"}
    spread = found[0]
    expected = power_of(0.1, n_items=20, sd=spread.sd, design_effect=spread.value)
    assert powers["0.1"] == pytest.approx(expected)
    assert list(powers) == ["0.01", "0.02", "0.05", "0.1"]
    (section,) = further_sections([f.to_json() for f in found], {}, primary_scorer=SCORER)
    assert [cell.style for cell in section.sheets[0].lines[0].cells] == ["percent", "count"]
