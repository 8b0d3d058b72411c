"""No completion of 100,000 characters holds up a worker: each is read in less than 0.2 seconds."""

import pytest

from evaluation.parsing import parse_label, parse_short_answer, parse_table
from evaluation.parsing.answers import parse_list, parse_long_text
from evaluation.parsing.envelope import MAX_CHARACTERS
from tests.processor_time import processor_time

SIZE = 100_000
LIMIT = 0.2  # seconds of processor time
LABELS = (("yes", "Yes"), ("no", "No"), ("unsure", "Not sure enough"))

REPEATED = [
    *(
        " ",
        "\n",
        "a",
        "*",
        '"',
        "'",
        "\\",
        "{",
        "(",
        ".",
        "- ",
        "- a\n",
        "\u0301",
        *(
            "\u0301\u0316",
            "<answer>",
            "<answer",
            "<answer>a",
            "<|im_end|>",
            "<|",
            "a|b\n",
            "--|--\n",
            "a|b\n--|--\n",
            "[(",
            "(1,",
        ),
        *(
            "if ",
            "whether ",
            "not a ",
            "no that ",
            "no that true ",
            "doubt ",
            "doubt true ",
            "没有正确",
            "- a\n1. ",
            "a and b ",
        ),
        "\ufdfa",
        "是",
        "不正",
        "हाँ",
        "i ",
    ),
    *("no ", "nono", "yes ", "yes,", "not ", "no. ", "not sure enoug", "no evidenc", "[x] ", "[x] a\n", "[x] no\n"),
    *("answer:", "answer ", "final answer ", "question:\n", "a\nquestion:", " because", "explanation", "```", "```\n"),
    *("<think>", "</think>", "<think></think>", '"answer":"', '"answer" : ', '"answer":"\\\\', "'answer':'", '{"a":'),
    *(
        '{"',
        '{"a":1,',
        "{'",
        "[",
        "[[1],",
        "[1,",
        '[{"a":1},',
        "/*",
        "// ",
        "| a |\n",
        "a,b\n",
        "...",
        "“",
        "\\u",
        "{a:",
    ),
    *("\\boxed{", "\\boxed{\\text{", "i'm very ", "i cannot ", "sorry, but ", "as an ai "),
]
BEFORE = ["", "Answer: ", '{"answer": "', "[x] "]


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_hostile_completion_is_read_at_once(repeated):
    endless = (repeated * (SIZE // len(repeated) + 1))[:SIZE]
    for before in BEFORE:
        text = (before + endless)[:SIZE]
        assert processor_time(lambda text=text: parse_label(text, LABELS), enough=LIMIT) < LIMIT, before
        assert processor_time(lambda text=text: parse_short_answer(text), enough=LIMIT) < LIMIT, before
    assert processor_time(lambda: parse_table(endless, ("a", "b")), enough=LIMIT) < LIMIT
    assert processor_time(lambda: parse_list(endless), enough=LIMIT) < LIMIT
    assert processor_time(lambda: parse_long_text(endless), enough=LIMIT) < LIMIT


def test_an_endless_completion_is_read_at_both_ends():
    padding = "word " * MAX_CHARACTERS
    assert parse_label(f"No. {padding}", LABELS).value == "no"
    assert parse_label(f"{padding} Answer: no", LABELS).value == "no"
    assert parse_short_answer(f"{padding}\nAnswer: 1912").value == "1912"
