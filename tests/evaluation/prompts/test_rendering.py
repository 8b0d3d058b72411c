"""The child process: what it renders, and what it survives."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest

from evaluation.prompts import ChatTemplate, Exemplar, Limits, Option, PromptInput, RenderFailure, render, render_chunk
from evaluation.prompts.rendering import _PROJECT

# Runs for hours, in steps between which Python can be interrupted.
_SLOW = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"


def ask(text: str) -> PromptInput:
    return PromptInput(
        content=[["claim", text]], caption="Is it true?", kind="label", options=(Option("y", "Yes"), Option("n", "No"))
    )


def only_for(marker: str, source: str) -> ChatTemplate:
    """A template that does something bad for items whose text is the marker, and is harmless for the others."""
    return ChatTemplate(
        system="",
        user=f"{{% if parts[0].text == {marker!r} %}}{source}{{% else %}}{{{{ parts[0].text }}}}{{% endif %}}",
    )


def failure_among_good_ones(source: str, **limits: float) -> str:
    """The failure of the bad item in the middle; the others have their chat all the same."""
    first, middle, last = render_chunk(
        "zero_shot", [ask("one"), ask("bad"), ask("two")], only_for("bad", source), limits=Limits(**limits)
    )
    assert first == [{"role": "user", "content": "one"}]
    assert last == [{"role": "user", "content": "two"}]
    assert isinstance(middle, RenderFailure)
    assert len(middle.message) <= 500
    return middle.message


def test_the_child_renders_what_the_parent_would():
    texts = ["plain", "ünï 你好 مرحبا 😀", "a\u2028b\r\nc\u0085d", "{{ 1 }}", "", "x" * 1_000_000]
    prompts = [replace(ask(text), exemplars=(Exemplar([["claim", "other"]], "No"),)) for text in texts]
    assert render_chunk("few_shot", prompts) == [render("few_shot", prompt) for prompt in prompts]


def test_a_chunk_of_nothing_needs_no_child():
    assert render_chunk("zero_shot", []) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ gold }}", "'gold' is undefined"),
        ("{{ 'a' + 1 }}", "TypeError"),
        ("{{ options[99].value }}", "UndefinedError"),
        ("{{ ''.__class__ }}", "SecurityError"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
    ],
)
def test_an_error_in_one_item_leaves_the_others_alone(source, complaint):
    assert complaint in failure_among_good_ones(source)


def test_a_template_that_is_none_fails_for_every_item():
    results = render_chunk("zero_shot", [ask("one"), ask("two")], ChatTemplate(system="", user="{% if %}"))
    assert ["TemplateSyntaxError" in result.message for result in results] == [True, True]


def test_few_shot_without_exemplars_fails_for_that_item_alone():
    shown = replace(ask("two"), exemplars=(Exemplar([["claim", "other"]], "No"),))
    first, second = render_chunk("few_shot", [ask("one"), shown])
    assert isinstance(first, RenderFailure)
    assert second == render("few_shot", shown)


def test_memory_is_limited():
    # What the sandbox alone renders without complaint.
    message = failure_among_good_ones("{{ 'a' * 300000000 }}", memory_bytes=200 * 1024 * 1024)
    assert "200 MiB" in message


def test_the_size_of_a_message_is_limited_while_it_grows():
    source = "{% for i in range(100000) %}{{ 'a' * 1000 }}{% endfor %}"
    assert "more than 50,000 characters" in failure_among_good_ones(source, max_chars=50_000)


def test_the_time_of_an_item_is_limited():
    started = time.monotonic()
    assert "more than 0.3 s" in failure_among_good_ones(_SLOW, item_seconds=0.3)
    assert time.monotonic() - started < 10


def test_the_time_it_takes_to_compile_a_template_is_limited():
    # Jinja2 works out constants while it compiles, and swallows whatever exception comes up meanwhile.
    template = ChatTemplate(system="", user="{{ (9 ** (9 ** 9)) % 2 }}")
    [result] = render_chunk("zero_shot", [ask("one")], template, limits=Limits(item_seconds=0.3))
    assert "more than 0.3 s" in result.message


def test_a_child_that_takes_too_long_is_killed_and_the_others_are_rendered():
    started = time.monotonic()
    message = failure_among_good_ones(_SLOW, item_seconds=60, chunk_seconds=2)
    assert "2 s" in message or "ended with status" in message
    assert time.monotonic() - started < 20


def test_after_three_deaths_the_template_is_at_fault_and_the_rest_is_given_up():
    limits = Limits(item_seconds=60, chunk_seconds=1)
    started = time.monotonic()
    results = render_chunk("zero_shot", [ask(str(n)) for n in range(50)], ChatTemplate("", _SLOW), limits=limits)
    assert time.monotonic() - started < 20
    assert len(results) == 50
    assert ["before this item" in result.message for result in results] == [False] * 3 + [True] * 47


def test_the_child_gets_neither_keys_nor_django(monkeypatch):
    monkeypatch.setenv("GOLDPANEL_KEY_LAB", "canary")
    program = (
        "import sys, evaluation.prompts.render_child;"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in {'django', 'aiohttp', 'numpy'}))"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=_PROJECT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
    # A template cannot see the environment; that the child has none is seen from outside.
    seen: list[dict[str, str]] = []
    start = subprocess.Popen.__init__

    def noting(self, *arguments, **named):
        seen.append(named["env"])
        start(self, *arguments, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", noting)
    render_chunk("zero_shot", [ask("one")])
    assert len(seen) == 1
    assert "canary" not in seen[0].values()
    assert not [name for name in seen[0] if name.startswith(("GOLDPANEL", "DATABASE", "SECRET"))]
