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
        "I won't be able to answer that question.",
        "I do not feel comfortable answering this.",
        "很抱歉，我無法回答。",
        "Ich kann diese Frage leider nicht beantworten.",
        "Je ne peux pas répondre à cette question.",
        "عذرًا، لا يمكنني الإجابة على هذا السؤال.",
        "عذراً، لا أستطيع المساعدة في ذلك.",
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
        "(Yes) and (No)",
        "Yes: 0.2, No: 0.8",
        "نعم ولا",
        "ni oui ni non",
        "不是错误的",  # it is not wrong
        "不是不正确",
    ],
)
def test_two_labels_or_a_negated_one_are_ambiguous(text):
    assert read(text) == AMBIGUOUS


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("There is no evidence that this claim is true.", "en"),
        ("It is unclear whether this is true.", "en"),
        ("If true, it would be news.", "en"),
        ("I cannot confirm that this is true.", "en"),
        ("I don't think it is false.", "en"),
        ("I doubt that it is true.", "en"),
        ("It is unlikely to be true.", "en"),
        ("That is not entirely true.", "en"),
        ("This is only partially true.", "en"),
        ("没有证据表明这是正确的。", "zh"),
        ("这不完全正确。", "zh"),
        ("这个说法不是错误的。", "zh"),
        ("Es ist unklar, ob das wahr ist.", "de"),
        ("Es gibt keine Beweise, dass das wahr ist.", "de"),
        ("Il n'y a pas de preuve que ce soit vrai.", "fr"),
        ("No hay pruebas de que sea verdadero.", "es"),
    ],
)
def test_a_label_that_its_sentence_denies_or_leaves_open_is_ambiguous(text, language):
    assert read(text, language=language) == AMBIGUOUS


@pytest.mark.parametrize(
    "text", ["The tower is not in Rome, so the claim is false.", "It was never built. The claim is false."]
)
def test_what_is_denied_before_a_comma_denies_no_label(text):
    assert read(text) == "no"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("No se puede determinar.", "es"),
        ("Não há provas disso.", "pt"),
        ("Non è chiaro.", "it"),
        ("Нет данных об этом.", "ru"),
        ("لا توجد معلومات عن ذلك.", "ar"),
        ("لا يمكن تحديد ذلك.", "ar"),
        ("是否正确很难说。", "zh"),
    ],
)
def test_a_no_that_says_not_is_no_label(text, language):
    assert read(text, language=language) == NONE


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("不，这不正确。", "zh", "no"),
        ("这个说法是正确的。", "zh", "yes"),
        ("我不确定。", "zh", "unsure"),
        ("Nein, das stimmt nicht.", "de", "no"),
        ("Die Antwort lautet: Ja", "de", "yes"),
        ("Das weiß ich nicht sicher; nicht sicher.", "de", "unsure"),
        ("Non, c'est faux.", "fr", "no"),
        ("La réponse est : oui", "fr", "yes"),
        ("Je ne suis pas sûre.", "fr", "unsure"),
        ("No, no es cierto.", "es", "no"),
        ("La respuesta es sí.", "es", "yes"),
        ("No hay suficiente información.", "es", "unsure"),
        ("لا، هذا غير صحيح.", "ar", "no"),
        ("الجواب هو لا", "ar", "no"),
        ("\u200fنعم.\u200f", "ar", "yes"),
        ("لست متأكدًا", "ar", "unsure"),
        ("Non lo so.", "it", "unsure"),
    ],
)
def test_labels_in_other_languages(text, language, value):
    assert read(text, language=language) == value


@pytest.mark.parametrize(
    "text", ["No<|im_end|>", "No<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nYes?", "No</s>"]
)
def test_what_follows_the_end_of_a_turn_is_nobodys_answer(text):
    assert read(text) == "no"


@pytest.mark.parametrize(
    "text", ["<answer>No</answer>", "Maybe yes.\n<answer>\nNo\n</answer>", "## Answer\nNo", "**Answer**\n\nNo"]
)
def test_tags_and_headings_are_markers(text):
    assert read(text) == "no"


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
    ("text", "value"),
    [
        ("B", "b"),
        ("(b)", "b"),
        ("B. Paris", "b"),
        ("The answer is (c).", "c"),
        ("Answer: A\n", "a"),
        ("The correct option is (B).", "b"),
        ("Option C", "c"),
        ("The answer is A, not B.", "a"),
        ("Answer is B because A is not", "b"),
    ],
)
def test_a_letter_is_read_where_it_stands_as_a_label(text, value):
    assert read(text, LETTERS) == value


@pytest.mark.parametrize("text", ["A dog is no cat.", "It was a b-side", "C’est la vie"])
def test_a_letter_inside_a_sentence_is_no_label(text):
    assert read(text, LETTERS) == NONE


@pytest.mark.parametrize("text", ["(A) and (B)", "A and B are right.", "A or B", "A, B", "A\nB", "Answer: A/B"])
def test_two_letters_are_ambiguous(text):
    assert read(text, LETTERS) == AMBIGUOUS


POINTS = tuple((str(point), str(point)) for point in range(-2, 3))
TEN = tuple((str(point), str(point)) for point in range(1, 11))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", "-1"),
        ("Answer: −2", "-2"),
        ("Rating: **-1**", "-1"),
        ("2", "2"),
        ("Score: 2/2", "2"),
        ("Answer: 0.", "0"),
    ],
)
def test_a_point_keeps_its_sign(text, value):
    assert read(text, POINTS) == value


@pytest.mark.parametrize(("text", "value"), [("7/10", "7"), ("7 out of 10", "7"), ("Rating: 10", "10"), ("10.", "10")])
def test_a_point_out_of_the_last_one(text, value):
    assert read(text, TEN) == value


@pytest.mark.parametrize("text", ["4.5", "Answer: 4,5", "3/5", "-4", "It is 10 km away. 4", "10 people said so", "11"])
def test_other_numbers_are_no_points(text):
    assert read(text, TEN) in {NONE, AMBIGUOUS}


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
