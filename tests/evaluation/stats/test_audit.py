"""Audits of labels by stratum, and whether a printed percentage is possible."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotate.proportions import wilson_bounds
from evaluation.stats import (
    Bootstrap,
    attainable_percentage,
    stratified_accuracy,
    stratified_accuracy_of_roots,
    wilson,
)

STRATA = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 400)).map(
        lambda s: (s[0] + 1, min(s[1], s[0] + 1), s[0] + 2 + s[2])
    ),
    min_size=1,
    max_size=6,
)


def test_strata_weigh_as_in_the_population_and_not_as_they_were_sampled():
    # 9 of 10 in a stratum of 900, 5 of 10 in one of 100: sampled 14/20, of the population .9 * .9 + .1 * .5.
    result = stratified_accuracy([10, 10], [9, 5], [900, 100])
    assert result.sampled.value == pytest.approx(14 / 20)
    assert result.population.value == pytest.approx(0.9 * 0.9 + 0.1 * 0.5)
    # Cochran: sqrt(.9^2 * .09/9 + .1^2 * .25/9), and with 1 - 10/900 and 1 - 10/100 under the root.
    assert result.standard_error == pytest.approx(np.sqrt(0.81 * 0.01 + 0.01 * 0.25 / 9))
    finite = np.sqrt(0.81 * 0.01 * (1 - 1 / 90) + 0.01 * 0.25 / 9 * 0.9)
    assert result.standard_error_finite == pytest.approx(finite)


def test_each_stratum_has_wilsons_interval():
    stratum = stratified_accuracy([10], [9], [900], names=["politics, Yes"]).per_stratum[0]
    assert (stratum.name, stratum.value, stratum.interval) == ("politics, Yes", 0.9, wilson(9, 10))


def test_ten_right_of_ten_everywhere_are_not_certainty():
    result = stratified_accuracy([10] * 3, [10] * 3, [1000, 500, 200])
    assert result.standard_error == 0
    interval = result.population.interval
    assert interval.upper == 1
    # A single stratum of 10 of 10 has .722: three of them together are surer than that, and not sure.
    assert 0.722 < interval.lower < 0.9


def test_of_one_large_stratum_it_is_wilsons_interval():
    result = stratified_accuracy([50], [40], [10**9]).population.interval
    expected = wilson(40, 50)
    assert [result.lower, result.upper] == pytest.approx([expected.lower, expected.upper], abs=1e-6)


def test_having_audited_most_of_a_stratum_leaves_less_open():
    few, most = (stratified_accuracy([50], [40], [size]).population.interval for size in (100_000, 60))
    assert most.upper - most.lower < (few.upper - few.lower) / 2


def test_with_everything_audited_nothing_is_estimated():
    result = stratified_accuracy([10], [9], [10]).population
    assert (result.value, result.interval) == (0.9, None)
    assert "every item was audited" in result.note


def test_a_stratum_without_an_audited_item_leaves_the_population_undefined():
    result = stratified_accuracy([10, 0], [9, 0], [100, 5], names=["a", "b"])
    assert (result.population.value, result.population.undefined) == (None, "no_trials")
    assert "no audited item in b" in result.population.note
    assert result.sampled.value == 0.9
    assert result.per_stratum[1].value is None


def test_without_an_audit_everything_is_undefined():
    result = stratified_accuracy([], [], [])
    assert (result.sampled.undefined, result.population.undefined) == ("no_trials", "no_trials")


def test_a_stratum_of_one_audited_item_has_no_standard_error_and_an_interval():
    result = stratified_accuracy([1, 10], [1, 8], [50, 50])
    assert result.standard_error is None
    assert result.population.interval is not None


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (([10], [11], [100]), "right <= n <= population"),
        (([10], [9], [5]), "right <= n <= population"),
        (([10, 10], [9], [100]), "one number for each"),
        (([10.5], [9], [100]), "whole numbers"),
        (([float("nan")], [0], [100]), "whole numbers"),
        (([-1], [0], [100]), "whole numbers"),
    ],
)
def test_impossible_numbers_are_refused(columns, problem):
    with pytest.raises(ValueError, match=problem):
        stratified_accuracy(*columns)


@given(STRATA)
@example([(1, 1, 102), (1, 1, 317), (1, 1, 52), (1, 1, 6)])  # their weights add up to 1 and a rounding error
def test_the_interval_has_a_width_and_holds_the_value(strata):
    result = stratified_accuracy(*zip(*strata, strict=True)).population
    assert 0 <= result.interval.lower <= result.value <= result.interval.upper <= 1
    assert result.interval.upper > result.interval.lower


@given(STRATA)
def test_calling_right_what_was_wrong_mirrors_it(strata):
    n, right, size = (np.array(column) for column in zip(*strata, strict=True))
    one, other = stratified_accuracy(n, right, size).population, stratified_accuracy(n, n - right, size).population
    assert other.value == pytest.approx(1 - one.value)
    assert other.interval.lower == pytest.approx(1 - one.interval.upper)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # Two strata of 300 and 100, true accuracies .95 and .7, 20 audited of each; 400 seeded audits.
    rng = np.random.default_rng(1)
    truth = (300 * 0.95 + 100 * 0.7) / 400
    covered = 0
    for _ in range(400):
        right = [rng.hypergeometric(285, 15, 20), rng.hypergeometric(70, 30, 20)]
        interval = stratified_accuracy([20, 20], right, [300, 100]).population.interval
        covered += interval.lower <= truth <= interval.upper
    assert 0.92 <= covered / 400 <= 0.99


def test_many_small_strata_hold_the_truth_on_both_sides():
    # Ten of each of 21 strata, true accuracy .92: adding up the strata's Wilson bounds lies too low 11 times of 100,
    # because strata of ten right of ten have nothing above them.
    sizes = np.array([200] * 10 + [50] * 11)
    right_in = np.round(sizes * 0.92).astype(int)
    truth = right_in.sum() / sizes.sum()
    rng = np.random.default_rng(1)
    below = above = 0
    for _ in range(400):
        right = rng.hypergeometric(right_in, sizes - right_in, 10)
        interval = stratified_accuracy([10] * 21, right, sizes).population.interval
        below, above = below + (truth < interval.lower), above + (truth > interval.upper)
    assert (below / 400, above / 400) == (pytest.approx(0.025, abs=0.025), pytest.approx(0.025, abs=0.025))


def test_what_the_audited_items_are_worth_worked_example():
    # 9 of 10 in 900, 5 of 10 in 100. By the weights: 1 / (.81 * 890 / 10 / 899 + .01 * 90 / 10 / 99) = 12.34.
    # By the strata: .86 * .14 * 20 / 19 / (.81 * .09 / 9 * 890 / 900 + .01 * .25 / 9 * 90 / 100) = 15.34. Fewer: 12.34.
    interval = stratified_accuracy([10, 10], [9, 5], [900, 100]).population.interval
    assert (interval.lower, interval.upper) == pytest.approx(wilson_bounds(0.86, 12.34), abs=1e-3)


def test_a_printed_percentage_may_be_impossible():
    # 85.6 % of 200 would be 171.2: 171 is 85.5, 172 is 86.0. Of 500 it is 428.
    assert not attainable_percentage(85.6, 200, decimals=1)
    assert attainable_percentage(85.6, 500, decimals=1)
    assert attainable_percentage("12.50", 8, decimals=2)


def test_exactly_between_two_printed_values_both_are_possible():
    # 1 of 16 is 6.25 %: printed as 6.2 or 6.3.
    assert attainable_percentage(6.2, 16, decimals=1)
    assert attainable_percentage(6.3, 16, decimals=1)


@pytest.mark.parametrize(("percent", "n", "decimals"), [(85.6, 0, 1), (85.65, 10, 1), (10, 10, -1)])
def test_what_is_no_printed_percentage_is_refused(percent, n, decimals):
    with pytest.raises(ValueError):
        attainable_percentage(percent, n, decimals=decimals)


@given(st.integers(1, 500), st.data())
def test_every_real_percentage_is_possible(n, data):
    k = data.draw(st.integers(0, n))
    assert attainable_percentage(f"{100 * k / n:.2f}", n, decimals=2)


def test_the_mean_of_two_reviewers_lies_between_them_and_an_item_counts_once():
    # 10 and 8 right of 10: means that add up to 9, as if one reviewer had called 9 right.
    mean = stratified_accuracy([10], [9.0], [100], is_mean=True)
    one = stratified_accuracy([10], [9], [100])
    assert mean.sampled == one.sampled
    assert mean.population == one.population
    # 10 and 9 of 10: 9.5, whose interval lies between those of 9 and of 10.
    half = stratified_accuracy([10], [9.5], [100], is_mean=True).per_stratum[0]
    assert half.value == 0.95
    assert wilson(9, 10).lower < half.interval.lower < wilson(10, 10).lower
    assert stratified_accuracy([0], [0.0], [5], is_mean=True).per_stratum[0].interval is None


def test_only_means_may_be_broken_numbers():
    with pytest.raises(ValueError, match="whole numbers"):
        stratified_accuracy([10], [9.5], [100])
    with pytest.raises(ValueError, match="right <= n"):
        stratified_accuracy([10], [10.5], [100], is_mean=True)


# Items that share roots

RESAMPLED = Bootstrap(seed=1, n_resamples=4_000)


def of_roots(scores, strata, roots, population, **more):
    return stratified_accuracy_of_roots(scores, strata, roots, population, **{"bootstrap": RESAMPLED} | more)


@given(STRATA)
def test_where_no_two_items_share_a_root_it_is_the_same(strata):
    n, right, size = (list(column) for column in zip(*strata, strict=True))
    scores = [float(k < right[h]) for h in range(len(n)) for k in range(n[h])]
    places = [h for h in range(len(n)) for _ in range(n[h])]
    expected = stratified_accuracy(n, right, size, is_mean=True)
    assert of_roots(scores, places, range(len(scores)), size) == expected


def test_tables_of_equal_labels_count_as_so_many_items():
    # 20 tables with 5 questions each, right or wrong together: as uncertain as 20 items, not as 100.
    tables = [1] * 14 + [0] * 6
    scores, roots = np.repeat(tables, 5), np.repeat(np.arange(20), 5)
    result = of_roots(scores, [0] * 100, roots, [10**9])
    assert (result.sampled.value, result.sampled.n, result.sampled.n_roots) == (0.7, 100, 20)
    alone, many = wilson(14, 20), wilson(70, 100)
    for estimate in (result.sampled, result.population):
        width = estimate.interval.upper - estimate.interval.lower
        assert width > 1.7 * (many.upper - many.lower)
        assert width == pytest.approx(alone.upper - alone.lower, rel=0.1)
        assert estimate.interval.method.endswith("percentile bootstrap over roots")
        assert (estimate.n_items, estimate.n_roots) == (100, 20)
    # By hand: each root moves it by 5 (y - .7) / sqrt(100 * 99).
    assert result.standard_error == pytest.approx(np.sqrt((14 * 0.09 + 6 * 0.49) * 25 / 9900))


def test_standard_errors_are_cochrans_where_roots_hold_one_item_of_a_stratum_each():
    # One root has an item of each stratum: their moves add up before they are squared.
    scores, strata, roots = [1, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1], [1, 2, 3, 1, 5, 6]
    result = of_roots(scores, strata, roots, [60, 40])
    moves = [w * (y - p) / np.sqrt(6) for w, p, ys in ((0.6, 2 / 3, scores[:3]), (0.4, 1 / 3, scores[3:])) for y in ys]
    expected = np.sqrt((moves[0] + moves[3]) ** 2 + sum(moves[k] ** 2 for k in (1, 2, 4, 5)))
    assert result.standard_error == pytest.approx(expected)
    assert result.standard_error_finite < result.standard_error


def test_all_right_in_tables_is_no_certainty_and_less_certain_than_without_them():
    scores, strata, roots = [1] * 20, [0] * 10 + [1] * 10, [n // 5 for n in range(20)]
    result = of_roots(scores, strata, roots, [500, 500])
    plain = stratified_accuracy([10, 10], [10, 10], [500, 500])
    assert result.population.interval.upper == result.sampled.interval.upper == 1
    assert result.population.interval.lower < plain.population.interval.lower - 0.1
    assert "Wilson's by root" in result.population.interval.method
    assert not result.population.interval.degenerate
    assert result.sampled.interval == wilson(4, 4)


def test_one_stratum_that_is_all_right_widens_the_whole():
    scores = [1, 0, 1, 0, 1, 1, 0, 1, 1, 0] + [1] * 10
    strata, roots = [0] * 10 + [1] * 10, [n // 2 for n in range(20)]
    both = of_roots(scores, strata, roots, [100, 900]).population
    alone = of_roots(scores[:10], [0] * 10, roots[:10], [100]).population
    # In the first stratum the moves are the same, weighing a tenth; the second adds what it does not know.
    assert both.value - both.interval.lower > 0.9 * (1 - wilson(5, 5).lower) * 0.9
    assert 0.1 * (alone.value - alone.interval.lower) < both.value - both.interval.lower


def test_with_everything_audited_nothing_is_estimated_with_roots_either():
    result = of_roots([1, 0, 1, 1], [0] * 4, [1, 1, 2, 2], [4]).population
    assert (result.value, result.interval, result.n_roots) == (0.75, None, 2)
    assert "every item was audited" in result.note


def test_a_single_root_and_an_empty_stratum_have_no_interval_and_say_why():
    alone = of_roots([1, 0, 1], [0] * 3, [7, 7, 7], [100])
    assert alone.sampled.interval is alone.population.interval is None
    assert "single independent unit" in alone.population.note
    missing = of_roots([1, 0, 1], [0] * 3, [7, 7, 8], [100, 5], names=["a", "b"]).population
    assert (missing.value, missing.undefined, missing.n_roots) == (None, "no_trials", 2)
    assert of_roots([1, 0, 1], [0] * 3, [7, 7, 8], [100], bootstrap=None).population.interval is None


@pytest.mark.parametrize("wrong", [([1], [1], [1], [5]), ([2], [0], [1], [5]), ([1, 1], [0], [1, 2], [5])])
def test_arrays_of_items_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match=r"one score|between 0 and 1"):
        of_roots(*wrong)


@given(STRATA, st.integers(1, 5), st.integers(0, 99))
def test_with_roots_the_interval_holds_the_value_and_stays_within_bounds(strata, per_root, seed):
    n, right, size = (list(column) for column in zip(*strata, strict=True))
    scores = np.array([float(k < right[h]) for h in range(len(n)) for k in range(n[h])])
    places = np.array([h for h in range(len(n)) for _ in range(n[h])])
    roots = np.random.default_rng(seed).permutation(scores.size) // per_root
    found = of_roots(scores, places, roots, size, bootstrap=Bootstrap(seed=seed, n_resamples=200)).population
    if found.interval is not None:
        assert 0 <= found.interval.lower <= found.value <= found.interval.upper <= 1
