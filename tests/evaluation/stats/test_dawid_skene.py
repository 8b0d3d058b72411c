"""Dawid and Skene: what can be worked out by hand, the data of 1979, and what may never change a result."""

import numpy as np
import pytest

from evaluation.stats import dawid_skene
from evaluation.stats.dawid_skene import _Likelihood

several_seeds = pytest.mark.parametrize("seed", range(4))

# 45 patients, each assessed three times by the first of five anaesthetists and once by the others, on a scale of 1 to
# 4: their answers in that order. Dawid & Skene 1979, table 1.
PATIENTS_1979 = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 "
    "1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 "
    "1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 "
    "2322222 1211111 2222222"
)


def of_1979():
    """Items, raters and labels from 0, an entry an answer."""
    labels = np.array([[int(digit) - 1 for digit in patient] for patient in PATIENTS_1979.split()])
    items = np.repeat(np.arange(labels.shape[0]), 7)
    raters = np.tile([0, 0, 0, 1, 2, 3, 4], labels.shape[0])
    return items, raters, labels.ravel()


def estimate(items, raters, labels, **options):
    sizes = {"n_items": 1 + max(items), "n_raters": 1 + max(raters), "n_classes": 1 + max(labels)}
    return dawid_skene(items, raters, labels, **(sizes | options))


def matrix_answers(matrix):
    """Items x raters with -1 for missing -> items, raters, labels."""
    cells = np.array(matrix)
    items, raters = np.nonzero(cells >= 0)
    return items, raters, cells[items, raters]


