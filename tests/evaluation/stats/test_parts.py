"""Where agreement lies: by label, by unit, between labels; and ratings from single answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import (
    Bootstrap,
    Ratings,
    all_coefficients,
    coincidence_matrix,
    krippendorff_alpha_nominal,
    label_agreements,
    light_kappa,
    unit_agreements,
)

LABELS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-1, 3))


def test_a_labels_agreement_worked_example():
    # aab, aa, bb. Given an a, the other answer of the pair is a: in aab 2 * 1/2, in aa 2 * 1: 3 of 4.
    first = label_agreements(Ratings.from_labels([[0, 0, 1], [0, 0, -1], [1, 1, -1]]))[0]
    assert first.specific.value == pytest.approx(3 / 4)
    assert first.n_answers == 4


def test_a_label_that_nobody_gave_is_undefined():
    unused = label_agreements(Ratings.from_labels([[0, 1], [1, 1]], n_labels=3))[2]
    assert unused.n_answers == 0
    assert {r.undefined for r in (unused.specific, unused.kappa, unused.alpha)} == {"no_variation"}


def test_of_two_labels_both_agree_alike():
    first, second = label_agreements(Ratings.from_labels([[0, 0, 1], [0, 1, 1], [1, 1, 1]]), Bootstrap(1))
    assert first.kappa.value == pytest.approx(second.kappa.value)
    assert first.kappa.interval.lower == pytest.approx(second.kappa.interval.lower)


def test_a_units_agreement_is_the_share_of_its_pairs():
    shares = unit_agreements(Ratings.from_labels([[0, 0, 1], [0, 0, -1], [0, -1, -1], [0, 1, 2]]))
    assert shares[[0, 1, 3]].tolist() == [pytest.approx(1 / 3), 1.0, 0.0]
    assert np.isnan(shares[2])


@given(LABELS)
def test_alpha_is_what_the_coincidence_matrix_says(labels):
    ratings = Ratings.from_labels(labels)
    met = coincidence_matrix(ratings)
    assert np.allclose(met, met.T)
    n, totals = met.sum(), met.sum(axis=1)
    assert n == pytest.approx((labels[(labels >= 0).sum(axis=1) >= 2] >= 0).sum())
    expected = n**2 - (totals**2).sum()
    value = krippendorff_alpha_nominal(ratings).value
    if expected > 1e-9:
        assert value == pytest.approx(1 - (n - 1) * (n - np.trace(met)) / expected)
    else:
        assert value is None


@given(LABELS)
def test_single_answers_are_the_same_ratings_as_a_matrix(labels):
    units, raters = np.nonzero(labels >= 0)
    order = np.random.default_rng(0).permutation(units.size)
    units, raters = units[order], raters[order]
    one = Ratings.from_answers(units, raters, labels[units, raters], n_units=labels.shape[0], n_labels=4)
    other = Ratings.from_labels(labels, n_labels=4)
    assert all_coefficients(one) == all_coefficients(other)
    assert light_kappa(one) == light_kappa(other)


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (([0, 0], [1, 1], [0, 1]), "Rater 1 has two answers to unit 0"),
        (([0], [0], [0, 1]), "one entry for each answer"),
        (([0, 3], [0, 0], [0, 1]), "Unit 3 is not one of the 2 units"),
        (([0, 1], [0, 0], [0, -1]), "leave out what is missing"),
        (([0, 1], [0, 0], [0.0, float("nan")]), "whole numbers"),
        (([0, 1], [0, 0], [0, 9]), "outside the scale of 3"),
    ],
)
def test_what_are_no_answers_is_refused(answers, problem):
    with pytest.raises(ValueError, match=problem):
        Ratings.from_answers(*answers, n_units=2, n_labels=3)


@pytest.mark.parametrize(
    ("labels", "options", "problem"),
    [
        ([[0, 1], [0]], {}, "two-dimensional"),
        ([[0, 4]], {"n_labels": 3}, "outside the scale of 3"),
        ([[0, 1]], {"values": [1.0, float("nan")]}, "finite number"),
        ([[0, 1]], {"values": [1.0]}, "outside the scale"),
        ([[0.0, float("nan")]], {}, "whole numbers"),
    ],
)
def test_what_is_no_scale_is_refused(labels, options, problem):
    with pytest.raises(ValueError, match=problem):
        Ratings.from_labels(labels, **options)


def test_counts_with_a_hole_are_refused():
    with pytest.raises(ValueError, match="whole numbers from 0"):
        Ratings.from_counts([[1.0, float("nan")]])
