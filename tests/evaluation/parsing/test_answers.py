"""A completion for a field of any type: the value has the form in which a person's comes."""

import pytest

from annotate.answers import FieldSpec, get_field_type
from evaluation.parsing import ParseStatus, parse_answer

OPTIONS = [{"value": "a", "caption": "Art"}, {"value": "s", "caption": "Sport"}]


def field(kind: str, **settings) -> FieldSpec:
    return FieldSpec.from_json({"name": "it", "type": kind, "caption": "What?", **settings})


@pytest.mark.parametrize(
    ("spec", "completion", "value"),
    [
        (field("choice", options=OPTIONS), "The answer is Sport.", "s"),
        (field("choices", options=OPTIONS), '["Sport", "Art"]', ["a", "s"]),
        (field("choices", options=OPTIONS), "Answer: Art, Sport", ["a", "s"]),
        (field("scale", min=1, max=5), "Answer: 4", 4),
        (field("scale", min=1, max=2, options=[{"value": "2", "caption": "certain"}]), "I am certain.", 2),
        (field("verdict"), "Wrong. It was 1815.", {"verdict": "wrong"}),
        (field("text"), "Answer: **1815**", "1815"),
        (field("number"), "Answer: 1,815", "1815"),
        (field("date"), "It is answered. Answer: 10 December 1815.", "1815-12-10"),
        (field("list"), '{"answer": ["Rome", "Oslo"]}', ["Rome", "Oslo"]),
        (field("list"), "- Rome\n- Oslo", ["Rome", "Oslo"]),
        (field("list"), "Answer: Rome; Oslo", ["Rome", "Oslo"]),
        (field("list"), "Rome\nOslo", ["Rome", "Oslo"]),
        (field("list"), "- Rome, Italy\n- Oslo, Norway\n\nThese are all.", ["Rome, Italy", "Oslo, Norway"]),
        (field("scale", min=-2, max=2), "Answer: -1", -1),
        (field("long_text"), "It says that the answer is no.\nAnswer:\nOne line\nand another", "One line\nand another"),
        (field("long_text"), "They ask whether the answer is near.", "They ask whether the answer is near."),
        (field("question"), "<answer>Who was first?</answer>", "Who was first?"),
        (field("question"), "Question: Was Ada born in 1815?", "Question: Was Ada born in 1815?"),
        (field("long_text"), "<think>hm</think>Two lines.\nOf text.", "Two lines.\nOf text."),
        (field("long_text"), "```\n{\n  1\n}\n```", "{\n  1\n}"),
        (field("qa_pairs"), '[{"question": "Who?", "answer": "Ada"}]', [{"question": "Who?", "answer": "Ada"}]),
        (
            field("table", columns=["name", "born"]),
            'Here: [{"name": "Ada", "born": 1815}]',
            {"columns": ["name", "born"], "rows": [["Ada", "1815"]]},
        ),
    ],
)
def test_a_completion_becomes_what_a_person_would_have_stored(spec, completion, value):
    parsed = parse_answer(spec, completion)
    assert parsed.status == ParseStatus.OK
    assert get_field_type(spec.type).validate(parsed.value, spec) == value


@pytest.mark.parametrize(
    ("spec", "completion", "status"),
    [
        (field("choices", options=OPTIONS), '["Sport", "Chess"]', ParseStatus.NONE),
        (field("verdict"), "right or wrong", ParseStatus.AMBIGUOUS),
        (field("list"), "", ParseStatus.NONE),
        (field("list"), "[]", ParseStatus.NONE),
        (field("scale", min=1, max=5), "4.5", ParseStatus.NONE),
        (field("long_text"), "<think>so", ParseStatus.NONE),
        (field("long_text"), "I'm sorry, but I can't help with that.", ParseStatus.REFUSAL),
        (field("table"), "There are two of them.", ParseStatus.NONE),
        (field("qa_pairs"), "Ada", ParseStatus.NONE),
    ],
)
def test_what_is_no_answer_has_its_reason(spec, completion, status):
    parsed = parse_answer(spec, completion)
    assert (parsed.value, parsed.status) == (None, status)
    assert parsed.note
