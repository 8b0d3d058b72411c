"""Workbooks: what a cell says is what an item gets, and what no cell says is told by its place."""

from __future__ import annotations

import datetime
import io

import pytest

from annotate.sources import xlsx
from annotate.sources.detect import detect, detect_sheet
from annotate.sources.errors import SourceError
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping, apply
from annotate.sources.records import Limits
from tests.annotate.sources.files import read, refusal, values
from tests.annotate.sources.workbooks import with_cell, with_part, words_only, workbook, zipped

HEAD = ["id", "question", "label"]


def book(*rows: list[object], **more: object) -> bytes:
    return workbook(("Items", [HEAD, *rows]), **more)


def test_a_sheet_is_read_like_the_csv_of_the_same_cells():
    data = book(["a", "Is 2 even?", "yes"], [None, None, None], ["b", "Is 3\neven?", None])
    as_csv = b'id,question,label\na,Is 2 even?,yes\n,,\nb,"Is 3\neven?",\n'
    assert values(data, "items.xlsx") == values(as_csv, "items.csv")
    assert [(record.number, record.line) for record in read(data, "items.xlsx")] == [(1, 2), (2, 4)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (2, "2"),
        (0.1 + 0.2, "0.3"),
        (1.10, "1.1"),
        (-0.0, "0"),
        (1e-7, "1e-07"),
        (123456789012345, "123456789012345"),
        (1e21, "1e+21"),
        ("007", "007"),
        ("2.0", "2.0"),
        (" kept ", " kept "),
        (True, "TRUE"),
        (False, "FALSE"),
        (datetime.date(2022, 12, 1), "2022-12-01"),
        (datetime.datetime(2022, 12, 1, 17, 45), "2022-12-01T17:45:00"),
        (datetime.time(17, 45), "17:45:00"),
        (datetime.timedelta(hours=62, minutes=12), "62:12:00"),
        ("=1+1 is text", "=1+1 is text"),
        ("Mnesiču 水 \U0001f600", "Mnesiču 水 \U0001f600"),
    ],
)
def test_every_kind_of_cell_as_the_text_that_is_seen(value, text):
    def as_text(made):
        made.active["B2"].data_type = "s" if isinstance(value, str) else made.active["B2"].data_type

    (record,) = values(book(["a", value, "yes"], change=as_text), "items.xlsx")
    assert record["question"] == text


def test_the_first_row_is_data_where_it_looks_like_data():
    data = workbook(("Items", [[1, "Is it?"], [2, "Was it?"]]))
    assert values(data, "items.xlsx") == [
        {"column_1": "1", "column_2": "Is it?"},
        {"column_1": "2", "column_2": "Was it?"},
    ]


def test_the_first_visible_sheet_is_read_and_the_others_are_named():
    def hide(made):
        made["Notes"].sheet_state = "hidden"

    data = workbook(("Notes", [["secret"]]), ("Items", [HEAD, ["a", "b", "c"]]), ("More", [["x"]]), change=hide)
    found = detect(io.BytesIO(data), "items.xlsx")
    assert (found.format, found.sheet) == ("xlsx", "Items")
    assert found.notes == ("Only the sheet “Items” is read, not “Notes” (hidden), “More”.",)
    assert xlsx.sheet_names(io.BytesIO(data)) == [("Notes", False), ("Items", True), ("More", True)]
    other = detect_sheet(io.BytesIO(data), "Notes")
    assert other.notes[0] == "The sheet “Notes” is hidden in the workbook."
    with pytest.raises(SourceError, match="no sheet “Gone”; choose one of “Notes”, “Items”, “More”"):
        detect_sheet(io.BytesIO(data), "Gone")


def test_merged_cells_are_told():
    def merge(made):
        made.active.merge_cells("A2:A3")

    found = detect(io.BytesIO(book(["a", "b", "c"], [None, "d", "e"], change=merge)), "items.xlsx")
    assert found.notes == (
        "1 range of merged cells (first A2:A3): only the first cell of each has the value, the others are empty.",
    )


MAPPING = Mapping((ContentColumn("question", "question"),), id_column="id", gold=(GoldColumn("label", "label"),))


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ('<c r="C2" t="e"><v>#N/A</v></c>', "the cell holds the error #N/A"),
        ('<c r="C2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', "the cell holds the error #DIV/0!"),
        ('<c r="C2"><v>1.234567890123457e+18</v></c>', "more digits than a spreadsheet keeps"),
        ('<c r="C2"><f>A2&amp;"x"</f></c>', "the formula here has no computed value"),
        ('<c r="C2" t="str"><f>A2</f><v></v></c>', "the formula here has no computed value"),
    ],
)
def test_a_cell_without_value_refuses_the_item_that_needs_it(xml, said):
    data = with_cell(book(["a", "Is it?", "yes"], ["b", "Was it?", "no"]), "C2", xml)
    first, second = read(data, "items.xlsx")
    with pytest.raises(SourceError, match=said) as caught:
        apply(MAPPING, first)
    assert (caught.value.line, caught.value.row, caught.value.field) == (2, 1, "label")
    # Where nobody needs the column the item is fine, and so is the next one.
    without = Mapping((ContentColumn("question", "question"),), id_column="id")
    assert apply(without, first).content == [["question", "Is it?"]]
    assert apply(MAPPING, second).gold == {"label": ["no"]}


