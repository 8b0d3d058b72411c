"""Votes against votes, runs against runs, families of p-values, and a report as a pilot. No database."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.reports import tables
from evaluation.reports.comparison import RunSide
from evaluation.reports.differences import (
    adjust_together,
    planning_figures,
    run_difference_figures,
    vote_difference_figures,
)
from evaluation.reports.figures import Figure, all_figures, difference_figures
from evaluation.stats import Bootstrap
from tests.evaluation.reports.test_figures import BOOTSTRAP, NO, NONE, YES, comparison, one

NAMED = {"scorer": "label_accuracy", "bootstrap": BOOTSTRAP}


def with_second_run(data, labels):
    first = data.runs[0]
    labels = np.array(labels)
    scores = {"label_accuracy": np.where(labels == NONE, np.nan, (labels == data.gold_classes[:, np.newaxis]))}
    was_asked = np.ones(labels.shape, dtype=bool)
    other = RunSide(first.names, labels, was_asked, scores, {}, asked=was_asked, run=8, name="Model B")
    return replace(data, runs=[first, other])


def test_a_difference_carries_the_p_value_of_swapping_whole_roots():
    # Four items right by the person, wrong by the model: 2 of 16 assignments of signs are as extreme; 2 of 4 by root.
    people, run = [[YES]] * 4, [[NO]] * 4
    by_item = difference_figures(comparison(people, [YES] * 4, run), **NAMED)
    assert one(by_item, denominator="all").p == 2 / 16
    assert one(by_item, denominator="answered").p is None
    by_root = difference_figures(comparison(people, [YES] * 4, run, roots=[1, 1, 2, 2]), **NAMED)
    assert one(by_root, denominator="all").p == 2 / 4


def test_votes_meet_votes_and_a_tie_is_right_for_nobody():
    # People's votes: right, tie, right. Model's votes of two: right, right, tie. (1 - 1 + 1 - 0 + 0 - 1) / 3.
    people = [[YES, YES], [YES, NO], [YES, YES]]
    run = [[YES, YES], [YES, YES], [YES, NO]]
    figure = one(vote_difference_figures(comparison(people, [YES] * 3, run), **NAMED))
    assert (figure.value, figure.n_items, figure.note) == (0, 3, "")
    alone = one(vote_difference_figures(comparison(people, [YES] * 3, [[YES]] * 3), **NAMED))
    assert alone.value == pytest.approx(1 / 3)
    assert alone.note == "described only: the vote of 2 people against 1 of the model"


def test_runs_meet_on_the_items_that_both_were_asked():
    data = with_second_run(comparison([[YES]] * 3, [YES] * 3, [[YES], [YES], [NONE]]), [[YES], [NO], [NO]])
    figure = one(run_difference_figures(data, **NAMED))
    # The unparsed answer of the first counts as not right: 2/3 - 1/3.
    assert (figure.label, figure.value, figure.n) == ("Model A against Model B", pytest.approx(1 / 3), 3)


def test_what_was_named_is_one_family_and_everything_else_another():
    blank = Figure("difference", "run_1", "model", "A", "label_accuracy")
    figures = [
        replace(blank, p=0.04, is_primary=True),
        replace(blank, p=0.01, is_primary=True),
        replace(blank, p=0.03),
        replace(blank, p=0.02),
        blank,
    ]
    found = adjust_together(figures)
    # Holm: .01 * 2, then .04. Benjamini-Hochberg: .03 and .02 * 2 / 1 = .04, cut to .03.
    assert [figure.p_adjusted for figure in found] == [0.04, 0.02, 0.03, 0.03, None]
    assert [(figure.adjustment, figure.n_family) for figure in found[1:4:2]] == [("holm", 2), ("benjamini_hochberg", 2)]
    assert [figure.is_exploratory for figure in found] == [False, False, True, True, False]


def test_every_run_may_be_named():
    data = with_second_run(comparison([[YES, NO]] * 3, [YES] * 3, [[YES]] * 3), [[NO]] * 3)
    named = {"scorers": ["label_accuracy"], "primary_scorer": "label_accuracy", "bootstrap": BOOTSTRAP}
    found = all_figures(data, primary_run=None, every_run_is_primary=True, **named)
    assert [figure.run for figure in found if figure.is_primary] == [7, 8]


def test_a_report_is_a_pilot_for_the_next():
    # 40 items alternately right by the person alone and by both: SD of the differences .506, all roots single.
    run = [[YES if item % 2 else NO] for item in range(40)]
    data = comparison([[YES]] * 40, [YES] * 40, run)
    figures = planning_figures(data, scorer="label_accuracy", run=7)
    assert one(figures, measure="design_effect").value == pytest.approx(1)
    # (1.96 + .8416) * .5064 / sqrt(40).
    assert one(figures, measure="detectable_difference").value == pytest.approx(0.2243, abs=1e-4)
    assert one(figures, measure="items_needed", value=0.1).count == 202
    shown = tables.planning([figure.to_json() for figure in figures])
    assert (shown["run"], shown["n_items"], len(shown["needed"])) == ("Model A", 40, 4)


@pytest.mark.parametrize("run", [None, 99])
def test_without_a_primary_run_nothing_is_planned(run):
    assert planning_figures(comparison([[YES]] * 2, [YES] * 2, [[YES]] * 2), scorer="label_accuracy", run=run) == []


def test_a_pilot_without_spread_says_so():
    figures = planning_figures(comparison([[YES]] * 3, [YES] * 3, [[YES]] * 3), scorer="label_accuracy", run=7)
    assert [(figure.value, figure.undefined) for figure in figures] == [(None, "zero_variance")]
    assert tables.planning([figure.to_json() for figure in figures]) is None


def test_the_named_comparison_comes_first_and_older_reports_have_none():
    blank = Figure("difference", "run_1", "model", "A", "label_accuracy")
    new = [replace(blank, p=0.5), replace(blank, label="B", p=0.5, is_primary=True)]
    assert [row["label"] for row in tables.comparisons_table([figure.to_json() for figure in new])] == ["B", "A"]
    old = {name: value for name, value in blank.to_json().items() if name not in ("p", "p_adjusted", "n_family")}
    assert tables.comparisons_table([old]) == []


def test_equal_seeds_give_equal_p_values():
    rng = np.random.default_rng(1)
    people, run = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, (60, 1))
    data = comparison(people, rng.integers(0, 2, 60), run)
    named = {"scorer": "label_accuracy", "bootstrap": Bootstrap(seed=5, n_resamples=300)}
    assert difference_figures(data, **named) == difference_figures(data, **named)
