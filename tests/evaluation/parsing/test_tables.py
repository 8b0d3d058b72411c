"""Tables read out of completions in any state of repair, with a word for what was repaired."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.parsing import ParseStatus, parse_table, recover_table
from evaluation.parsing.loose_json import MAX_DEPTH, Reading, Unreadable

COLUMNS = ("name", "born")
ADA, ALAN = {"name": "Ada", "born": 1815}, {"name": "Alan", "born": 1912}


def recovered(text: str, columns=()) -> tuple[object, list[str]]:
    found = recover_table(text, columns)
    return found.rows, list(found.flags)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ('[{"name": "Ada", "born": 1815}]', []),
        ('{"columns": ["name", "born"], "rows": [["Ada", 1815]]}', []),
        ('{"rows": [{"name": "Ada", "born": 1815}]}', []),
        ('{"people": [{"name": "Ada", "born": 1815}]}', []),
        ('{"name": "Ada", "born": 1815}', ["lone_object"]),
        ('```json\n[{"name": "Ada", "born": 1815}]\n```', ["fence"]),
        ('Sure:\n```\n[{"name": "Ada", "born": 1815}]', ["fence", "prose"]),
        ('Note [1] and {this}: [{"name": "Ada", "born": 1815}] Done.', ["prose"]),
        ('<think>[{"name": "?"}]</think>[{"name": "Ada", "born": 1815}]', ["reasoning"]),
        ('[{"name": "Ada", "born": 1815,},]', ["trailing_comma"]),
        ("[{'name': 'Ada', 'born': 1815}]", ["single_quotes"]),
        ("[{“name”: “Ada”, “born”: 1815}]", ["curly_quotes"]),
        ('[{name: "Ada", born: 1815}]', ["unquoted_names"]),
        ('[{"name": Ada, "born": 1815}]', ["unquoted_text"]),
        ('[{"name": "Ada", "born": 1,815}]', ["thousands_separators"]),
        ('[{"name": "Ada" "born": 1815}]', ["missing_comma"]),
        ('[{"name": "Ada", "born": 1815]', ["brackets"]),
        ('[{"name": "Ada", // first\n "born": 1815} /* all */]', ["comments"]),
        ('[{"name": "Ada", "born": 1815}, {"name": "Al', ["truncated"]),
        ('[{"name": "Ada", "born": 1815}, ...]', ["truncated"]),
        ('{"columns": ["name", "born"], "rows": [["Ada", 1815], ["Alan", 19', ["truncated"]),
        ('[{"name": "x", "born": 1}]\nBetter: [{"name": "Ada", "born": 1815}]', ["multiple", "prose"]),
        ('[{"name": "Ada", "born": 1815}]\n[]', ["multiple"]),
        ('{"type": "array", "items": {"type": "object"}}\n[{"name": "Ada", "born": 1815}]', ["prose", "schema"]),
        ('[["name", "born"], ["Ada", 1815]]', ["header_row"]),
        ('{"columns": ["name", "born"], "data": [["Ada", 1815]]}', []),
        ('{"table": {"headers": ["name", "born"], "rows": [["Ada", 1815]]}}', []),
        ('{"name": ["Ada"], "born": [1815]}', ["by_column"]),
        ("[('name', 'born'), ('Ada', 1815)]", ["header_row", "single_quotes", "tuples"]),
        ('[{"name": "Ada", "born": 1815}]<|im_end|>', []),
    ],
)
def test_a_table_is_read_and_what_was_repaired_is_said(text, flags):
    assert recovered(text) == ([ADA], flags)


def test_columns_of_cells():
    assert recovered('{"name": ["Ada", "Alan"], "born": [1815, 1912]}') == ([ADA, ALAN], ["by_column"])
    # Of columns that were cut off nobody knows which cells belong together.
    assert recovered('{"name": ["Ada", "Alan"], "born": [1815, 19')[0] is None


def test_one_object_a_line():
    assert recovered('{"name": "Ada", "born": 1815}\n{"name": "Alan", "born": 1912}') == ([ADA, ALAN], ["multiple"])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("| name | born |\n|------|------|\n| Ada | 1815 |", ["markdown"]),
        ("Here:\n\n| name | born |\n|:--|--:|\n| Ada | 1815 |\n\nDone.", ["markdown", "prose"]),
        ("name | born\n--- | ---\nAda | 1815", ["markdown"]),
        ("| name | born |\n|---|---|\n| Ada | 1815 |\n| Alan | 19", ["markdown", "truncated"]),
        ("```csv\nname,born\nAda,1815\n```", ["csv", "fence"]),
        ("```\nname\tborn\nAda\t1815\n```", ["csv", "fence"]),
    ],
)
def test_markdown_and_csv_give_texts(text, flags):
    assert recovered(text) == ([{"name": "Ada", "born": "1815"}], flags)


def test_csv_without_a_fence_is_read_only_under_declared_names():
    assert recovered("name,born\nAda,1815", COLUMNS)[0] == [{"name": "Ada", "born": "1815"}]
    assert recovered("Well,no\nReally,not") == (None, [])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('"O\\u0027Brien \\"x\\""', 'O\'Brien "x"'),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud83d"', "�"),  # half a character cannot be stored
        ("None", None),
        ("NaN", None),
        ("True", True),
        ("007", "007"),
        ("+5", 5),
        (".5", 0.5),
        ("1e400", "1e400"),
        ("1234567890123456789", 1234567890123456789),
        ('["a", "b"]', "a, b"),
        ("'O'Brien'", "O'Brien"),
        ('"say "hi" now"', 'say "hi" now'),
    ],
)
def test_cells_in_the_forms_that_models_write(cell, value):
    rows, _ = recovered('[{"x": 1, "a": ' + cell + ",}]")
    assert rows == [{"x": 1, "a": value}]


@pytest.mark.parametrize(
    "text",
    [
        "I do not know.",
        "See [1] and [2, 3].",
        "{note: see below}",
        '{"name": "Ada", "born": 18',  # the only row is broken
        "[ } ]",
        '{"type": "object", "properties": {"name": {"type": "string"}}}',
        '[{"a": 1}, 5]',
        "<think>[]",
    ],
)
def test_what_is_no_table(text):
    assert recovered(text) == (None, [])


def test_an_empty_list_is_a_table_without_rows():
    assert recovered("[]") == ([], [])
    assert parse_table("[]", COLUMNS).value == {"columns": ["name", "born"], "rows": []}
    assert parse_table("[]").note == "a table without columns"


def test_columns_are_found_by_name_and_what_differs_is_said():
    parsed = parse_table('[{"Born": 1815, "NAME": "Ada", "job": "?"}, {"name": "Alan"}]', COLUMNS)
    assert parsed.value == {"columns": ["name", "born"], "rows": [["Ada", 1815], ["Alan", None]]}
    assert parsed.repairs == ("missing_columns", "other_columns")
    assert parsed.note == "a table; repaired: missing_columns, other_columns"


def test_a_table_with_none_of_the_columns_is_no_answer():
    parsed = parse_table('[{"x": 1}]', COLUMNS)
    assert (parsed.status, parsed.note) == (ParseStatus.NONE, "a table with other columns: x")


def test_rows_without_names_are_read_by_place_only_where_as_many_are_declared():
    assert parse_table('[["Ada", 1815]]', COLUMNS).value["rows"] == [["Ada", 1815]]
    assert parse_table('["Ada", "Alan"]', ("name",)).repairs == ("positions",)
    assert parse_table('["Ada", "Alan"]', COLUMNS).status == ParseStatus.NONE
    # A footnote after a table is no table.
    assert parse_table('[{"name": "Ada"}] as said in [1]', ("name",)).value["rows"] == [["Ada"]]


def test_a_refusal_is_told_apart():
    assert parse_table("I'm sorry, but I can't help with that.").status == ParseStatus.REFUSAL


def test_nesting_is_limited():
    deep = "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)
    for text in (deep, deep.replace("[", "[,")):
        with pytest.raises(Unreadable):
            Reading(text, 0).read()
    assert recovered("[" * 100_000) == (None, [])


SCALARS = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=10)
NAMES = st.text(min_size=1, max_size=6)
TABLES = st.lists(st.dictionaries(NAMES, SCALARS, min_size=1, max_size=3), min_size=1, max_size=4)


@given(TABLES, st.booleans(), st.sampled_from([None, 2]))
def test_any_json_table_is_read_as_it_is(rows, ascii_only, indent):
    assert recovered(json.dumps(rows, ensure_ascii=ascii_only, indent=indent)) == (rows, [])


@given(TABLES)
def test_any_python_table_is_read(rows):
    assert recover_table(_as_python(rows)).rows == rows


def _as_python(rows: list[dict[str, object]]) -> str:
    """With single quotes, as repr prints most texts; escapes are those that JSON knows as well."""

    def value(cell: object) -> str:
        if not isinstance(cell, str):
            return repr(cell)
        return "'" + json.dumps(cell)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"

    return (
        "[" + ", ".join("{" + ", ".join(f"{value(k)}: {value(c)}" for k, c in row.items()) + "}" for row in rows) + "]"
    )


@given(TABLES, st.data())
def test_of_a_table_that_was_cut_off_whole_rows_remain(rows, data):
    text = json.dumps(rows)
    cut = data.draw(st.integers(1, len(text) - 1))
    found = recover_table(text[:cut]).rows
    assert found is None or found == rows[: len(found)]


@given(st.text(alphabet="[]{}\",:'ab1. \\\n", max_size=60))
def test_whatever_comes_in_nothing_is_raised_and_rows_are_objects(text):
    parsed = parse_table(text, ("a", "b"))
    assert (parsed.value is not None) == (parsed.status == ParseStatus.OK)
    assert all(isinstance(row, dict) for row in recover_table(text).rows or [])
