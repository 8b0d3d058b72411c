"""Signals and the contribution curve: worked examples by hand, and what is undefined."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.contribution import contribution_of
from annotate.proportions import wilson_bounds
from annotate.signals import Given, longest_run, signals_of

ANNA, BEN, CLEO = 1, 2, 3


def answers(person: int, keys: str, seconds: list[int | None] | None = None) -> list[Given]:
    """One answer to place 0, 1, 2 ... for each letter; a blank has no value."""
    times = seconds or [None] * len(keys)
    return [
        Given(person, place, None if key == " " else key, time)
        for place, (key, time) in enumerate(zip(keys, times, strict=True))
    ]


def test_a_worked_example():
    # Anna says y to everything in 3 seconds, Ben and Cleo take ten.
    found = signals_of(
        answers(ANNA, "yyyyyy", [3] * 6) + answers(BEN, "ynynyn", [10] * 6) + answers(CLEO, "yyynny", [12] * 6)
    )
    anna, ben = found.people[ANNA], found.people[BEN]
    # All 18 times: six 3s, six 10s, six 12s; the middle two are 10. A third of it is the floor.
    assert (found.seconds, found.n_timed, found.floor) == (10, 18, pytest.approx(10 / 3))
    assert (anna.seconds, anna.n_fast, anna.fast_share) == (3, 6, 1.0)
    assert (ben.seconds, ben.n_fast) == (10, 0)
    assert (anna.longest_run, ben.longest_run, found.people[CLEO].longest_run) == (6, 1, 3)
    # Of the others' 12 answers 3 + 4 are y.
    assert (anna.top_key, anna.top_share, anna.others_top, anna.n_others) == ("y", 1.0, pytest.approx(7 / 12), 12)
    # Anna beside the two others, item by item: 2, 1, 2, 0, 1, 1 of 2 agree.
    assert (anna.agreement, anna.n_shared) == (pytest.approx((1 + 0.5 + 1 + 0 + 0.5 + 0.5) / 6), 6)


def test_what_nothing_is_known_of_is_undefined_and_never_nought():
    found = signals_of(answers(ANNA, "  ") + answers(BEN, "y"))
    anna, ben = found.people[ANNA], found.people[BEN]
    assert (found.seconds, found.floor) == (None, None)
    assert (anna.seconds, anna.fast_share, anna.top_key, anna.top_share, anna.others_top) == (None,) * 5
    assert (anna.agreement, anna.n_shared, anna.longest_run) == (None, 0, 0)
    # Ben's is the only answer to its item, and nobody else's has a value.
    assert (ben.agreement, ben.others_top, ben.n_others) == (None, None, 0)
    assert signals_of([]).people == {}


def test_a_floor_can_be_chosen():
    found = signals_of(answers(ANNA, "yyy", [3, 5, 9]), floor=5)
    assert (found.floor, found.people[ANNA].n_fast) == (5, 1)


def test_pastes_and_absences_are_of_the_answers_that_a_page_saw():
    found = signals_of(
        [
            Given(ANNA, 0, "y", 5, n_pastes=2, pasted_characters=340, n_away=0, away_seconds=0),
            Given(ANNA, 1, "y", 5, n_pastes=0, pasted_characters=0, n_away=1, away_seconds=60),
            Given(ANNA, 2, "y", 5),
        ]
    ).people[ANNA]
    assert (found.n, found.n_watched, found.n_pasted, found.pasted_characters) == (3, 2, 1, 340)
    assert (found.n_left, found.away_seconds) == (1, 60)


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_a_run_is_as_long_as_the_longest_block(keys: list[str]):
    blocks = "".join(keys).replace("ab", "a b").replace("ba", "b a").split()
    assert longest_run(keys) == max((len(block) for block in blocks), default=0)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.sampled_from(["a", "b", None]))))
def test_every_share_is_a_share(rows: list[tuple[int, int, str | None]]):
    for one in signals_of([Given(*row) for row in dict.fromkeys(rows)]).people.values():
        for share in (one.top_share, one.others_top, one.agreement):
            assert share is None or 0 <= share <= 1


# The contribution curve


def test_a_worked_curve():
    found = contribution_of([1, 6, 3])
    assert found.counts == (6, 3, 1)
    assert found.curve == pytest.approx((0, 0.6, 0.9, 1.0))
    assert found.n_half == 1
    # All pairs |1-3|, |1-6|, |3-6| = 10; twice over 9 pairs: 20/9; over twice the mean 10/3: 1/3.
    assert found.gini == pytest.approx(1 / 3)
    assert found.steps == [(1, pytest.approx(0.6)), (3, pytest.approx(1.0))]


def test_equal_parts_have_no_inequality_and_one_of_many_nearly_all():
    assert contribution_of([4] * 10).gini == 0
    assert contribution_of([10] + [0] * 9).gini == pytest.approx(0.9)


def test_without_two_people_or_an_answer_there_is_no_coefficient():
    assert contribution_of([7]).gini is None
    nobody = contribution_of([])
    assert (nobody.gini, nobody.steps, nobody.share_of(1)) == (None, [], None)
    assert contribution_of([0, 0]).gini is None


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20))
def test_the_curve_rises_ever_more_slowly(counts: list[int]):
    found = contribution_of(counts)
    steps = [b - a for a, b in pairwise(found.curve)]
    assert all(a >= b - 1e-12 for a, b in pairwise(steps))
    assert found.gini is None or -1e-12 <= found.gini < 1


def test_the_bounds_are_those_that_scipy_computes():
    # scipy.stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert wilson_bounds(0.7, 10) == pytest.approx((0.3967781, 0.8922087), abs=1e-7)
