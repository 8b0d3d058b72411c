"""The types of fields beside choice and text: what they read, refuse and store, and when two values are one answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from annotate.answers import (
    FIELD_TYPES,
    AnswerInvalid,
    FieldSpec,
    FieldSpecInvalid,
    answer_keys,
    answer_text,
    fields_for_item,
    get_field_type,
    read_answer,
    validate_answer,
)
from annotate.answers.columns import Column, columns_in
from annotate.answers.table_text import header_key

OPTIONS = [
    {"value": "art", "caption": "Art"},
    {"value": "sport", "caption": "Sport"},
    {"value": "war", "caption": "War"},
]


def field(kind: str, **settings) -> FieldSpec:
    return FieldSpec.from_json({"name": "it", "type": kind, "caption": "What?", **settings})


TOPICS = field("choices", options=OPTIONS, max=2)
AGE = field("number", unit="years", min=0, max=150)
WHEN = field("date")
NAMES = field("list")
STEPS = field("list", ordered=True)
PEOPLE = field("table", columns=["Name", "Birth year"])
ANY_TABLE = field("table")
PAIRS = field("qa_pairs", max=3)
VERDICT = field("verdict")
SURE = field(
    "scale", min=1, max=5, options=[{"value": "1", "caption": "a guess"}, {"value": "5", "caption": "certain"}]
)
QUESTION = field("question")


def stored(spec: FieldSpec, raw: object) -> object:
    """What a form or a program sends, as it is stored; what is stored is valid, stays so, and follows the schema."""
    read = read_answer([spec], raw if isinstance(raw, dict) and "it" in raw else {"it": raw})
    value = validate_answer([spec], read)["it"]
    kind = get_field_type(spec.type)
    assert kind.validate(value, spec) == value
    assert kind.canonical_key(value, spec) == kind.canonical_key(json.loads(json.dumps(value)), spec)
    Draft202012Validator(kind.json_schema(spec)).validate(value)
    return value


def refusal(spec: FieldSpec, raw: object) -> str:
    with pytest.raises(AnswerInvalid) as refused:
        stored(spec, raw)
    assert refused.value.field == "it"
    return refused.value.message


def key(spec: FieldSpec, raw: object) -> str:
    return answer_keys([spec], {"it": stored(spec, raw)})["it"]


def shown(spec: FieldSpec, value: object) -> object:
    return get_field_type(spec.type).to_form(value, spec)


# Several of several options


def test_choices_are_kept_in_the_order_of_the_options():
    assert stored(TOPICS, ["war", "art"]) == stored(TOPICS, ["art", "war", "art"]) == ["art", "war"]
    assert key(TOPICS, ["war", "art"]) == key(TOPICS, ["art", "war"]) != key(TOPICS, ["art"])


def test_choices_say_what_is_wrong():
    assert refusal(TOPICS, []) == "Choose at least one answer."
    assert refusal(TOPICS, ["art", "sport", "war"]) == "Choose at most 2; 3 are chosen."
    assert "“love” is none" in refusal(TOPICS, ["love"])
    assert get_field_type("choices").validate("art; war", TOPICS) == ["art", "war"]  # a gold label from a file


# Numbers and dates


@pytest.mark.parametrize("raw", ["1,234.50", "1 234,5", "１２３４.５", 1234.5, "+1234.5"])
def test_a_number_is_stored_as_plain_digits(raw):
    assert stored(field("number"), raw) == "1234.5"


def test_a_number_may_carry_the_unit_that_is_asked_for_and_no_other():
    assert stored(AGE, "23") == stored(AGE, "23 years") == stored(AGE, "twenty-three yrs") == "23"
    assert refusal(AGE, "23 months") == "Write a number of years, such as 12 or 3.5, without another unit."
    assert stored(field("number", unit="km"), "7.5 kilometres") == "7.5"


def test_numbers_say_what_is_wrong():
    assert refusal(AGE, "151") == "The number must be 150 or less."
    assert refusal(AGE, "-1") == "The number must be 0 or more."
    assert refusal(field("number"), "many") == "Write a number in digits, such as 12, 3.5 or -1,000."
    assert refusal(field("number"), "1998,2004").startswith("Write a number")
    assert refusal(AGE, "") == "Write a number."
    assert refusal(field("number"), True) == "This answer must be text."


def test_no_digit_of_a_long_number_is_lost():
    assert stored(field("number"), "1234567890123456789") == "1234567890123456789"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("5 March 2012", "2012-03-05"),
        ("2012年3月5日", "2012-03-05"),
        ("March 2012", "2012-03"),
        ("2010-11", "2010-11"),  # where dates are asked for this is a month
        ("in 1912", "1912"),
        (1912, "1912"),
        ("44 BC", "44 BC"),
    ],
)
def test_a_date_is_stored_as_exactly_as_it_was_given(raw, value):
    assert stored(WHEN, raw) == value


def test_dates_say_what_is_wrong():
    assert refusal(WHEN, "03/04/2012") == (
        "“03/04/2012” can be read in two ways. Write the month as a word, or year-month-day."
    )
    assert refusal(WHEN, "31 April 2012").startswith("Write a date with its year")
    assert refusal(WHEN, None) == "Write a date."


# Lists


def test_a_list_is_one_a_line_in_a_form_and_a_list_in_json():
    assert stored(NAMES, "Rome\r\n\r\n Oslo ") == stored(NAMES, ["Rome", "Oslo"]) == ["Rome", "Oslo"]
    assert shown(NAMES, ["Rome", "Oslo"]) == "Rome\nOslo"


def test_the_order_of_a_list_counts_only_where_the_field_says_so():
    assert key(NAMES, ["Rome", "Oslo"]) == key(NAMES, ["oslo", "ROME"])
    assert key(STEPS, ["Rome", "Oslo"]) != key(STEPS, ["Oslo", "Rome"])
    assert key(NAMES, ["Rome", "Rome"]) != key(NAMES, ["Rome"])
    assert key(NAMES, ["365 days"]) == key(NAMES, ["one year"])
    assert key(field("list", unit="months"), [12]) == key(NAMES, ["one year"])


def test_lists_say_what_is_wrong():
    assert refusal(NAMES, "\n") == "Write at least one answer, one a line."
    assert refusal(field("list", max=2), "a\nb\nc") == "Write at most 2; these are 3."
    assert refusal(NAMES, ["x" * 2_001]) == "Member 1 is longer than the 2,000 characters allowed."


# Tables

TYPED = "Name\tBirth year\nAda\t1815\nAlan\t1912"
ADA_AND_ALAN = {"columns": ["Name", "Birth year"], "rows": [["Ada", "1815"], ["Alan", "1912"]]}


@pytest.mark.parametrize(
    "raw",
    [
        TYPED,
        TYPED.replace("\n", "\r\n"),
        "Ada\t1815\nAlan\t1912",  # without the line of column names
        "birth_year\tNAME\n1815\tAda\n1912\tAlan",
        "Ada,1815\nAlan,1912",
        "| Name | Birth year |\n| --- | ---: |\n| Ada | 1815 |\n| Alan | 1912 |",
        ADA_AND_ALAN,
        [{"name": "Ada", "Birth Year": 1815}, {"name": "Alan", "Birth Year": 1912}],
        json.dumps(ADA_AND_ALAN),
    ],
)
def test_a_table_has_one_stored_form_however_it_comes(raw):
    assert stored(PEOPLE, raw) == ADA_AND_ALAN


def test_columns_are_found_by_name_and_what_is_missing_is_null():
    assert stored(PEOPLE, [{"name": "Ada"}])["rows"] == [["Ada", None]]
    assert stored(PEOPLE, "Name\tBirth year\nAda")["rows"] == [["Ada", None]]


def test_a_table_without_rows_is_an_answer_and_no_table_is_none():
    assert stored(PEOPLE, "Name\tBirth year") == stored(PEOPLE, {"columns": ["Name", "Birth year"], "rows": []})
    assert shown(PEOPLE, None) is None  # what nobody has touched is no answer
    assert refusal(PEOPLE, " ").startswith("Write the table.")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"columns": ["Name"], "rows": [["Ada", "1815"]]}, "Row 1 has 2 cells, and there are 1 columns."),
        ({"columns": ["Name", "Job"], "rows": []}, "There is no column “Job” here; the columns are Name, Birth year."),
        ({"columns": ["Name", "name "], "rows": []}, "Two columns are called name."),
        ({"columns": [], "rows": []}, "A table has 1 to 50 columns; this one has 0."),
        ({"columns": ["Name"], "rows": [[["Ada"]]]}, "Row 1, Name: this is a list or an object"),
        ({"rows": []}, "A table must have columns and rows, and nothing else."),
        ({"columns": ["Name"], "rows": [["x"]] * 2_001}, "This table has 2,001 rows; with 1 columns 2,000 are kept."),
        ({"columns": ["Name"], "rows": [["\x00"]]}, "Character 1 is an empty character"),
        ("Ada 1815\nAlan 1912", "Put a tab between cells"),
        ([{"Name": "Ada"}, "Alan"], "Row 2 is no object"),
        (7, "This answer must be text."),
    ],
)
def test_tables_say_where_they_are_wrong(raw, said):
    assert said in refusal(PEOPLE, raw)


def test_a_half_typed_table_is_kept_as_a_draft():
    half = "Ada\t1815\tmathem"
    assert read_answer([PEOPLE], {"it": half}) == {"it": half}
    assert shown(PEOPLE, half) == half


def test_two_tables_are_one_answer_in_any_order_of_columns_and_rows():
    turned = {"columns": ["birth-year", "NAME"], "rows": [["1912", "alan"], ["1,815", "Ada"]]}
    assert key(ANY_TABLE, turned) == key(ANY_TABLE, ADA_AND_ALAN)
    assert key(field("table", ordered=True), turned) != key(field("table", ordered=True), ADA_AND_ALAN)


def test_repeated_rows_and_other_cells_are_other_tables():
    rows = ADA_AND_ALAN["rows"]
    assert key(PEOPLE, {**ADA_AND_ALAN, "rows": [*rows, rows[0]]}) != key(PEOPLE, ADA_AND_ALAN)
    assert key(PEOPLE, {**ADA_AND_ALAN, "rows": [["Ada", "1816"], rows[1]]}) != key(PEOPLE, ADA_AND_ALAN)
    assert key(PEOPLE, {**ADA_AND_ALAN, "rows": [["Ada", "n/a"]]}) == key(
        PEOPLE, {**ADA_AND_ALAN, "rows": [["Ada", None]]}
    )


def test_the_key_of_a_long_table_is_short():
    long = {"columns": ["Name"], "rows": [[f"person {number}"] for number in range(1_000)]}
    assert len(key(ANY_TABLE, long)) < 100
    assert key(ANY_TABLE, long) == key(ANY_TABLE, {**long, "rows": long["rows"][::-1]})


CELLS = (
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=12)
    .map(str.strip)
    .map(lambda text: text or None)
)
HEADERS = st.lists(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(header_key),
    min_size=1,
    max_size=4,
    unique_by=header_key,
)


@given(st.data(), HEADERS)
def test_a_table_that_is_shown_and_sent_again_is_the_same(data, columns):
    rows = data.draw(st.lists(st.lists(CELLS, min_size=len(columns), max_size=len(columns)), max_size=4))
    value = stored(ANY_TABLE, {"columns": columns, "rows": rows})
    text = shown(ANY_TABLE, value)
    if any(cell for row in rows for cell in row) or len(columns) > 1:
        assert stored(ANY_TABLE, {"it": text}) == value


def test_columns_come_from_the_item_that_is_asked_about():
    spec = field("table", columns_from="schema", columns=["thing"])
    (asked,) = fields_for_item([spec], [["question", "Who?"], ["schema", ["name", "born"]]])
    assert asked.columns == ("name", "born")
    (asked,) = fields_for_item([spec], [["question", "Who?"]])
    assert asked.columns == ("thing",)


@pytest.mark.parametrize(
    ("value", "columns"),
    [
        (["name", "born"], ("name", "born")),
        ([["name", "text"], ["born", "number"]], ("name", "born")),
        ({"type": "grid", "columns": ["name"], "rows": []}, ("name",)),
        ("name, born", ("name", "born")),
        (["name", "Name"], ()),
        (7, ()),
        (None, ()),
    ],
)
def test_how_an_item_names_columns(value, columns):
    assert tuple(column.name for column in columns_in(value)) == columns


@pytest.mark.parametrize(
    ("entry", "column"),
    [
        ("born: year", Column("born", "year")),
        ("Time: start", Column("Time: start")),  # no type of ours: part of the name
        (["born", "INTEGER"], Column("born", "number")),
        (["born", "varchar(40)"], Column("born", "text")),
        (["born", "geometry"], Column("born")),
        ({"name": "born", "type": "date"}, Column("born", "date")),
    ],
)
def test_what_the_cells_of_a_column_hold(entry, column):
    assert columns_in(["name", entry]) == (Column("name"), column)


def test_types_of_columns_are_kept_and_refuse_nothing():
    spec = field("table", columns=["name", "born: year"])
    assert (spec.columns, spec.column_types) == (("name", "born"), ("", "year"))
    assert FieldSpec.from_json(spec.to_json()) == spec
    assert stored(spec, "Ada\tin spring") == {"columns": ["name", "born"], "rows": [["Ada", "in spring"]]}
    (asked,) = fields_for_item([field("table", columns_from="schema")], [["schema", [["born", "date"]]]])
    assert asked.column_types == ("date",)


# Questions with answers, verdicts, scales


def test_pairs_are_one_a_line_and_in_any_order():
    two = [{"question": "Who?", "answer": "Ada"}, {"question": "When?", "answer": "in 1815"}]
    assert stored(PAIRS, "Who? Ada\nWhen?\tin 1815") == stored(PAIRS, two) == two
    assert key(PAIRS, two) == key(PAIRS, "when? 1815\nWHO? ada")
    assert stored(PAIRS, shown(PAIRS, two)) == two
    assert refusal(PAIRS, "Who?\n") == "Pair 1 has no answer."
    assert refusal(PAIRS, "a? b\n" * 4) == "Write at most 3 pairs; these are 4."
    assert refusal(PAIRS, [{"question": "Who?", "answer": "Ada", "gold": "x"}]).startswith("Pair 1 must have")


def test_pairs_come_from_two_inputs_each_and_untouched_ones_are_none():
    sent = {"it.question": ["Who?", " ", "Two\r\nlines?", "When?"], "it.answer": ["Ada", "", "yes"]}
    assert get_field_type("qa_pairs").read(sent, PAIRS) == [
        {"question": "Who?", "answer": "Ada"},
        {"question": "Two\nlines?", "answer": "yes"},
        {"question": "When?", "answer": ""},
    ]
    assert get_field_type("qa_pairs").read({"it.question": ["", " "], "it.answer": ["", ""]}, PAIRS) is None
    with pytest.raises(AnswerInvalid):
        get_field_type("qa_pairs").read({"it.question": ["\x00"], "it.answer": [""]}, PAIRS)


@pytest.mark.parametrize(
    ("step", "order"),
    [
        ("up-1", "BA"),
        ("up-0", "AB"),
        ("down-0", "BA"),
        ("down-1", "AB"),
        ("remove-0", "B"),
        ("remove-7", "AB"),
        ("remove-x", "AB"),
        ("add", "AB-"),
        ("", "AB"),
        ("turn-1", "AB"),
    ],
)
def test_buttons_of_the_form_move_add_and_remove_pairs(step, order):
    sent = {"it.question": ["A", "B"], "it.answer": ["1", "2"], "it.step": [step]}
    pairs = get_field_type("qa_pairs").as_typed(sent, PAIRS)
    assert "".join(pair["question"] or "-" for pair in pairs) == order


def test_no_pair_is_added_beyond_the_most():
    sent = {"it.question": ["A", "B", "C"], "it.answer": ["1", "2", "3"], "it.step": ["add"]}
    assert len(get_field_type("qa_pairs").as_typed(sent, PAIRS)) == 3


def test_a_verdict_is_voted_on_without_its_correction():
    assert stored(VERDICT, {"it": "wrong", "it.correction": "1815"}) == {"verdict": "wrong", "correction": "1815"}
    assert stored(VERDICT, {"verdict": "right"}) == {"verdict": "right"}
    assert key(VERDICT, {"it": "wrong", "it.correction": "1815"}) == key(VERDICT, {"verdict": "wrong"}) == "wrong"
    assert shown(VERDICT, {"verdict": "right"}) == {"verdict": "right"}


def test_verdicts_say_what_is_wrong():
    assert refusal(VERDICT, None) == "Say whether it is right."
    assert refusal(VERDICT, "maybe") == "A verdict is one of right, wrong, unsure."
    assert "belongs to an answer that is wrong" in refusal(VERDICT, {"it": "right", "it.correction": "1815"})
    assert refusal(VERDICT, {"it": "", "it.correction": "1815"}) == "Say whether it is right."


def test_a_point_on_a_scale_is_a_number():
    assert stored(SURE, "4") == stored(SURE, 4) == 4
    assert refusal(SURE, "6") == refusal(SURE, "a lot") == "Choose a whole number from 1 to 5."
    assert shown(SURE, 5)["points"][-1] == {"value": "5", "caption": "certain"}


def test_a_question_is_compared_by_its_words():
    assert key(QUESTION, "Was Ada born in  London?") == key(QUESTION, "was ada born in London")
    assert key(QUESTION, "Was Ada born in 1815?") != key(QUESTION, "Was Ada born in the year 1815?")
    assert refusal(QUESTION, " ") == "Write the question."


# Descriptions


@pytest.mark.parametrize("spec", [TOPICS, AGE, WHEN, NAMES, STEPS, PEOPLE, PAIRS, VERDICT, SURE, QUESTION])
def test_the_description_of_every_type_survives_storage(spec):
    assert FieldSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("text", {"columns": ["a"]}, "a text field has no columns"),
        ("date", {"unit": "days"}, "a date field has no unit"),
        ("choices", {"options": OPTIONS[:1]}, "at least two options"),
        ("choices", {"options": OPTIONS, "min": 4}, "between 1 and the number of options"),
        ("number", {"min": 2, "max": 1}, "min must not be above max"),
        ("number", {"min": "1"}, "min must be a whole number"),
        ("scale", {}, "needs min and max"),
        ("scale", {"min": 0, "max": 200}, "2 to 101 points"),
        ("scale", {"min": 1, "max": 3, "options": [{"value": "4", "caption": "x"}]}, "no point of the scale"),
        ("table", {"columns": ["a", "A "]}, "two columns are called A"),
        ("table", {"columns": ["a", 1]}, "must be a list of names"),
        ("choice", {"options": [{"value": "a", "caption": "A", "captions": {"not a tag!": "x"}}]}, "no language tag"),
    ],
)
def test_settings_that_cannot_work_are_refused(kind, settings, said):
    with pytest.raises(FieldSpecInvalid, match=said):
        field(kind, **settings)


def test_captions_are_shown_in_the_language_of_the_item():
    spec = field(
        "choice", options=[{"value": "y", "caption": "Yes", "captions": {"hi": "हाँ"}}, {"value": "n", "caption": "No"}]
    )
    (asked,) = fields_for_item([spec], [], language="hi-IN")
    assert [option.caption for option in asked.options] == ["हाँ", "No"]
    assert fields_for_item([spec], [], language="ta") == (spec,)


@pytest.mark.parametrize(
    ("spec", "value", "words"),
    [
        (TOPICS, ["art", "war"], "Art, War"),
        (NAMES, ["Rome", "Oslo"], "Rome; Oslo"),
        (PEOPLE, ADA_AND_ALAN, "2 rows of Name, Birth year"),
        (PAIRS, [{"question": "Who?", "answer": "Ada"}], "Who? Ada"),
        (VERDICT, {"verdict": "wrong", "correction": "1815"}, "wrong: 1815"),
        (SURE, 4, "4"),
    ],
)
def test_every_value_can_be_said_on_one_line(spec, value, words):
    assert get_field_type(spec.type).in_words(value, spec) == words


@pytest.mark.parametrize("value", ["text", ["a"], {"columns": ["é"], "rows": []}, 4])
def test_a_value_as_text_can_be_read_again(value):
    assert answer_text(value) == value if isinstance(value, str) else json.loads(answer_text(value)) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from([TOPICS, AGE, WHEN, NAMES, PEOPLE, ANY_TABLE, PAIRS, VERDICT, SURE, QUESTION]), JSON)
def test_whatever_is_sent_is_stored_or_refused_in_words(spec, raw):
    try:
        stored(spec, {"it": raw})
    except AnswerInvalid as refused:
        assert refused.errors == {"it": refused.message}  # noqa: PT017


def test_every_type_has_a_template_and_words():
    from annotate.project_forms import TYPE_WORDS
    from config.env import PROJECT

    assert set(TYPE_WORDS) == set(FIELD_TYPES)
    templates = {path.stem for path in (PROJECT / "templates" / "annotate" / "fields").glob("*.html")}
    assert templates == set(FIELD_TYPES)


def test_a_correction_is_one_of_the_options_where_there_are_any():
    spec = field("verdict", options=[{"value": "yes", "caption": "Yes"}, {"value": "no", "caption": "No"}])
    assert stored(spec, {"it": "wrong", "it.correction": "no"}) == {"verdict": "wrong", "correction": "no"}
    assert refusal(spec, {"verdict": "wrong", "correction": "perhaps"}).startswith("Choose what would be right")
    assert get_field_type("verdict").in_words({"verdict": "wrong", "correction": "no"}, spec) == "wrong: No"
    assert get_field_type("verdict").json_schema(spec)["properties"]["correction"] == {
        "type": "string",
        "enum": ["yes", "no"],
    }
    with pytest.raises(FieldSpecInvalid, match="two options"):
        field("verdict", options=[{"value": "yes", "caption": "Yes"}])
