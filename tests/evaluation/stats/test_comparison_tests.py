"""Tests, adjustments, correlations, proportions, spread and power: each with its derivation in sight."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import (
    Bootstrap,
    benjamini_hochberg,
    correlations,
    detectable_difference,
    holm,
    items_needed,
    mcnemar,
    mcnemar_of_scores,
    mean_person_difference,
    metric_correlations,
    paired_difference,
    permutation_test,
    permutation_test_of_people,
    pilot_spread,
    power_of,
    spread_over_grid,
    two_proportions,
)

NAN = np.nan
BOOTSTRAP = Bootstrap(seed=3, n_resamples=2000)
P_VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8)


# McNemar


def test_mcnemar_on_either_side_of_five_per_cent():
    # 1 against 7: P(X <= 1) = (1 + 8) / 256; exact 18/256, mid-p 18/256 - 8/256; chi2 6^2 / 8, corrected 5^2 / 8.
    result = mcnemar(1, 7)
    assert (result.exact_p, result.mid_p) == (pytest.approx(18 / 256), pytest.approx(10 / 256))
    assert (result.chi2, result.chi2_cc) == (36 / 8, 25 / 8)
    assert result.chi2_p == pytest.approx(0.0338948535)


def test_mcnemar_where_nothing_tells_them_apart():
    result = mcnemar(0, 0)
    assert (result.exact_p, result.mid_p, result.chi2, result.undefined) == (1, 1, None, "no_discordant")


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_does_not_care_who_is_first(b, c):
    one, other = mcnemar(b, c), mcnemar(c, b)
    assert (one.exact_p, one.mid_p) == pytest.approx((other.exact_p, other.mid_p))
    assert 0 < one.mid_p <= one.exact_p <= 1


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_the_sum_over_all_outcomes(b, c):
    n, k = b + c, min(b, c)
    here, below = math.comb(n, k) / 2**n, sum(math.comb(n, i) for i in range(k)) / 2**n
    result = mcnemar(b, c)
    assert result.exact_p == pytest.approx(min(1, 2 * (below + here)))
    if n:
        assert result.mid_p == pytest.approx(1 - here / 2 if b == c else 2 * below + here)


def test_mcnemar_from_scores_leaves_out_what_one_side_has_not():
    result = mcnemar_of_scores([1, 1, 0, 0, NAN], [0, 1, 1, 0, 1])
    assert (result.b, result.c, result.n) == (1, 1, 4)
    with pytest.raises(ValueError, match="right or wrong"):
        mcnemar_of_scores([0.5], [1])
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 0)
    with pytest.raises(ValueError, match="same items"):
        mcnemar_of_scores([1], [1, 0])


# Permutation


def test_few_roots_are_permuted_in_all_ways():
    # Differences 1, 1, 1, 1 of four items: |sum| = 4 for 2 of 16 assignments.
    result = permutation_test([1] * 4, [0] * 4, bootstrap=BOOTSTRAP)
    assert (result.p, result.difference, result.n_permutations) == (2 / 16, 1, 16)
    # The same four items of two roots: 2 of 4. Items of a root are swapped together.
    result = permutation_test([1] * 4, [0] * 4, roots=[1, 1, 2, 2], bootstrap=BOOTSTRAP)
    assert (result.p, result.n_roots, result.method) == (2 / 4, 2, "all 4 assignments of signs to roots")


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=7))
def test_the_exact_test_equals_swapping_by_hand(differences):
    first = [max(d, 0) for d in differences]
    second = [max(-d, 0) for d in differences]
    observed = abs(sum(differences))
    totals = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(total >= observed - 1e-9 for total in totals) / len(totals)
    assert permutation_test(first, second, bootstrap=BOOTSTRAP).p == pytest.approx(expected)


def test_many_roots_are_permuted_at_random_with_a_seed_and_never_give_zero():
    result = permutation_test([1] * 100, [0] * 100, bootstrap=BOOTSTRAP)
    assert (result.p, result.seed, result.n_permutations) == (pytest.approx(1 / 2001), 3, 2000)
    again = permutation_test([1] * 100, [0] * 100, bootstrap=BOOTSTRAP)
    assert again == result


def test_the_random_test_agrees_with_mcnemar_on_right_and_wrong():
    # 20 against 8 of 28 discordant items among 200: both ask how often a fair coin is as lopsided.
    first = np.array([1] * 20 + [0] * 8 + [1] * 172)
    second = np.array([0] * 20 + [1] * 8 + [1] * 172)
    result = permutation_test(first, second, bootstrap=Bootstrap(seed=1, n_resamples=20_000))
    assert result.p == pytest.approx(mcnemar(20, 8).exact_p, abs=0.005)


@settings(max_examples=30)
@given(
    hnp.arrays(np.float64, 20, elements=st.sampled_from([0, 0.5, 1, NAN])),
    hnp.arrays(np.float64, 20, elements=st.sampled_from([0, 0.5, 1, NAN])),
)
def test_swapping_the_sides_changes_no_p_value(first, second):
    one, other = (
        permutation_test(first, second, bootstrap=BOOTSTRAP),
        permutation_test(second, first, bootstrap=BOOTSTRAP),
    )
    assert (one.p, one.n, one.n_left_out) == (other.p, other.n, other.n_left_out)
    assert one.p is None or 0 < one.p <= 1
    difference = paired_difference(first, second).value
    assert one.difference == (None if difference is None else pytest.approx(difference))


def test_without_a_shared_item_there_is_no_test():
    result = permutation_test([1, NAN], [NAN, 1], bootstrap=BOOTSTRAP)
    assert (result.p, result.undefined, result.n_left_out) == (None, "no_trials", 2)


# Adjustment


def test_holm_and_benjamini_hochberg_keep_order_and_leave_gaps():
    # Three p-values: .01 * 3, .02 * 2, .04; BH .01 * 3, .02 * 3/2, .04. The gap counts for nothing.
    assert holm([0.04, None, 0.01, 0.02]) == [0.04, None, pytest.approx(0.03), 0.04]
    assert benjamini_hochberg([0.04, None, 0.01, 0.02]) == [0.04, None, pytest.approx(0.03), 0.03]


@given(P_VALUES)
def test_adjusted_p_values_only_grow_and_keep_their_order(p_values):
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p_values)
        pairs = [(p, q) for p, q in zip(p_values, adjusted, strict=True) if p is not None]
        assert [q is None for q in adjusted] == [p is None for p in p_values]
        assert all(p <= q + 1e-15 and q <= 1 for p, q in pairs)
        assert [q for _, q in sorted(pairs)] == sorted(q for _, q in pairs)


@pytest.mark.parametrize("p", [-0.1, 1.1, NAN])
def test_what_is_no_p_value_is_refused(p):
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="p-value"):
            adjust([0.5, p])


# Two proportions


def test_two_proportions_where_all_trials_end_alike():
    result = two_proportions(20, 20, 30, 30)
    assert (result.difference, result.z, result.p, result.undefined) == (0, None, 1, "zero_variance")
    assert result.interval.lower < 0 < result.interval.upper


def test_two_proportions_need_trials_on_both_sides():
    assert two_proportions(0, 0, 1, 2).undefined == "no_trials"
    with pytest.raises(ValueError, match="between 0 and n"):
        two_proportions(3, 2, 1, 2)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_two_proportions_mirror(n1, n2, data):
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    one, other = two_proportions(x1, n1, x2, n2), two_proportions(x2, n2, x1, n1)
    assert (one.difference, one.p) == pytest.approx((-other.difference, other.p))
    assert -1 <= one.interval.lower <= one.difference + 1e-12
    assert one.interval.lower == pytest.approx(-other.interval.upper)


# Correlation


def test_correlations_by_hand():
    # Ranks 1 2 3 4 against 1 2 4 3: d^2 sums to 2, rho = 1 - 6 * 2 / (4 * 15); 5 pairs agree and 1 does not.
    result = correlations([1, 2, 3, 4], [10, 20, 45, 40])
    assert result.spearman.value == pytest.approx(0.8)
    assert result.kendall_tau_b.value == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [([], [], "too_few"), ([1], [2], "too_few"), ([1, 1], [1, 2], "no_variation"), ([1, NAN], [1, 2], "too_few")],
)
def test_correlations_that_do_not_exist_have_a_reason(x, y, reason):
    assert {(c.value, c.undefined) for c in correlations(x, y, bootstrap=BOOTSTRAP)} == {(None, reason)}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_correlations_lie_between_bounds_and_turn_with_a_side(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    there, back = correlations(x, y), correlations(x, -y)
    for one, other in zip(there, back, strict=True):
        assert one.value is None or (-1 <= one.value <= 1 and one.value == pytest.approx(-other.value))


def test_items_of_one_root_are_resampled_together():
    rng = np.random.default_rng(1)
    by_root = rng.normal(size=(8, 1)) + 0.01 * rng.normal(size=(8, 20))
    x, y = by_root.ravel(), (by_root + 0.8 * rng.normal(size=(8, 1))).ravel()
    options = {"bootstrap": Bootstrap(seed=1, n_resamples=200)}
    alone = correlations(x, y, **options).pearson.interval
    together = correlations(x, y, roots=np.repeat(np.arange(8), 20), **options).pearson
    assert together.n_roots == 8
    assert together.interval.upper - together.interval.lower > 2 * (alone.upper - alone.lower)


def test_two_measures_may_agree_by_system_and_not_by_item():
    # Both rank the systems alike; within a system they go opposite ways.
    first = np.array([[0.1, 0.5], [0.3, 0.7]])
    second = np.array([[0.3, 0.7], [0.1, 0.5]])
    result = metric_correlations(first, second)
    assert result.systems.pearson.value == pytest.approx(1)
    assert result.items.pearson.value < 0.7
    assert (result.systems.pearson.n, result.items.pearson.n) == (2, 4)


def test_counting_pairs_by_their_values_resamples_as_ranking_them_anew(monkeypatch):
    # 30 answers that judges call right or wrong, in 10 roots, with a score of few values.
    rng = np.random.default_rng(4)
    judged, scores = rng.integers(0, 2, 30).astype(float), rng.choice([0, 0.25, 0.4, 1], 30)
    counted = correlations(judged, scores, roots=np.arange(30) // 3, bootstrap=BOOTSTRAP)
    monkeypatch.setattr("evaluation.stats.correlation._MAX_CELLS", 0)
    ranked = correlations(judged, scores, roots=np.arange(30) // 3, bootstrap=BOOTSTRAP)
    for one, other in zip(counted, ranked, strict=True):
        assert one.value == other.value
        assert one.interval.n_undefined == other.interval.n_undefined
        assert (one.interval.lower, one.interval.upper) == pytest.approx((other.interval.lower, other.interval.upper))


def test_a_cell_that_one_measure_lacks_is_in_neither_mean():
    first = np.array([[0.0, 1.0], [NAN, 1.0], [1.0, 0.0]])
    second = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    # Means .5 and 2/3 against 0 and 2/3.
    assert metric_correlations(first, second).systems.pearson.value == pytest.approx(1)
    assert metric_correlations(first, second).items.pearson.n_left_out == 1


# Grid


def test_every_filled_cell_weighs_the_same():
    result = spread_over_grid([1, 1, 1, 2], ["a", "a", "b", "b"], [1, 0, 1, NAN])
    # Cells .5 and 1: mean .75, population SD .25, sample SD .25 * sqrt(2).
    assert result.means == {(1, "a"): 0.5, (1, "b"): 1.0, (2, "b"): None}
    assert (result.std_population, result.std_sample) == pytest.approx((0.25, 0.25 * math.sqrt(2)))
    assert (result.n_cells, result.n) == (2, 3)


def test_one_cell_has_no_sample_spread_and_no_cell_none_at_all():
    assert spread_over_grid([1], [1], [1]).undefined == "too_few"
    assert spread_over_grid([1], [1], [NAN]).undefined == "no_trials"


# Power


def test_items_needed_by_hand():
    # (1.95996 + .84162)^2 * .25 / .01 = 196.2 for SD .5 and a difference of .1; three times as many for deff 3.
    result = items_needed(0.1, sd=0.5)
    assert (result.n_items, result.n_effective) == (197, 197)
    assert items_needed(0.1, sd=0.5, design_effect=3).n_items == 589
    assert items_needed(0, sd=0.5).undefined == "no_difference"


@given(st.floats(0.01, 0.5), st.floats(0.05, 1), st.floats(0.5, 5))
def test_what_is_needed_has_the_power_that_was_asked(difference, sd, design_effect):
    needed = items_needed(difference, sd=sd, design_effect=design_effect, power=0.9)
    circumstances = {"n_items": needed.n_items, "sd": sd, "design_effect": design_effect}
    assert power_of(difference, **circumstances) >= 0.9 - 1e-9
    assert detectable_difference(power=0.9, **circumstances) <= difference + 1e-9


def test_the_design_effect_of_items_that_repeat_their_root_is_the_size_of_a_root():
    # 20 roots of 5 equal items: 100 items are worth 20. (100 - 1)/100 * 20/19 * 5 = 5.2 with both corrections.
    rng = np.random.default_rng(4)
    first = np.repeat(rng.integers(0, 2, 20), 5).astype(float)
    spread = pilot_spread(first, np.zeros(100), roots=np.repeat(np.arange(20), 5))
    assert spread.design_effect == pytest.approx(5 * 99 / 100 * 20 / 19)
    alone = pilot_spread(first, np.zeros(100))
    assert alone.design_effect == pytest.approx(1)


@pytest.mark.parametrize(
    ("first", "second", "roots", "reason"),
    [([NAN], [1], None, "no_trials"), ([1, 0], [0, 0], [7, 7], "too_few"), ([1, 1], [0, 0], None, "zero_variance")],
)
def test_a_pilot_that_says_nothing_says_so(first, second, roots, reason):
    assert pilot_spread(first, second, roots=roots).undefined == reason


@pytest.mark.parametrize(
    "call",
    [
        lambda: items_needed(0.1, sd=-1),
        lambda: items_needed(0.1, sd=NAN),
        lambda: items_needed(2, sd=1),
        lambda: items_needed(0.1, sd=1, power=1),
        lambda: power_of(0.1, n_items=1, sd=1),
        lambda: detectable_difference(n_items=10, sd=1, alpha=0),
        lambda: power_of(0.1, n_items=10, sd=1, design_effect=0),
    ],
)
def test_a_plan_that_cannot_be_is_refused(call):
    with pytest.raises(ValueError, match=r"between|negative|at least"):
        call()


def test_the_test_of_people_is_about_the_number_that_is_printed():
    # A answered four items, right where the model was wrong; B one, the other way: 1/2 * 1 - 1/2 * 1 = 0.
    people, model = [[1, NAN], [1, NAN], [1, NAN], [1, NAN], [NAN, 0]], [0, 0, 0, 0, 1]
    result = permutation_test_of_people(people, model, bootstrap=BOOTSTRAP)
    assert result.difference == mean_person_difference(people, model).value == 0
    assert (result.p, result.n, result.n_left_out) == (1, 5, 0)
    # Over items, whoever answered them, the difference is 3/5.
    assert permutation_test(people, model, bootstrap=BOOTSTRAP).difference == pytest.approx(3 / 5)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 4), min_size=1, max_size=30))
def test_where_everybody_answered_all_the_test_of_people_is_that_of_items(rows):
    scores = np.array(rows)
    of_people = permutation_test_of_people(scores[:, :3], scores[:, 3], bootstrap=BOOTSTRAP)
    of_items = permutation_test(scores[:, :3], scores[:, 3], bootstrap=BOOTSTRAP)
    assert of_people.p == pytest.approx(of_items.p)
    assert of_people.difference == pytest.approx(of_items.difference)


def test_items_without_a_person_or_without_the_model_are_left_out_of_the_test():
    result = permutation_test_of_people([[1, 0], [NAN, NAN], [1, 1]], [0, 1, NAN], bootstrap=BOOTSTRAP)
    assert (result.n, result.n_left_out, result.difference) == (1, 2, 0.5)
    assert permutation_test_of_people([[1]], [NAN], bootstrap=BOOTSTRAP).undefined == "no_trials"
    with pytest.raises(ValueError, match="one score for each item"):
        permutation_test_of_people([[1]], [0, 1], bootstrap=BOOTSTRAP)
