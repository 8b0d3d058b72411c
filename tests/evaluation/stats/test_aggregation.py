"""Majority votes over a matrix follow the one rule for votes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from annotate.resolution import Status, resolve
from evaluation.stats import majority_votes, pooled_rounds, weighted_votes

LABELS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-1, 12))


def test_each_unit_has_its_outcome():
    votes = majority_votes([[0, 0, 1], [0, 1, 2], [-1, -1, -1], [2, 2, 2], [1, -1, -1]])
    assert votes.winners.tolist() == [0, -1, -1, 2, 1]
    assert votes.n_votes.tolist() == [3, 3, 0, 3, 1]
    assert votes.tied == ((), (0, 1, 2), (), (), ())
    assert votes.statuses == (Status.MAJORITY, Status.TIE, Status.NO_VOTES, Status.UNANIMOUS, Status.MAJORITY)
    assert votes.count(Status.MAJORITY) == 2


@given(LABELS)
def test_a_matrix_is_resolved_as_its_units_are(labels):
    votes = majority_votes(labels)
    for row, winner, status in zip(labels, votes.winners, votes.statuses, strict=True):
        outcome = resolve([None if label < 0 else str(label) for label in row])
        assert (status, int(winner)) == (outcome.status, -1 if outcome.key is None else int(outcome.key))


def test_labels_above_nine_are_numbers_not_words():
    assert majority_votes([[10, 10, 9]]).winners.tolist() == [10]
    assert majority_votes([[10, 9]]).tied == ((9, 10),)


def test_weights_belong_to_raters():
    outcomes = weighted_votes([[0, 1, 1], [0, -1, -1], [-1, -1, -1]], [0.9, 0.6, 0.55])
    assert [outcome.key for outcome in outcomes] == ["1", "0", None]
    assert [outcome.status for outcome in outcomes] == [Status.MAJORITY, Status.MAJORITY, Status.NO_VOTES]


def test_one_weight_for_each_rater():
    with pytest.raises(ValueError, match="one weight for each"):
        weighted_votes([[0, 1]], [1.0])


def test_later_rounds_count_where_round_one_decided_nothing():
    # Item 0 has a majority; item 1 is a tie that the later votes end; item 2 has no later votes.
    first = [[0, 0, 1, -1], [0, 1, -1, -1], [0, 1, -1, -1]]
    later = [[-1, -1, -1, 1], [-1, -1, 1, 1], [-1, -1, -1, -1]]
    pooled = pooled_rounds(first, later)
    assert pooled.tolist() == [[0, 0, 1, -1], [0, 1, 1, 1], [0, 1, -1, -1]]
    assert majority_votes(pooled).winners.tolist() == [0, 1, -1]


def test_rounds_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        pooled_rounds([[0, 1]], [[0], [1]])
