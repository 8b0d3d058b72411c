"""Every figure of a report from small arrays, with the expected values worked out beside them. No database."""

import numpy as np
import pytest

from evaluation.reports.comparison import Comparison, RunSide, Side
from evaluation.reports.figures import (
    MIN_STRATUM_ITEMS,
    accuracy_figures,
    agreement_figures,
    all_figures,
    breakdown_figures,
    difference_figures,
    leave_one_out_figures,
    macro_f1_figures,
    outcome_figures,
    vote_figures,
)
from evaluation.stats import Bootstrap

BOOTSTRAP = Bootstrap(seed=1, n_resamples=200)
YES, NO, NONE = 0, 1, -1


def comparison(people, gold, run=None, *, skipped=(), strata=None, roots=None, asked=None):
    """Labels of people (items x people) and of one run (items x repeats) against one gold label an item."""
    people, gold = np.array(people), np.array(gold)

    def scores(labels):
        return {"label_accuracy": np.where(labels == NONE, np.nan, (labels == gold[:, np.newaxis]).astype(float))}

    offered = people != NONE
    for item, person in skipped:
        offered[item, person] = True
    runs = []
    if run is not None:
        labels = np.array(run)
        was_asked = np.ones(labels.shape, dtype=bool) if asked is None else np.array(asked)
        names = [f"repeat {i + 1}" for i in range(labels.shape[1])]
        outcomes = {"answered": int((labels != NONE).sum()), "unparsed": int((labels == NONE).sum())}
        runs = [RunSide(names, labels, was_asked, scores(labels), outcomes, asked=was_asked, run=7, name="Model A")]
    return Comparison(
        roots=np.arange(gold.size) if roots is None else np.array(roots),
        has_gold=np.ones(gold.size, dtype=bool),
        gold_classes=gold,
        classes=["yes", "no"],
        keys=["yes", "no"],
        strata=strata or [[] for _ in gold],
        people=Side([f"P-{i}" for i in range(people.shape[1])], people, offered, scores(people), {"answered": 1}),
        runs=runs,
    )


def one(figures, **where):
    found = [figure for figure in figures if all(getattr(figure, name) == value for name, value in where.items())]
    assert len(found) == 1, found
    return found[0]


def accuracy(data, row, denominator):
    figures = accuracy_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    return one(figures, row=row, denominator=denominator)


def test_unparsed_answers_leave_no_denominator_quietly():
    # 100 items, 90 parsed, 80 of them right: 80 of 100, or 80 of 90.
    data = comparison([[YES]] * 100, [YES] * 100, [[YES]] * 80 + [[NO]] * 10 + [[NONE]] * 10)
    everything, answered = accuracy(data, "run_7", "all"), accuracy(data, "run_7", "answered")
    assert (everything.value, everything.n) == (pytest.approx(80 / 100), 100)
    assert (answered.value, answered.n, answered.n_left_out) == (pytest.approx(80 / 90), 90, 10)
    assert "10 without an answer count as not right" in everything.note


def test_a_run_that_was_never_asked_some_items_is_told_apart_from_one_that_failed_them():
    data = comparison([[YES]] * 4, [YES] * 4, [[YES], [YES], [NONE], [NONE]], asked=[[True], [True], [True], [False]])
    # Three were asked, one of them has no answer: 2 of 3, and 2 of 2.
    assert accuracy(data, "run_7", "all").value == pytest.approx(2 / 3)
    assert accuracy(data, "run_7", "answered").value == 1.0


def test_mean_person_is_the_mean_of_each_persons_own_share():
    # A: 1 of 2 right; B: 1 of 1. Mean (1/2 + 1)/2 = 3/4; pooled 2 of 3.
    data = comparison([[YES, YES], [NO, NONE]], [YES, YES])
    figure = accuracy(data, "people_mean", "answered")
    assert (figure.value, figure.n, figure.n_people) == (0.75, 3, 2)
    assert accuracy(data, "people_pooled", "answered").value == pytest.approx(2 / 3)
    # Sample SD of 1/2 and 1: sqrt(2 * (1/4)^2 / 1) = 0.35355.
    assert figure.sd == pytest.approx(0.5 / np.sqrt(2))


def test_i_cannot_tell_counts_as_not_right_in_one_denominator_and_in_neither_numerator():
    # A answers one of two asked, rightly: 1 of 2, or 1 of 1.
    data = comparison([[YES], [NONE]], [YES, YES], skipped=[(1, 0)])
    assert accuracy(data, "people_mean", "all").value == 0.5
    assert accuracy(data, "people_mean", "answered").value == 1.0


