"""Sentences below the pages are English texts that a page can say in its own language."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from django.template import Context, Template
from django.utils import translation

from annotate.exceptions import AssignmentNotOpen, GoldpanelError
from annotate.speaking import said_again
from annotate.wording import Speaker, Words, _, listed, ngettext, said, speak_through


class Backwards(Speaker):
    """Says every pattern backwards, its placeholders aside: a language nobody confuses with English."""

    def one(self, pattern: str) -> str:
        return " ".join(word if word.startswith("%(") else word[::-1] for word in pattern.split(" "))

    def several(self, pattern: str, plural: str, number: int) -> str:
        return self.one(plural)


@pytest.fixture
def backwards():
    from annotate import speaking

    speak_through(Backwards)
    yield
    speaking.begin()


def test_a_sentence_is_the_english_text_wherever_texts_go():
    sentence = _("Pair %(number)s has no answer.", number=3)
    assert isinstance(sentence, str)
    assert sentence == "Pair 3 has no answer."
    assert (f"{sentence}", str(sentence), json.dumps(sentence)) == (
        "Pair 3 has no answer.",
        "Pair 3 has no answer.",
        '"Pair 3 has no answer."',
    )


def test_a_page_says_it_in_its_own_language_and_escapes_what_was_filled_in(backwards):
    sentence = _("Pair %(number)s has no answer.", number="<b>")
    shown = Template("{{ sentence }}|{{ plain }}").render(Context({"sentence": sentence, "plain": "<i>"}))
    assert shown == "riaP &lt;b&gt; sah on .rewsna|&lt;i&gt;"


def test_what_is_filled_in_is_said_too(backwards):
    assert said(_("%(what)s stays", what=_("Everything"))) == "gnihtyrevE syats"
    assert listed([_("one"), "", _("two")]) == "one, two"
    assert said(listed([_("one"), "", _("two")], between="+")) == "eno+owt"


def test_numbers_choose_the_form():
    assert ngettext("%(n)s row", "%(n)s rows", 1, n="1") == "1 row"
    assert ngettext("%(n)s row", "%(n)s rows", 1_000, n="1,000") == "1,000 rows"


def test_a_percent_sign_needs_no_care_where_nothing_is_filled_in():
    assert _("100 % of them") == "100 % of them" == said(_("100 % of them"))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_remembers_as_much(again):
    sentence = ngettext("%(n)s row", "%(n)s rows", 2, n="2")
    copied = again(sentence)
    assert isinstance(copied, Words)
    assert copied == sentence
    assert (copied.pattern, copied.parameters) == (sentence.pattern, sentence.parameters)


def test_a_refusal_keeps_its_sentence_on_its_way_through_str(backwards):
    assert said(str(AssignmentNotOpen())) == Backwards().one(AssignmentNotOpen.message)
    assert said(str(GoldpanelError(_("Nothing was stored.")))) == "gnihtoN saw .derots"


def test_without_a_catalogue_entry_the_english_stands():
    with translation.override("zh-hans"):
        assert said(_("No such sentence %(n)s", n=1)) == "No such sentence 1"


def test_a_sentence_that_was_stored_is_said_in_the_language_of_whoever_reads_it():
    stored = str.__str__(
        "The budget of 1,000 tokens is spent: 1,004 so far. Calls that were in flight when it ran out "
    )
    stored += "are kept and counted. Raise it, then resume."
    assert said_again(stored) == stored
    with translation.override("zh-hans"):
        assert "1,004" in said_again(stored)
        assert "tokens is spent" not in said_again(stored)
        assert said_again("The import was cancelled. Nothing was imported.") == "导入已取消。没有导入任何内容。"
        assert said_again("Something <b>else</b>, by nobody's pattern") == "Something <b>else</b>, by nobody's pattern"