def test_a_long_whole_number_that_was_written_in_full_keeps_its_digits():
    data = _cell('<c r="B2"><v>1234567890123456789</v></c>')
    assert values(data, "items.xlsx")[0]["question"] == "1234567890123456789"


def test_a_computed_formula_is_its_value():
    data = with_cell(book(["a", "x", "yes"]), "B2", '<c r="B2" t="str"><f>A2&amp;"?"</f><v>a?</v></c>')
    assert values(data, "items.xlsx")[0]["question"] == "a?"


def test_escapes_of_characters_that_xml_lacks():
    data = with_cell(
        book(["a", "x", "yes"]), "B2", '<c r="B2" t="inlineStr"><is><t>a_x000D_b _xD83D__xDE00_</t></is></c>'
    )
    assert values(data, "items.xlsx")[0]["question"] == "a\rb \U0001f600"


def test_a_stray_cell_far_below_costs_nothing():
    data = with_part(
        book(["a", "x", "yes"]),
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace(
            "</sheetData>", '<row r="1048576"><c r="A1048576" t="inlineStr"><is><t>z</t></is></c></row></sheetData>'
        ),
    )
    assert [record.line for record in read(data, "items.xlsx")] == [2, 1_048_576]


def test_a_wrong_dimension_hides_no_cell():
    data = with_part(
        book(["a", "x", "yes"], ["b", "y", "no"]),
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace('<dimension ref="A1:C3"', '<dimension ref="A1"'),
    )
    assert len(values(data, "items.xlsx")) == 2


def _cell(xml: str) -> bytes:
    return with_cell(book(["a", "x", "yes"]), "B2", xml)


BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet/>'
GOOD = book(["a", "x", "yes"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD[:-200], "no directory at its end"),
        (GOOD[: len(GOOD) // 2], "no directory at its end"),
        (workbook(("Items", [])), "holds no records"),
        (workbook(("Items", [HEAD])), "holds no records"),
        (workbook(("Items", [["id", "q", "id"], [1, 2, 3]])), "Line 1, field “id”: columns 1 and 3 have the same name"),
        (book(["a", "x", "yes", None, "beyond"]), "Line 2, row 1: this row has content in 5 columns, and the header"),
        (workbook(("Items", [[f"c{n}" for n in range(1_001)]])), "Line 1: the sheet has more than 1,000 columns"),
        (_cell('<c r="B2" t="inlineStr"><is><t>_x0000_</t></is></c>'), "Line 2, column 2: the cell has a NUL"),
        (_cell('<c r="B2" t="inlineStr"><is><t>_xD800_</t></is></c>'), "Line 2, column 2: the cell has a NUL"),
        (_cell('<c r="B2"><v>NaN</v></c>'), "cannot be read"),
        (_cell('<c r="B2" t="s"><v>99</v></c>'), "cannot be read"),
        (with_part(GOOD, "xl/worksheets/sheet1.xml", lambda part: part[:300]), "cannot be read"),
        (with_part(GOOD, "xl/worksheets/sheet1.xml", lambda _: BOMB), "cannot be read"),
        (with_part(GOOD, "xl/workbook.xml", lambda _: "<workbook/>"), "cannot be read|no sheet"),
        (with_part(GOOD, "xl/styles.xml", lambda _: " " * 50_000_000), "unpacks to more than 400 times"),
        (zipped({"xl/workbook.bin": b"x"}), "binary Excel workbook"),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": ""}), "OpenDocument"),
        (zipped({"[Content_Types].xml": "", "word/document.xml": ""}), "Office document other than a workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office document"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
            "password-protected",
        ),
    ],
    ids=words_only,
)
def test_what_cannot_be_read_is_refused_with_its_place(data, said):
    with pytest.raises(SourceError, match=said):
        read(data, "items.xlsx")


def test_a_row_that_is_too_large():
    data = book(["a", "x", "yes"], ["b", "y" * 5_000, "no"])
    assert refusal(data, "items.xlsx", limits=Limits(max_item_bytes=4_000)).message.startswith(
        "Line 3, row 2: the item"
    )


def test_one_long_text_in_many_cells_is_no_way_to_fill_the_database(monkeypatch):
    monkeypatch.setattr(xlsx, "MAX_TEXT_BYTES", 10_000)
    data = book(*(["a", "y" * 3_000, "no"] for _ in range(5)))
    assert "more than 10,000 characters" in refusal(data, "items.xlsx").message


def test_more_cells_than_the_limit(monkeypatch):
    monkeypatch.setattr(xlsx, "MAX_CELLS", 10)
    assert "more than 10 cells" in refusal(book(*(["a", "b", "c"] for _ in range(5))), "items.xlsx").message


def test_a_csv_that_is_called_xlsx_is_read_as_what_it_is():
    assert detect(io.BytesIO(b"id,q\n1,a\n"), "items.xlsx").format == "csv"
    assert detect(io.BytesIO(GOOD), "items.csv").format == "xlsx"