def test_a_tie_is_nobodys_answer():
    # Item 0: yes wins 2 to 1; item 1: yes against no, a tie. 1 of 2 with the tie as not right, 1 of 1 resolved.
    data = comparison([[YES, YES, NO], [YES, NO, NONE]], [YES, YES])
    everything, resolved = accuracy(data, "people_vote", "all"), accuracy(data, "people_vote", "answered")
    assert (everything.value, resolved.value) == (0.5, 1.0)
    assert (everything.n, everything.n_items, resolved.n_left_out) == (5, 2, 1)
    assert everything.label == "People, vote of 2 to 3"
    votes = vote_figures(data)
    assert {figure.measure: figure.count for figure in votes} == {
        "unanimous": 0,
        "majority": 1,
        "plurality": 0,
        "tie": 1,
    }


def test_an_item_that_nobody_was_asked_is_no_lost_vote():
    data = comparison([[YES, YES], [NONE, NONE]], [YES, YES])
    assert accuracy(data, "people_vote", "all").value == 1.0
    assert accuracy(data, "people_vote", "all").n_items == 1


def test_repeats_are_averaged_and_their_spread_stands_apart():
    # Repeat 1: 2 of 2; repeat 2: 1 of 2. Mean 3/4, SD of 1 and 1/2.
    data = comparison([[YES], [YES]], [YES, YES], [[YES, YES], [YES, NO]])
    figure = accuracy(data, "run_7", "all")
    assert (figure.value, figure.n, figure.n_people) == (0.75, 4, 2)
    assert figure.sd == pytest.approx(0.5 / np.sqrt(2))


def test_the_difference_uses_exactly_the_shared_items_and_is_below_zero_where_the_model_is_worse():
    # Shared: items 0 to 2. Person 3 of 3; model 1 of 3 (one unparsed): 1/3 - 1. Answered only: items 0, 1: 1/2 - 1.
    data = comparison([[YES], [YES], [YES], [NONE]], [YES] * 4, [[YES], [NO], [NONE], [YES]], asked=[[True]] * 4)
    figures = difference_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    everything, answered = one(figures, denominator="all"), one(figures, denominator="answered")
    assert (everything.value, everything.n_items) == (pytest.approx(1 / 3 - 1), 3)
    assert (answered.value, answered.n_items) == (pytest.approx(1 / 2 - 1), 2)
    assert everything.lower <= everything.value <= everything.upper <= 0


def test_without_a_shared_item_the_difference_is_undefined_and_says_why():
    data = comparison([[YES], [NONE]], [YES, YES], [[NONE], [YES]], asked=[[False], [True]])
    figures = difference_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    assert {(figure.value, figure.undefined) for figure in figures} == {(None, "no_trials")}


def test_only_the_named_comparison_is_primary():
    data = comparison([[YES, NO]] * 3, [YES] * 3, [[YES]] * 3)
    named = {"scorers": ["label_accuracy"], "primary_scorer": "label_accuracy", "bootstrap": BOOTSTRAP}
    primary = [figure for figure in all_figures(data, primary_run=7, **named) if figure.is_primary]
    assert [(figure.section, figure.run, figure.denominator) for figure in primary] == [("difference", 7, "all")]
    assert not any(figure.is_primary for figure in all_figures(data, primary_run=None, **named))


def test_macro_f1_of_a_worked_example():
    # Gold y y n n; the person says y n n n. y: 2*1/(1+2) = 2/3; n: 2*2/(3+2) = 4/5; mean 11/15.
    data = comparison([[YES], [NO], [NO], [NO]], [YES, YES, NO, NO])
    figures = macro_f1_figures(data, bootstrap=BOOTSTRAP)
    figure = one(figures, row="people_mean", measure="macro_f1_all_declared", denominator="all")
    assert figure.value == pytest.approx(11 / 15)
    # A single person's vote is that person's answer.
    assert one(figures, row="people_vote", measure="macro_f1_all_declared", denominator="all").value == figure.value


def test_one_label_in_use_leaves_alpha_undefined_beside_full_agreement():
    figures = agreement_figures(comparison([[YES, YES]] * 3, [YES] * 3), bootstrap=BOOTSTRAP)
    alpha = one(figures, measure="krippendorff_alpha_nominal")
    assert (alpha.value, alpha.undefined, alpha.lower) == (None, "no_variation", None)
    assert one(figures, measure="percent_agreement").value == 1.0


def test_an_item_with_a_single_answer_is_left_out_of_agreement_and_counted_as_such():
    figures = agreement_figures(comparison([[YES, YES], [NO, NO], [YES, NONE]], [YES] * 3), bootstrap=BOOTSTRAP)
    for figure in figures:
        assert (figure.n, figure.n_left_out) == (2, 1)


