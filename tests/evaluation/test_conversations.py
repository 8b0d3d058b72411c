"""What is asked after each reply, and what the replies come to: plain values, no rows, no server."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.answers import FieldSpec, fields_from_json
from evaluation.clients.base import Completion
from evaluation.conversations import Ask, Item, Reading, Reply, following, read
from evaluation.prompts import STRATEGIES, Option, PromptInput, default_wording, render
from evaluation.prompts.inputs import is_reply
from evaluation.strategies import STRATEGIES as FACTS
from tests.factories import YES_NO

(LABEL,) = fields_from_json(YES_NO)


def label_item(strategy: str) -> Item:
    prompt = PromptInput(
        content=[["question", "Is water wet?"]],
        caption=LABEL.caption,
        kind="label",
        options=tuple(Option(option.value, option.caption) for option in LABEL.options),
    )
    return Item("one", LABEL, prompt, render(strategy, prompt))


def replied(item: Item, *completions: Completion | str) -> list[Reply]:
    given = [Completion(one) if isinstance(one, str) else one for one in completions]
    return [Reply(one.text, read(item, step, one)) for step, one in enumerate(given)]


def after(item: Item, *completions: Completion | str) -> Ask | Reading:
    return following(item, replied(item, *completions))


def turns(step: Ask | Reading) -> list[tuple[str, str]]:
    assert isinstance(step, Ask)
    return [(message["role"], message["content"]) for message in step.messages]


# One call


def test_a_strategy_of_one_call_ends_with_its_reply():
    item = label_item("zero_shot")
    assert turns(after(item)) == [(message["role"], message["content"]) for message in item.chat]
    assert after(item, "Yes") == Reading("answered", "in the text, at the start", {"label": "yes"})


# Two stages


def test_two_stages_ask_for_the_answer_after_the_reasoning_and_show_it_to_the_model():
    item = label_item("zero_shot_cot")
    first = turns(after(item))
    assert [role for role, _ in first] == ["system", "user"]
    assert first[-1][1].endswith("Let's think step by step.")
    second = turns(after(item, "<think>Hm.</think> Water makes things wet. No, it is no answer yet."))
    # What the model hid is not said to it again, and nothing was read from what it said.
    assert second[:3] == [*first, ("assistant", "Water makes things wet. No, it is no answer yet.")]
    assert second[3:] == [
        (
            "user",
            "Therefore, the answer is one of: Yes / No / Not sure enough\nReply with it and nothing else.",
        )
    ]
    ended = after(item, "Water makes things wet.", "Yes.")
    assert isinstance(ended, Reading)
    assert (ended.state, ended.answer) == ("answered", {"label": "yes"})


@pytest.mark.parametrize(
    ("completion", "state"),
    [
        (Completion(""), "empty"),
        (Completion("<think>Hm, and then nothing.</think>"), "empty"),
        (Completion("<think>Hm, and then", finish_reason="length"), "cut_off"),
        (Completion("", refusal="No."), "refused"),
        (Completion("Something", finish_reason="content_filter"), "refused"),
    ],
)
def test_without_reasoning_there_is_no_second_stage(completion: Completion, state: str):
    ended = after(label_item("zero_shot_cot"), completion)
    assert isinstance(ended, Reading)
    assert (ended.state, ended.answer) == (state, None)
    assert ended.note


def test_reasoning_that_was_cut_off_is_still_followed_by_the_question_for_the_answer():
    cut = Completion("Water is, as everybody", finish_reason="length")
    assert turns(after(label_item("zero_shot_cot"), cut))[2] == ("assistant", "Water is, as everybody")


def test_the_second_stage_tells_its_outcomes_apart_like_a_single_call():
    item = label_item("zero_shot_cot")
    for completion, state in (
        ("Yes and no.", "unparsed"),
        (Completion("  "), "empty"),
        (Completion("Y", finish_reason="length"), "cut_off"),
    ):
        ended = after(item, "Reasons.", completion)
        assert isinstance(ended, Reading)
        assert ended.state == state


# All strategies


def of_kind(kind: str) -> dict[str, Any]:
    own: dict[str, dict[str, Any]] = {
        "label": {"options": (Option("yes", "Yes"), Option("no", "No"))},
        "structured": {"answer_form": "Answer with one number, and nothing else."},
    }
    return {"kind": kind, **own.get(kind, {})}


@pytest.mark.parametrize("kind", ["label", "short_answer", "structured"])
@pytest.mark.parametrize("strategy", [name for name, facts in FACTS.items() if facts.exemplars != "needed"])
def test_every_strategy_asks_every_kind_of_question_in_its_own_words(strategy: str, kind: str):
    wording = default_wording(strategy, kind)  # type: ignore[arg-type]
    assert wording.system
    assert wording.user
    prompt = PromptInput(content=[["text", "canary"]], caption="What is it?", **of_kind(kind))
    chat = render(strategy, prompt)
    assert chat[-1]["role"] == "user"
    assert any("canary" in message["content"] for message in chat)
    # How to answer is said somewhere.
    wanted = {"label": "Yes / No", "short_answer": "few words", "structured": "one number"}[kind]
    assert any(wanted in message["content"] for message in chat)


def test_the_facts_of_the_strategies_are_about_the_chats_there_are():
    assert FACTS.keys() == STRATEGIES.keys()
    prompt = PromptInput(content=[], caption="?", kind="short_answer")
    for name, facts in FACTS.items():
        if facts.exemplars != "needed":
            assert sum(is_reply(message) for message in render(name, prompt)) == len(facts.stages) - 1, name


def test_an_item_is_named_and_has_its_field_as_it_is_beside_it():
    assert isinstance(label_item("zero_shot").field, FieldSpec)
