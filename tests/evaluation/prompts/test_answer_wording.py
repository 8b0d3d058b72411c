"""What a model is told of each type of field, and that an answer in that form is read as what it says."""

from __future__ import annotations

import pytest

from annotate.answers import FIELD_TYPES, FieldSpec, get_field_type
from evaluation.parsing import parse_answer
from evaluation.prompts import Exemplar, Option, PromptInput, render
from evaluation.prompts.answer_wording import answer_form, kind_of_answer, written_answer

OPTIONS = [{"value": "art", "caption": "Fine art"}, {"value": "war", "caption": "War"}]
CASES = {
    "choices": ({"options": OPTIONS, "max": 2}, ["art", "war"], "Fine art / War"),
    "scale": ({"min": 1, "max": 5, "options": [{"value": "5", "caption": "wholly"}]}, 4, "from 1 to 5 (5: wholly)"),
    "number": ({"unit": "years", "min": 0}, "23", "one number of years in digits, 0 or more"),
    "date": ({}, "2012-03-05", "YYYY-MM-DD"),
    "list": ({"max": 3}, ["Rome", "Oslo"], "in any order, at most 3"),
    "table": (
        {"columns": ["name", "born: year"]},
        {"columns": ["name", "born"], "rows": [["Ada", "1815"], ["Alan", None]]},
        '"name", "born" (a year)',
    ),
    "qa_pairs": ({"min": 1, "max": 2}, [{"question": "Who?", "answer": "Ada"}], "1 to 2"),
    "verdict": ({}, {"verdict": "wrong"}, "right / wrong / unsure"),
    "long_text": ({}, "One line\nand another, of more words", "in full"),
    "question": ({}, "Was she born in London?", "the question alone"),
}


def field(kind: str, **settings) -> FieldSpec:
    return FieldSpec.from_json({"name": "it", "type": kind, "caption": "What?", **settings})


def test_every_type_of_field_has_a_way_to_be_asked():
    assert set(CASES) | {"choice", "text"} == set(FIELD_TYPES)
    assert kind_of_answer(field("choice", options=OPTIONS)) == "label"
    assert kind_of_answer(field("text")) == "short_answer"


@pytest.mark.parametrize("kind", CASES)
def test_the_form_says_what_is_asked_for_and_an_answer_in_it_is_read_back(kind):
    settings, value, said = CASES[kind]
    spec = field(kind, **settings)
    assert said in answer_form(spec)
    assert kind_of_answer(spec) == "structured"
    parsed = parse_answer(spec, written_answer(spec, value))
    assert get_field_type(kind).validate(parsed.value, spec) == value


def test_a_table_without_declared_columns_names_its_own():
    spec = field("table")
    assert "its keys name the columns" in answer_form(spec)
    value = {"columns": ["a", "b"], "rows": [["1", "2"]]}
    assert get_field_type("table").validate(parse_answer(spec, written_answer(spec, value)).value, spec) == value


def test_a_structured_question_and_its_exemplars_each_have_their_own_form():
    own = "Answer with a JSON array of towns."
    prompt = PromptInput(
        content=[["question", "Who?"]],
        caption="Fill the table.",
        kind="structured",
        answer_form="Answer with a JSON array of people.",
        exemplars=(Exemplar([["question", "Where?"]], "[]", own),),
    )
    _, shown, answered, asked = render("few_shot", prompt)
    assert shown["content"] == f"question: Where?\n\nFill the table.\n{own}"
    assert (answered["role"], answered["content"]) == ("assistant", "[]")
    assert asked["content"] == "question: Who?\n\nFill the table.\nAnswer with a JSON array of people."
    assert PromptInput.from_json(prompt.to_json()) == prompt


def test_an_exemplar_in_another_language_has_its_own_captions():
    yes = Option("yes", "Yes")
    prompt = PromptInput(
        content=[["claim", "x"]],
        caption="?",
        kind="label",
        options=(yes, Option("no", "No")),
        exemplars=(Exemplar([["claim", "y"]], "Ja", options=(Option("yes", "Ja"), Option("no", "Nein"))),),
    )
    _, shown, _, asked = render("few_shot", prompt)
    assert shown["content"].endswith("Ja / Nein")
    assert asked["content"].endswith("Yes / No")


@pytest.mark.parametrize(("kind", "form"), [("structured", ""), ("short_answer", "Answer in JSON.")])
def test_a_form_belongs_to_structured_answers(kind, form):
    with pytest.raises(ValueError, match="form"):
        PromptInput(content=[], caption="?", kind=kind, answer_form=form)
