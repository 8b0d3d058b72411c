"""What strangers wrote is shown as they wrote it: it never runs, and it never pushes the page aside."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import GuidelineVersion
from tests.browser.visitors import NARROW
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>window.ran = 'script'</script>",
    "<img src=x onerror=\"window.ran = 'image'\">",
    "<svg onload=\"window.ran = 'svg'\">",
    "</p></section><form action='https://example.org'><button>Go</button></form>",
    "{{ 7|add:7 }} {% now 'Y' %} ${window.ran = 'template'}",
    "<b hx-get='/sign-out/' hx-trigger='load'>hx</b>",
    "<a href=\"javascript:window.ran = 'link'\">link</a>",
    "&lt;b&gt;already escaped&lt;/b&gt; &amp;amp;",
]
GUIDELINES = """# Read this

[press me](javascript:window.ran='guidelines') and [me](data:text/html,<script>window.ran='data'</script>)

<script>window.ran = 'guidelines script'</script> <b onclick="window.ran=1">bold</b>

![picture](https://example.org/pixel.png) and [a good link](https://example.org/)
"""


def test_hostile_text_is_shown_as_text_and_never_runs(at_work):
    content = [["question", " ".join(HOSTILE)], *([f"key {text}", text] for text in HOSTILE)]
    content += [["mono", {"type": "mono", "text": HOSTILE[0]}]]
    content += [["grid", {"type": "grid", "columns": [HOSTILE[1]], "rows": [[HOSTILE[0]]]}]]
    content += [["nested", {HOSTILE[0]: [HOSTILE[1], {"deep": HOSTILE[5]}]}]]
    options = [{"value": "a", "caption": HOSTILE[0]}, {"value": "b", "caption": HOSTILE[1]}]
    field = {"name": "label", "type": "choice", "caption": HOSTILE[2], "decides": True, "required": True}
    stage = make_stage(
        make_project(title=HOSTILE[0]),
        title=HOSTILE[1],
        form=[{**field, "options": options, "help": HOSTILE[5]}],
        shown_keys=[key for key, _ in content],
    )
    for _ in range(2):
        make_stage_item(stage, make_item(stage.project, content))

    worker = at_work(make_member(stage.project), stage)
    page = worker.page

    def is_shown_and_idle():
        worker.sees_item(" ".join(HOSTILE))
        assert page.locator("#item .content-text").all_inner_texts()[: len(HOSTILE)] == HOSTILE
        expect(page.locator("label.option", has_text=HOSTILE[0])).to_be_visible()
        expect(page.locator("#item").locator("script, img, svg, b, a[href^='javascript:']")).to_have_count(0)
        expect(page.locator("#item [hx-get='/sign-out/']")).to_have_count(0)
        assert page.evaluate("window.ran") is None

    is_shown_and_idle()
    worker.press("1", "Control+Enter")
    expect(page.locator(".last-answer q")).to_have_text(HOSTILE[0])
    is_shown_and_idle()  # Also where htmx put it into the page.
    page.goto("/")
    expect(page.get_by_role("heading", name=HOSTILE[1])).to_be_visible()
    assert page.evaluate("window.ran") is None


def test_guidelines_carry_no_script_and_fetch_nothing(at_work, site):
    stage = make_stage(make_project())
    make_stage_item(stage)
    GuidelineVersion.objects.update(markdown=GUIDELINES)
    worker = at_work(make_member(stage.project), stage)
    page = worker.page
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    worker.press("?")
    text = page.locator("#guidelines-text")
    expect(text.get_by_role("heading", name="Read this")).to_be_visible()

    expect(text).to_contain_text("<script>window.ran = 'guidelines script'</script>")
    expect(text.locator("script, img, b")).to_have_count(0)
    expect(text.locator("a[href^='javascript:'], a[href^='data:']")).to_have_count(0)
    good = text.get_by_role("link", name="a good link")
    assert (good.get_attribute("target"), good.get_attribute("rel")) == ("_blank", "noopener noreferrer nofollow")
    text.get_by_text("press me").click()
    assert page.evaluate("window.ran") is None
    assert [address for address in fetched if not address.startswith(site)] == []


TABLE = {
    "type": "table",
    "title": "Runa Elvestad, mountaineer",
    "sections": [
        ["Life", [["Born", "14 March 1931"], ["Spouses", ["Odd Brekke (1956–1962)", "Tomas Lind (1970–2004)"]]]],
        ["An uncommonly long heading of a section", [["VeryLongKeyWithoutAnySpace" * 3, "x" * 200]]],
    ],
}
GRID = {
    "type": "grid",
    "columns": [f"column number {n}" for n in range(12)],
    "rows": [[f"value {n}" for n in range(12)]],
}
SHAPES = {
    "arabic": "هل البحر مالح؟ نعم، البحر مالح جدا (35 g/l).",
    "hebrew": "האם הים מלוח? כן, ABC.",
    "chinese": "海水是咸的吗？" * 40,
    "hindi": "क्या समुद्र खारा है?",
    "emoji": "🌊🧂👩‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿 " * 20,
    "a word without end": "a" * 3_000,
    "an address": "https://example.org/" + "very/long/path/" * 60,
    "a very long text": "The sea is salty because rivers bring salt. " * 4_000,
    "monospaced": {"type": "mono", "text": "SELECT *\n  FROM sea\n WHERE " + "salt > 35 AND " * 60},
    "infobox": TABLE,
    "grid": GRID,
    "nested": {"a": [1, 2.5, None, True, {"b": {"c": {"d": {"e": {"f": ["deep" * 100]}}}}}]},
    "lines": "first\nsecond\n\n    fourth, indented",
}


@pytest.mark.parametrize("viewport", [NARROW, {"width": 320, "height": 640}], ids=["390", "320"])
def test_no_text_whatever_its_shape_makes_the_page_scroll_sideways(at_work, viewport):
    stage = make_stage(make_project(), shown_keys=["question", *SHAPES], order="sequential")
    make_stage_item(stage, make_item(stage.project, [["question", "x" * 500], *([key, SHAPES[key]] for key in SHAPES)]))
    worker = at_work(make_member(stage.project), stage, viewport=viewport)
    page = worker.page
    worker.press("?")

    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")

    assert width == [viewport["width"], viewport["width"]]
    for selector in (".content-mono", ".table-scroll"):  # What is wide scrolls within itself, by keyboard too.
        part = page.locator(f"#item {selector}").first
        assert part.evaluate("part => [part.scrollWidth > part.clientWidth, part.tabIndex]") == [True, 0]


def test_each_text_has_its_own_direction_and_its_lines(at_work):
    stage = make_stage(make_project(), shown_keys=["question", "arabic", "hebrew", "chinese", "lines"])
    content = [["question", SHAPES["arabic"]], *([key, SHAPES[key]] for key in stage.versions.get().shown_keys[1:])]
    make_stage_item(stage, make_item(stage.project, content, language="ar"))
    worker = at_work(make_member(stage.project), stage)
    directions = worker.page.locator("#item .content-text").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).direction)"
    )

    assert directions == ["rtl", "rtl", "ltr", "ltr"]
    assert worker.headline.evaluate("one => [getComputedStyle(one).direction, one.lang]") == ["rtl", "ar"]
    lines = worker.page.locator("#item .content-text").last
    assert lines.inner_text().rstrip().split("\n") == ["first", "second", "", "    fourth, indented"]
    assert worker.page.evaluate("document.documentElement.dir") in ("", "ltr")  # The page itself stays as it is.
