"""Item content as text."""

import pytest

from evaluation.prompts.content import content_parts, linear_table, markdown_grid, value_text
from evaluation.prompts.inputs import shown_content

INFOBOX = {
    "type": "table",
    "title": "Ada Example",
    "sections": [
        ["", [["Known for", "examples"]]],
        ["Personal life", [["Born", "10 May 1901"], ["Children", ["Ben", "Cora"]]]],
        ["Honours", []],
    ],
}


def test_an_infobox_is_written_in_the_linear_form():
    assert linear_table(INFOBOX) == (
        "Title: Ada Example # Known for: examples # Personal life # Born: 10 May 1901; Children: Ben, Cora # Honours"
    )


def test_the_current_date_is_the_first_row_of_the_table():
    assert linear_table(INFOBOX, current_date="December, 2022").startswith(
        "Title: Ada Example # Current Date: December, 2022 # Known for: examples"
    )


def test_line_breaks_in_a_table_cannot_make_rows():
    table = {"type": "table", "title": "A\nB", "sections": [["S\n", [["k\n", "v\n\nw"]]]]}
    assert linear_table(table) == "Title: A B # S # k: v w"


def test_a_grid_is_a_markdown_table():
    grid = {"type": "grid", "columns": ["City", "a|b"], "rows": [["Aston", 120], ["Two\nlines", None, "extra"], []]}
    assert markdown_grid(grid).splitlines() == [
        "| City | a\\|b |  |",
        "| --- | --- | --- |",
        "| Aston | 120 |  |",
        "| Two lines |  | extra |",
        "|  |  |  |",
    ]


def test_an_empty_grid_is_empty():
    assert markdown_grid({"type": "grid", "columns": [], "rows": []}) == ""


def test_monospaced_text_is_verbatim():
    text = "  a\n\tb  \n\n{{ x }} # c"
    assert value_text({"type": "mono", "text": text}) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is ", "as it is "),
        (None, ""),
        (True, "true"),
        (12, "12"),
        (0.5, "0.5"),
        (1234567890123456789, "1234567890123456789"),
        (["a", {"b": "ü"}], '["a", {"b": "ü"}]'),
        ({"type": "table", "title": "no sections"}, '{"type": "table", "title": "no sections"}'),
        ({"type": "unknown", "x": 1}, '{"type": "unknown", "x": 1}'),
    ],
)
def test_other_values_are_written_as_text_or_json(value, text):
    assert value_text(value) == text


def test_parts_tell_which_texts_have_lines_of_their_own():
    parts = content_parts([["claim", "One line"], ["text", "two\nlines"], ["code", {"type": "mono", "text": "x"}]])
    assert [(part["key"], part["is_block"]) for part in parts] == [("claim", False), ("text", True), ("code", True)]


def test_the_current_date_is_in_the_table_or_else_a_part_of_its_own_and_never_twice():
    with_table = content_parts([["table", INFOBOX], ["question", "How old?"]], current_date="May 2024")
    assert [part["key"] for part in with_table] == ["table", "question"]
    assert sum(part["text"].count("May 2024") for part in with_table) == 1
    without = content_parts([["question", "How old?"]], current_date="May 2024")
    assert [(part["key"], part["text"]) for part in without] == [("question", "How old?"), ("Current Date", "May 2024")]


def test_only_the_shown_keys_are_shown_in_their_order():
    content = [["a", 1], ["gold", "secret"], ["b", 2]]
    assert shown_content(content, ["b", "a", "absent"]) == [["b", 2], ["a", 1]]
