"""A table filled in like a spreadsheet: keys, the clipboard, undo, drafts, and what a phone and a screen reader get."""

from __future__ import annotations

import json
import re

import pytest
from django.conf import settings
from playwright.sync_api import expect

from annotate.models import Annotation
from evaluation.services import reporting
from tests.browser.accessibility import problems_at_this_size
from tests.browser.queues import answers_of
from tests.browser.visitors import NARROW, WIDE, Worker, where_answers_go
from tests.evaluation.runs import asking_server, work
from tests.factories import (
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)
from tests.openai_server import serving

pytestmark = pytest.mark.browser

PEOPLE = {"name": "people", "type": "table", "caption": "Who was it?", "columns_from": "schema", "decides": True}
SCHEMA = ["schema", [["name", "text"], ["born", "year"], ["note", "text"]]]
QUESTION = "Who wrote the first programs?"
PASTE = """([text]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = { clipboardData: data, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", event));
}"""
COPY = """() => {
  const data = new DataTransfer();
  const event = { clipboardData: data, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("copy", event));
  return data.getData("text/plain");
}"""


def make_table_stage(*more_fields, n_items: int = 1, content=(), **fields):
    stage = make_stage(make_project(), form=[PEOPLE, *more_fields], order="sequential", **fields)
    for _ in range(n_items):
        make_stage_item(stage, make_item(stage.project, [["question", QUESTION], SCHEMA, *content]))
    return stage


