"""Agreement on ordered and numeric labels: worked examples, and what may never change a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import (
    SCALE_COEFFICIENTS,
    Bootstrap,
    Ratings,
    gwet_ac1,
    gwet_ac2_linear,
    gwet_ac2_ordinal,
    gwet_ac2_quadratic,
    krippendorff_alpha_interval,
    krippendorff_alpha_nominal,
    krippendorff_alpha_ordinal,
    krippendorff_alpha_ratio,
)

BOOTSTRAP = Bootstrap(seed=1, n_resamples=300)
LABELS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-1, 3))
VALUES = [1.0, 2.0, 3.0, 5.0]
every_coefficient = pytest.mark.parametrize("coefficient", SCALE_COEFFICIENTS.values(), ids=SCALE_COEFFICIENTS)


def scaled(labels, values=VALUES):
    return Ratings.from_labels(labels, values=values)


# Two units of two answers: 1 and 1, 2 and 3. Four pairable answers: 1 twice, 2 and 3 once.
TWO_UNITS = scaled([[0, 0], [1, 2]])


def test_interval_alpha_worked_example():
    # Within: (2-3)^2, both ways, of 4 answers: 2/4. Between, all 12 ordered pairs: 1-2 four times 1, 1-3 four times 4,
    # 2-3 twice 1: 22/12. alpha = 1 - (1/2) / (11/6) = 8/11.
    assert krippendorff_alpha_interval(TWO_UNITS).value == pytest.approx(8 / 11)


def test_ratio_alpha_worked_example():
    # ((2-3)/5)^2 = 1/25 within, twice of 4. Between: 1-2 (1/3)^2 four times, 1-3 (2/4)^2 four times, 2-3 1/25 twice.
    within, between = 2 / 25 / 4, (4 / 9 + 4 / 4 + 2 / 25) / 12
    assert krippendorff_alpha_ratio(TWO_UNITS).value == pytest.approx(1 - within / between)


def test_ordinal_alpha_worked_example():
    # Mid-ranks of 1, 1, 2, 3: 1 (two answers, so 2/2), 2.5, 3.5. Within: 1, twice of 4. Between: 1-2 1.5^2 four times,
    # 1-3 2.5^2 four times, 2-3 twice 1: (9 + 25 + 2)/12 = 3. alpha = 1 - (1/2)/3.
    assert krippendorff_alpha_ordinal(TWO_UNITS).value == pytest.approx(5 / 6)


def test_ac2_worked_example():
    # Three labels; by places linear weights are 1, 1/2, 0. Units aa (1) and ab (1/2): observed 3/4.
    # Shares a 3/4, b 1/4: sum p(1-p) = 3/8. Weights add up to 3 + 4/2 = 5: by chance 5/6 * 3/8 = 5/16.
    ratings = Ratings.from_labels([[0, 0], [0, 1]], n_labels=3)
    assert gwet_ac2_linear(ratings).value == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))
    # Quadratic: 1, 3/4, 0 add up to 3 + 4 * 3/4 = 6; observed (1 + 3/4)/2 = 7/8, by chance 6/6 * 3/8.
    assert gwet_ac2_quadratic(ratings).value == pytest.approx((7 / 8 - 3 / 8) / (1 - 3 / 8))
    # Ordinal: one place loses 1 of 3, two lose 3 of 3: weights 1, 2/3, 0 add up to 3 + 8/3; observed 5/6.
    by_chance = (3 + 8 / 3) / 6 * 3 / 8
    assert gwet_ac2_ordinal(ratings).value == pytest.approx((5 / 6 - by_chance) / (1 - by_chance))


def test_ac1_counts_declared_labels():
    # ab and aa: observed 1/2, sum p(1-p) 3/8; of two declared labels by chance 3/8, of three 3/16.
    rows = [[0, 1], [0, 0]]
    assert gwet_ac1(Ratings.from_labels(rows, n_labels=2)).value == pytest.approx((1 / 2 - 3 / 8) / (5 / 8))
    assert gwet_ac1(Ratings.from_labels(rows, n_labels=3)).value == pytest.approx((1 / 2 - 3 / 16) / (13 / 16))
    assert gwet_ac1(Ratings.from_labels([[0, 0]], n_labels=1)).undefined == "no_variation"


def test_alphas_that_need_numbers_say_so():
    for alpha in (krippendorff_alpha_interval, krippendorff_alpha_ratio):
        with pytest.raises(ValueError, match="stand for numbers"):
            alpha(Ratings.from_labels([[0, 1]]))
    with pytest.raises(ValueError, match="numbers from zero"):
        krippendorff_alpha_ratio(scaled([[0, 1]], [-1.0, 1.0]))


def test_scales_too_long_for_their_tables_are_refused():
    labels = np.stack([np.arange(2500), np.arange(2500)], axis=1)
    ratings = scaled(labels, np.arange(2500.0))
    with pytest.raises(ValueError, match="at most 100"):
        krippendorff_alpha_ordinal(ratings)
    with pytest.raises(ValueError, match="at most 2,000"):
        krippendorff_alpha_ratio(ratings)
    assert krippendorff_alpha_interval(ratings).value == pytest.approx(1)


@every_coefficient
def test_undefined_has_its_reason(coefficient):
    assert coefficient(scaled([[0, -1], [1, -1]]), BOOTSTRAP).undefined == "no_pairs"
    one_label = coefficient(scaled([[1, 1], [1, 1]]), BOOTSTRAP)
    if coefficient in (gwet_ac2_linear, gwet_ac2_quadratic, gwet_ac2_ordinal):
        assert one_label.value == 1
    else:
        assert (one_label.value, one_label.undefined, one_label.interval) == (None, "no_variation", None)


def test_numbers_that_are_nearly_equal_are_not_taken_for_equal():
    values = [1000.0, 1000.001]
    rows = [[0, 0], [0, 1], [1, 1]]
    nominal = krippendorff_alpha_nominal(scaled(rows, values)).value
    assert krippendorff_alpha_interval(scaled(rows, values)).value == pytest.approx(nominal)
    assert krippendorff_alpha_ratio(scaled(rows, values)).value == pytest.approx(nominal)


@every_coefficient
def test_an_interval_surrounds_its_value(coefficient):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, (60, 1))
    labels = np.clip(truth + rng.choice([-1, 0, 0, 1], (60, 3)), 0, 3)
    result = coefficient(scaled(labels), BOOTSTRAP)
    assert result.interval.lower < result.value < result.interval.upper
    assert (result.n, result.n_pairs, result.n_raters) == (60, 180, 3)


@every_coefficient
@given(labels=LABELS, data=st.data())
def test_the_order_of_units_and_of_raters_does_not_matter(coefficient, labels, data):
    units = data.draw(st.permutations(range(labels.shape[0])))
    shuffled = np.array([data.draw(st.permutations(list(labels[u]))) for u in units])
    one, other = coefficient(scaled(labels), None), coefficient(scaled(shuffled), None)
    assert other.value == (None if one.value is None else pytest.approx(one.value))


@given(labels=LABELS, shift=st.floats(-50, 50), unit=st.floats(0.1, 50))
def test_neither_origin_nor_unit_of_the_numbers_matters(labels, shift, unit):
    value = krippendorff_alpha_interval(scaled(labels)).value
    moved = krippendorff_alpha_interval(scaled(labels, [shift + unit * v for v in VALUES])).value
    assert moved == (None if value is None else pytest.approx(value, abs=1e-7))


@pytest.mark.parametrize(
    "coefficient", [krippendorff_alpha_ordinal, gwet_ac2_ordinal, gwet_ac2_linear, krippendorff_alpha_interval]
)
@given(labels=LABELS)
def test_reading_the_scale_from_its_other_end_does_not_matter(coefficient, labels):
    value = coefficient(scaled(labels), None).value
    turned = coefficient(scaled(np.where(labels < 0, -1, 3 - labels), [-v for v in VALUES[::-1]]), None).value
    assert turned == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("coefficient", [krippendorff_alpha_ordinal, krippendorff_alpha_interval])
@given(labels=hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(-1, 1)))
def test_two_labels_have_one_distance(coefficient, labels):
    nominal = krippendorff_alpha_nominal(scaled(labels)).value
    assert coefficient(scaled(labels)).value == (None if nominal is None else pytest.approx(nominal))


@every_coefficient
@given(answers=st.lists(st.integers(0, 3), min_size=2, max_size=6), n_raters=st.integers(2, 4))
def test_identical_answers_score_one(coefficient, answers, n_raters):
    labels = np.repeat(np.array([*answers, 0, 1])[:, np.newaxis], n_raters, axis=1)
    assert coefficient(scaled(labels), None).value == pytest.approx(1)


@every_coefficient
@given(labels=LABELS)
def test_no_value_is_above_one(coefficient, labels):
    value = coefficient(scaled(labels), None).value
    assert value is None or value <= 1 + 1e-9
