"""Which item a record is about, by id, content and text, and what is never guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.sources.mapping import hash_content
from evaluation.clients.logs import Found, ItemIndex, LogRecord

TABLE = {"type": "grid", "columns": ["a"], "rows": [["1"]]}


def record(external_id: str | None = None, **fields: Any) -> LogRecord:
    return LogRecord(number=1, line=1, external_id=external_id, **fields)


def index(*items: tuple[str, list[list[Any]]], shown: tuple[str, ...] = ("question",)) -> ItemIndex:
    found = ItemIndex(shown)
    for external_id, content in items:
        found.add(external_id=external_id, content=content, content_hash=hash_content(content))
    return found


ICE, FIRE = [["question", "Is ice cold?"]], [["question", "Is fire cold?"]]
TWO = index(("q1", ICE), ("q2", FIRE))


def test_an_id_is_enough_where_the_log_says_nothing_else():
    assert TWO.find(record("q2")) == Found(1, "id", is_checked=False)
    assert TWO.find(record("q2", fields={"split": "test"})).item == 1


@pytest.mark.parametrize(
    "evidence",
    [
        {"content_hash": hash_content(FIRE)},
        {"fields": {"question": "Is fire cold?", "split": "test"}},
        {"fields": {"question": "is  fire\ncold?"}},
        {"texts": ("Answer with yes or no.\n\nIS FIRE COLD?\nAnswer:",)},
    ],
)
def test_an_id_is_checked_against_what_was_asked(evidence):
    assert TWO.find(record("q2", **evidence)) == Found(1, "id")


@pytest.mark.parametrize(
    "evidence",
    [
        {"content_hash": hash_content([["question", "Is fire hot?"]])},
        {"fields": {"question": "Is fire hot?"}},
        {"texts": ("Is fire hot?",)},
    ],
)
def test_an_id_with_another_content_is_changed(evidence):
    assert TWO.find(record("q2", **evidence)) == Found(1, "id", changed=True)


@pytest.mark.parametrize(
    ("evidence", "how"),
    [
        ({"content_hash": hash_content(ICE)}, "hash"),
        ({"fields": {"question": "Is ice cold?", "answer": "yes"}}, "hash"),
        ({"fields": {"question": "is ice cold?"}}, "text"),
        ({"texts": ("  Is ICE cold?",)}, "text"),
    ],
)
def test_the_content_tells_the_item_without_an_id_and_against_a_wrong_one(evidence, how):
    """Many programs count from 1: such an id may well be that of another item."""
    for external_id in (None, "17", "q2"):
        assert TWO.find(record(external_id, **evidence)) == Found(0, how)


def test_a_prompt_with_more_in_it_is_no_text_of_an_item():
    """It may have other items in it as exemplars, so without an id it tells nothing."""
    found = TWO.find(record(None, texts=("Is ice cold? Yes.\nIs fire cold?",)))
    assert (found.item, found.reason) == (None, "no item of the set has this id, and none this content")


def test_equal_contents_are_told_apart_by_their_ids_only():
    twins = index(("q1", ICE), ("q2", ICE))
    assert twins.find(record("q2", texts=("Is ice cold?",))) == Found(1, "id")
    for evidence in ({"texts": ("Is ice cold?",)}, {"fields": {"question": "Is ice cold?"}}):
        found = twins.find(record("elsewhere", **evidence))
        assert found.item is None
        assert "several items have this content" in found.reason


def test_one_question_to_two_tables_is_told_apart_by_the_whole_content():
    other = TABLE | {"rows": [["2"]]}
    tables = index(("q1", [*ICE, ["table", TABLE]]), ("q2", [*ICE, ["table", other]]), shown=("question", "table"))
    assert tables.find(record(None, texts=("Is ice cold?",))).item is None
    assert tables.find(record(None, fields={"question": "Is ice cold?", "table": other})) == Found(1, "hash")


def test_items_without_a_headline_are_known_by_id_and_content():
    bare = index(("q1", [["table", TABLE]]), shown=("table",))
    assert bare.find(record("q1", texts=("whatever",))) == Found(0, "id", is_checked=False)
    assert bare.find(record(None, fields={"table": TABLE})) == Found(0, "hash")


def test_what_is_known_in_no_way_has_no_item():
    assert TWO.find(record(None)).item is None
    assert TWO.find(record("q9", fields={"question": "Is \ud800 cold?"}, content_hash="0" * 64)).item is None


@given(st.lists(st.text(min_size=1, max_size=5), unique=True, min_size=1, max_size=8))
def test_every_item_is_found_by_its_own_id_and_by_its_own_content(ids):
    items = [(name, [["question", f"Question {n}?"], ["n", n]]) for n, name in enumerate(ids)]
    found = index(*items)
    for n, (name, content) in enumerate(items):
        assert found.find(record(name)).item == n
        assert found.find(record(None, fields=dict(content))) == Found(n, "hash")
