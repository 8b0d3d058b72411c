"""The chats that the strategies write."""

import json
from dataclasses import fields, replace

import pytest
from jinja2 import UndefinedError
from jinja2.exceptions import SecurityError

from evaluation.prompts import (
    STRATEGIES,
    ChatTemplate,
    Exemplar,
    Option,
    PromptInput,
    default_template,
    fingerprint,
    render,
)
from evaluation.prompts.strategies import StrategyInputError

LABEL = PromptInput(
    content=[["claim", "Water is wet."], ["source", "two\nlines"]],
    caption="Is it true?",
    kind="label",
    options=(Option("yes", "Yes"), Option("no", "No")),
)
SHORT = PromptInput(
    content=[
        ["table", {"type": "table", "title": "Ada", "sections": [["", [["Born", "1901"]]]]}],
        ["question", "When?"],
    ],
    caption="Your answer, in a few words",
    kind="short_answer",
    current_date="May 2024",
)


def test_zero_shot_asks_a_label_question():
    system, user = render("zero_shot", LABEL)
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"] == ("claim: Water is wet.\nsource:\ntwo\nlines\n\nIs it true?\nAnswer with one of: Yes / No")


def test_zero_shot_asks_for_a_short_answer_with_the_current_date_in_the_table():
    assert render("zero_shot", SHORT)[-1]["content"] == (
        "table:\nTitle: Ada # Current Date: May 2024 # Born: 1901\nquestion: When?\n\nYour answer, in a few words"
    )


def test_few_shot_shows_each_exemplar_as_an_answered_question():
    exemplars = (Exemplar([["claim", "Fire is cold."]], "No"), Exemplar([["claim", "Ice is cold."]], "Yes"))
    chat = render("few_shot", replace(LABEL, exemplars=exemplars))
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [chat[2]["content"], chat[4]["content"]] == ["No", "Yes"]
    assert chat[1]["content"].startswith("claim: Fire is cold.\n\nIs it true?")
    # The last question is the one that zero-shot asks: the strategies differ in the exemplars alone.
    assert [chat[0], chat[-1]] == render("zero_shot", LABEL)


def test_few_shot_without_exemplars_is_refused():
    with pytest.raises(StrategyInputError):
        render("few_shot", LABEL)


def test_item_text_is_never_template_source():
    hostile = "{{ 7 * 7 }} {% for x in range(9) %}!{% endfor %} {# gone #} <b>&amp;</b>"
    prompt = PromptInput(content=[[hostile, hostile]], caption=hostile, kind="short_answer")
    assert render("zero_shot", prompt)[-1]["content"] == f"{hostile}: {hostile}\n\n{hostile}"


def test_there_is_no_place_for_the_gold_of_the_item():
    assert {field.name for field in fields(PromptInput)} == {
        "content",
        "caption",
        "kind",
        "options",
        "answer_form",
        "current_date",
        "language",
        "exemplars",
    }


def test_a_template_that_asks_for_what_it_is_not_given_fails_rather_than_leaves_a_gap():
    with pytest.raises(UndefinedError):
        render("zero_shot", LABEL, ChatTemplate(system="", user="The answer is {{ gold }}."))


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ parts.append(1) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(parts) }}",
    ],
)
def test_a_template_reaches_no_python_insides_and_changes_nothing(source):
    with pytest.raises(SecurityError):
        render("zero_shot", LABEL, ChatTemplate(system="", user=source))


def test_an_empty_system_template_gives_no_system_message():
    chat = render("zero_shot", LABEL, ChatTemplate(system="", user="{{ caption }}"))
    assert chat == [{"role": "user", "content": "Is it true?"}]


@pytest.mark.parametrize("prompt", [LABEL, replace(SHORT, exemplars=(Exemplar([["q", None]], "1901"),), language="de")])
def test_an_input_survives_the_way_to_the_child(prompt):
    back = PromptInput.from_json(json.loads(json.dumps(prompt.to_json())))
    assert render("zero_shot", back) == render("zero_shot", prompt)
    assert back == prompt


@pytest.mark.parametrize(("kind", "options"), [("label", ()), ("short_answer", (Option("yes", "Yes"),))])
def test_options_belong_to_labels(kind, options):
    with pytest.raises(ValueError, match="options"):
        PromptInput(content=[], caption="?", kind=kind, options=options)


def test_the_fingerprint_tells_strategies_and_wordings_apart_and_nothing_else():
    label, short = default_template("label"), default_template("short_answer")
    prints = {fingerprint(name, template) for name in STRATEGIES for template in (label, short)}
    assert len(prints) == 2 * len(STRATEGIES)
    assert fingerprint("zero_shot", label) == fingerprint("zero_shot", ChatTemplate.from_json(label.to_json()))
    assert fingerprint("zero_shot", replace(label, system=label.system + " ")) not in prints
