"""Texts of people in LaTeX: every sign prints as it was, and none does anything."""

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reports.latex import MAX_COLUMNS_SET, escaped, table_lines
from evaluation.reports.sheets import COUNT, WORDS, Cell, Line, Sheet
from tests.evaluation.latex import parsed, read

TEXTS = st.text(
    st.one_of(
        st.sampled_from("\\{}$&#_%~^<>|`\"[]*-,'?!−–—‘’“”…×→≤≥±\u00a0 \n"), st.characters(exclude_categories=["Cs"])
    )
)


def as_printed(text: str) -> str:
    """What is to be read: blanks of all kinds are one space, and what has no shape is gone."""
    kept = ""
    for sign in text:
        kind = unicodedata.category(sign)
        if sign in "\u00a0\u200c\u200d":
            kept += sign
        elif kind[0] == "Z" or sign in "\t\n\r\v\f\x85":
            kept += " "
        elif kind[0] != "C":
            kept += sign
    while "  " in kept:
        kept = kept.replace("  ", " ")
    return kept.strip(" ")


@given(TEXTS)
def test_every_text_prints_as_it_was(text):
    assert read(escaped(text)) == as_printed(text)


@pytest.mark.parametrize("sign", string.punctuation)
def test_every_sign_of_ascii_prints_as_itself_alone_doubled_and_beside_letters(sign):
    for text in (sign, sign * 2, sign * 3, f"a{sign}b", f"{sign}a"):
        assert read(escaped(text)) == text


@pytest.mark.parametrize(
    "text", ["\\input{/etc/passwd}", "\\\\[3cm]", "%", "{\\bf", "a & b \\\\ c", "$\\frac", "^^41", "--", "``", ",,"]
)
def test_no_text_is_a_command_or_ends_its_cell(text):
    sheet = Sheet("odd", text, [text, text], [Line(text, [Cell(WORDS, text=text)], soft=text)] * 2, [text])
    (table,) = parsed("\n".join(table_lines(sheet, [text])))
    assert table.rows == [[text, text], [f"{text} {text}", text], [f"{text} {text}", text]]
    assert table.caption == text


def test_letters_of_every_script_stay_and_marks_that_turn_the_direction_go():
    assert escaped("数据 — العربية தமிழ் क्\u200dष") == "数据 \\textemdash{} العربية தமிழ் क्\u200dष"
    assert escaped("a\u202eb\u2066c\x00d\u2028e\ufeff") == "abcd e"


def test_a_long_sheet_breaks_over_pages_and_a_wide_one_stands_closer():
    lines = [Line(f"q{n}", [Cell(COUNT, number=n)]) for n in range(41)]
    source = "\n".join(table_lines(Sheet("long", "Long", ["Item", "n"], lines), ["Long."]))
    assert "\\begin{longtable}{lr}" in source
    (table,) = parsed(source)
    assert len(table.rows) == 42
    wide = Sheet("wide", "Wide", ["a"] * (MAX_COLUMNS_SET + 1), [Line("a", [Cell(COUNT)] * MAX_COLUMNS_SET)])
    assert "\\setlength{\\tabcolsep}{3pt}" in table_lines(wide, ["Wide."])[1]
