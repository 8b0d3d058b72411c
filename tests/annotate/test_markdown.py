"""Guidelines are Markdown that cannot act, fetch or look like the page's own heading."""

from __future__ import annotations

import time

import pytest

from annotate.markdown import guidelines_html


def test_ordinary_guidelines():
    html = guidelines_html("# Dates\n\n*Mind* the **year**.\n\n3. three\n4. four\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert "<h2>Dates</h2>" in html
    assert "<em>Mind</em> the <strong>year</strong>" in html
    assert '<ol start="3">' in html
    assert "<td>1</td>" in html


def test_html_in_the_source_is_shown_as_text():
    html = guidelines_html("<script>alert(1)</script>\n\n<b onclick=x>bold</b>")
    assert "<script" not in html
    assert "<b" not in html.replace("<br", "")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "JaVaScRiPt:alert(1)"])
def test_links_lead_to_pages_only(target):
    assert "href" not in guidelines_html(f"[press]({target})")


def test_links_open_beside_the_item_and_tell_nobody_where_from():
    html = guidelines_html("[the rules](https://example.org/rules)")
    assert 'href="https://example.org/rules"' in html
    assert 'target="_blank"' in html
    assert "noreferrer" in html


def test_images_are_not_fetched():
    html = guidelines_html('![a <i>chart</i>](https://example.org/x.png "title")')
    assert "<img" not in html
    assert "example.org" not in html
    assert "chart" in html


def test_hostile_text_takes_no_time():
    for text in ["[" * 100_000, "*" * 100_000, "> " * 50_000, "`" * 100_000, "|" * 100_000]:
        started = time.process_time()
        guidelines_html(text)
        # Parsing takes milliseconds; a quadratic parser takes minutes.
        assert time.process_time() - started < 5
