"""Wilson and the bootstrap."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import Bootstrap, Ratings, krippendorff_alpha_nominal, wilson
from evaluation.stats.intervals import (
    expanded_tail,
    group_equal_rows,
    percentile_interval,
    resampled_sums,
    root_codes,
    sum_by_root,
)


def test_wilson_worked_example():
    # k = 1 of n = 4, z = 1.96: centre (1/4 + z²/8) / (1 + z²/4), half width z·sqrt(3/64 + z²/64) / (1 + z²/4).
    z = 1.959963984540054
    centre = (1 / 4 + z**2 / 8) / (1 + z**2 / 4)
    half = z * np.sqrt((3 / 16) / 4 + z**2 / 64) / (1 + z**2 / 4)
    interval = wilson(1, 4)
    assert (interval.lower, interval.upper) == pytest.approx((centre - half, centre + half))


def test_wilson_without_trials_is_undefined():
    assert wilson(0, 0) is None


def test_ten_of_ten_is_not_certain():
    interval = wilson(10, 10)
    assert interval.lower < 0.75
    assert interval.upper == 1


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_estimate_and_mirrors(trial):
    k, n = trial
    one, mirrored = wilson(k, n), wilson(n - k, n)
    assert 0 <= one.lower <= k / n <= one.upper <= 1
    assert (one.lower, one.upper) == pytest.approx((1 - mirrored.upper, 1 - mirrored.lower))


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(k, n)


@pytest.mark.parametrize("wrong", [{"n_resamples": 10}, {"level": 1}, {"level": 0}])
def test_a_bootstrap_that_cannot_give_an_interval_is_refused(wrong):
    with pytest.raises(ValueError, match=r"resamples|level"):
        Bootstrap(seed=1, **wrong)


def test_roots_are_numbered_as_they_appear_and_none_means_all_different():
    assert list(root_codes(["t9", "t1", "t9"], 3)) == [0, 1, 0]
    assert root_codes(["c", "a", "b"], 3) is None


def test_rows_of_one_root_are_added_up_dense_or_sparse():
    from scipy.sparse import csr_array

    rows, codes = np.array([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]), np.array([0, 1, 0])
    assert sum_by_root(rows, codes).tolist() == [[101, 202], [10, 20]]
    assert sum_by_root(csr_array(rows), codes).toarray().tolist() == [[101, 202], [10, 20]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_equal_rows_are_grouped_as_they_first_appear(rows):
    first, kinds = group_equal_rows(np.array(rows))
    distinct = list(dict.fromkeys(rows))
    assert [rows[i] for i in first] == distinct
    assert [distinct[kind] for kind in kinds] == rows


def test_every_resample_draws_as_many_roots_as_there_are():
    for n_rows in (7, 5000):  # few rows are drawn one by one, many equal rows by how often each kind occurs
        rows = np.stack([np.ones(n_rows), np.arange(n_rows) % 3], axis=1)
        sums = np.concatenate(list(resampled_sums(rows, Bootstrap(seed=1, n_resamples=200))))
        assert sums.shape == (200, 2)
        assert set(sums[:, 0]) == {n_rows}
        assert np.std(sums[:, 1]) > 0


def test_undefined_resamples_are_left_out_and_counted():
    values = np.where(np.arange(1000) < 10, np.nan, np.linspace(0, 1, 1000))
    interval, note = percentile_interval(values, Bootstrap(seed=1, n_resamples=1000), n_roots=9)
    assert (interval.n_undefined, note) == (10, "10 of 1000 resamples were undefined and are left out")


@pytest.mark.parametrize(("n_roots", "percent"), [(2, 0.0), (10, 0.855), (20, 1.588), (100, 2.306), (10**6, 2.5)])
def test_few_roots_take_percentiles_further_out(n_roots, percent):
    # Student's quantile with n - 1 degrees of freedom times sqrt(n / (n - 1)), read off the normal distribution: with
    # 20 roots -2.0930 * 1.0260 = -2.1474, below which 1.588 % lie.
    assert 100 * expanded_tail(0.95, n_roots) == pytest.approx(percent, abs=0.0005)


@pytest.mark.parametrize("n_roots", [10, 20])
def test_intervals_from_few_roots_hold_the_truth_nearly_as_often_as_their_level_says(n_roots):
    # Plain percentiles hold it 89 times of 100. 400 samples: 3 SD are 3.9 points.
    rng = np.random.default_rng(0)
    bootstrap = Bootstrap(seed=5, n_resamples=400)
    held = 0
    for sample in rng.binomial(5, 0.6, (400, n_roots)) / 5:
        rows = np.stack([sample, np.ones(n_roots)], axis=1)
        sums = np.concatenate(list(resampled_sums(rows, bootstrap)))
        interval, _ = percentile_interval(sums[:, 0] / sums[:, 1], bootstrap, n_roots=n_roots)
        held += interval.lower - 1e-9 <= 0.6 <= interval.upper + 1e-9
    assert held / 400 >= 0.92


def test_the_interval_of_a_mean_covers_it_as_often_as_its_level_says():
    # 300 samples of 60 fair coins: about 95 % of the intervals hold 1/2; 3 SD of a binomial share are 3.8 points.
    rng = np.random.default_rng(0)
    held = 0
    for sample in rng.integers(0, 2, (300, 60)).astype(float):
        rows = np.stack([sample, np.ones(60)], axis=1)
        sums = np.concatenate(list(resampled_sums(rows, Bootstrap(seed=5, n_resamples=400))))
        interval, _ = percentile_interval(sums[:, 0] / sums[:, 1], Bootstrap(seed=5, n_resamples=400), n_roots=60)
        held += interval.lower <= 0.5 <= interval.upper
    assert held / 300 == pytest.approx(0.95, abs=0.04)


def test_two_thousand_resamples_of_100_000_items_take_well_under_a_second():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, (100_000, 1))
    labels = np.where(rng.random((100_000, 5)) < 0.75, truth, rng.integers(0, 3, (100_000, 5)))
    started = time.process_time()
    result = krippendorff_alpha_nominal(Ratings.from_labels(labels), Bootstrap(seed=1, n_resamples=2000))
    assert time.process_time() - started < 1
    assert result.interval.upper - result.interval.lower < 0.01
