"""What a judge stage asks, what judges see of a candidate, and draws in proportion: no database."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.answers import fields_from_json
from annotate.judging import Card, Judging, asked_of_judges, cards_of
from annotate.sampling import draw_in_proportion, draw_simple
from annotate.stage_kinds import KINDS, first_fields


def a_choice(*values: str, **others: object) -> dict[str, object]:
    options = [{"value": value, "caption": value.title()} for value in values]
    return {"name": "judgement", "type": "choice", "caption": "?", "options": options} | others


def judging_of(*fields: dict[str, object]) -> Judging | None:
    asked = asked_of_judges(fields_from_json(fields))
    return asked and asked.judging


@pytest.mark.parametrize("variant", [variant.name for variant in KINDS["judge"].variants])
def test_each_first_form_of_judges_asks_what_its_name_says(variant):
    assert judging_of(*first_fields("judge", variant)) == variant


def test_what_is_asked_is_told_by_the_values_that_are_offered():
    assert judging_of(a_choice("right", "wrong")) == Judging.VERDICT
    assert judging_of(a_choice("wrong", "unsure", "right")) == Judging.VERDICT
    assert judging_of(a_choice("first", "second")) == Judging.BETTER
    assert judging_of(a_choice("yes", "no")) is None
    assert judging_of(a_choice("right", "wrong", "half")) is None
    note = {"name": "note", "type": "text", "caption": "Note", "decides": False}
    assert judging_of(note, a_choice("right", "wrong")) == Judging.VERDICT
    assert judging_of(note | {"decides": True}, a_choice("right", "wrong", decides=False)) is None


def test_judges_see_the_answers_of_a_candidate_and_nothing_else():
    assert cards_of([["answer", "7"], ["run", "Model A"]]) == [Card("", "7")]
    assert cards_of([["second", "8"], ["first", "7"]]) == [Card("first", "7"), Card("second", "8")]
    assert cards_of([]) == []


def test_each_stratum_gets_its_share_of_a_draw():
    # 60, 30 and 10 of 100: of 10 they get 6, 3 and 1.
    strata = {f"k{n}": "a" if n < 60 else "b" if n < 90 else "c" for n in range(100)}
    drawn = draw_in_proportion(list(strata), strata, 10, seed=3)
    assert Counter(list(strata.values())[place] for place in drawn) == {"a": 6, "b": 3, "c": 1}
    assert drawn == sorted(drawn)
    assert drawn != draw_in_proportion(list(strata), strata, 10, seed=4)


def test_shares_that_are_not_whole_go_to_the_largest_remainders():
    # Of 7 drawn from 5 + 3 + 2: 3.5, 2.1 and 1.4, so the first is rounded up.
    strata = {f"k{n}": "a" if n < 5 else "b" if n < 8 else "c" for n in range(10)}
    drawn = draw_in_proportion(list(strata), strata, 7, seed=1)
    assert Counter(list(strata.values())[place] for place in drawn) == {"a": 4, "b": 2, "c": 1}


@given(st.text("abc", min_size=1, max_size=20), st.integers(1, 20), st.integers(0, 5))
def test_a_draw_in_proportion_has_its_size_and_no_key_twice(values, wanted, seed):
    keys = [str(n) for n in range(len(values))]
    n = min(wanted, len(keys))
    drawn = draw_in_proportion(keys, dict(zip(keys, values, strict=True)), n, seed=seed)
    assert len(drawn) == len(set(drawn)) == n
    sizes, taken = Counter(values), Counter(values[place] for place in drawn)
    assert all(abs(taken[one] - n * size / len(keys)) < 1 for one, size in sizes.items())


def test_one_stratum_is_a_simple_draw():
    keys = [f"k{n}" for n in range(20)]
    assert draw_in_proportion(keys, dict.fromkeys(keys, "all"), 5, seed=9) == draw_simple(keys, 5, seed=9)


@pytest.mark.parametrize("n", [0, 3])
def test_more_than_there_is_cannot_be_drawn_in_proportion(n):
    with pytest.raises(ValueError, match="cannot draw"):
        draw_in_proportion(["a", "b"], {"a": "x", "b": "x"}, n, seed=1)
