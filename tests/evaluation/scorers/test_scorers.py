"""Scorers: what counts as the same word, and what cannot be scored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.scorers import SCORERS, Score, UnknownScorer, get_scorer, scorer
from evaluation.scorers.tokens import squad_tokens, unicode_tokens

every_scorer = pytest.mark.parametrize("name", SCORERS)


def score(name: str, answer: str, *gold: str) -> float | None:
    return get_scorer(name)(answer, frozenset(gold)).value


@every_scorer
def test_without_gold_an_answer_is_unscorable_and_not_wrong(name):
    assert get_scorer(name)("yes", frozenset()) == Score(None, "no gold label")


@every_scorer
@given(st.text(), st.text())
def test_scores_are_proportions_and_a_gold_answer_scores_one(name, answer, gold):
    assert 0 <= score(name, answer, gold) <= 1
    assert score(name, answer, answer, gold) == 1


@every_scorer
@given(st.text(), st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_another_gold_answer_never_lowers_a_score(name, answer, gold, more):
    assert score(name, answer, *gold, more) >= score(name, answer, *gold)


@pytest.mark.parametrize("name", ["token_f1", "token_f1_squad", "exact_match", "exact_match_squad"])
@given(st.text(), st.text())
def test_answer_and_gold_can_change_places(name, one, other):
    assert score(name, one, other) == pytest.approx(score(name, other, one))


@given(st.text(), st.text())
def test_an_exact_match_has_full_f1(answer, gold):
    if score("exact_match", answer, gold) == 1:
        assert score("token_f1", answer, gold) == 1


def test_a_label_is_right_or_wrong_and_nothing_is_folded():
    assert score("label_accuracy", "yes", "yes") == 1
    assert score("label_accuracy", "Yes", "yes") == 0
    assert score("label_accuracy", "b", "a", "b") == 1


def test_f1_counts_a_word_as_often_as_both_have_it():
    # Shared: yes once; 2 * 1 / (3 + 1).
    assert score("token_f1", "yes yes yes", "yes") == pytest.approx(0.5)
    # in, year, 1912 against 1912 ("the" is an article): 2 * 1 / (3 + 1).
    assert score("token_f1", "in the year 1912", "1912") == pytest.approx(0.5)


def test_f1_ignores_order_and_exact_match_does_not():
    assert score("token_f1", "March 5 2012", "5 March 2012") == 1
    assert score("exact_match", "March 5 2012", "5 March 2012") == 0


def test_two_answers_without_words_are_equal_and_one_is_worth_nothing():
    assert score("token_f1", "", "the") == score("exact_match", "...", "the") == 1
    assert score("token_f1", "", "1912") == score("token_f1", "1912", "") == 0


def test_the_best_gold_answer_counts():
    assert score("token_f1", "twelve months", "one year", "twelve long months") == pytest.approx(4 / 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("２０１２年３月", ["2012", "年", "3", "月"]),
        ("٢٠١٢", ["2012"]),
        ("「東京」タワー。", ["東", "京", "タ", "ワ", "ー"]),
        ("Straße", ["strasse"]),
        ("a\u200bb soft\u00adhyphen", ["ab", "softhyphen"]),
        ("The An a Anna", ["anna"]),
        ("नहीं।", ["नहीं"]),
    ],
)
def test_words_in_any_script(text, words):
    assert unicode_tokens(text) == words


def test_the_squad_rules_know_ascii_only():
    assert squad_tokens("The café—open") == ["café—open"]
    assert score("exact_match_squad", "２０１２", "2012") == 0
    assert score("exact_match", "２０１２", "2012") == 1


@pytest.mark.parametrize("name", ["exact_match", "exact_match_squad"])
def test_a_decimal_point_is_deleted_as_the_published_rule_says(name):
    assert score(name, "1.5", "15") == 1


def test_scorers_are_found_by_name_and_carry_a_version():
    assert {name: registered.name for name, registered in SCORERS.items()} == {name: name for name in SCORERS}
    assert all(registered.version >= 1 for registered in SCORERS.values())
    with pytest.raises(UnknownScorer, match="Known: exact_match"):
        get_scorer("rouge")


def test_a_name_is_never_given_twice():
    with pytest.raises(ValueError, match="registered twice"):
        scorer("token_f1")(lambda answer, gold: Score(1.0))
