"""Labels read out of chatty completions: what is taken, and what is left as unread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.parsing import ParseStatus, parse_label

LABELS = (("yes", "Yes"), ("no", "No"), ("unsure", "Not sure enough"))
LETTERS = (("a", "A"), ("b", "B"), ("c", "C"))
OK, REFUSAL, AMBIGUOUS, NONE = ParseStatus.OK, ParseStatus.REFUSAL, ParseStatus.AMBIGUOUS, ParseStatus.NONE


def read(text: str, labels=LABELS, language: str = "en") -> str | ParseStatus:
    """The value, or why there is none."""
    parsed = parse_label(text, labels, language)
    assert (parsed.value is not None) == (parsed.status == OK)
    assert parsed.note
    return parsed.status if parsed.value is None else parsed.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("No", "no"),
        (" **Yes!**", "yes"),
        ("yes, because no source says otherwise", "yes"),
        ("NOT SURE ENOUGH.", "unsure"),
        ("No, yes would be wrong.", "no"),
        ("no no no", "no"),
        ("Yes. Yes!", "yes"),
        ("Yes.\n\nNo evidence speaks against it.", "yes"),
        ("The claim is false.", "no"),
        ("“Yes”", "yes"),
        ("Ｙｅｓ", "yes"),
    ],
)
def test_a_label_is_read(text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("At first I thought yes.\nAnswer: No", "no"),
        ("**Final Answer**: Yes\n\nSome say no.", "yes"),
        ("The final answer is **not sure enough**.", "unsure"),
        ("My verdict is no", "no"),
        ("Answer:\nNo", "no"),
        ("Answer: No\n\nExplanation of this answer: the tower is taller.", "no"),
        ("Respuesta: sí", "yes"),
        ("答案是：不正确", "no"),
        ("उत्तर: हाँ", "yes"),
    ],
)
def test_what_follows_the_last_marker_counts(text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "No", "why": "yes is wrong"}', "no"),
        ('```json\n{"reason": "yes?", "label": "not sure enough"}\n```', "unsure"),
        ('{"answer": false}', "no"),
        ("{'answer': 'yes'}", "yes"),
        ('{"answer": "y\\u0065s"}', "yes"),
        (r"so \boxed{\text{No}}", "no"),
        (r"yes... \boxed{no}", "no"),
        ('{"answer": "no", "why": "cut off in the mid', "no"),
    ],
)
def test_json_and_boxes_are_opened(text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<think>Surely yes.</think>No", "no"),
        ("yes? no? yes!</think>\nNo", "no"),  # the prompt had opened the block
        ("<THINK>yes <think>yes</think> yes</THINK> no", "no"),
        ("<reasoning>yes</reasoning><think>yes</think>no", "no"),
    ],
)
def test_reasoning_is_not_the_answer(text, value):
    assert read(text) == value


def test_reasoning_that_was_cut_off_leaves_no_answer():
    parsed = parse_label("<think>The answer is yes, or", LABELS)
    assert (parsed.status, parsed.note) == (NONE, "the reasoning was cut off")


def test_a_question_that_the_model_asks_itself_is_not_answered_for_it():
    assert read("No\n\nQuestion: Is Rome in Italy?\nAnswer: Yes") == "no"
    assert read("Question: Is Paris in Italy?\nAnswer: No") == "no"
    assert read("Let me repeat it.\nQuestion: Is Paris in Italy?\nAnswer: No") == "no"


@pytest.mark.parametrize("text", ["[ ] Yes\n[x] No", "- [ ] Yes\n- [X] No\n- [ ] Not sure enough", "Yes\n☑ No"])
def test_the_ticked_label_counts(text):
    assert read(text) == "no"


def test_two_ticks_are_ambiguous():
    assert read("[x] Yes\n[x] No") == AMBIGUOUS


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot answer this question. Yes or no would be harmful.",
        "As an AI language model, I cannot have opinions.",
        "Final answer: I won't answer that.",
        "I’m not able to assist with this.",
        "抱歉，我无法回答这个问题。",
        "Lo siento, no puedo responder.",
    ],
)
def test_refusals_are_told_apart(text):
    assert read(text) == REFUSAL


def test_a_label_with_an_apology_is_not_a_refusal():
    assert read("No. I'm sorry, but I cannot verify that.") == "no"


@pytest.mark.parametrize(
    "text",
    [
        "Yes and no.",
        "yes/no",
        "Yes, No or Not sure enough",
        "Yes, No, Not sure enough",
        "yes\nno",
        "Yes. No.",
        "yes, or no",
        "Yes; no",
        "**Yes**\n\n(No)",
        "Answer: yes\nno",
        "It could be yes or no.",
        "Answer: Yes or No",
        "The answer is not yes.",
        "It isn't false.",
        "It is not true.",
    ],
)
def test_two_labels_or_a_negated_one_are_ambiguous(text):
    assert read(text) == AMBIGUOUS


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "It depends.",
        "Norway is in Europe.",
        "No. 5 Downing Street",
        "There is no evidence for this.",
        "No evidence was found.",
        "This is a yes/no question.",
        "巴黎是法国的首都",
        "The correct answer depends on the source.",
    ],
)
def test_what_is_no_answer_is_left_unread(text):
    assert read(text) == NONE


def test_longer_labels_are_not_taken_for_shorter_ones():
    assert read("I am not sure.") == "unsure"
    labels = (("t", "True"), ("mt", "Mostly true"), ("mf", "Mostly false"))
    assert read("The claim is mostly true", labels) == "mt"
    assert read("Mostly false.", labels) == "mf"


@pytest.mark.parametrize(
    ("text", "value"), [("B", "b"), ("(b)", "b"), ("B. Paris", "b"), ("The answer is (c).", "c"), ("Answer: A\n", "a")]
)
def test_a_letter_is_read_where_it_stands_as_a_label(text, value):
    assert read(text, LETTERS) == value


@pytest.mark.parametrize("text", ["A dog is no cat.", "It was a b-side", "C’est la vie"])
def test_a_letter_inside_a_sentence_is_no_label(text):
    assert read(text, LETTERS) == NONE


def test_values_and_captions_are_both_recognised():
    labels = (("SUPPORTS", "The source supports it"), ("REFUTES", "The source refutes it"))
    assert read("refutes", labels) == "REFUTES"
    assert read("I think the source supports it.", labels) == "SUPPORTS"


def test_words_of_other_languages_count_where_they_mean_nothing_else():
    assert read("нет") == "no"
    assert read("Oui, bien sûr.") == "yes"
    assert read("si") == NONE
    assert read("si", language="es-MX") == "yes"


def test_two_labels_of_one_meaning_have_no_synonyms():
    labels = (("y", "Yes"), ("t", "True"), ("n", "No"))
    assert read("true", labels) == "t"
    assert read("yep", labels) == NONE
    assert read("nope", labels) == "n"


def test_there_must_be_labels():
    with pytest.raises(ValueError, match="at least one label"):
        parse_label("yes", ())


@given(st.text(max_size=200))
def test_whatever_comes_in_a_value_is_a_declared_label(text):
    assert parse_label(text, LABELS).value in {None, "yes", "no", "unsure"}


@given(
    st.sampled_from(LABELS), st.sampled_from(["{}", "{}.", "**{}**", "Answer: {}", "<think>x</think>{}", "\n {} \n"])
)
def test_a_label_is_read_in_every_common_wrapping(label, wrapping):
    value, caption = label
    assert read(wrapping.format(caption)) == value
    assert read(wrapping.format(caption.upper())) == value
