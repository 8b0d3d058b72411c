"""Short answers read out of chatty completions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.parsing import Parsed, ParseStatus, parse_short_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1912", "1912"),
        ("  12 months.\n", "12 months"),
        ("Answer: 1912.", "1912"),
        ("**Answer:** 1912", "1912"),
        ("**Answer: 1912**", "1912"),
        ("Final Answer: **12 months**", "12 months"),
        ("The table lists two.\nFirst guess. Answer: three\nAnswer: two", "two"),
        ("Answer:\n\n1912\n", "1912"),
        ("答案：北京。", "北京"),
        ('{"answer": "one year", "why": "12 months"}', "one year"),
        ('{"answer": ["Paris", "Rome"]}', "Paris, Rome"),
        ('```json\n{"answer": 12}\n```', "12"),
        ('{"answer": "say \\"yes\\""}', 'say "yes"'),
        (r"Thus \boxed{1912}.", "1912"),
        ("```\n1912\n```", "1912"),
        ("Here it is:\n```text\nParis\n```", "Paris"),
        ('"Paris"', "Paris"),
        ("“Paris.”", "Paris"),
        ("`12`", "12"),
        ("- Paris\n- Rome", "Paris, Rome"),
        ("1. Paris\n2. Rome", "Paris, Rome"),
        ("Here you go:\n1912", "1912"),
        ("<think>1911?</think>1912", "1912"),
        ("<answer>1912</answer>", "1912"),
        ("It was 1911?\n<answer>\n1912\n</answer>", "1912"),
        ("### Answer\n1912", "1912"),
        ("**Final Answer**\n\n1912", "1912"),
        ("1912<|im_end|>", "1912"),
        ("<|im_start|>assistant\n1912<|im_end|>\n<|im_start|>user\nThanks", "1912"),
        ("1912</s>", "1912"),
        ("The answer to the question is: 1912", "1912"),
        ("Die Antwort lautet 1912.", "1912"),
        ("La réponse est 1912.", "1912"),
        ("La respuesta es 1912.", "1912"),
        ("الجواب هو القاهرة.", "القاهرة"),
        ("答えは東京です。", "東京"),
        ("答案是1912年。", "1912年"),
        ("Answer: ```1912```", "1912"),
        ('{"answer": {"year": 1912}}', "1912"),
        ('{"answer": ["Paris", null, 7]}', "Paris, 7"),
        ("Answer:\n- Paris\n- Rome\n\nHope this helps!", "Paris, Rome"),
        ("- Paris, France\n- Rome, Italy", "Paris, France; Rome, Italy"),
        ("Paris\nRome\nOslo", "Paris, Rome, Oslo"),
    ],
)
def test_the_answer_is_read(text, answer):
    assert parse_short_answer(text).value == answer


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 1912 because the table says so.",
        "1912\n\nExplanation: the table says so.",
        "Answer: 1912. Explanation: see the table.",
        "1912 (according to the table)",
        "1912, because it was founded then",
        "1912\nThis is what the row named Founded says, and it is the only year given there.",
    ],
)
def test_an_explanation_is_cut(text):
    assert parse_short_answer(text).value == "1912"


def test_a_question_that_the_model_asks_itself_is_cut():
    assert parse_short_answer("1912\n\nQuestion: And when did it end?\nAnswer: 1930").value == "1912"
    assert parse_short_answer("Question: When?\nAnswer: 1912\n\nQ: And then?\nA: 1930").value == "1912"


@pytest.mark.parametrize(
    "answer",
    [
        *("Apple Inc.", "the U.S.", "3.5", "'s-Hertogenbosch", "Record label: Columbia", "...", "5. Mai 2012"),
        *("1. FC Köln", "10. June", "The Reason: Live", "-5"),
    ],
)
def test_what_belongs_to_the_answer_stays(answer):
    assert parse_short_answer(answer).value == answer


@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "Answer: I cannot answer this question."])
def test_refusals_are_told_apart(text):
    assert parse_short_answer(text).status == ParseStatus.REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "<think>so, 1912",
        "<think>1912</think>",
        '{"answer": null}',
        "```\n```",
        "Answer:",
        "Answer: ''",
        "Here it is:",
        '{"answer": []}',
    ],
)
def test_a_completion_without_an_answer_gives_none(text):
    assert parse_short_answer(text).status == ParseStatus.NONE


def test_of_several_lines_that_nothing_marks_none_is_guessed():
    text = (
        "To find out when the club was founded we have to look at the row named Founded in the table.\n"
        "It says 1912, while another row says 1911.\nSo it is one of them."
    )
    assert parse_short_answer(text) == Parsed(
        None, ParseStatus.AMBIGUOUS, "several lines, and nothing marks the answer"
    )


def test_a_structure_is_no_short_answer():
    for text in ('{"answer": {"from": 1912, "to": 1930}}', '{"answer": [["Paris", 1], ["Rome", 2]]}'):
        assert parse_short_answer(text).status == ParseStatus.AMBIGUOUS


@given(st.text(max_size=200))
def test_whatever_comes_in_there_is_an_answer_exactly_if_the_status_is_ok(text):
    parsed = parse_short_answer(text)
    assert bool(parsed.value) == (parsed.status == ParseStatus.OK)
    assert parsed.value is None or parsed.value == parsed.value.strip()


@given(st.from_regex(r"[a-z0-9]{1,10}( [a-z0-9]{1,10}){0,3}", fullmatch=True))
def test_an_answer_is_read_in_every_common_wrapping(answer):
    for wrapping in ("{}", "Answer: {}", '"{}"', "**{}**", "```\n{}\n```", "<think>x</think>\n{}"):
        assert parse_short_answer(wrapping.format(answer)).value in {answer, *_as_marked(answer)}


def _as_marked(answer: str) -> set[str]:
    """A generated answer such as "a because b" is itself an explanation to cut."""
    return {answer.split(" because")[0]} if " because" in answer else set()
