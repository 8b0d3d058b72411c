"""How the values of an item are shown to people: each in its own form, and none of them as HTML."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from annotate.templatetags.content import kind_of

INFOBOX = {"type": "table", "title": "Ada", "sections": [["Life", [["Born", "1815"], ["Works", ["Notes", "Letters"]]]]]}
GRID = {"type": "grid", "columns": ["n", "name"], "rows": [[1, "one"], [2, None]]}
MONO = {"type": "mono", "text": "a\n  b"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("text", "text"),
        ("", "text"),
        (3, "plain"),
        (True, "plain"),
        (None, "plain"),
        (INFOBOX, "table"),
        (GRID, "grid"),
        (MONO, "mono"),
        ({"a": 1}, "pairs"),
        ([["a", 1], ["b", 2]], "pairs"),
        ([["a", 1], ["a", 2]], "list"),  # the same key twice: couples, not an object
        (["a", "b"], "list"),
        ([], "list"),
        ({"type": "table", "rows": 3}, "pairs"),  # called a table, shaped like none
        ({"type": "grid", "columns": ["a"], "rows": ["x"]}, "pairs"),
        ({"type": {"nested": 1}}, "pairs"),
        ({"type": ["table"]}, "pairs"),
    ],
)
def test_a_value_is_shown_by_its_shape(value: object, kind: str) -> None:
    assert kind_of(value) == kind


def shown(value: Any) -> str:
    item = {"language": "en", "blocks": [{"key": "k", "caption": "Caption", "value": value}]}
    return render_to_string("annotate/partials/content.html", {"item": item})


HOSTILE = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    "value",
    [
        HOSTILE,
        {HOSTILE: HOSTILE},
        [HOSTILE],
        {"type": "table", "title": HOSTILE, "sections": [[HOSTILE, [[HOSTILE, [HOSTILE, HOSTILE]]]]]},
        {"type": "grid", "columns": [HOSTILE], "rows": [[HOSTILE]]},
        {"type": "mono", "text": HOSTILE},
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": HOSTILE}}}}}}},
    ],
)
def test_text_of_an_item_never_runs_as_html(value: object) -> None:
    html = shown(value)
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_an_infobox_shows_its_sections_and_every_one_of_several_values() -> None:
    html = shown(INFOBOX)
    assert [word for word in ("Ada", "Life", "Born", "1815", "Works") if word not in html] == []
    assert "<li>Notes</li><li>Letters</li>" in html


def test_a_long_number_is_not_rounded() -> None:
    assert "1234567890123456789" in shown(1234567890123456789)


def test_what_lies_as_deep_as_an_import_may_go_is_still_shown() -> None:
    value: Any = "bottom"
    for _ in range(64):
        value = [value]
    assert "bottom" in shown(value)


def test_line_breaks_and_spaces_of_monospaced_text_survive() -> None:
    assert "a\n  b</pre>" in shown(MONO)