def test_people_and_model_meet_the_same_vote_of_the_others():
    # Three people: on item 0 all say yes, on item 1 y y n. Against the other two: item 0: 3 of 3. On item 1 the two who
    # say yes meet a tie (y n); the third meets y y and differs: 0 of 1. Per person: 1, 1, 1/2, mean 5/6.
    # The model says yes, yes: right wherever compared: 1. Difference 1 - 5/6.
    data = comparison([[YES, YES, YES], [YES, YES, NO]], [YES, YES], [[YES], [YES]])
    figures = leave_one_out_figures(data, bootstrap=BOOTSTRAP)
    assert one(figures, row="people_leave_one_out").value == pytest.approx(5 / 6)
    assert one(figures, row="run_7", measure="equals_vote_of_others").value == 1.0
    assert one(figures, row="run_7", measure="equals_vote_of_others_difference").value == pytest.approx(1 / 6)


def test_an_item_that_a_run_was_not_asked_is_left_out_of_its_comparison_with_the_others():
    # Everybody says yes to four items. The run was asked two of them, and answers one: right once of two, not of four.
    data = comparison(
        [[YES] * 3] * 4, [YES] * 4, [[YES], [NONE], [NONE], [NONE]], asked=[[True], [True], [False], [False]]
    )
    figures = leave_one_out_figures(data, bootstrap=BOOTSTRAP)
    model = one(figures, row="run_7", measure="equals_vote_of_others")
    assert (model.value, model.n, model.n_left_out) == (0.5, 6, 6)
    assert one(figures, row="run_7", measure="equals_vote_of_others_difference").value == -0.5


def test_two_people_have_no_vote_of_the_others():
    figures = leave_one_out_figures(comparison([[YES, YES]] * 3, [YES] * 3), bootstrap=BOOTSTRAP)
    assert (figures[0].value, figures[0].undefined) == (None, "too_few")


def test_a_stratum_below_twenty_items_is_shown_without_a_figure():
    n = MIN_STRATUM_ITEMS
    strata = [[["domain", "large"]]] * n + [[["domain", "small"]]] * (n - 1)
    data = comparison([[YES]] * (2 * n - 1), [YES] * (2 * n - 1), strata=strata)
    large, small = breakdown_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    assert (large.stratum_value, large.value, large.is_exploratory) == ("large", 1.0, True)
    assert (small.stratum_value, small.value, small.undefined, small.n_items) == ("small", None, "too_few", n - 1)


def test_whoever_met_few_items_of_a_large_stratum_gets_no_figure_there():
    n = MIN_STRATUM_ITEMS
    # People answered 3 of 20 items, the run was asked all of them.
    labels = [[YES]] * 3 + [[NONE]] * (n - 3)
    data = comparison(labels, [YES] * n, [[YES]] * n, strata=[[["domain", "large"]]] * n)
    people, run = breakdown_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    assert (people.value, people.undefined, people.n_items) == (None, "too_few", 3)
    assert (run.value, run.n_items) == (1.0, n)


def test_items_without_a_stratum_stand_in_a_row_of_their_own():
    n = MIN_STRATUM_ITEMS
    strata = [[["hops", "1"]]] * n + [[]] * n
    # Right on all with the stratum, wrong on all without: the two rows recombine to the headline of 1/2.
    data = comparison([[YES]] * n + [[NO]] * n, [YES] * (2 * n), strata=strata)
    rows = list(breakdown_figures(data, scorer="label_accuracy", bootstrap=BOOTSTRAP))
    assert [(row.stratum_value, row.value) for row in rows] == [("1", 1.0), ("(none)", 0.0)]
    assert accuracy(data, "people_mean", "all").value == 0.5


def test_intervals_resample_roots_and_not_items():
    # Ten tables of ten questions each, all right or all wrong: only ten independent draws.
    labels = [[YES if table % 2 else NO] for table in range(10) for _ in range(10)]
    roots = [table for table in range(10) for _ in range(10)]
    alone = accuracy(comparison(labels, [YES] * 100), "people_mean", "all")
    by_table = accuracy(comparison(labels, [YES] * 100, roots=roots), "people_mean", "all")
    assert (alone.n_roots, by_table.n_roots) == (100, 10)
    assert by_table.upper - by_table.lower > 2 * (alone.upper - alone.lower)


def test_the_same_seed_gives_the_same_interval():
    data = comparison([[YES, NO], [YES, YES], [NO, YES], [YES, YES]], [YES] * 4, roots=[0, 0, 1, 2])
    first, second = (accuracy(data, "people_mean", "all") for _ in range(2))
    assert first == second
    assert first.seed == 1


def test_outcomes_are_shares_of_everything_that_was_put_to_somebody():
    data = comparison([[YES]] * 4, [YES] * 4, [[YES], [YES], [YES], [NONE]])
    figure = one(outcome_figures(data), row="run_7", measure="unparsed")
    assert (figure.value, figure.count, figure.n) == (0.25, 1, 4)
