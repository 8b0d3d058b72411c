"""How right people are, in every reading, and what is left out of each."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.stats import (
    Bootstrap,
    best_person,
    chosen_label_accuracy,
    each_against_others,
    leave_one_out,
    mean_person,
    mean_person_difference,
    paired_difference,
    vote_of_k,
    wilson,
)

NAN = np.nan
BOOTSTRAP = Bootstrap(seed=1, n_resamples=500)
SCORES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.sampled_from([0.0, 0.25, 1.0, NAN]),
)


def test_the_mean_person_weighs_people_not_answers():
    # A 2 of 2, B 0 of 1: mean (1 + 0)/2, pooled 2/3.
    result = mean_person([[1, 0], [1, NAN]], people=["A", "B"])
    assert result.answered.value == pytest.approx(1 / 2)
    assert result.pooled.value == pytest.approx(2 / 3)
    assert result.sd == pytest.approx(np.std([1, 0], ddof=1))


def test_both_denominators_are_told():
    # B was offered both items and answered one: 1 of 1 answered, 1 of 2 of all.
    result = mean_person([[1, 1], [0, NAN]], people=["A", "B"])
    assert (result.answered.value, result.all_items.value) == (pytest.approx(3 / 4), pytest.approx(1 / 2))
    assert (result.answered.n, result.answered.n_left_out, result.all_items.n) == (3, 1, 4)
    person = result.per_person[1]
    assert (person.person, person.answered, person.all_items) == ("B", 1, 0.5)
    assert (person.n_answered, person.n_all) == (1, 2)


def test_what_was_never_offered_is_in_neither_denominator():
    result = mean_person([[1, 1], [0, NAN]], offered=[[True, True], [True, False]])
    assert result.answered.value == result.all_items.value == pytest.approx(3 / 4)
    assert result.answered.n_left_out == 0


def test_someone_who_answered_nothing_counts_in_all_items_only():
    result = mean_person([[1, NAN], [1, NAN]])
    assert (result.answered.value, result.answered.n_people) == (1, 1)
    assert (result.all_items.value, result.all_items.n_people) == (0.5, 2)
    assert result.sd is None


def test_without_a_score_the_mean_person_is_undefined():
    result = mean_person(np.full((3, 2), NAN), offered=np.zeros((3, 2)), bootstrap=BOOTSTRAP)
    for estimate in (result.answered, result.all_items, result.pooled):
        assert (estimate.value, estimate.undefined, estimate.interval) == (None, "no_trials", None)


def test_under_ten_people_the_interval_is_about_these_people():
    scores = np.random.default_rng(0).integers(0, 2, (30, 9)).astype(float)
    few = mean_person(scores, bootstrap=BOOTSTRAP).answered
    assert few.interval.method == "percentile bootstrap over roots"
    assert few.note == "the interval is about these 9 people"
    ten = mean_person(np.hstack([scores, scores[:, :1]]), bootstrap=BOOTSTRAP).answered
    assert ten.interval.method == "percentile bootstrap over people and roots"
    assert ten.note == ""


def test_few_mistakes_do_not_end_the_interval_close_to_them():
    # 4 people, 30 items, one mistake: percentiles of resamples reach from about .975 to 1. The mistake alone moves the
    # mean, so the resamples vary as 120 independent answers do, and Wilson's interval of 119 of 120 reaches to .954.
    scores = np.ones((30, 4))
    scores[3, 2] = 0
    interval = mean_person(scores, bootstrap=Bootstrap(seed=1, n_resamples=4000)).answered.interval
    assert interval.method == "Wilson with the effective number of trials, by percentile bootstrap over roots"
    assert interval.lower == pytest.approx(wilson(119, 120).lower, abs=0.006)
    assert 119 / 120 < interval.upper < 1
    wrong = mean_person(1 - scores, bootstrap=Bootstrap(seed=1, n_resamples=4000)).answered.interval
    assert (wrong.lower, wrong.upper) == pytest.approx((1 - interval.upper, 1 - interval.lower))


def test_intervals_of_people_who_are_nearly_always_right_hold_the_truth_as_often_as_they_say():
    # Items of which 85 % are easy (.99) and 15 % hard (.8): .9615. Plain percentiles hold it 88 times of 100.
    rng = np.random.default_rng(0)
    held = 0
    for study in range(300):
        chances = np.where(rng.random((30, 1)) < 0.85, 0.99, 0.8)
        right = (rng.random((30, 4)) < chances).astype(float)
        interval = mean_person(right, bootstrap=Bootstrap(seed=study, n_resamples=300)).answered.interval
        held += interval.lower <= 0.9615 <= interval.upper
    assert held / 300 >= 0.91


def test_people_who_differ_much_make_the_two_way_interval_wider():
    # Ten people who are always right and ten who are always wrong: resampling roots alone shows no uncertainty.
    scores = np.tile([1.0, 0.0], (50, 10))
    interval = mean_person(scores, bootstrap=Bootstrap(1)).answered.interval
    # The mean of 20 draws of a coin has a standard deviation of sqrt(1/4 / 20) = 0.11.
    assert interval.upper - interval.lower == pytest.approx(2 * 1.96 * 0.1118, rel=0.15)


def test_a_model_goes_the_same_way_with_a_repeat_for_each_column():
    result = mean_person([[1, 1], [0, 1]], voices="repeats", bootstrap=BOOTSTRAP)
    assert [person.person for person in result.per_person] == ["repeats 1", "repeats 2"]
    assert result.answered.note == "the interval is about these 2 repeats"


def test_one_right_or_wrong_answer_for_each_independent_item_gets_wilsons_interval():
    result = mean_person([[1], [0], [1], [1]], bootstrap=BOOTSTRAP)
    assert result.answered.interval == wilson(3, 4)
    in_tables = mean_person([[1], [0], [1], [1]], roots=[0, 0, 1, 1], bootstrap=BOOTSTRAP)
    assert in_tables.answered.interval.method.endswith("percentile bootstrap over roots")
    graded = mean_person([[1], [0.5], [1], [0]] * 10, bootstrap=BOOTSTRAP)
    assert graded.answered.interval.method == "percentile bootstrap over roots"


def test_all_right_is_never_certain():
    result = mean_person(np.ones((10, 3)), roots=np.arange(10) // 2, bootstrap=BOOTSTRAP)
    assert result.answered.interval == wilson(5, 5)
    assert "each root as one trial" in result.answered.note
    assert result.pooled.interval == wilson(5, 5)


def test_results_can_be_written_as_json():
    result = mean_person([[1, 0], [0, 1]], bootstrap=BOOTSTRAP)
    assert json.loads(json.dumps(dataclasses.asdict(result)))["answered"]["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"scores": [1, 0]}, "two-dimensional"),
        ({"scores": [[1.5]]}, "between 0 and 1"),
        ({"scores": [[1, 0]], "people": ["A"]}, "one name"),
        ({"scores": [[1, 0]], "offered": [[True, False]]}, "nothing was offered"),
        ({"scores": [[1, 0]], "offered": [True]}, "shape of scores"),
        ({"scores": [[1, 0]], "roots": [1, 2]}, "one root"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        mean_person(**arguments)


@given(SCORES, st.data())
def test_the_order_of_people_and_of_items_does_not_matter(scores, data):
    items = data.draw(st.permutations(range(scores.shape[0])))
    people = data.draw(st.permutations(range(scores.shape[1])))
    one, other = mean_person(scores), mean_person(scores[items][:, people])
    for name in ("answered", "all_items", "pooled"):
        value = getattr(one, name).value
        assert getattr(other, name).value == (None if value is None else pytest.approx(value))


@given(SCORES)
def test_counting_missing_answers_as_wrong_never_raises_a_figure(scores):
    for person in mean_person(scores).per_person:
        assert person.answered is None or person.all_items <= person.answered


def test_the_vote_tells_ties_and_counts_them_as_wrong():
    # Votes: 0 (right), tie, 1 (wrong), none. All items: 1 of 4. Resolved: 1 of 2. Coverage: 2 of 4.
    labels = np.array([[0, 0, 1], [0, 1, 2], [1, 1, 0], [-1, -1, -1]])
    result = vote_of_k(labels, np.where(labels < 0, NAN, labels == 0))
    assert (result.all_items.value, result.resolved.value, result.coverage) == (0.25, 0.5, 0.5)
    assert (result.n_majority, result.n_tied, result.n_no_votes, result.n_unanimous) == (2, 1, 1, 0)
    assert result.votes_per_item == ((0, 1), (3, 3))
    assert "ties" in result.all_items.note
    assert (result.resolved.n_left_out, result.all_items.n_people) == (2, 3)


def test_a_winner_by_plurality_counts_and_is_told():
    result = vote_of_k([[0, 0, 1, 2, 3]], [[1, 1, 0, 0, 0]])
    assert (result.all_items.value, result.n_plurality) == (1, 1)


def test_answers_with_one_key_may_score_differently_and_the_vote_scores_their_mean():
    assert vote_of_k([[0, 0, 1]], [[1.0, 0.5, 0.0]]).all_items.value == pytest.approx(0.75)


def test_items_without_gold_are_not_wrong():
    result = vote_of_k([[0, 0], [1, 1]], [[1, 1], [NAN, NAN]], scorable=[True, False])
    assert (result.all_items.value, result.all_items.n) == (1, 1)


def test_a_winner_that_cannot_be_scored_is_wrong_in_all_items_left_out_of_the_resolved_and_told():
    # Right, a winner without a score, a tie: 1 of 3, and 1 of 1.
    result = vote_of_k([[0, 0], [1, 1], [0, 1]], [[1, 1], [NAN, NAN], [1, 0]])
    assert (result.all_items.value, result.all_items.n) == (pytest.approx(1 / 3), 3)
    assert (result.resolved.value, result.resolved.n, result.resolved.n_left_out) == (1, 1, 2)
    assert result.n_unscored == 1
    assert "1 that cannot be scored" in result.all_items.note


def test_a_vote_on_independent_items_gets_wilsons_interval_and_on_tables_a_bootstrap():
    labels = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 0]])
    scores = (labels == 0).astype(float)
    assert vote_of_k(labels, scores, bootstrap=BOOTSTRAP).all_items.interval == wilson(3, 4)
    tables = vote_of_k(labels, scores, roots=[1, 1, 2, 2], bootstrap=BOOTSTRAP)
    assert tables.all_items.interval.method.endswith("percentile bootstrap over roots")


def test_the_vote_without_items_is_undefined():
    result = vote_of_k(np.zeros((0, 3), dtype=int), np.zeros((0, 3)), bootstrap=BOOTSTRAP)
    assert (result.all_items.value, result.all_items.undefined, result.coverage) == (None, "no_trials", None)


@pytest.mark.parametrize(
    ("labels", "scores", "said"),
    [
        ([[0, 1]], [[1]], "same shape"),
        ([[-1, 0]], [[1, 1]], "no label"),
    ],
)
def test_votes_and_scores_that_contradict_each_other_are_refused(labels, scores, said):
    with pytest.raises(ValueError, match=said):
        vote_of_k(labels, scores)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=8))
def test_where_all_agree_the_vote_is_as_right_as_everybody(rows):
    labels = np.repeat(np.array(rows)[:, :1], 3, axis=1)
    scores = (labels == 0).astype(float)
    assert vote_of_k(labels, scores).all_items.value == pytest.approx(mean_person(scores).answered.value)


def test_leave_one_out_scores_person_and_model_against_the_same_others():
    # Item 1, labels 0 0 0: everybody equals the others' vote 0. Item 2, 0 0 1: A and B see others 0 and 1, a tie;
    # C sees 0 0 and is wrong. A 1/1, B 1/1, C 1/2 -> person 5/6. The model says 0, 0: A 1/1, B 1/1, C 2/2 -> 1.
    result = leave_one_out([[0, 0, 0], [0, 0, 1]], model=[0, 0])
    assert result.person.value == pytest.approx(5 / 6)
    assert result.model.value == pytest.approx(1)
    assert result.difference.value == pytest.approx(-1 / 6)
    assert result.n_without_reference == 2


def test_a_model_without_an_answer_is_wrong_where_a_person_was_compared():
    # Both items compare all three people; the model misses the second.
    result = leave_one_out([[0, 0, 0], [1, 1, 1]], model=[0, -1])
    assert (result.person.value, result.model.value) == (1, 0.5)


def test_an_item_that_the_model_was_never_asked_is_nobodys_error():
    # The second item counts for the people only; the model is right on the first, three times.
    labels = [[0, 0, 0], [1, 1, 0]]
    result = leave_one_out(labels, model=[0, -1], model_asked=[True, False])
    assert (result.model.value, result.model.n, result.model.n_left_out) == (1, 3, 3)
    assert (result.difference.value, result.difference.n) == (0, 3)
    # C saw 1 1 and said 0; A and B saw a tie: A 1/1, B 1/1, C 1/2.
    assert result.person.value == pytest.approx((1 + 1 + 1 / 2) / 3)


def test_each_against_others_is_leave_one_out_person_by_person():
    # Item 0: all alike. Item 1: the third differs from the two others, who each face a tie without them. Item 2: the
    # first did not answer, and for the others one vote is left, which is no vote.
    labels = [[0, 0, 0], [0, 0, 1], [-1, 0, 0]]
    first, second, third = each_against_others(labels, bootstrap=BOOTSTRAP)
    assert (first.value, first.n, first.n_left_out) == (1.0, 1, 1)
    assert (second.value, second.n, second.n_left_out) == (1.0, 1, 2)
    assert (third.value, third.n, third.n_left_out) == (0.5, 2, 1)
    assert third.interval is not None
    assert third.interval.method.startswith("wilson")
    mean = leave_one_out(labels).person
    assert mean.value == pytest.approx((1.0 + 1.0 + 0.5) / 3)
    assert (mean.n, mean.n_left_out) == (4, 4)


def test_each_against_others_is_undefined_for_two_people():
    assert [one.undefined for one in each_against_others([[0, 0], [1, 0]])] == ["too_few", "too_few"]


def test_leave_one_out_needs_three_people():
    result = leave_one_out([[0, 0], [1, 1]], model=[0, 1], bootstrap=BOOTSTRAP)
    assert (result.person.value, result.person.undefined) == (None, "too_few")
    assert result.model.undefined == result.difference.undefined == "too_few"


def test_leave_one_out_where_the_others_never_agree_is_undefined():
    result = leave_one_out([[0, 1, 2]])
    assert (result.person.value, result.person.undefined, result.n_without_reference) == (None, "no_trials", 3)
    assert result.model is None


def test_a_model_that_copies_one_of_identical_people_differs_from_nobody():
    labels = np.repeat(np.array([[0], [1], [2], [1]]), 4, axis=1)
    result = leave_one_out(labels, model=labels[:, 0], bootstrap=BOOTSTRAP)
    assert (result.person.value, result.model.value, result.difference.value) == (1, 1, 0)
    assert result.difference.interval.degenerate


def test_the_difference_compares_each_person_on_their_own_items():
    # A answered both items (1, 1), B only the hard second (0). Model 1, 0. A: 1 - 1/2; B: 0 - 0. Mean 1/4.
    result = mean_person_difference([[1, NAN], [1, 0]], [1, 0])
    assert result.value == pytest.approx(1 / 4)
    assert (result.n, result.n_items, result.n_people) == (3, 2, 2)


def test_items_that_the_model_has_no_score_for_are_left_out_and_counted():
    result = mean_person_difference([[1, 1], [0, 1]], [NAN, 1])
    assert (result.value, result.n, result.n_left_out) == (pytest.approx(-1 / 2), 2, 2)


@given(hnp.arrays(np.float64, (5, 3), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_where_everybody_answered_all_it_is_the_plain_difference(scores):
    people, model = scores[:, :2], scores[:, 2]
    expected = people.mean() - model.mean()
    assert mean_person_difference(people, model).value == pytest.approx(expected)
    assert paired_difference(people, model).value == pytest.approx(expected)


def test_the_best_person_is_chosen_on_other_items_than_are_scored():
    # A is right on every item, B on none: whatever the folds, A is chosen, and scores 1.
    scores = np.stack([np.ones(20), np.zeros(20)], axis=1)
    best = best_person(scores, people=["A", "B"], bootstrap=BOOTSTRAP)
    assert (best.accuracy.value, best.accuracy.n, best.in_sample) == (1, 20, 1)
    assert best.chosen == (("A", 5),)


def test_the_best_of_many_guessers_is_no_better_than_guessing():
    rng = np.random.default_rng(3)
    best = best_person((rng.random((400, 40)) < 0.5).astype(float), seed=2)
    assert best.in_sample > 0.55
    assert best.accuracy.value == pytest.approx(0.5, abs=0.05)


def test_people_who_are_equally_good_share_the_place():
    scores = np.tile([[1.0, 1.0, 0.0]], (10, 1))
    assert best_person(scores, people=["A", "B", "C"]).chosen == (("A", 5), ("B", 5))


def test_one_lucky_answer_does_not_make_the_best_person():
    scores = np.full((20, 2), np.nan)
    scores[:, 0] = np.arange(20) % 4 > 0
    scores[0, 1] = 1
    best = best_person(scores, people=["A", "B"])
    assert best.chosen == (("A", 5),)
    assert best.accuracy.value == pytest.approx(0.75)


def test_items_of_one_root_are_in_one_fold():
    # Within each of ten tables one of two people is right on all: whoever is best elsewhere says nothing about a table.
    table = np.arange(100) // 10
    right = np.where(table % 2 == 0, 1.0, 0.0)
    best = best_person(np.stack([right, 1 - right], axis=1), roots=table)
    assert best.accuracy.n_roots == 10
    assert best.accuracy.value <= 0.5


def test_the_best_of_one_or_of_few_roots_is_undefined():
    assert best_person(np.ones((20, 1))).accuracy.undefined == "too_few"
    few = best_person(np.ones((3, 2)))
    assert (few.accuracy.value, few.accuracy.undefined) == (None, "too_few")
    assert best_person(np.full((20, 2), np.nan)).accuracy.undefined == "no_trials"


def test_a_label_scores_as_the_answers_that_gave_it_and_an_undecided_item_is_wrong_or_left_out():
    labels, scores = [[0, 1], [1, 1], [0, 0]], [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    everything, decided = chosen_label_accuracy("chosen", [0, 1, -1], labels, scores, bootstrap=BOOTSTRAP)
    assert (everything.value, everything.n) == (pytest.approx(2 / 3), 3)
    assert (decided.value, decided.n, decided.n_left_out) == (1, 2, 1)


def test_a_label_that_nobody_gave_is_scored_where_its_score_is_known():
    unknown, _ = chosen_label_accuracy("chosen", [2], [[0, 1]], [[1.0, 0.0]])
    assert (unknown.value, unknown.undefined, unknown.n_left_out) == (None, "no_trials", 1)
    known, _ = chosen_label_accuracy("chosen", [2], [[0, 1]], [[1.0, 0.0]], otherwise=[0.0])
    assert known.value == 0
