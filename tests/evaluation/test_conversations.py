"""What is asked after each reply, and what the replies come to: plain values, no rows, no server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotate.answers import FieldSpec, fields_from_json
from evaluation.clients.base import ClientError, Completion, ErrorKind
from evaluation.conversations import Ask, Item, Reading, Reply, ended_by_error, following, read
from evaluation.prompts import STRATEGIES, Exemplar, Option, PromptInput, default_wording, render
from evaluation.prompts.inputs import is_reply
from evaluation.strategies import STRATEGIES as FACTS
from tests.factories import YES_NO

(LABEL,) = fields_from_json(YES_NO)


def label_item(strategy: str, n_steps: int = 1) -> Item:
    prompt = PromptInput(
        content=[["question", "Is water wet?"]],
        caption=LABEL.caption,
        kind="label",
        options=tuple(Option(option.value, option.caption) for option in LABEL.options),
    )
    return Item("one", LABEL, prompt, render(strategy, prompt), FACTS[strategy].kind, n_steps)


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


def test_plan_and_solve_differs_from_chain_of_thought_in_its_cue_alone():
    planned, thought = label_item("plan_and_solve"), label_item("zero_shot_cot")
    assert "devise a plan" in turns(after(planned))[-1][1]
    assert turns(after(planned))[0] == turns(after(thought))[0]
    assert turns(after(planned, "1. Look."))[2:] == turns(after(thought, "1. Look."))[2:]


def test_refinement_reads_the_answer_that_comes_after_the_judgement():
    item = label_item("self_refine")
    judged = turns(after(item, "Yes"))
    assert judged[2] == ("assistant", "Yes")
    assert judged[3][1].startswith("Check this answer")
    last = turns(after(item, "Yes", "It is wrong: no."))
    assert last[:4] == judged
    assert last[5][1].startswith("In the light of this, the answer is one of: Yes / No / Not sure enough")
    ended = after(item, "Yes", "It is wrong: no.", "No")
    assert isinstance(ended, Reading)
    assert ended.answer == {"label": "no"}


# Votes


def test_samples_are_asked_the_same_until_there_are_enough():
    item = label_item("self_consistency", 3)
    asked = [after(item, *["Answer: Yes"] * n) for n in range(3)]
    assert [step.draw for step in asked if isinstance(step, Ask)] == [0, 1, 2]
    assert len({str(turns(step)) for step in asked}) == 1
    assert turns(asked[0])[-1][1].endswith("Then write “Answer:” and one of: Yes / No / Not sure enough")


@pytest.mark.parametrize(
    ("samples", "state", "answer", "told"),
    [
        (["Yes"] * 3, "answered", "yes", "Vote of 3 samples, unanimous: Yes 3"),
        (["Yes", "No", "Yes"], "answered", "yes", "Vote of 3 samples, majority (more than half): Yes 2, No 1"),
        (
            ["No", "Yes", "Not sure enough", "No", "?"],
            "answered",
            "no",
            # Half of the votes that there are, and not more: what said nothing has no vote.
            "Vote of 5 samples, plurality (the most, not more than half): No 2, Not sure enough 1, Yes 1; "
            "without a vote: 1 unparsed",
        ),
        (["No", "Yes"], "tied", None, "Vote of 2 samples, tie (nobody wins): No 1, Yes 1"),
        (["?", ""], "unparsed", None, "Vote of 2 samples, no votes: –; without a vote: 1 unparsed, 1 empty"),
        (["", ""], "empty", None, "Vote of 2 samples, no votes: –; without a vote: 2 empty"),
    ],
)
def test_the_answer_of_most_samples_wins_and_a_tie_is_told(samples, state, answer, told):
    completions = [f"I think so. Answer: {text}" if text not in ("", "?") else text for text in samples]
    ended = after(label_item("self_consistency", len(samples)), *completions)
    assert isinstance(ended, Reading)
    assert (ended.state, ended.note) == (state, told)
    assert ended.answer == (None if answer is None else {"label": answer})


def test_short_answers_that_mean_the_same_vote_together():
    (field,) = fields_from_json([{"name": "answer", "type": "text", "caption": "How long?", "decides": True}])
    prompt = PromptInput(content=[], caption="How long?", kind="short_answer")
    item = Item("one", field, prompt, render("self_consistency", prompt), "votes", 3)
    ended = after(item, "Answer: 12 months", "Answer: two weeks", "Answer: one year")
    assert isinstance(ended, Reading)
    # By the keys that count people's votes; the first of the equal ones is the answer.
    assert (ended.state, ended.answer) == ("answered", {"answer": "12 months"})
    assert "12 months 2, two weeks 1" in ended.note


def test_exemplars_of_a_vote_show_their_answers_in_the_form_that_is_asked_for():
    prompt = PromptInput(
        content=[["claim", "Water is wet."]],
        caption="Is it true?",
        kind="label",
        options=(Option("yes", "Yes"), Option("no", "No")),
        exemplars=(Exemplar([["claim", "Ice is hot."]], "No"),),
    )
    chat = render("self_consistency", prompt)
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "user"]
    assert chat[2]["content"] == "Answer: No"


# Rounds

TABLE = {"name": "rows", "type": "table", "caption": "Which cities?", "decides": True, "columns": ["city", "people"]}
ONE, TWO, THREE = (
    '[{"city": "Ulm", "people": 128}]',
    '[{"city": "Jena", "people": 110}]',
    '[{"city": "ulm ", "people": 128}]',
)
BROKEN = "Here they are: city Ulm"


def table_item(n_steps: int = 10, **fields: Any) -> Item:
    (field,) = fields_from_json([TABLE | fields])
    prompt = PromptInput(
        content=[["question", "Which cities?"]], caption="Which cities?", kind="structured", answer_form="As JSON."
    )
    return Item("one", field, prompt, render("until_empty", prompt), "rounds", n_steps)


def rows(ended: Ask | Reading) -> list[list[Any]]:
    assert isinstance(ended, Reading)
    assert ended.state == "answered"
    assert ended.answer is not None
    found: list[list[Any]] = ended.answer["rows"]["rows"]
    return found


def test_more_rows_are_asked_for_with_all_that_was_said():
    item = table_item()
    first = turns(after(item))
    assert [role for role, _ in first] == ["system", "user"]
    second = turns(after(item, ONE))
    assert second[:2] == first
    assert second[2] == ("assistant", ONE)
    assert second[3][1].startswith("List more rows if there are more")
    third = turns(after(item, ONE, TWO))
    assert third[:4] == second
    assert third[4:] == [("assistant", TWO), second[3]]


@pytest.mark.parametrize(
    "empty", ["[]", "{}", "```json\n[]\n```", "```\n{ }\n```", '{"rows": []}', "<think>No.</think>[]"]
)
def test_an_empty_json_in_whatever_dress_ends_the_rounds(empty: str):
    ended = after(table_item(), ONE, TWO, empty)
    assert rows(ended) == [["Ulm", "128"], ["Jena", "110"]]
    assert isinstance(ended, Reading)
    assert ended.note == "Rows: 2. Rounds: 3. Ended by: an empty table"
    # From the beginning it is the answer: nothing fits.
    assert rows(after(table_item(), empty)) == []


def test_rows_that_were_given_are_not_repeated_and_nothing_but_them_ends_the_rounds():
    ended = after(table_item(), ONE, f"{TWO[:-1]}, {THREE[1:]}", THREE)
    assert rows(ended) == [["Ulm", "128"], ["Jena", "110"]]
    assert isinstance(ended, Reading)
    assert ended.note == "Rows: 2. Rounds: 3. Repeated rows left out: 2. Ended by: repeated rows only"
    # What one reply says twice it may mean: a result can have equal rows.
    assert rows(after(table_item(), f"{ONE[:-1]}, {ONE[1:]}", "[]")) == [["Ulm", "128"], ["Ulm", "128"]]


def test_the_limit_of_rounds_ends_them():
    assert isinstance(after(table_item(2), ONE), Ask)
    ended = after(table_item(2), ONE, TWO)
    assert rows(ended) == [["Ulm", "128"], ["Jena", "110"]]
    assert isinstance(ended, Reading)
    assert ended.note.endswith("Ended by: the limit of rounds")


def test_what_cannot_be_read_is_asked_for_once_more_and_then_counts_as_no_rows():
    item = table_item()
    asked = turns(after(item, ONE, BROKEN))
    assert asked[-2:] == [
        ("assistant", BROKEN),
        (
            "user",
            "That cannot be read as JSON. Give the same rows once more, as one valid JSON array and nothing else.",
        ),
    ]
    mended = turns(after(item, ONE, BROKEN, TWO))
    assert mended[-1][1].startswith("List more rows")
    # A second chance for each round that needs one.
    assert isinstance(after(item, BROKEN, ONE, BROKEN), Ask)
    ended = after(item, ONE, BROKEN, BROKEN)
    assert rows(ended) == [["Ulm", "128"]]
    assert isinstance(ended, Reading)
    assert ended.note.endswith("Ended by: a reply that could not be read, asked for twice")


@pytest.mark.parametrize(
    ("completion", "state"),
    [
        (Completion(BROKEN), "unparsed"),
        (Completion(""), "empty"),
        (Completion("The cit", finish_reason="length"), "cut_off"),
    ],
)
def test_a_first_round_that_cannot_be_read_twice_is_told_by_its_name(completion: Completion, state: str):
    assert isinstance(after(table_item(), completion), Ask)
    ended = after(table_item(), completion, completion)
    assert isinstance(ended, Reading)
    assert (ended.state, ended.answer) == (state, None)


def test_an_empty_reply_is_asked_for_anew_without_an_empty_turn():
    item = table_item()
    assert turns(after(item, Completion(""))) == turns(after(item))


def test_of_a_reply_that_was_cut_off_the_whole_rows_are_kept_and_more_are_asked_for():
    cut = Completion('[{"city": "Ulm", "people": 128}, {"city": "Je', finish_reason="length")
    assert turns(after(table_item(), cut))[-1][1].startswith("List more rows")
    assert rows(after(table_item(), cut, "[]")) == [["Ulm", "128"]]


def test_a_refusal_ends_the_rounds_and_is_one_if_nothing_came_before():
    refusal = "I'm sorry, but I can't help with that."
    ended = after(table_item(), refusal)
    assert isinstance(ended, Reading)
    assert ended.state == "refused"
    assert rows(after(table_item(), ONE, refusal)) == [["Ulm", "128"]]


def test_how_many_rows_the_form_wants_is_asked_of_all_rounds_together():
    assert rows(after(table_item(min=2), ONE, TWO, "[]"))
    ended = after(table_item(min=2), ONE, "[]")
    assert isinstance(ended, Reading)
    assert ended.state == "unparsed"
    assert "at least 2 rows" in ended.note


def test_columns_that_nobody_declared_are_those_of_the_first_rows():
    (field,) = fields_from_json([{key: value for key, value in TABLE.items() if key != "columns"}])
    item = replace(table_item(), field=field)
    ended = after(item, ONE, '[{"people": 110, "City": "Jena", "river": "Saale"}]', "[]")
    assert isinstance(ended, Reading)
    assert ended.answer == {"rows": {"columns": ["city", "people"], "rows": [["Ulm", "128"], ["Jena", "110"]]}}


def test_only_a_request_that_is_itself_at_fault_ends_the_rounds():
    item = table_item()
    too_long = ClientError(ErrorKind.BAD_REQUEST, "HTTP 400: too long")
    ended = ended_by_error(item, replied(item, ONE), too_long)
    assert rows(ended) == [["Ulm", "128"]]  # type: ignore[arg-type]
    assert ended is not None
    assert ended.note.endswith("Ended by: an error: HTTP 400: too long")
    assert ended_by_error(item, (), too_long) is None
    assert ended_by_error(item, replied(item, ONE), ClientError(ErrorKind.SERVER_ERROR, "down")) is None
    assert ended_by_error(label_item("zero_shot_cot"), replied(label_item("zero_shot_cot"), "So."), too_long) is None


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
    if FACTS[strategy].field_types and kind != "structured":
        return
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
        if facts.exemplars != "needed" and facts.kind == "stages":
            assert sum(is_reply(message) for message in render(name, prompt)) == len(facts.stages) - 1, name


def test_an_item_is_named_and_has_its_field_as_it_is_beside_it():
    assert isinstance(label_item("zero_shot").field, FieldSpec)
