"""Macro-F1: the classes, the unparsed, and several people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import Bootstrap, macro_f1

BOOTSTRAP = Bootstrap(seed=1, n_resamples=500)
PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2)), min_size=1, max_size=12)


def test_worked_example():
    # Class 0: TP 1, FP 0, FN 1 -> 2/3. Class 1: TP 1, FP 1, FN 0 -> 2/3. Class 2: TP 1 -> 1.
    result = macro_f1(gold=[0, 0, 1, 2], predicted=[0, 1, 1, 2], n_classes=3)
    assert result.per_class == pytest.approx((2 / 3, 2 / 3, 1))
    assert result.all_declared.value == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert result.accuracy.value == pytest.approx(3 / 4)


def test_a_class_that_nobody_uses_is_worth_nothing_or_left_out():
    result = macro_f1(gold=[0, 1], predicted=[0, 1], n_classes=3)
    assert result.per_class == (1, 1, None)
    assert (result.all_declared.value, result.gold_classes.value) == (pytest.approx(2 / 3), 1)


def test_an_unparsed_answer_is_a_miss_and_nobodys_false_alarm():
    # Class 0: TP 1, FN 1 -> 2/3; class 1: TP 1 -> 1. A wrong answer "1" would have cost class 1 a false alarm as well.
    unparsed = macro_f1(gold=[0, 0, 1], predicted=[0, -1, 1], n_classes=2)
    assert unparsed.per_class == pytest.approx((2 / 3, 1))
    assert (unparsed.n_unparsed, unparsed.accuracy.value) == (1, pytest.approx(2 / 3))
    wrong = macro_f1(gold=[0, 0, 1], predicted=[0, 1, 1], n_classes=2)
    assert wrong.per_class == pytest.approx((2 / 3, 2 / 3))


def test_a_foreign_label_counts_as_unparsed():
    assert macro_f1([0, 1], [0, 7], 2) == macro_f1([0, 1], [0, -1], 2)


def test_the_other_denominator_leaves_the_unparsed_out():
    result = macro_f1(gold=[0, 0, 1], predicted=[0, -1, 1], n_classes=2, unparsed="left_out")
    assert (result.all_declared.value, result.accuracy.value) == (1, 1)
    assert (result.all_declared.n, result.all_declared.n_left_out, result.n_unparsed) == (2, 1, 1)


def test_items_without_gold_are_left_out():
    assert macro_f1([0, 1, -1], [0, 1, 0], 2) == macro_f1([0, 1], [0, 1], 2)


def test_what_was_not_offered_is_not_unparsed():
    result = macro_f1([0, 1, 1], [0, 1, -1], 2, offered=[True, True, False])
    assert (result.all_declared.value, result.n_unparsed) == (1, 0)


def test_several_people_are_meaned():
    # One is always right (1), one always answers 0: class 0 TP 1, FP 1 -> 2/3; class 1 -> 0; mean 1/3.
    result = macro_f1(gold=[0, 1], predicted=[[0, 0], [1, 0]], n_classes=2, bootstrap=BOOTSTRAP)
    assert result.all_declared.value == pytest.approx((1 + 1 / 3) / 2)
    assert result.all_declared.n_people == 2
    assert "these 2 people" in result.all_declared.note


def test_nothing_to_count_is_undefined():
    result = macro_f1([-1, -1], [0, 1], 2, bootstrap=BOOTSTRAP)
    assert (result.all_declared.value, result.all_declared.undefined) == (None, "no_trials")
    assert (result.accuracy.undefined, result.per_class) == ("no_trials", (None, None))


@pytest.mark.parametrize(
    ("gold", "predicted", "n_classes", "said"),
    [([0, 1], [0], 2, "one row"), ([0, 2], [0, 1], 2, "declared classes"), ([0], [0], 0, "declared classes")],
)
def test_labels_that_do_not_fit_are_refused(gold, predicted, n_classes, said):
    with pytest.raises(ValueError, match=said):
        macro_f1(gold, predicted, n_classes)


def test_the_interval_holds_the_value_and_follows_the_roots():
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 120)
    predicted = np.where(rng.random(120) < 0.7, gold, -1)
    plain = macro_f1(gold, predicted, 3, bootstrap=BOOTSTRAP).all_declared
    assert plain.interval.lower < plain.value < plain.interval.upper
    copies = np.repeat(np.arange(120), 4)
    grouped = macro_f1(gold[copies], predicted[copies], 3, roots=copies, bootstrap=BOOTSTRAP).all_declared
    # Four copies of each answer in one root are no more evidence than one.
    assert (grouped.interval.lower, grouped.interval.upper) == pytest.approx(
        (plain.interval.lower, plain.interval.upper)
    )


@given(PAIRS, st.permutations(range(3)))
def test_renaming_the_classes_does_not_matter(pairs, names):
    gold, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    renamed = np.where(predicted < 0, -1, np.array(names)[predicted])
    one, other = macro_f1(gold, predicted, 3), macro_f1(np.array(names)[gold], renamed, 3)
    assert other.all_declared.value == pytest.approx(one.all_declared.value)
    assert other.gold_classes.value == pytest.approx(one.gold_classes.value)


@given(PAIRS)
def test_values_are_proportions_and_gold_itself_scores_one(pairs):
    gold, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    result = macro_f1(gold, predicted, 3)
    assert 0 <= result.all_declared.value <= result.gold_classes.value <= 1 or len(set(gold)) < 3
    assert 0 <= result.gold_classes.value <= 1
    assert macro_f1(gold, gold, 3).gold_classes.value == 1
