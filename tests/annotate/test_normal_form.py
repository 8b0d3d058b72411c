"""Normal forms: Unicode's own, and no text takes long."""

import ast
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.normal_form import normal_form
from config.env import PROJECT
from tests.processor_time import processor_time

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Marks of several classes, characters that are taken apart into marks alone, and letters between them.
MARKS = "\u0301\u0316\u0345\u05b0\u0f71\u0f72\u0f73\u0f75\u0f81\u0344\u093c\u3099\uff9e\uff9f\U0001d165"
TEXTS = st.text(alphabet=f"{MARKS}{MARKS}aᄀ각ﷺé½", max_size=200)


@given(TEXTS, st.sampled_from(FORMS))
def test_it_is_the_normal_form_of_unicode(text, form):
    assert normal_form(form, text) == unicodedata.normalize(form, text)


@given(st.lists(st.sampled_from(MARKS), min_size=31, max_size=80).map("".join), st.sampled_from(FORMS))
def test_also_of_more_marks_than_any_language_has(run, form):
    assert normal_form(form, f"a{run}b{run}") == unicodedata.normalize(form, f"a{run}b{run}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repeated", ["\u0301\u0316", "\u0f73", "\uff9e\u0301", "\u0316\u0301\u0f71\u0344", "a\u0301"])
def test_marks_in_an_unlucky_order_take_no_longer_than_others(repeated, form):
    text = (repeated * 100_000)[:100_000]
    # Seven seconds without it.
    assert processor_time(lambda: normal_form(form, text), enough=0.2) < 0.2


def test_nobody_asks_python_for_a_normal_form_in_another_way():
    asked = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for package in ("annotate", "evaluation", "config")
        for path in sorted((PROJECT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "normalize" and ast.unparse(node) == "unicodedata.normalize"
    ]
    assert {place.partition(":")[0] for place in asked} == {"annotate/normal_form.py"}