class Filler(Worker):
    """Somebody with a grid before them."""

    def at(self, row: int, column: int):
        return self.page.locator(f"[data-row='{row - 1}'] > [data-column='{column - 1}']")

    def paste(self, text: str) -> None:
        self.page.evaluate(PASTE, [text])

    def copied(self) -> str:
        return self.page.evaluate(COPY)

    @property
    def rows(self) -> list[list[str]]:
        """What is shown, row by row."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.grid-body > .grid-row')]"
            ".map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.innerText))"
        )

    @property
    def place(self) -> tuple[int, int]:
        """Row and column of the cell with the focus."""
        row, column = self.page.evaluate(
            "[document.activeElement.parentElement.dataset.row, document.activeElement.dataset.column].map(Number)"
        )
        return row + 1, column + 1


@pytest.fixture
def at_grid(at_work):
    def open_grid(stage, person=None, **options) -> Filler:
        person = person or make_member(stage.project)
        return Filler(at_work(person, stage, **options).page, person, stage)

    return open_grid


def test_a_table_is_filled_and_sent_with_keys_alone(at_grid):
    filler = at_grid(make_table_stage(n_items=2))
    keyboard = filler.page.keyboard
    assert filler.place == (1, 1)

    keyboard.type("Ada")
    filler.press("Tab")
    keyboard.type("1815")
    filler.press("Enter")  # Back to the column where Tab began, in a new row.
    assert filler.place == (2, 1)
    keyboard.type("Alun")
    filler.press("Enter", "ArrowUp", "F2", "Backspace", "Backspace")
    keyboard.type("an")
    filler.press("Tab")
    keyboard.type("x")
    filler.press("Escape")  # What was begun in this cell is not kept.
    filler.press("Tab", "F2", "Alt+Enter")
    keyboard.insert_text("منطق")  # as an input method gives it
    filler.press("Control+Enter")

    filler.sees_item(QUESTION)
    filler.sees_state(re.compile("^Saved"))
    rows = [["Ada", "1815", None], ["Alan", None, "منطق"]]
    assert answers_of(filler.person) == [{"people": {"columns": ["name", "born", "note"], "rows": rows}}]
    assert filler.place == (1, 1)  # of the next item


def test_moving_about_as_in_a_spreadsheet_and_out_of_it(at_grid):
    filler = at_grid(make_table_stage())
    filler.paste("a\t1\tx\nb\t2\ty\nc\t3\tz")
    filler.press("Control+Home")
    assert filler.place == (1, 1)
    for keys, place in [
        (("ArrowRight", "ArrowDown"), (2, 2)),
        (("End",), (2, 3)),
        (("Tab",), (3, 1)),  # over the end of the row
        (("Shift+Tab",), (2, 3)),
        (("Home", "Shift+Enter"), (1, 1)),
        (("Control+End",), (3, 3)),
        (("Control+ArrowUp",), (1, 3)),
        (("ArrowUp", "ArrowRight"), (1, 3)),  # no further than the edge
    ]:
        filler.press(*keys)
        assert filler.place == place, keys
    assert filler.page.locator("[role=gridcell][tabindex='0']").count() == 1
    filler.press("Escape", "Tab")
    assert filler.page.evaluate("document.activeElement.closest('[role=grid]')") is None


def test_a_block_of_a_spreadsheet_goes_in_and_comes_out(at_grid):
    filler = at_grid(make_table_stage())
    # With its own head in another order, a line break, a quotation mark and a tab inside cells.
    filler.paste('Note\tName\r\n"two\r\nlines"\t"Ada ""the first"" B."\r\n"a\ttab"\tAlan\r\n')
    assert [row[0] for row in filler.rows] == ['Ada "the first" B.', "Alan"]
    expect(filler.page.locator(".grid-state")).to_contain_text("The first line named the columns")

    filler.press("Control+Home", "Shift+End", "Shift+ArrowDown")
    assert filler.copied() == '"Ada ""the first"" B."\t\t"two\r\nlines"\nAlan\t\t"a\ttab"'
    filler.press("Control+End", "Control+Home", "ArrowRight", "Shift+ArrowDown")
    filler.paste("1900")  # one value into all that is selected
    assert [row[1] for row in filler.rows] == ["1900", "1900"]
    filler.press("ArrowRight")
    filler.paste("p\tq")
    expect(filler.page.locator(".grid-state")).to_contain_text("1 column beyond the last one left out")
    filler.press("Control+z", "Control+Enter")
    filler.sees_item("All done")
    rows = [['Ada "the first" B.', "1900", "two\nlines"], ["Alan", "1900", "a\ttab"]]
    assert answers_of(filler.person)[0]["people"]["rows"] == rows


def test_rows_are_added_moved_duplicated_removed_and_every_step_can_be_taken_back(at_grid):
    filler = at_grid(make_table_stage())
    filler.paste("a\nb\nc")
    names = lambda: [row[0] for row in filler.rows]  # noqa: E731
    filler.press("Control+Home", "Alt+ArrowDown")
    assert (names(), filler.place) == (["b", "a", "c"], (2, 1))
    filler.press("Control+d")
    assert names() == ["b", "a", "a", "c"]
    filler.press("Control+Delete", "Alt+Enter")
    assert names() == ["b", "a", "c", ""]
    filler.press("Control+Home", "Delete")
    assert names() == ["", "a", "c", ""]
    for before in (["b", "a", "c", ""], ["b", "a", "c"], ["b", "a", "a", "c"], ["b", "a", "c"], ["a", "b", "c"]):
        filler.press("Control+z")
        assert names() == before
    filler.press("Control+y")
    assert names() == ["b", "a", "c"]
    button = filler.page.get_by_role("group", name="Who was it?: rows").get_by_role("button", name="Remove")
    filler.at(1, 1).click()
    button.click()
    assert names() == ["a", "c"]
    expect(filler.page.locator("[name=people]")).to_have_value("name\tborn\tnote\na\t\t\nc\t\t")


def test_words_survive_a_reload_also_those_of_a_cell_that_is_being_written(at_grid):
    filler = at_grid(make_table_stage())
    filler.paste("Ada\t1815\tx")
    filler.press("Alt+Enter")
    filler.page.keyboard.type("Ala")
    expect(filler.page.locator("[name=people]")).to_have_value(re.compile("Ala"))
    filler.sees_state(re.compile("^Saved"))
    filler.page.reload()
    expect(filler.at(2, 1)).to_have_text("Ala")
    assert filler.rows == [["Ada", "1815", "x"], ["Ala", "", ""]]
    filler.page.keyboard.type("Ida")
    filler.page.reload()  # before any pause: kept in the tab
    expect(filler.at(1, 1)).to_have_text("Ida")


def test_no_row_fits_is_an_answer_and_an_untouched_table_is_none(at_grid, faults):
    faults.announce(rf"^422: POST {where_answers_go()}")
    filler = at_grid(make_table_stage(n_items=2))
    filler.press("Control+Enter")
    expect(filler.page.locator("#error-people")).to_be_visible()
    assert filler.place == (1, 1)
    filler.page.get_by_text("No row fits").click()
    expect(filler.page.locator(".grid-state")).to_have_text("The answer is: no row fits.")
    filler.press("Control+Enter")
    filler.sees_state(re.compile("^Saved"))
    assert answers_of(filler.person) == [{"people": {"columns": ["name", "born", "note"], "rows": []}}]


def test_a_refusal_names_row_and_column_and_the_grid_keeps_what_was_written(at_grid, faults):
    faults.announce(rf"^422: POST {where_answers_go()}")
    filler = at_grid(make_table_stage())
    filler.paste(f"Ada\t1815\nAlan\t1912\t{'x' * 2_001}")
    filler.press("Control+Enter")
    error = filler.page.locator("#error-people")
    expect(error).to_have_text("Row 2, note: this cell has 2,001 characters; 2,000 are kept.")
    assert filler.rows[0] == ["Ada", "1815", ""]
    assert filler.place[0] == 1


def test_a_cell_of_another_kind_is_pointed_out_and_kept(at_grid):
    filler = at_grid(make_table_stage())
    filler.paste("Ada\tin spring\nAlan\t1912\nIda\tn/a")
    expect(filler.page.locator(".grid-state")).to_have_text(
        "3 rows. Row 1, born: “in spring” looks like no year. It may stay so."
    )
    expect(filler.page.locator(".is-odd")).to_have_text("in spring")
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["people"]["rows"][0][1] == "in spring"


def test_text_that_is_no_grid_stays_text_and_nothing_of_it_is_lost(at_grid):
    filler = at_grid(make_table_stage())
    filler.page.get_by_role("button", name="As text").click()
    text = filler.page.locator("[name=people]")
    text.fill("| name | born |\n|---|---|\n| Ada | 1815 |")
    filler.page.get_by_role("button", name="As a grid").click()
    expect(text).to_be_visible()
    expect(filler.page.locator(".grid-state")).to_contain_text("kept as it is")
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["people"]["rows"] == [["Ada", "1815", None]]


def test_columns_that_nobody_declared_are_named_in_the_first_row(at_grid):
    stage = make_stage(make_project(), form=[{k: v for k, v in PEOPLE.items() if k != "columns_from"}])
    make_stage_item(stage, make_item(stage.project))
    filler = at_grid(stage)
    filler.paste("city\tcountry\nOslo\tNorway")
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["people"] == {"columns": ["city", "country"], "rows": [["Oslo", "Norway"]]}


def test_nine_hundred_rows_are_pasted_walked_and_sent_with_few_of_them_in_the_page(at_grid):
    columns = [f"column {n}" for n in range(9)]
    stage = make_stage(make_project(), form=[{**PEOPLE, "columns": columns}])
    make_stage_item(stage, make_item(stage.project))
    filler = at_grid(stage)
    rows = [[f"cell {row} {column}" for column in range(9)] for row in range(900)]
    filler.paste("\n".join("\t".join(row) for row in rows))
    assert filler.place == (900, 9)
    expect(filler.at(900, 9)).to_be_in_viewport()
    assert len(filler.rows) < 60
    expect(filler.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "901")
    filler.press("Control+Home")
    expect(filler.at(1, 1)).to_be_in_viewport()
    assert filler.page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # The grid scrolls, not the page.
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["people"]["rows"] == rows


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_field_can_be_used_by_everybody(at_grid, size):
    stage = make_table_stage(*MORE, content=[["text", "\n".join(f"Line {n} of the text" for n in range(40))]])
    stage.versions.update(shown_keys=["question", "text"])
    is_phone = size is NARROW
    filler = at_grid(stage, viewport=size, has_touch=is_phone, is_mobile=is_phone)
    page = filler.page
    if is_phone:
        filler.at(1, 1).tap()
        expect(filler.at(1, 1)).to_be_focused()
        filler.at(1, 1).tap()
        page.keyboard.type("Ada")
        for control in page.locator(".grid-tools .button, .lines .button, .grid-row > [role=gridcell]").all():
            assert control.bounding_box()["height"] >= 43.9, control
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(filler.headline).to_be_in_viewport()  # The question stays in sight beside the answer.
    else:
        filler.paste("Ada\tx")
        page.get_by_role("button", name="Choose lines").click()
    assert list(problems_at_this_size(page, "grid")) == []


# The other fields

MORE = [
    {"name": "sure", "type": "scale", "caption": "How sure?", "min": 1, "max": 5, "required": False},
    {"name": "places", "type": "list", "caption": "Where?", "required": False, "ordered": True},
    {"name": "born", "type": "date", "caption": "When?", "required": False},
    {"name": "age", "type": "number", "caption": "How old?", "unit": "years", "min": 0, "required": False},
    {"name": "check", "type": "verdict", "caption": "Is it right?", "required": False},
    {"name": "why", "type": "long_text", "caption": "Why?", "required": False},
]


def test_lists_scales_and_verdicts_by_hand(at_grid):
    stage = make_stage(make_project(), form=MORE)
    make_stage_item(stage, make_item(stage.project))
    filler = at_grid(stage)
    page = filler.page
    keys = page.locator("#answer-form [data-option-key]").all_inner_texts()
    assert [key for key in keys if key] == list("12345678")  # No two options share one.
    filler.press("4")
    expect(page.locator("[name=sure][value='4']")).to_be_checked()

    line = page.get_by_role("textbox", name="Where?, line 1")
    line.focus()
    filler.paste("Rome\nOslo")
    filler.press("Enter")
    page.keyboard.type("Kyiv")
    filler.press("Alt+ArrowUp")
    page.get_by_role("button", name="Remove line 1").click()

    born = filler.field("born")
    born.fill("5 March 2012")
    expect(page.locator("#reading-born")).to_be_empty()
    filler.field("age").fill("one thousand")
    expect(page.locator("#reading-age")).to_have_text("Read as 1,000 years.")
    expect(page.locator("#reading-born")).to_have_text("Read as 5 March 2012.")
    born.fill("3/4/2012")
    expect(page.locator("#reading-born")).to_contain_text("can be read in two ways")
    born.fill("2012-03")

    correction = page.get_by_label("What would be right")
    expect(correction).to_be_hidden()
    page.get_by_text("Wrong", exact=True).click()
    correction.fill("1815")
    page.get_by_text("Unsure", exact=True).click()
    expect(correction).to_be_visible()  # It would be sent: so it can be seen, and removed.
    correction.fill("")
    expect(correction).to_be_hidden()

    filler.press("Control+Enter")
    filler.sees_item("All done")
    stored = {"sure": 4, "places": ["Kyiv", "Oslo"], "born": "2012-03", "age": "1000", "check": {"verdict": "unsure"}}
    assert answers_of(filler.person) == [stored]


def test_lines_of_a_long_text_go_into_the_answer_as_they_stand(at_grid):
    lines = [f"  line {n}\t{'x' * 20} " for n in range(30)]
    stage = make_text_stage("\n".join(lines))
    filler = at_grid(stage)
    page, answer = filler.page, filler.field("why")
    line = page.locator(".text-line")
    line.nth(3).click()
    line.nth(5).click(modifiers=["Shift"])
    page.get_by_role("button", name="Copy 3 selected lines into the answer").click()
    expect(answer).to_have_value("\n".join(lines[3:6]))
    filler.press("Escape")
    page.get_by_role("listbox").focus()
    filler.press("Home", "Space", "End", "Space", "Enter")
    expect(answer).to_have_value("\n".join([*lines[3:6], lines[0], lines[-1]]))
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["why"] == "\n".join([*lines[3:6], lines[0], lines[-1]])


@pytest.mark.shared_data
def test_the_longest_published_reference_goes_into_the_answer_line_by_line(at_grid, shared_path):
    record = json.loads(
        shared_path(
            "data/structext-eval/New_Benchmark/0Shotbenchmark/json/TextRetrieval/34.06_30_2024_17_42_26.816269_4.json"
        ).read_text(encoding="utf-8")
    )
    text = record["Reference"]
    assert len(text) > 80_000
    filler = at_grid(make_text_stage({"type": "mono", "text": text}))
    filler.page.get_by_role("button", name="Choose lines").click()
    filler.press("Home", "Shift+End", "Enter")
    expect(filler.field("why")).to_have_value(text)
    filler.press("Control+Enter")
    filler.sees_item("All done")
    assert answers_of(filler.person)[0]["why"] == text


def make_text_stage(text):
    why = {"name": "why", "type": "long_text", "caption": "Your answer"}
    stage = make_stage(make_project(), form=[why], shown_keys=["question", "text"])
    make_stage_item(stage, make_item(stage.project, [["question", QUESTION], ["text", text]]))
    return stage


def test_a_person_in_the_grid_and_a_model_in_json_are_scored_by_the_same_rule(at_grid, monkeypatch):
    stage = make_stage(make_project(), kind="answer", form=[PEOPLE], order="sequential")
    wanted = {"columns": ["name", "born", "note"], "rows": [["Ada", "1815", "poetry"], ["Alan", "1912", "logic"]]}
    item = make_item(stage.project, [["question", QUESTION], SCHEMA], gold={"people": [wanted]})
    make_stage_item(stage, item)
    filler = at_grid(stage)
    filler.paste("Ada\t1815\tpoetry\nAlan\t1912\tmaths")
    filler.press("Control+Enter")
    filler.sees_item("All done")
    with serving() as server:
        monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [server.host_and_port])
        said = [{"Name": "Ada", "born": 1815, "note": "poetry"}, {"name": "Alan", "born": "1912", "note": "maths"}]
        server.play(text=f"Here it is:\n```json\n{json.dumps(said)}\n```")
        item_set = make_item_set(stage.project, [item])
        run = work(asking_server(server, item_set, stage=stage))
    prediction = run.predictions.get()
    assert prediction.answer == Annotation.objects.get(assignment__person=filler.person).answer
    asked = prediction.calls.get().messages[-1]["content"]
    assert '"name", "born" (a year), "note"' in asked
    assert "logic" not in asked  # The gold is nowhere in the prompt.
    report = reporting.create_report(
        project=stage.project,
        by=None,
        title="Tables",
        stage=stage,
        item_set=item_set,
        runs=[run],
        field="people",
        primary_scorer="cell_f1",
        primary_run=run,
        n_resamples=200,
    )
    reporting.make_report(report_id=report.pk)
    report.refresh_from_db()
    scored = {
        figure["row"]: figure["value"]
        for figure in report.figures
        if (figure["section"], figure["denominator"], figure["measure"]) == ("accuracy", "all", "cell_f1")
    }
    # Five of six values are right on either side.
    assert scored["people_mean"] == scored[f"run_{run.pk}"] == pytest.approx(5 / 6)