def simulated(seed, n_items=200, n_classes=3, accuracies=(0.9, 0.8, 0.8, 0.7, 0.6)):
    """True classes, and answers of people who are right this often and else anything else."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    columns = []
    for accuracy in accuracies:
        wrong = (truth + rng.integers(1, n_classes, n_items)) % n_classes
        columns.append(np.where(rng.random(n_items) < accuracy, truth, wrong))
    return truth, np.stack(columns, axis=1)


def test_the_data_of_1979_end_at_the_published_maximum():
    # Published shares of the classes: .40 .42 .11 .07 (their table 2); log-likelihood reproduced by two programs.
    result = estimate(*of_1979(), seed=3)
    assert result.log_likelihood == pytest.approx(-192.890881, abs=1e-5)
    assert result.priors == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)
    assert result.converged
    assert len(result.log_likelihoods) == 10
    # The hard vote, the second start, ends at a worse maximum: nine of ten agree, and the result says so.
    assert result.log_likelihoods[1] == pytest.approx(-193.97464, abs=1e-4)
    assert result.n_agreeing == 9


def test_where_all_agree_the_vote_is_the_truth_and_everybody_is_right():
    result = estimate(*matrix_answers([[0, 0, 0], [1, 1, 1], [0, 0, 0]]))
    assert result.labels.tolist() == [0, 1, 0]
    assert result.accuracies.tolist() == [1, 1, 1]
    assert result.priors.tolist() == pytest.approx([2 / 3, 1 / 3])
    # Every answer is certain given the class: what is left is the classes' own probability.
    assert result.log_likelihood == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3))


def test_one_answer_to_one_item_gives_no_nan():
    result = dawid_skene([0], [0], [0], n_items=1, n_raters=1, n_classes=2)
    assert result.posteriors.tolist() == [[1, 0]]
    assert result.priors.tolist() == [1, 0]
    # The class that this person never met has no error rates, neither 0 nor uniform.
    assert result.error_rates[0, 0].tolist() == [1, 0]
    assert np.isnan(result.error_rates[0, 1]).all()


def test_people_who_are_better_weigh_more():
    truth, answers = simulated(5, accuracies=(0.97, 0.95, 0.45, 0.45, 0.45))
    result = estimate(*matrix_answers(answers))
    plurality = np.array([np.bincount(row, minlength=3).argmax() for row in answers])
    assert (result.labels == truth).mean() > (plurality == truth).mean() + 0.05
    assert result.accuracies == pytest.approx([0.97, 0.95, 0.45, 0.45, 0.45], abs=0.08)


def test_a_person_who_always_shifts_the_class_is_read_the_other_way_round():
    truth, answers = simulated(6, accuracies=(0.9, 0.9, 0.9))
    shifted = np.column_stack([answers, (truth + 1) % 3])
    result = estimate(*matrix_answers(shifted))
    assert (result.labels == truth).mean() > 0.97
    assert result.accuracies[3] < 0.05
    assert [result.error_rates[3, c, (c + 1) % 3] for c in range(3)] == pytest.approx([1, 1, 1], abs=0.05)


def test_what_is_missing_is_told():
    result = dawid_skene([0, 0], [0, 1], [1, 1], n_items=3, n_raters=3, n_classes=2)
    assert (result.n_answers, result.n_left_out) == (2, 2)
    assert result.labels.tolist() == [1, -1, -1]
    assert np.isnan(result.posteriors[1:]).all()
    assert np.isnan(result.accuracies[2])


def test_without_an_answer_nothing_is_estimated():
    none = np.zeros(0, dtype=int)
    result = dawid_skene(none, none, none, n_items=2, n_raters=1, n_classes=2)
    assert (result.log_likelihood, result.converged, result.labels.tolist()) == (None, False, [-1, -1])


def test_equal_posteriors_are_nobodys_label():
    # Two people who always contradict each other: neither is more credible.
    assert estimate(*matrix_answers([[0, 1], [1, 0]]), n_starts=1).labels.tolist() == [-1, -1]


def test_smoothing_keeps_every_error_possible():
    plain = estimate(*matrix_answers([[0, 0], [1, 1]]))
    smooth = estimate(*matrix_answers([[0, 0], [1, 1]]), smoothing=1.0)
    assert plain.error_rates.min() == 0
    assert smooth.error_rates.min() > 0.1
    assert smooth.error_rates.sum(axis=2) == pytest.approx(np.ones((2, 2)))


def test_too_few_iterations_are_told():
    result = estimate(*of_1979(), max_iterations=2)
    assert (result.converged, result.n_iterations) == (False, 2)


def test_forty_answers_an_item_do_not_underflow():
    truth, answers = simulated(7, n_items=40, accuracies=(0.6,) * 400)
    result = estimate(*matrix_answers(answers))
    assert (result.labels == truth).all()
    assert np.isfinite(result.log_likelihood)


@several_seeds
def test_the_likelihood_never_falls(seed):
    _, answers = simulated(seed, n_items=25)
    likelihood = _Likelihood(*matrix_answers(answers), 25, 5, 3, 0.0)
    posteriors, values = likelihood.shares, []
    for _ in range(30):
        priors, rates, _ = likelihood.parameters(posteriors)
        posteriors, value = likelihood._posteriors(priors, np.nan_to_num(rates))
        values.append(value)
    assert np.diff(values).min() > -1e-9


@several_seeds
def test_the_order_of_answers_and_the_names_of_items_and_raters_do_not_matter(seed):
    _, answers = simulated(seed, n_items=30)
    items, raters, labels = matrix_answers(answers)
    rng = np.random.default_rng(seed)
    item_names, rater_names, order = rng.permutation(30), rng.permutation(5), rng.permutation(items.size)
    one = estimate(items, raters, labels, n_starts=2)
    other = estimate(item_names[items][order], rater_names[raters][order], labels[order], n_starts=2)
    assert other.log_likelihood == pytest.approx(one.log_likelihood)
    assert other.posteriors[item_names] == pytest.approx(one.posteriors, abs=1e-5)
    assert other.accuracies[rater_names] == pytest.approx(one.accuracies, abs=1e-5)


@several_seeds
def test_renaming_the_classes_does_not_matter(seed):
    _, answers = simulated(seed, n_items=60)
    items, raters, labels = matrix_answers(answers)
    names = np.random.default_rng(seed).permutation(3)
    one = estimate(items, raters, labels, n_starts=2, n_classes=3)
    other = estimate(items, raters, names[labels], n_starts=2, n_classes=3)
    assert other.log_likelihood == pytest.approx(one.log_likelihood)
    assert other.posteriors[:, names] == pytest.approx(one.posteriors, abs=1e-5)


@pytest.mark.parametrize(
    ("answers", "options", "problem"),
    [
        (([0], [0], [2]), {}, "labels must lie between 0 and 1"),
        (([0], [9], [1]), {}, "raters must lie between"),
        (([-1], [0], [1]), {}, "items must lie between"),
        (([0, 1], [0], [1]), {}, "one entry for each answer"),
        (([0], [0], [float("nan")]), {}, "whole numbers"),
        (([0], [0], [1]), {"smoothing": -1.0}, "Smoothing"),
        (([0], [0], [1]), {"smoothing": float("nan")}, "Smoothing"),
        (([0], [0], [1]), {"n_starts": 0}, "at least one start"),
        (([0], [0], [1]), {"noise": 2.0}, "share of noise"),
    ],
)
def test_what_are_no_answers_is_refused(answers, options, problem):
    with pytest.raises(ValueError, match=problem):
        dawid_skene(*answers, n_items=3, n_raters=3, n_classes=2, **options)
