"""What differs between two answers is marked by words; what has nothing in common is not taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.differences import marked_rows, marked_text

TEXTS = st.text(alphabet="ab1 .,\n年", max_size=40)


def told(text: str, other: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in marked_text(text, other)]


def test_words_that_only_one_has():
    assert told("from 1st to 3rd", "from 1st to 7th") == [("same", "from 1st to "), ("gone", "7th"), ("new", "3rd")]


def test_equal_texts_have_no_marks():
    assert told("6 places", "6 places") == [("same", "6 places")]


def test_texts_without_a_word_in_common_are_one_piece():
    assert told("cannot tell", "6 places") == [("new", "cannot tell")]


@pytest.mark.parametrize(("text", "other"), [("", "6 places"), ("6", "")])
def test_nothing_has_no_pieces_to_mark(text, other):
    assert told(text, other) == ([("new", text)] if text else [])


def test_scripts_without_blanks_are_compared_by_character():
    assert told("二〇一五年", "二〇〇九年")[0] == ("same", "二〇")


@given(TEXTS, TEXTS)
def test_the_text_is_never_changed(text, other):
    pieces = marked_text(text, other)
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == text


def test_long_texts_are_compared_by_lines():
    lines = [f"line {n} of a long text with many words" for n in range(400)]
    changed = [*lines[:200], "another line", *lines[201:]]
    kinds = [piece.kind for piece in marked_text("\n".join(changed), "\n".join(lines))]
    assert kinds == ["same", "gone", "new", "same"]


def test_rows_of_tables():
    rows = marked_rows([["a", "1"], ["b", None]], [["a", "1"], ["c", "3"]])
    assert [(row.kind, row.cells) for row in rows] == [
        ("same", ("a", "1")),
        ("gone", ("c", "3")),
        ("new", ("b", "")),
    ]
