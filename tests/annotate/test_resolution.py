"""The votes on one item."""

import random

from hypothesis import given
from hypothesis import strategies as st

from annotate.resolution import Outcome, Status, resolve

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
