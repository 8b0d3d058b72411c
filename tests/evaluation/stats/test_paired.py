"""The paired difference: only shared items, each counted once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import Bootstrap, paired_difference

NAN = np.nan
BOOTSTRAP = Bootstrap(seed=1, n_resamples=500)
SCORES = hnp.arrays(np.float64, 8, elements=st.sampled_from([0.0, 0.5, 1.0, NAN]))


def test_only_items_that_both_have_are_compared_and_the_rest_is_counted():
    # Shared: items 1 and 2. (1 - 0 + 1 - 1) / 2.
    result = paired_difference([1, 1, 0, NAN, NAN], [0, 1, NAN, 1, NAN])
    assert (result.value, result.first_mean, result.second_mean) == (0.5, 1, 0.5)
    assert (result.n, result.n_left_out, result.n_roots) == (2, 2, 2)


def test_repeats_are_averaged_per_item_first():
    # Item 1: (1 + 0)/2; item 2: one repeat is missing, 1. Mean .75 - mean of second 0.
    result = paired_difference([[1, 0], [1, NAN]], [0, 0])
    assert result.value == pytest.approx(0.75)


def test_items_weigh_the_same_and_roots_go_together():
    # Root 1 has three items, root 2 one: the difference is 3/4, not the mean of roots.
    result = paired_difference([1, 1, 1, 0], [0, 0, 0, 0], roots=[1, 1, 1, 2], bootstrap=BOOTSTRAP)
    assert (result.value, result.n_roots) == (0.75, 2)
    # A resample of two roots is one of: 1 1 (1), 1 2 (3/4), 2 2 (0).
    assert (result.interval.lower, result.interval.upper) == (0, 1)


def test_without_a_shared_item_the_difference_is_undefined():
    result = paired_difference([1, NAN], [NAN, 1], bootstrap=BOOTSTRAP)
    assert (result.value, result.undefined, result.interval) == (None, "no_trials", None)


def test_one_root_gives_no_interval():
    result = paired_difference([1, 0], [0, 0], roots=[5, 5], bootstrap=BOOTSTRAP)
    assert result.interval is None
    assert "single independent unit" in result.note


def test_identical_scores_are_flagged_as_degenerate():
    result = paired_difference([1, 0, 0.3], [1, 0, 0.3], bootstrap=BOOTSTRAP)
    assert (result.value, result.interval.lower, result.interval.upper) == (0, 0, 0)
    assert result.share_not_above_zero == 1
    assert result.interval.degenerate


@given(SCORES, SCORES)
def test_swapping_the_sides_negates_the_difference_and_mirrors_the_interval(first, second):
    one = paired_difference(first, second, bootstrap=BOOTSTRAP)
    other = paired_difference(second, first, bootstrap=BOOTSTRAP)
    if one.value is not None:
        assert other.value == pytest.approx(-one.value)
    if one.interval is not None:
        mirrored = (-one.interval.upper, -one.interval.lower)
        assert (other.interval.lower, other.interval.upper) == pytest.approx(mirrored)


def test_swapping_mirrors_the_interval_of_many_items_too():
    # More than a thousand items with few distinct differences are drawn by how often each occurs.
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 5000)).astype(float)
    one = paired_difference(first, second, bootstrap=BOOTSTRAP).interval
    other = paired_difference(second, first, bootstrap=BOOTSTRAP).interval
    assert (other.lower, other.upper) == pytest.approx((-one.upper, -one.lower))


@pytest.mark.parametrize(
    ("first", "second", "said"), [([1, 0], [1], "same items"), ([2], [1], "between 0 and 1"), ([[[1]]], [1], "two-dim")]
)
def test_scores_that_do_not_fit_are_refused(first, second, said):
    with pytest.raises(ValueError, match=said):
        paired_difference(first, second)
