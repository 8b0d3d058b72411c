"""Agreement: worked examples, what is undefined, and what may never change a value."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import (
    COEFFICIENTS,
    Bootstrap,
    Ratings,
    all_coefficients,
    fleiss_kappa,
    krippendorff_alpha_nominal,
    majority_agreement,
    percent_agreement,
    percent_agreement_pooled,
)

BOOTSTRAP = Bootstrap(seed=1, n_resamples=500)
LABELS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.integers(-1, 3))
every_coefficient = pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)


def rated(*rows: str) -> Ratings:
    """Units as words of labels: "aab" is a unit with two answers a and one b; "." is missing."""
    width = max(map(len, rows))
    return Ratings.from_labels([["abcd".find(c) for c in row.ljust(width, ".")] for row in rows])


def test_percent_agreement_weighs_units_and_pooled_weighs_pairs():
    # Pairs that agree: 1 of 3 in aab, 1 of 1 in aa. Mean of 1/3 and 1; pooled 2 of 4.
    ratings = rated("aab", "aa")
    assert percent_agreement(ratings).value == pytest.approx((1 / 3 + 1) / 2)
    assert percent_agreement_pooled(ratings).value == pytest.approx(2 / 4)


def test_majority_is_more_than_half():
    # aab and aa have one; ab (half) and abc have none.
    assert majority_agreement(rated("aab", "aa", "ab", "abc")).value == pytest.approx(2 / 4)


def test_units_with_fewer_than_two_answers_are_left_out_and_counted():
    result = percent_agreement(rated("aab", "a", "..", "bb"))
    assert (result.n, result.n_left_out, result.n_roots) == (2, 2, 2)


def test_fleiss_kappa_worked_example():
    # Pairs agree in aa and bb, not in ab: observed 2/3. Shares a 3/6, b 3/6: by chance 1/2. (2/3 - 1/2) / (1/2) = 1/3.
    assert fleiss_kappa(rated("aa", "ab", "bb")).value == pytest.approx(1 / 3)


def test_fleiss_kappa_counts_a_single_answer_in_the_shares_only():
    # Observed: aa 1, ab 0 -> 1/2. Mean shares of a: (1 + 1/2 + 0)/3 = 1/2 -> by chance 1/2 -> 0.
    assert fleiss_kappa(rated("aa", "ab", "b")).value == pytest.approx(0)


def test_krippendorff_alpha_worked_example():
    # 6 values, a 3 and b 3. Observed disagreement: unit ab gives 2/1 of 6 = 1/3.
    # Expected: 1 - (3*2 + 3*2) / (6*5) = 3/5. alpha = 1 - (1/3) / (3/5) = 4/9.
    assert krippendorff_alpha_nominal(rated("aa", "ab", "bb")).value == pytest.approx(4 / 9)


def test_krippendorff_alpha_ignores_a_single_answer():
    assert krippendorff_alpha_nominal(rated("aa", "ab", "bb", "c")).value == pytest.approx(4 / 9)


def test_one_label_in_use_is_neither_perfect_agreement_nor_none():
    ratings = rated("aa", "aaa")
    assert (fleiss_kappa(ratings).value, fleiss_kappa(ratings).undefined) == (None, "no_variation")
    assert krippendorff_alpha_nominal(ratings).undefined == "no_variation"
    assert percent_agreement(ratings).value == 1


@every_coefficient
@pytest.mark.parametrize("ratings", [rated("a", "b"), rated("."), Ratings.from_labels(np.zeros((0, 3), dtype=int))])
def test_without_a_pair_everything_is_undefined(coefficient, ratings):
    result = coefficient(ratings, BOOTSTRAP)
    assert (result.value, result.undefined, result.interval, result.n) == (None, "no_pairs", None, 0)


def test_an_interval_needs_two_independent_units():
    lone = percent_agreement(rated("ab"), BOOTSTRAP)
    assert (lone.value, lone.interval) == (0, None)
    assert "single independent unit" in lone.note
    one_table = Ratings.from_labels([[0, 0], [0, 1], [1, 1]], roots=[7, 7, 7])
    assert percent_agreement(one_table, BOOTSTRAP).interval is None


def test_an_interval_without_width_carries_a_warning():
    result = percent_agreement(rated("aa", "bb", "aa"), BOOTSTRAP)
    assert (result.interval.lower, result.interval.upper, result.interval.degenerate) == (1, 1, True)
    assert "degenerate" in result.note


def test_no_interval_where_many_resamples_are_undefined():
    # One unit of three has a b: a resample misses it with (2/3)^3 = 30 %, and then has a single label.
    result = krippendorff_alpha_nominal(rated("aa", "aa", "ab"), BOOTSTRAP)
    assert result.value is not None
    assert result.interval is None
    assert "resamples were undefined" in result.note


def test_an_interval_says_how_it_was_made():
    interval = percent_agreement(rated("aa", "ab", "bb", "aab"), BOOTSTRAP).interval
    assert (interval.level, interval.seed, interval.n_resamples) == (0.95, 1, 500)
    assert interval.method == "percentile bootstrap over roots"


def test_the_same_seed_gives_the_same_interval_whatever_was_computed_before():
    ratings = rated("aa", "ab", "bb", "aab", "bbc")
    alone = krippendorff_alpha_nominal(ratings, BOOTSTRAP)
    assert all_coefficients(ratings, BOOTSTRAP)[-1] == alone
    assert krippendorff_alpha_nominal(ratings, Bootstrap(seed=2, n_resamples=500)).interval != alone.interval


def test_units_of_one_root_are_resampled_together():
    # 40 tables, five questions each, all alike within a table: 40 independent observations, not 200.
    table = np.arange(200) // 5
    labels = np.where((table % 4 == 0)[:, np.newaxis], [[0, 1]], [[0, 0]])

    def width(roots):
        interval = percent_agreement(Ratings.from_labels(labels, roots), Bootstrap(1)).interval
        return interval.upper - interval.lower

    assert width(table) / width(None) == pytest.approx(np.sqrt(5), rel=0.15)


def test_many_equal_units_draw_the_same_distribution_as_single_units():
    # The pattern bootstrap against a plain one, written out here: 3,000 units, endpoints within Monte Carlo error.
    rng = np.random.default_rng(3)
    labels = np.where(rng.random((3000, 3)) < 0.7, rng.integers(0, 3, (3000, 1)), rng.integers(0, 3, (3000, 3)))
    interval = percent_agreement(Ratings.from_labels(labels), Bootstrap(1)).interval
    agreeing = np.mean([labels[:, i] == labels[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], axis=0)
    plain = [agreeing[rng.integers(0, 3000, 3000)].mean() for _ in range(2000)]
    assert [interval.lower, interval.upper] == pytest.approx(list(np.quantile(plain, [0.025, 0.975])), abs=0.002)


def test_free_text_with_very_many_labels_gives_the_same_values_as_few():
    # Above 20 million cells the counts are sparse: 5,000 units with labels up to 4,999 are.
    few = np.array([[0, 0, 1], [1, 1, 1], [2, 0, -1], [2, 2, 0]])
    unit = np.repeat(few, 1250, axis=0)
    spread = np.where(unit < 0, -1, unit * 2499)
    dense, sparse = Ratings.from_labels(unit), Ratings.from_labels(spread)
    assert not isinstance(sparse.counts, np.ndarray)
    for one, other in zip(all_coefficients(dense, BOOTSTRAP), all_coefficients(sparse, BOOTSTRAP), strict=True):
        if one.name == "gwet_ac1":  # counts the declared labels, of which there are 3 and 4,999
            continue
        assert other.value == pytest.approx(one.value)
        assert other.interval.lower == pytest.approx(one.interval.lower, abs=0.01)


def test_labels_and_counts_are_two_forms_of_the_same_ratings():
    # Only who answered is not in the counts.
    from_counts = Ratings.from_counts([[2, 1, 0], [0, 2, 0], [1, 0, 1]])
    from_labels = [replace(result, n_raters=None) for result in all_coefficients(rated("aab", "bb", "ac"))]
    assert list(all_coefficients(from_counts)) == from_labels


@pytest.mark.parametrize("labels", [[0, 1], [[0.5, 1.0]], [[-2, 0]], [["a", "b"]]])
def test_what_is_no_label_matrix_is_refused(labels):
    with pytest.raises(ValueError, match=r"label|whole numbers"):
        Ratings.from_labels(labels)


def test_roots_must_fit_the_units():
    with pytest.raises(ValueError, match="one root for each"):
        Ratings.from_labels([[0, 1], [1, 1]], roots=[1])


@every_coefficient
@given(labels=LABELS, data=st.data())
def test_the_order_of_units_and_of_raters_does_not_matter(coefficient, labels, data):
    units = data.draw(st.permutations(range(labels.shape[0])))
    shuffled = np.array([data.draw(st.permutations(list(labels[u]))) for u in units])
    one, other = coefficient(Ratings.from_labels(labels), None), coefficient(Ratings.from_labels(shuffled), None)
    assert other.value == (None if one.value is None else pytest.approx(one.value))
    assert (other.n, other.n_left_out, other.undefined) == (one.n, one.n_left_out, one.undefined)


@every_coefficient
@given(labels=LABELS, names=st.permutations(range(6)))
def test_renaming_the_labels_does_not_matter(coefficient, labels, names):
    renamed = np.where(labels < 0, -1, np.array(names)[labels])
    value = coefficient(Ratings.from_labels(labels, n_labels=6), None).value
    found = coefficient(Ratings.from_labels(renamed, n_labels=6), None).value
    assert found == (None if value is None else pytest.approx(value))


@every_coefficient
@given(labels=LABELS)
def test_values_stay_within_their_bounds(coefficient, labels):
    value = coefficient(Ratings.from_labels(labels), None).value
    assert value is None or value <= 1 + 1e-9
    if (labels >= 0).all():  # with missing answers Fleiss' kappa has no lower bound: a single answer shifts the shares
        assert value is None or value >= -1 - 1e-9


@every_coefficient
@given(answers=st.lists(st.integers(0, 3), min_size=2, max_size=8), n_raters=st.integers(2, 4))
def test_identical_answers_score_one(coefficient, answers, n_raters):
    assume(len(set(answers)) > 1)
    labels = np.repeat(np.array(answers)[:, np.newaxis], n_raters, axis=1)
    assert coefficient(Ratings.from_labels(labels), None).value == pytest.approx(1)
