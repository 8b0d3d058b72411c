"""Scorers: what holds for all of them, and what counts as the same word."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.env import PROJECT
from evaluation.scorers import SCORERS, Score, ScorerUnavailable, Takes, UnknownScorer, get_scorer, registry, scorer
from evaluation.scorers.tokens import squad_tokens, unicode_tokens

here = [name for name, found in SCORERS.items() if not found.missing()]
usable_scorer = pytest.mark.parametrize("name", here)
# Forty-five scorers times a dozen examples; the first call of some reads a library.
few = settings(max_examples=12, deadline=None)

WORDS = st.lists(st.sampled_from(["the", "cat", "12", "years", "ago", "北京", "Oslo,", "a.b"]), min_size=1).map(
    " ".join
)
CELLS = st.one_of(st.none(), st.integers(-9999, 9999), st.sampled_from(["Oslo", "1.5K", "", "São Paulo", "12 km"]))
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.builds(
        lambda rows: {"columns": ["a", "b", "c"][:width], "rows": rows},
        st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=4),
    )
)
ANSWERS = {Takes.LABEL: WORDS, Takes.TEXT: WORDS, Takes.TABLE: TABLES, Takes.ITEMS: st.lists(WORDS, max_size=3)}
# Rules under which an answer that is the gold answer is worth less than 1: METEOR punishes short answers, a single
# word has no pair, StrucText adds 1e-8, and July 2025's text rule rejects what is equal. What follows an order, a
# zero or a NaN has its own tests.
NOT_ONE_FOR_GOLD = {
    *("meteor_no_synonyms", "meteor_nltk", "temptabqa_meteor", "rouge_2", "rouge_2_stem", "galois_cell_f1_2025"),
    *("temptabqa_rouge_1", "temptabqa_rouge_l"),
    *(name for name in SCORERS if name.startswith(("structext_", "galois_cell_", "galois_tuple_"))),
}


def score(name: str, answer: object, *gold: object) -> float | None:
    return get_scorer(name)(answer, gold).value


@usable_scorer
def test_without_gold_an_answer_is_unscorable_and_not_wrong(name):
    assert get_scorer(name)("yes", frozenset()) == Score(None, "no gold label")
    assert get_scorer(name)("yes", None) == Score(None, "no gold label")


@usable_scorer
@few
@given(data=st.data())
def test_scores_are_proportions_and_a_gold_answer_scores_one(name, data):
    answers = ANSWERS[get_scorer(name).takes]
    answer, gold = data.draw(answers), data.draw(answers)
    found = score(name, answer, gold)
    assert found is None or 0 <= found <= 1
    if name not in NOT_ONE_FOR_GOLD and (own := score(name, answer, answer, gold)) is not None:
        assert own == pytest.approx(1, abs=1e-9)


@usable_scorer
@few
@given(data=st.data())
def test_another_gold_answer_never_lowers_a_score_and_their_order_does_not_matter(name, data):
    answers = ANSWERS[get_scorer(name).takes]
    answer, gold, more = data.draw(answers), data.draw(answers), data.draw(answers)
    alone, both = score(name, answer, gold), score(name, answer, gold, more)
    assert both == score(name, answer, more, gold)
    # BLEU holds all gold answers together against the answer, and can lose by one of another length.
    if not name.startswith("bleu") and alone is not None and both is not None:
        assert both >= alone


@pytest.mark.parametrize("name", [name for name in here if SCORERS[name].takes in (Takes.TABLE, Takes.ITEMS)])
@few
@given(data=st.data())
def test_a_structure_and_its_json_text_are_one_answer(name, data):
    scored = get_scorer(name)
    answer, gold = data.draw(ANSWERS[scored.takes]), data.draw(ANSWERS[scored.takes])
    assert scored(json.dumps(answer), [json.dumps(gold)]) == scored(answer, [gold])


@pytest.mark.parametrize(
    "name", ["token_f1", "token_f1_squad", "exact_match", "exact_match_squad", "rouge_1", "rouge_l"]
)
@given(st.text(), st.text())
def test_answer_and_gold_can_change_places(name, one, other):
    there, back = score(name, one, other), score(name, other, one)
    if there is not None and back is not None:
        assert there == pytest.approx(back)


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


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("北京大学", "北京", 2 * 2 / (4 + 2)),
        ("東京タワー", "東京", 2 * 2 / (5 + 2)),
        ("กรุงเทพมหานคร", "กรุงเทพ", 2 * 6 / (12 + 6)),
        ("เชียงใหม่", "กรุงเทพ", 2 * 2 / (7 + 6)),
    ],
)
def test_where_no_spaces_are_written_parts_count_all_the_same(answer, gold, f1):
    assert score("token_f1", answer, gold) == pytest.approx(f1)
    assert score("exact_match", answer, gold) == 0
    assert score("exact_match", gold, f" {gold} ") == 1


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
        ("กรุงเทพ ๒๕๖๗", ["ก", "รุ", "ง", "เ", "ท", "พ", "2567"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("ນະຄອນ", ["ນ", "ະ", "ຄ", "ອ", "ນ"]),
        ("ភ្នំពេញ", ["ភ្នំ", "ពេ", "ញ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("한국어 문제", ["한국어", "문제"]),
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
    assert all(registered.version >= 1 and len(name) <= 40 for name, registered in SCORERS.items())
    with pytest.raises(UnknownScorer, match="Known: bleu"):
        get_scorer("rouge")


def test_a_name_is_never_given_twice():
    with pytest.raises(ValueError, match="registered twice"):
        scorer("token_f1")(lambda answer, gold: Score(1.0))


@pytest.fixture
def registered(monkeypatch):
    """Register a scorer for one test."""

    def register(value: float | None, **options: object):
        monkeypatch.setattr(registry, "SCORERS", {})
        return scorer("for_a_test", **options)(lambda answer, gold: Score(value))

    return register


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_rule_that_gives_no_proportion_is_a_fault_and_no_score(registered, value):
    with pytest.raises(ValueError, match="which is no score"):
        registered(value)("a", ["a"])


def test_what_is_not_installed_is_said_and_scores_nothing(registered):
    with pytest.raises(ScorerUnavailable, match="cannot be used here: apt install words"):
        registered(1.0, missing=lambda: "apt install words")("a", ["a"])


def test_one_text_as_gold_is_a_fault_of_the_caller():
    # A text is a collection of its letters: "a" would be among the gold answers of "abc".
    with pytest.raises(TypeError, match="collection"):
        get_scorer("label_accuracy")("a", "abc")


@pytest.mark.parametrize("answer", [None, 7, 1.5, float("nan"), True, ["a"], {"a": 1}, b"a"])
@pytest.mark.parametrize("name", [name for name in here if SCORERS[name].takes in (Takes.TEXT, Takes.LABEL)])
def test_what_is_no_text_is_unscorable_on_either_side(name, answer):
    said = get_scorer(name)(answer, ["a"])
    assert said.value is None
    assert said.note.startswith("the answer cannot be read: it is no text but ")
    assert get_scorer(name)("a", [answer]).note.startswith("the gold label cannot be read")


def test_listing_scorers_loads_no_library():
    names = ("numpy", "scipy", "nltk", "sacrebleu", "rapidfuzz")
    code = f"import sys, evaluation.scorers; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _hostile():
    n = 100_000
    return {
        "digits": "1" * n,
        "digits and dots": "1." * (n // 2),
        "digits and commas": "1," * (n // 2),
        "brackets": "[" * n,
        "closed brackets": " (a" * (n // 4) + ")" * (n // 4),
        "blanks": "1" + " " * n + "x",
        "colons": "12:" * (n // 3),
        "backslashes": "\\" * n,
        "marks": "\u0301" * n,
        "marks in an unlucky order": "\u0301\u0316" * (n // 2),
        "one letter": "a" * n,
        "quotes": '"' * n,
        "months": "12 jan" * (n // 6),
    }


@pytest.mark.parametrize("kind", _hostile())
@pytest.mark.parametrize("name", [name for name in here if SCORERS[name].takes is not Takes.TABLE])
def test_hostile_texts_are_scored_or_refused_and_never_hang(name, kind):
    # sacrebleu takes a second for 100,000 marks, in proportion to them.
    text = _hostile()[kind][: 10_000 if name.startswith("bleu") else None]
    # The suite's time limit is what fails if a pattern or a table is quadratic; the value is a proportion or a reason.
    found = get_scorer(name)(text, [text[:-1] + "z"])
    assert found.value is None or 0 <= found.value <= 1
    assert found.value is not None or found.note


def test_items_are_compared_whatever_their_order():
    assert score("items_exact", ["b", "A "], ["a", "b"]) == score("items_exact", '["b", "a"]', ["a", "b"]) == 1
    assert score("items_exact", ["a", "a", "b"], ["a", "b"]) == 0
    # a is shared once: 2 * 1 / (2 + 1).
    assert score("items_f1", ["a", "a"], ["a"]) == pytest.approx(2 / 3)
    assert get_scorer("items_f1")([1], [["a"]]).note == "the answer cannot be read: it is no list of texts"
