"""Typed blocks: nested content gets a layout and loses nothing."""

import pytest

from annotate.sources.blocks import block_type, grid, infobox, mono
from annotate.sources.strict_json import FloatLiteral


def test_sections_stay_in_order_and_loose_values_stay_where_they_stood():
    table = {
        "kind": "ship",
        "caption": "Mara",
        "Career": {"Launched": "1902", "Owners": ["Holm", "Vik"]},
        "Scrapped | 1950": {},
        "Crew": 12,
        "Speed": FloatLiteral("9.50"),
        "Trials": {"By": {"master": "Holm", "runs": 3}, "Passed": True, "Note": None},
    }
    assert infobox(table) == {
        "type": "table",
        "title": "Mara",
        "sections": [
            ["", [["kind", "ship"]]],
            ["Career", [["Launched", "1902"], ["Owners", ["Holm", "Vik"]]]],
            ["Scrapped | 1950", []],
            ["", [["Crew", "12"], ["Speed", "9.50"]]],
            ["Trials", [["By", ["master: Holm", "runs: 3"]], ["Passed", "true"], ["Note", ""]]],
        ],
    }


def test_a_given_title_leaves_the_caption_among_the_rows():
    assert infobox({"caption": "Mara"}, "Ship") == {
        "type": "table",
        "title": "Ship",
        "sections": [["", [["caption", "Mara"]]]],
    }


def test_grids_are_made_of_lists_and_of_objects():
    expected = {"type": "grid", "columns": ["a", "b"], "rows": [["1", "x"], ["", "y"]]}
    assert grid([["a", "b"], [1, "x"], [None, "y"]]) == expected
    assert grid([{"a": 1, "b": "x"}, {"b": "y"}]) == expected


@pytest.mark.parametrize("rows", [[], [["a", "b"], ["c"]], [["a"], {"b": 1}], ["a", "b"], "text"])
def test_what_is_no_grid_is_refused(rows):
    with pytest.raises(ValueError, match="a grid needs rows"):
        grid(rows)


def test_blocks_are_recognised():
    assert block_type(infobox({"a": "b", "c": {"d": ["e"]}})) == "table"
    assert block_type(grid([["a"], ["b"]])) == "grid"
    assert block_type(mono(" a\n  b")) == "mono"


@pytest.mark.parametrize(
    "value",
    [
        {"type": "table", "legs": 4},
        {"type": "table", "title": "t", "sections": [["h", [["k", {"a": 1}]]]]},
        {"type": "table", "title": "t", "sections": [["h"]]},
        {"type": "table", "title": "t", "sections": [], "onclick": "x"},
        {"type": "grid", "columns": ["a"], "rows": [["1", "2"]]},
        {"type": "mono", "text": ["a"]},
        {"type": "image", "src": "x"},
        {"type": ["table"]},
        {},
        ["table"],
        "table",
        None,
    ],
)
def test_data_that_only_resembles_a_block_is_none(value):
    assert block_type(value) is None
