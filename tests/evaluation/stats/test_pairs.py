"""Two raters who are told apart, all pairs of them, and each against the rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import (
    PAIR_COEFFICIENTS,
    Bootstrap,
    Ratings,
    cohen_kappa,
    cohen_kappa_linear,
    cohen_kappa_quadratic,
    confusion_matrix,
    light_kappa,
    pair_agreements,
    percent_agreement,
    rater_agreements,
    scott_pi,
)

BOOTSTRAP = Bootstrap(seed=1, n_resamples=400)
every_coefficient = pytest.mark.parametrize("coefficient", PAIR_COEFFICIENTS.values(), ids=PAIR_COEFFICIENTS)
PAIRS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=12)
YES, NO = 0, 1
# Cohen's 50 grant proposals: 20 yy, 5 yn, 10 ny, 15 nn.
FIRST = [YES] * 25 + [NO] * 25
SECOND = [YES] * 20 + [NO] * 5 + [YES] * 10 + [NO] * 15


def columns(pairs):
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def test_cohen_kappa_worked_example():
    # Observed 35/50; by chance .5 * .6 + .5 * .4; (.7 - .5) / (1 - .5).
    assert cohen_kappa(FIRST, SECOND).value == pytest.approx(0.4)


def test_scott_pi_worked_example():
    # One share for both: yes (25 + 30)/100. By chance .55^2 + .45^2 = .505; (.7 - .505) / .495.
    assert scott_pi(FIRST, SECOND).value == pytest.approx(0.195 / 0.495)


def test_agreement_of_94_percent_can_be_worse_than_chance():
    # 118 yy, 5 yn, 2 ny, 0 nn of 125: observed .944; by chance (123*120 + 2*5)/125^2 = .9453.
    first, second = [YES] * 123 + [NO] * 2, [YES] * 118 + [NO] * 5 + [YES] * 2
    by_chance = (123 * 120 + 2 * 5) / 125**2
    assert cohen_kappa(first, second).value == pytest.approx((0.944 - by_chance) / (1 - by_chance))
    assert cohen_kappa(first, second).value < 0


def test_weights_go_by_the_places_on_the_declared_scale():
    # Pairs 0-0, 1-1, 0-2 of three labels: distances 0, 0, 2. Linear, in halves: observed (0 + 0 + 1)/3.
    # Shares of the first: 2/3, 1/3, 0; of the second: 1/3 each. By chance 0-1 and 0-2 2/9 each, 1-0 and 1-2 1/9 each.
    first, second = [0, 1, 0], [0, 1, 2]
    expected = 2 / 9 / 2 + 2 / 9 + 1 / 9 / 2 + 1 / 9 / 2
    assert cohen_kappa_linear(first, second).value == pytest.approx(1 - (1 / 3) / expected)
    expected = 2 / 9 / 4 + 2 / 9 + 1 / 9 / 4 + 1 / 9 / 4
    assert cohen_kappa_quadratic(first, second).value == pytest.approx(1 - (1 / 3) / expected)
    # The unit of the distance cancels out, so declaring labels that nobody used changes nothing.
    assert cohen_kappa_linear(first, second, n_labels=7).value == cohen_kappa_linear(first, second).value


def test_only_units_with_both_labels_count():
    result = cohen_kappa([0, 1, 1, -1, 0], [0, 1, 0, 1, -1])
    assert (result.n, result.n_left_out, result.n_pairs, result.n_raters) == (3, 2, 3, 2)
    assert result.value == cohen_kappa([0, 1, 1], [0, 1, 0]).value


@every_coefficient
def test_undefined_has_its_reason(coefficient):
    assert coefficient([], [], bootstrap=BOOTSTRAP).undefined == "no_pairs"
    assert coefficient([0, -1], [-1, 1], bootstrap=BOOTSTRAP).undefined == "no_pairs"
    one_label = coefficient([1, 1, 1], [1, 1, 1], bootstrap=BOOTSTRAP)
    assert (one_label.value, one_label.undefined, one_label.interval) == (None, "no_variation", None)


@every_coefficient
@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ([0, 1], [0], "same length"),
        ([[0, 1]], [[0, 1]], "one-dimensional"),
        ([0.0, float("nan")], [0.0, 1.0], "whole numbers"),
        ([0, 1], [0, 5], "outside the scale"),
        ([0, -2], [0, 1], "missing answer"),
    ],
)
def test_what_is_no_pair_of_label_lists_is_refused(coefficient, first, second, problem):
    with pytest.raises(ValueError, match=problem):
        coefficient(first, second, n_labels=3)


def test_the_pair_of_labels_is_what_is_resampled():
    # Against a plain bootstrap of units, written out here: 600 units in 9 cells.
    rng = np.random.default_rng(2)
    first = rng.integers(0, 3, 600)
    second = np.where(rng.random(600) < 0.6, first, rng.integers(0, 3, 600))
    interval = cohen_kappa(first, second, bootstrap=Bootstrap(1)).interval
    drawn = [rng.integers(0, 600, 600) for _ in range(2000)]
    plain = [cohen_kappa(first[units], second[units]).value for units in drawn]
    assert [interval.lower, interval.upper] == pytest.approx(list(np.quantile(plain, [0.025, 0.975])), abs=0.008)


def test_units_of_one_root_are_resampled_together():
    # 60 tables, four questions each, all alike within a table: the interval is twice as wide as for 240 units.
    rng = np.random.default_rng(2)
    first = np.repeat(rng.integers(0, 2, 60), 4)
    second = np.repeat(np.where(rng.random(60) < 0.7, first[::4], 1 - first[::4]), 4)

    def width(roots):
        interval = cohen_kappa(first, second, roots=roots, bootstrap=Bootstrap(1)).interval
        return interval.upper - interval.lower

    assert width(np.arange(240) // 4) / width(None) == pytest.approx(2, rel=0.15)


@every_coefficient
@given(pairs=PAIRS, data=st.data())
def test_neither_the_order_of_units_nor_who_is_first_matters(coefficient, pairs, data):
    shuffled = data.draw(st.permutations(pairs))
    value = coefficient(*columns(pairs), n_labels=4).value
    found = coefficient(*columns(shuffled)[::-1], n_labels=4).value
    assert found == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("coefficient", [cohen_kappa, scott_pi])
@given(pairs=PAIRS, names=st.permutations(range(4)))
def test_renaming_nominal_labels_does_not_matter(coefficient, pairs, names):
    renamed = [[-1 if label < 0 else names[label] for label in pair] for pair in pairs]
    value = coefficient(*columns(pairs)).value
    assert coefficient(*columns(renamed)).value == (None if value is None else pytest.approx(value))


@every_coefficient
@given(pairs=PAIRS)
def test_values_lie_between_minus_one_and_one(coefficient, pairs):
    value = coefficient(*columns(pairs)).value
    assert value is None or -1 - 1e-9 <= value <= 1 + 1e-9


@given(labels=st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=8))
def test_light_kappa_is_the_mean_over_pairs(labels):
    matrix = np.array(labels)
    of_pairs = [cohen_kappa(matrix[:, a], matrix[:, b]).value for a, b in ((0, 1), (0, 2), (1, 2))]
    defined = [value for value in of_pairs if value is not None]
    found = light_kappa(Ratings.from_labels(matrix)).value
    assert found == (pytest.approx(sum(defined) / len(defined)) if defined else None)


def test_light_kappa_of_two_is_cohens_with_cohens_interval():
    matrix = np.stack([FIRST, SECOND], axis=1)
    light, cohen = light_kappa(Ratings.from_labels(matrix), BOOTSTRAP), cohen_kappa(FIRST, SECOND, bootstrap=BOOTSTRAP)
    assert light.value == pytest.approx(cohen.value)
    assert light.interval.lower == pytest.approx(cohen.interval.lower, abs=0.02)


def test_light_kappa_of_many_has_a_value_and_says_why_it_has_no_interval():
    rng = np.random.default_rng(3)
    result = light_kappa(Ratings.from_labels(rng.integers(0, 2, (30, 11))), BOOTSTRAP)
    assert result.value is not None
    assert result.interval is None
    assert "11 raters" in result.note


def test_light_kappa_counts_the_pairs_that_have_none():
    # The first two only ever say 0: no kappa for them. With the third each has one.
    result = light_kappa(Ratings.from_labels([[0, 0, 0], [0, 0, 1]]))
    assert result.value == 0
    assert "1 of 3 pairs" in result.note


def test_every_pair_stands_with_the_units_it_shares():
    ratings = Ratings.from_labels([[0, 0, -1], [1, 1, 1], [0, 1, 0], [-1, 0, -1]])
    found = {(pair.first, pair.second): pair for pair in pair_agreements(ratings, BOOTSTRAP)}
    assert {pair: found[pair].percent.n for pair in found} == {(0, 1): 3, (0, 2): 2, (1, 2): 2}
    assert found[0, 1].percent.value == pytest.approx(2 / 3)
    assert found[0, 2].kappa.value == 1


def test_each_rater_stands_against_the_others_of_the_same_units():
    # Rater 0: unit 0 says 0 with one of two others, unit 1 says 1 with both: (1/2 + 1)/2. Unit 2: nobody else.
    ratings = Ratings.from_labels([[0, 0, 1], [1, 1, 1], [0, -1, -1]])
    first = rater_agreements(ratings)[0]
    assert (first.percent.value, first.percent.n, first.percent.n_left_out) == (pytest.approx(3 / 4), 2, 1)
    # Own shares 1/2, 1/2; the others' 0: (1/2)/2, 1: 3/4. Expected agreement 1/2; (3/4 - 1/2) / (1/2).
    assert first.kappa.value == pytest.approx(1 / 2)


def test_of_two_raters_each_against_the_other_is_the_pair():
    ratings = Ratings.from_labels(np.stack([FIRST, SECOND], axis=1))
    for agreement in rater_agreements(ratings):
        assert agreement.percent.value == pytest.approx(percent_agreement(ratings).value)
        assert agreement.kappa.value == pytest.approx(0.4)


def test_without_names_there_are_no_pairs():
    counts = Ratings.from_counts([[2, 1]])
    for function in (light_kappa, pair_agreements, rater_agreements):
        with pytest.raises(ValueError, match="counts alone"):
            function(counts)


def test_the_confusion_matrix_has_the_first_in_rows():
    assert confusion_matrix([0, 0, 1, -1], [0, 1, 1, 1], n_labels=3).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_free_text_with_very_many_labels_gives_the_same_kappa_as_few():
    first, second = np.array([0, 1, 2, 2] * 60), np.array([0, 1, 2, 1] * 60)
    spread = 200_000
    assert cohen_kappa(first, second, n_labels=40_000_000 // 8).value == pytest.approx(cohen_kappa(first, second).value)
    assert scott_pi(first * spread, second * spread).value == pytest.approx(scott_pi(first, second).value)
