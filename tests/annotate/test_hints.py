"""Hints to authors: what they see, and what they rightly do not say."""

from __future__ import annotations

import pytest

from annotate.hints import (
    first_words,
    has_question_mark,
    hints_for_pairs,
    is_yes_no,
    pronoun_without_referent,
    stands_in,
)


def codes(*pairs: tuple[str, str], language: str = "en", earlier: list[str] | None = None) -> list[tuple[int, str]]:
    written = [{"question": question, "answer": answer} for question, answer in pairs]
    return [(hint.position, hint.code) for hint in hints_for_pairs(written, language=language, earlier=earlier or [])]


@pytest.mark.parametrize(
    ("question", "language", "is_there"),
    [
        ("Is water wet?", "en", True),
        ("Is water wet", "en", False),
        ("Is water wet?”", "en", True),
        ("Is water wet? \u200e", "en", True),
        ("水湿吗？", "zh", True),
        ("水湿吗?", "zh-Hans", True),
        ("水湿吗", "zh", False),
        ("هل الماء رطب؟", "ar", True),
        ("هل الماء رطب", "ar", False),
        ("Είναι υγρό το νερό;", "el", True),
        ("Είναι υγρό το νερό", "el", False),
        ("Is water wet;", "en", False),
        ("น้ำเปียกไหม", "th", True),
        ("น้ำเปียกไหม", "", True),  # told by its script
        ("水は湿っていますか。", "ja", True),
        ("Ջուրը թա՞ց է", "hy", True),
        ("தண்ணீர் ஈரமானதா?", "ta", True),
        ("தண்ணீர் ஈரமானதா", "ta", False),
    ],
)
def test_a_missing_mark_is_told_only_where_the_language_has_one(question, language, is_there):
    assert has_question_mark(question, language) is is_there


@pytest.mark.parametrize(
    ("question", "answer", "language", "expected"),
    [
        ("Was Ada born in 1815?", "1815", "en", True),
        ("Wasn’t Ada born in 1815?", "", "en", True),
        ("Did she win gold or silver?", "gold", "en", False),
        ("When was Ada born?", "1815", "en", False),
        ("When was Ada born?", "Yes.", "en", True),
        ("Ada est née en 1815 ?", "oui", "fr", True),
        ("Is dit nat?", "water", "nl", False),  # a language whose words are not read
        ("水湿吗？", "", "zh", True),
        ("他是否得奖？", "", "zh", True),
        ("哪年得奖？", "1999", "zh", False),
        ("هل الماء رطب؟", "", "ar", True),
    ],
)
def test_questions_that_yes_or_no_answers(question, answer, language, expected):
    assert is_yes_no(question, answer, language) is expected


@pytest.mark.parametrize(
    ("question", "pronoun"),
    [
        ("When did he die?", "he"),
        ("How old was he when Ada was born?", "he"),
        ("In which year was It released?", "It"),
        ("Where did Ada Lovelace spend her childhood?", ""),
        ("How many cups did the player win in his career?", ""),
        ("How long did it take to build the tower?", ""),
        ("How many people work in IT?", ""),
        ("When was Ada born?", ""),
    ],
)
def test_pronouns_that_stand_for_nobody(question, pronoun):
    assert pronoun_without_referent(question, "en") == pronoun


def test_beginnings_that_come_back():
    pairs = [("When was Ada born?", "1815"), ("When was Bob born?", "1816"), ("Who was Cy?", "a king")]
    assert codes(*pairs) == [(1, "repeated")]
    assert codes(pairs[2], earlier=["who was"]) == []
    assert codes(pairs[2], earlier=["who was", "who was"]) == [(0, "repeated")]
    assert codes(("Who?", "Ada"), ("Who?", "Bob")) == []  # a single word is no habit
    assert first_words("哪年出生？") == "哪年"
    assert first_words("น้ำเปียกไหม") == ""


@pytest.mark.parametrize(
    ("answer", "question", "expected"),
    [
        ("Ada Lovelace", "Who was ada lovelace?", True),
        ("12", "What happened in 1912?", False),
        ("12", "Who had 12 cups?", True),
        ("北京", "北京在哪里？", True),
        ("", "Who?", False),
        (".", "Who is Dr. Who?", False),
    ],
)
def test_answers_that_stand_in_their_question(answer, question, expected):
    assert stands_in(answer, question) is expected


def test_nothing_is_said_of_what_is_not_written_yet():
    assert codes(("", ""), (" ", "1815")) == []
    assert hints_for_pairs([{"question": None}, {}]) == []


@pytest.mark.parametrize("text", ["he " * 33_000, "?" * 100_000, "the " * 25_000, "it it " * 16_000, "A'" * 50_000])
def test_hostile_texts_are_read_to_their_end(text):
    found = hints_for_pairs([{"question": text, "answer": text[:2_000]}], language="en")
    assert {hint.position for hint in found} <= {0}
