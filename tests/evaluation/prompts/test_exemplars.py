"""Exemplars share nothing with what is evaluated."""

import pytest

from evaluation.prompts.exemplars import ExemplarOverlap, Overlap, Unit, check_exemplars, folded, shown_text


def unit(name: str, *, root: str = "", text: str = "") -> Unit:
    return Unit(name=name, root=root or name, text=text or f"text of {name}")


def overlaps(exemplars: list[Unit], evaluated: list[Unit]) -> tuple[Overlap, ...]:
    with pytest.raises(ExemplarOverlap) as refusal:
        check_exemplars(exemplars, evaluated)
    return refusal.value.overlaps


def test_exemplars_that_share_nothing_pass():
    check_exemplars([unit("e1"), unit("e2")], [unit("a"), unit("b")])


def test_a_question_about_the_same_table_is_a_culprit():
    exemplar, item = unit("t1-q9", root="t1"), unit("t1-q1", root="t1")
    assert overlaps([exemplar], [item, unit("other")]) == (Overlap("t1-q9", "t1-q1", "same root"),)


@pytest.mark.parametrize("text", ["is  WATER wet", "Is water wet?", "Ｉｓ water\nwet ?!"])
def test_the_same_text_under_another_name_is_a_culprit(text):
    assert overlaps([unit("e", text="Is water wet?")], [unit("a", text=text)]) == (Overlap("e", "a", "same text"),)


def test_every_culprit_is_listed_once_and_the_message_shows_the_first_five():
    evaluated = [unit(f"a{n}", root="t", text="same") for n in range(7)]
    found = overlaps([unit("e", root="t", text="same")], evaluated)
    assert found == tuple(Overlap("e", f"a{n}", "same root") for n in range(7))
    message = str(ExemplarOverlap(found))
    assert "e and a4 (same root)" in message
    assert "a5" not in message
    assert "2 more" in message


def test_items_without_text_share_no_text():
    check_exemplars([unit("e", text="?")], [unit("a", text="!")])


def test_the_same_question_about_another_table_is_another_item():
    def asked_of(title: str) -> str:
        return shown_text([["table", {"type": "table", "title": title, "sections": []}], ["question", "When?"]])

    check_exemplars([unit("e", text=asked_of("Ada"))], [unit("a", text=asked_of("Ben"))])
    assert folded(asked_of("Ada")) == "title ada when"
