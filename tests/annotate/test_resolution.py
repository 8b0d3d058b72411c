"""The votes on one item."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.resolution import Outcome, Status, resolve, resolve_rounds, resolve_weighted

VOTES = st.lists(st.none() | st.sampled_from("abcd"), max_size=12)


def test_all_for_one():
    assert resolve(["a", "a", "a"]) == Outcome(Status.UNANIMOUS, "a", votes=3, counts=(("a", 3),), margin=3)


def test_more_than_half_is_a_majority():
    outcome = resolve(["b", "a", "b"])
    assert outcome == Outcome(Status.MAJORITY, "b", votes=3, counts=(("b", 2), ("a", 1)), margin=1)


def test_exactly_half_is_a_plurality():
    # 3 of 6 is not more than half.
    outcome = resolve(["a", "a", "b", "c", "a", "b"])
    assert (outcome.status, outcome.key, outcome.margin) == (Status.PLURALITY, "a", 1)


def test_a_tie_is_told_and_nobody_wins():
    outcome = resolve(["b", "a", "a", "b", "c"])
    assert outcome == Outcome(
        Status.TIE, None, votes=5, counts=(("a", 2), ("b", 2), ("c", 1)), margin=0, tied=("a", "b")
    )


def test_a_missing_answer_is_not_a_vote():
    # Two of the two votes cast, although three people were asked.
    assert resolve(["a", None, "a"]).status == Status.UNANIMOUS
    assert resolve(["a", None, "b"]).status == Status.TIE


def test_a_single_vote_is_a_majority_that_nobody_confirmed():
    assert resolve([None, "a"]) == Outcome(Status.MAJORITY, "a", votes=1, counts=(("a", 1),), margin=1)


def test_without_votes_there_is_no_outcome():
    assert resolve([]) == resolve([None, None]) == Outcome(Status.NO_VOTES, None, votes=0, counts=(), margin=0)


def test_statuses_are_plain_words_in_exports():
    assert str(resolve(["a", "a"]).status) == "unanimous"


@given(VOTES, st.randoms())
def test_the_order_of_votes_does_not_matter(votes: list[str | None], chance: random.Random):
    shuffled = list(votes)
    chance.shuffle(shuffled)
    assert resolve(shuffled) == resolve(votes)


@given(VOTES)
def test_renaming_the_keys_renames_the_outcome(votes: list[str | None]):
    renamed = resolve([None if vote is None else f"x{vote}" for vote in votes])
    outcome = resolve(votes)
    assert renamed.key == (None if outcome.key is None else f"x{outcome.key}")
    assert (renamed.status, renamed.margin, renamed.votes) == (outcome.status, outcome.margin, outcome.votes)


@given(VOTES)
def test_counts_add_up_to_the_votes_and_a_winner_has_a_margin(votes: list[str | None]):
    outcome = resolve(votes)
    assert sum(n for _, n in outcome.counts) == outcome.votes == sum(vote is not None for vote in votes)
    assert (outcome.key is not None) == (outcome.margin > 0)
    assert bool(outcome.tied) == (outcome.status == Status.TIE)


@given(VOTES.filter(any))
def test_a_vote_for_the_winner_never_takes_the_win_away(votes: list[str | None]):
    winner = resolve(votes).key
    if winner is not None:
        assert resolve([*votes, winner]).key == winner


def test_two_light_votes_outweigh_one_heavy():
    # .6 + .55 = 1.15 of 2.05 against .9.
    outcome = resolve_weighted([("x", 0.9), ("y", 0.6), ("y", 0.55)])
    assert (outcome.status, outcome.key) == (Status.MAJORITY, "y")
    assert dict(outcome.shares) == pytest.approx({"y": 1.15 / 2.05, "x": 0.9 / 2.05})


def test_weights_that_are_equal_but_for_binary_fractions_are_a_tie():
    assert 0.6 + 0.3 != 0.9
    outcome = resolve_weighted([("x", 0.9), ("y", 0.6), ("y", 0.3)])
    assert (outcome.status, outcome.key, outcome.tied) == (Status.TIE, None, ("x", "y"))


def test_half_of_the_weight_is_no_majority():
    outcome = resolve_weighted([("x", 2.0), ("y", 1.0), ("z", 1.0)])
    assert (outcome.status, outcome.key) == (Status.PLURALITY, "x")


def test_votes_without_weight_are_told_from_no_votes():
    assert resolve_weighted([("x", 0.0)]).status == Status.NO_WEIGHT
    assert resolve_weighted([(None, 1.0)]).status == Status.NO_VOTES
    assert resolve_weighted([]).status == Status.NO_VOTES


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        resolve_weighted([("x", weight)])


@given(st.lists(st.tuples(st.none() | st.sampled_from("abc"), st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.7])), max_size=8))
def test_the_order_of_weighted_votes_does_not_matter(votes):
    assert resolve_weighted(votes[::-1]) == resolve_weighted(votes)


@given(VOTES)
def test_equal_weights_are_a_plain_vote(votes):
    plain, weighted = resolve(votes), resolve_weighted([(vote, 1.0) for vote in votes])
    assert weighted.key == plain.key
    assert weighted.tied == plain.tied


def test_a_majority_of_round_one_stands_whatever_comes_later():
    result = resolve_rounds(["a", "a", "b"], ["b", "b", "b"])
    assert (result.round, result.outcome.key) == (1, "a")


def test_without_a_majority_both_rounds_are_counted_as_one():
    # a b c, then a a b: a 3 of 6 is the most and not more than half.
    result = resolve_rounds(["a", "b", "c"], ["a", "a", "b"])
    assert (result.round, result.outcome.status, result.outcome.key) == (2, Status.PLURALITY, "a")


def test_what_has_no_majority_and_no_second_round_needs_one():
    assert resolve_rounds(["a", "b", "c"]).needs_escalation
    assert resolve_rounds(["a", None, None]).needs_escalation, "a single vote was confirmed by nobody"
    assert not resolve_rounds(["a", None, None], min_votes=1).needs_escalation
