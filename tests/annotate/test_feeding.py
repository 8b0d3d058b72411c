"""What an answer becomes in the next stage, by a recipe."""

from __future__ import annotations

import pytest

from annotate.exceptions import RecipeInvalid
from annotate.feeding import NewItem, Recipe

REWRITE = Recipe.from_json(
    {
        "content": [["question", "answer.question"], ["claim", "item.claim"]],
        "gold": [["label", "answer.label"]],
        "strata": [["label", "answer.label"]],
    }
)
PAIRS = Recipe.from_json(
    {
        "each": "pairs",
        "content": [["question", "each.question"], ["table", "item.table"]],
        "gold": [["answer", "each.answer"]],
    }
)


def test_one_answer_becomes_one_item():
    made = REWRITE.new_items({"question": "Is it wet?", "label": "yes"}, [["claim", "It is wet."]])
    content = [["question", "Is it wet?"], ["claim", "It is wet."]]
    assert made == [NewItem(0, content, gold={"label": ["yes"]}, strata=[["label", "yes"]])]


def test_each_entry_of_a_list_becomes_an_item():
    pairs = [{"question": "When?", "answer": "1999"}, {"question": "Who?", "answer": "Ann"}]
    made = PAIRS.new_items({"pairs": pairs}, [["table", [["Born", "1970"]]]])
    assert [(one.position, one.content[0][1], one.gold["answer"]) for one in made] == [
        (0, "When?", ["1999"]),
        (1, "Who?", ["Ann"]),
    ]
    assert all(one.content[1] == ["table", [["Born", "1970"]]] for one in made)


def test_what_is_not_there_is_left_out():
    made = REWRITE.new_items({"question": "Is it wet?", "label": None}, [])
    assert made == [NewItem(0, [["question", "Is it wet?"]], gold={}, strata=[])]
    assert PAIRS.new_items({"pairs": None}, []) == []
    assert PAIRS.new_items({}, []) == []


def test_a_gold_list_is_a_list_of_acceptable_answers():
    recipe = Recipe.from_json({"content": [["q", "answer.q"]], "gold": [["a", "answer.a"]]})
    assert recipe.new_items({"q": "?", "a": ["1", "one"]}, [])[0].gold == {"a": ["1", "one"]}


def test_an_answer_that_does_not_meet_a_condition_becomes_nothing():
    recipe = Recipe.from_json({"when": [["decision", ["accept", "edit"]]], "content": [["q", "answer.q"]]})
    assert recipe.new_items({"decision": "drop", "q": "?"}, []) == []
    assert recipe.new_items({"q": "?"}, []) == []
    assert len(recipe.new_items({"decision": "edit", "q": "?"}, [])) == 1


def test_without_content_the_item_itself_goes_on():
    assert not Recipe.from_json({}).makes_items
    assert not Recipe.from_json({"when": [["decision", ["accept"]]]}).makes_items
    assert Recipe.from_json({"when": [["decision", ["accept"]]]}).admits({"decision": "accept"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"contents": []}, "no part called 'contents'"),
        ({"content": "question"}, "list of pairs"),
        ({"content": [["question"]]}, "list of pairs"),
        ({"content": [["question", 3]]}, "list of pairs"),
        ({"content": [["question", "question"]]}, "none of answer.FIELD"),
        ({"content": [["question", "gold.label"]]}, "none of answer.FIELD"),
        ({"content": [["question", "answer."]]}, "none of answer.FIELD"),
        ({"content": [["question", "each.question"]]}, "no field is named in “each”"),
        ({"content": [["q", "answer.q"], ["q", "item.q"]]}, "'q' twice"),
        ({"each": 3}, "name of a field"),
        ({"each": "pairs"}, "must say what their content is"),
        ({"gold": [["label", "answer.label"]]}, "must say what their content is"),
        ({"when": [["decision", "accept"]]}, "list of its values"),
        ({"when": {"decision": ["accept"]}}, "list of its values"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(data, said):
    with pytest.raises(RecipeInvalid, match=said):
        Recipe.from_json(data)
