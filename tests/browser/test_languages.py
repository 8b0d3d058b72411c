"""Scripts and directions: what is written in Arabic, Chinese and Tamil is shown and entered as it is written."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotate.models import Annotation, Assignment, Stage
from tests.browser.visitors import NARROW, SCHEMES, WIDE, sign_in
from tests.factories import make_annotator, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.browser

ARABIC = "كم سنة مرت بين 1998 و2010؟"
CHINESE = "《红楼梦》的作者是谁？这部小说写于清代。"
TAMIL = "தமிழ்நாட்டின் தலைநகரம் எது? இந்தியாவின் தென் முனையில் அமைந்துள்ள மாநிலத்தின் பெயரை எழுதுக."
MIXED = "قال: Goldpanel 2.0 (بيتا) في 12/3"
FORMS = {
    "ar": ("هل هذا صحيح؟", "لماذا؟", [("yes", "نعم"), ("no", "لا (No)")]),
    "zh": ("这个说法正确吗？", "为什么？", [("yes", "是"), ("no", "否")]),
    "ta": ("இது சரியா?", "ஏன்?", [("yes", "ஆம்"), ("no", "இல்லை")]),
}
QUESTIONS = {"ar": ARABIC, "zh": CHINESE, "ta": TAMIL}


def make_desk(language: str, **options: Any) -> Stage:
    """A stage with one item in a language, asked about in it."""
    caption, why, labels = FORMS[language]
    form = [
        {
            "name": "label",
            "type": "choice",
            "caption": caption,
            "options": [{"value": value, "caption": words} for value, words in labels],
            "required": False,
        },
        {"name": "why", "type": "text", "caption": why, "required": False, "decides": False, "max_length": 60},
        {"name": "more", "type": "list", "caption": why, "required": False, "decides": False},
        {
            "name": "rows",
            "type": "table",
            "caption": why,
            "columns": ["الاسم", "年份"],
            "required": False,
            "decides": False,
        },
    ]
    stage = make_stage(make_project(title="بحر and 海"), order="sequential", form=form, **options)
    content = [["question", QUESTIONS[language]], ["text", MIXED]]
    make_stage_item(stage, make_item(stage.project, content, language=language))
    return stage


@pytest.fixture
def desk(at_work):
    def open_desk(language: str, **options: Any):
        stage = make_desk(language)
        return at_work(make_member(stage.project), stage, **options)

    return open_desk


def direction(place: Locator) -> str:
    return str(place.evaluate("element => getComputedStyle(element).direction"))


def left_of(first: Locator, second: Locator) -> bool:
    here, there = first.bounding_box(), second.bounding_box()
    assert here is not None
    assert there is not None
    return here["x"] + here["width"] <= there["x"] + 1


def compose(page: Page, steps: list[str], result: str) -> None:
    """What an input method does: letters on their way, then the words they stand for."""
    client = page.context.new_cdp_session(page)
    for text in steps:
        client.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    client.send("Input.insertText", {"text": result})
    client.detach()


def test_an_arabic_question_runs_from_right_to_left_with_its_options_and_fields(desk):
    worker = desk("ar")
    worker.sees_item(ARABIC)
    field = worker.page.locator("fieldset.field").filter(has_text="هل هذا صحيح؟")
    option = field.locator(".option").first

    assert direction(worker.headline) == direction(field) == "rtl"
    # The circle stands where the line begins, the key where it ends.
    assert left_of(option.locator(".option-caption"), option.locator("input"))
    assert left_of(option.locator(".key"), option.locator("input"))
    # What the page itself says keeps its own direction inside.
    assert direction(field.locator(".help").first) == "ltr"
    assert direction(worker.submit) == "ltr"


def test_a_chinese_and_a_tamil_question_run_from_left_to_right(desk):
    for language in ("zh", "ta"):
        worker = desk(language)
        worker.sees_item(QUESTIONS[language])
        option = worker.page.locator(".option").first
        assert direction(worker.headline) == "ltr"
        assert left_of(option.locator("input"), option.locator(".option-caption"))


@pytest.mark.parametrize("language", sorted(QUESTIONS))
def test_no_script_makes_the_page_wider_than_the_screen(desk, language):
    worker = desk(language, reduced_motion="reduce")
    for viewport in (WIDE, NARROW):
        worker.page.set_viewport_size(viewport)
        for scheme in SCHEMES:
            worker.page.emulate_media(color_scheme=scheme)
            worker.sees_item(QUESTIONS[language])
            assert worker.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@pytest.mark.parametrize("language", sorted(QUESTIONS))
def test_each_script_has_a_font_that_draws_it(desk, language):
    # A letter without a glyph is a box, which is as wide as the box of a code point that has none anywhere.
    worker = desk(language)
    widths = worker.page.evaluate(
        """letters => {
            const draw = document.createElement("canvas").getContext("2d");
            draw.font = `32px ${getComputedStyle(document.body).fontFamily}`;
            const pixels = (text) => {
                draw.canvas.width = 80; draw.canvas.height = 60; draw.font = "32px sans-serif";
                draw.fillText(text, 10, 40);
                return draw.canvas.toDataURL();
            };
            const box = pixels("\\u{10FFFD}");
            return [...letters].filter((letter) => letter.trim() && pixels(letter) === box);
        }""",
        QUESTIONS[language],
    )
    assert widths == []


def test_words_that_an_input_method_makes_are_kept_and_its_enter_submits_nothing(desk):
    worker = desk("zh")
    why = worker.field("why")
    why.focus()
    client = worker.page.context.new_cdp_session(worker.page)
    client.send("Input.imeSetComposition", {"text": "caoxueqin", "selectionStart": 9, "selectionEnd": 9})
    # The keys that choose among the candidates; 1 would choose an option, Ctrl+Enter submit, if somebody else had them.
    for key, code in (("1", "Digit1"), ("Enter", "Enter")):
        why.evaluate(
            """(input, [key, code]) => input.dispatchEvent(new KeyboardEvent("keydown", {
                key, code, isComposing: true, ctrlKey: key === "Enter", bubbles: true, cancelable: true }))""",
            [key, code],
        )
    client.send("Input.insertText", {"text": "曹雪芹"})
    # Safari ends the composition before the key that ended it; only its number tells.
    why.evaluate(
        """input => input.dispatchEvent(Object.defineProperty(
            new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true }),
            "keyCode", { value: 229 }))"""
    )
    expect(why).to_have_value("曹雪芹")
    expect(worker.option("yes")).not_to_be_checked()
    worker.sees_state(re.compile("Saved"))
    assert not Annotation.objects.exists()
    assert worker.held.draft["answer"]["why"] == "曹雪芹"


def test_an_input_method_writes_into_a_cell_and_into_a_line(desk):
    worker = desk("zh")
    lines = worker.page.locator(".lines input")
    lines.first.focus()
    compose(worker.page, ["hong", "hongloumeng"], "红楼梦")
    lines.first.evaluate(
        """input => input.dispatchEvent(new KeyboardEvent("keydown", {
            key: "Enter", isComposing: true, bubbles: true, cancelable: true }))"""
    )
    expect(lines).to_have_count(1)
    cell = worker.page.locator("[role=gridcell]").first
    cell.click()
    worker.press("F2")
    compose(worker.page, ["cao"], "曹雪芹")
    worker.press("Tab")
    expect(cell).to_have_text("曹雪芹")
    worker.press("Control+Enter")
    expect(worker.page.locator("#item[data-state=done]")).to_be_visible()
    answer = Annotation.objects.get().answer
    assert answer["more"] == ["红楼梦"]
    assert answer["rows"]["rows"] == [["曹雪芹", None]]


def test_text_of_both_directions_is_stored_letter_by_letter_and_comes_back_so(desk):
    worker = desk("ar")
    why = worker.field("why")
    why.press_sequentially(MIXED)
    assert direction(why) == "rtl"
    # The caret moves by letters, whichever way they run: one step back, and a letter goes in before the last.
    worker.press("End", "ArrowRight" if direction(why) == "rtl" else "ArrowLeft")
    worker.page.keyboard.insert_text("٠")
    expected = f"{MIXED[:-1]}٠{MIXED[-1]}"
    expect(why).to_have_value(expected)
    worker.sees_state(re.compile("Saved"))
    worker.open()
    expect(worker.field("why")).to_have_value(expected)
    worker.press("Control+Enter")
    expect(worker.page.locator("#item[data-state=done]")).to_be_visible()
    assert Annotation.objects.get().answer["why"] == expected
    assert direction(worker.page.locator(".last-answer q")) == "rtl"


def test_the_columns_of_an_arabic_table_run_from_right_to_left_and_the_arrows_with_them(desk):
    worker = desk("ar")
    cells = worker.page.locator("[role=gridcell]")
    assert left_of(cells.nth(1), cells.nth(0))
    cells.first.click()
    worker.press("ArrowLeft")
    worker.page.keyboard.type("2010")
    worker.press("Enter")
    expect(cells.nth(1)).to_have_text("2010")
    assert direction(worker.page.locator("[role=columnheader] bdi").first) == "rtl"


def test_tamil_is_counted_as_the_server_counts_it(desk):
    worker = desk("ta")
    text = "தமிழ்நாட்டின் தலைநகரம் சென்னை என்பது இங்கே உள்ள விடை ஆகும்"
    assert 48 < len(text) <= 60
    worker.field("why").fill(text)
    expect(worker.page.locator("#count-why")).to_have_text(f"{len(text)} of 60 characters")


def test_numbers_and_latin_words_beside_arabic_stay_where_they_belong(new_context, site):
    stage = make_desk("ar", overlap=2)
    admin = make_member(stage.project, "admin")
    context = new_context()
    sign_in(context, admin, site)
    page = context.new_page()
    page.goto(f"/p/{stage.project.slug}/items/")
    row = page.locator("tbody tr").first
    # Each text of a study is isolated: an Arabic one moves none of what stands beside it.
    expect(row.locator("th bdi").first).to_be_visible()
    for place in row.locator("td bdi, th bdi").all():
        assert place.evaluate("element => getComputedStyle(element).unicodeBidi") in {"isolate", "plaintext"}
    assert left_of(row.locator("th"), row.locator("td").first)


def test_the_interface_is_chosen_at_the_foot_and_scripts_speak_it_too(new_context, site):
    stage = make_desk("zh")
    person = make_member(stage.project)
    context = new_context()
    sign_in(context, person, site)
    page = context.new_page()
    page.goto("/")
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.get_by_role("heading", level=1)).to_have_text("我的阶段")

    page.goto(f"/work/{stage.project.slug}/{stage.slug}/")
    page.locator("[name=why]").fill("因为")
    expect(page.locator("#save-state")).to_have_text(re.compile(r"已保存 \d\d:\d\d"))
    expect(page.locator("#submit-answer")).to_have_text(re.compile("提交并继续"))
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_contain_text("为什么跳过？")
    assert Assignment.objects.get(person=person).draft["answer"]["why"] == "因为"


def test_the_interface_is_chosen_without_scripts(new_context, site):
    context = new_context(java_script_enabled=False, locale="zh-CN")
    sign_in(context, make_annotator(), site)
    page = context.new_page()
    page.goto("/sign-in/?next=/")
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
