"""What an answer is: read from a form or JSON, checked, and given a key."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.answers import (
    FIELD_TYPES,
    KEY_VERSION,
    AnswerInvalid,
    FieldSpec,
    FieldSpecInvalid,
    answer_keys,
    fields_from_json,
    get_field_type,
    read_answer,
    short_answer_key,
    text_key,
    validate_answer,
)

LABEL = {
    "name": "label",
    "type": "choice",
    "caption": "Is the claim true?",
    "options": [{"value": "yes", "caption": "Yes"}, {"value": "no", "caption": "No"}],
}
WORDS = {"name": "words", "type": "text", "caption": "In a few words"}
WHY = {"name": "why", "type": "long_text", "caption": "Why?", "decides": False, "required": False}
FIELDS = fields_from_json([LABEL, WORDS, WHY])

STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def message_of(field: dict[str, object], value: object) -> str:
    spec = FieldSpec.from_json(field)
    with pytest.raises(AnswerInvalid) as refused:
        get_field_type(spec.type).validate(value, spec)
    assert refused.value.field == field["name"]
    return refused.value.message


def test_a_form_and_json_give_the_same_answer():
    as_form = {"label": ["yes"], "words": ["in 1912"], "why": [""], "csrfmiddlewaretoken": ["x"]}
    as_json = {"label": "yes", "words": "in 1912", "why": None}
    assert read_answer(FIELDS, as_form) == read_answer(FIELDS, as_json) == {"label": "yes", "words": "in 1912"}


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u200b\ufeff", "\u3000"])
def test_what_nobody_can_see_is_empty(blank):
    assert read_answer(FIELDS, {"label": blank, "words": blank}) == {}


def test_text_is_kept_as_typed():
    assert read_answer(FIELDS, {"words": "  Two  words "}) == {"words": "  Two  words "}


def test_line_breaks_are_the_same_from_a_form_and_from_a_script():
    assert read_answer(FIELDS, {"why": "one\r\ntwo"}) == read_answer(FIELDS, {"why": "one\ntwo"})


def test_a_changed_radio_button_never_leaves_two_answers():
    with pytest.raises(AnswerInvalid, match="Give one answer only"):
        read_answer(FIELDS, {"label": ["yes", "no"]})


@pytest.mark.parametrize("value", [True, 1, 1.5, {"a": "b"}])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(AnswerInvalid, match="must be text"):
        read_answer(FIELDS, {"words": value})


@pytest.mark.parametrize(
    ("value", "said"), [("ab\x00c", "Character 3 is an empty character"), ("\ud800", "Character 1")]
)
@pytest.mark.parametrize("field", [LABEL, WORDS, WHY])
def test_characters_that_would_break_every_export_are_refused_even_in_a_draft(field, value, said):
    spec = FieldSpec.from_json(field)
    with pytest.raises(AnswerInvalid, match=said):
        read_answer([spec], {spec.name: value})
    assert said in message_of(field, value)


def test_messages_say_what_to_do():
    assert message_of(LABEL, None) == "Choose one answer."
    assert message_of(LABEL, "maybe") == "Choose one of the answers shown."
    assert message_of(WORDS, None) == "Write an answer."
    assert message_of(WORDS, "x" * 2312) == "This text is 312 characters longer than the 2,000 allowed."
    assert message_of({**WORDS, "max_length": 3}, "four") == "This text is 1 character longer than the 3 allowed."


def test_long_text_holds_the_longest_published_gold_answer():
    spec = FieldSpec.from_json(WHY)
    assert get_field_type("long_text").validate("x" * 46_140, spec) == "x" * 46_140


def test_all_fields_at_fault_are_told_at_once():
    with pytest.raises(AnswerInvalid) as refused:
        validate_answer(FIELDS, {"label": "maybe"})
    assert refused.value.errors == {"label": "Choose one of the answers shown.", "words": "Write an answer."}
    assert refused.value.http_status == 422


def test_an_optional_field_may_be_left_out():
    assert validate_answer(FIELDS, {"words": "x", "label": "no"}) == {"label": "no", "words": "x"}


def test_a_field_that_is_not_asked_is_refused():
    with pytest.raises(AnswerInvalid, match="not asked here"):
        validate_answer(FIELDS, {"label": "no", "words": "x", "gold": "yes"})


def test_only_fields_that_decide_have_keys():
    answer = {"label": "yes", "words": " The  TITANIC ", "why": "Because."}
    assert answer_keys(FIELDS, answer) == {"label": "yes", "words": "titanic"}
    assert answer_keys(FIELDS, {"why": "Because."}) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "CAFE\u0301"),  # composed and decomposed
        ("２０１２", "2012"),  # full width
        ("12\u00a0months", "12  months\n"),  # no-break space
        ("Straße", "STRASSE"),
        ("Paris\u200e", "par\u00adis"),  # direction mark, soft hyphen
        ("ﬁn", "fin"),  # ligature
    ],
)
def test_the_same_text_written_differently_has_one_key(one, other):
    assert text_key(one) == text_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("São Paulo", "Sao Paulo"),
        ("10%", "10"),
        ("1.5", "15"),
        ("می\u200cخواهم", "میخواهم"),
        ("-5", "5"),
        ("a b", "b a"),
    ],
)
def test_different_texts_have_different_keys(one, other):
    assert text_key(one) != text_key(other)


@given(STORABLE)
def test_the_key_of_a_key_is_the_key(text):
    assert text_key(text_key(text)) == text_key(text)


@given(STORABLE, st.sampled_from([" ", "\t", "\u00a0", "\u3000", "\u200b"]))
def test_space_around_a_text_does_not_change_its_key(text, space):
    assert text_key(space + text + space) == text_key(text)


@given(st.lists(st.sampled_from(["Yes", "yes", "YES ", "ye s", "no", "ＮＯ", "n\u00ado"]), min_size=3, max_size=3))
def test_equality_of_keys_is_an_equivalence(texts):
    a, b, c = (text_key(text) for text in texts)
    assert a == a
    assert (a == b) == (b == a)
    assert a == c or not (a == b and b == c)


@given(st.sampled_from(["yes", "no"]), STORABLE.filter(lambda text: text_key(text) and len(text) <= 2000))
def test_a_valid_answer_stays_valid_and_keeps_its_keys(label, words):
    answer = validate_answer(FIELDS, {"label": label, "words": words})
    assert validate_answer(FIELDS, answer) == answer
    assert answer_keys(FIELDS, answer) == {"label": label, "words": short_answer_key(words)}


@pytest.mark.parametrize("field", [LABEL, WORDS, WHY, {**WORDS, "max_length": 10, "help": "short"}])
def test_the_description_of_a_field_survives_storage(field):
    spec = FieldSpec.from_json(field)
    assert FieldSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "Label"}, "name must be"),
        ({"name": "client_key"}, "used by the work page"),
        ({"type": "slider"}, "no field type 'slider'"),
        ({"caption": " "}, "caption must be"),
        ({"decides": "yes"}, "decides must be true or false"),
        ({"max_length": 0}, "max_length must be"),
        ({"max_lenght": 5}, "unknown setting max_lenght"),
        ({"options": []}, "at least two options"),
        ({"options": [{"value": "yes", "caption": "Yes"}] * 2}, "the same value"),
        ({"options": [{"value": "a", "caption": "Yes"}, {"value": "b", "caption": "yes"}]}, "the same caption"),
        ({"options": ["yes", "no"]}, "must have a value and a caption"),
        ({"type": "text"}, "has no options"),
    ],
)
def test_a_field_that_cannot_work_is_refused_by_name(change, said):
    with pytest.raises(FieldSpecInvalid, match=said):
        FieldSpec.from_json({**LABEL, **change})


def test_a_stage_needs_fields_with_different_names():
    with pytest.raises(FieldSpecInvalid, match="at least one field"):
        fields_from_json([])
    with pytest.raises(FieldSpecInvalid, match="Two fields have the name label"):
        fields_from_json([LABEL, LABEL])


def test_every_field_type_names_itself_and_its_key_version():
    assert {name: (kind.name, kind.KEY_VERSION) for name, kind in FIELD_TYPES.items()} == {
        name: (name, KEY_VERSION)
        for name in (
            *("choice", "choices", "text", "long_text", "number", "date", "table", "list", "question", "qa_pairs"),
            *("verdict", "scale"),
        )
    }


@pytest.mark.parametrize(
    "package",
    ["annotate.answers", "annotate.resolution", "evaluation.stats", "evaluation.scorers", "evaluation.parsing"],
)
def test_pure_packages_do_not_load_django(package):
    code = f"import sys, {package}; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
