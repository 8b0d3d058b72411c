"""Rows as files: what each format holds, what it marks, and what it says it cannot hold."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from annotate.services.exporting.formats import FORMATS, MAX_CELL_CHARACTERS, write_jsonl, write_xlsx

HEAD = ["id", "said"]
ODD = [
    "=1+1",
    "+1",
    "-x",
    "@sum",
    "\t=1",
    "#N/A",
    "0017",
    "1234567890123456789",
    "\u2028 \u2029 \x85",
    "טקסט 中文 👩🏽‍🔬",
]


def written(form: str, rows: list[list[object]]) -> bytes:
    file = io.BytesIO()
    FORMATS[form].write(rows, file, lambda n: None)
    return file.getvalue()


def sheets(content: bytes) -> dict[str, list[tuple[Any, ...]]]:
    book = load_workbook(io.BytesIO(content))
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_exact_csv_and_json_lines_give_every_text_back(texts: list[str]):
    rows = [HEAD, *([str(n), text] for n, text in enumerate(texts))]
    assert list(csv.reader(io.StringIO(written("exact", rows).decode(), newline=""))) == rows
    # Split as the most careless reader would: a record ends at a line feed and nowhere else.
    lines = written("jsonl", rows).decode().splitlines()
    assert [list(json.loads(line).values()) for line in lines] == rows[1:]


def test_json_lines_keep_numbers_truth_lists_and_nothing_as_they_are():
    (line,) = written("jsonl", [["a", "b", "c", "d", "e"], [1, 0.5, True, [{"z": 1, "a": [2]}], None]]).splitlines()
    assert line == b'{"a":1,"b":0.5,"c":true,"d":[{"a":[2],"z":1}],"e":null}'


def test_cells_say_truth_in_words_and_lists_as_json():
    assert written("exact", [["a", "b", "c"], [True, ["x", 1], None]]) == b'a,b,c\r\nyes,"[""x"", 1]",\r\n'


def test_no_cell_of_xlsx_is_a_formula_an_error_or_another_number():
    content = written("xlsx", [HEAD, *([n, text] for n, text in enumerate(ODD))])
    assert [row[1] for row in sheets(content)["Rows"][1:]] == ODD
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b't="e"' not in sheet


def test_what_a_cell_cannot_hold_is_cut_with_a_mark_and_listed():
    file = io.BytesIO()
    report = write_xlsx([HEAD, ["1", "x" * 40_000], ["2", "a\x00b\x1fc"], ["3", "y" * 32_767]], file, lambda n: None)
    assert report == {"rows": 3, "sheets": 1, "cut": 1, "replaced": 1}
    found = sheets(file.getvalue())
    long, replaced, exactly = (row[1] for row in found["Rows"][1:])
    assert len(long) == MAX_CELL_CHARACTERS
    assert long.endswith("x [cut here: 40000 characters]")
    assert replaced == "a\ufffdb\ufffdc"
    assert exactly == "y" * 32_767
    assert found["Notes"][-1] == ("Rows", 2, "said", 40_000)


def test_rows_beyond_a_sheet_go_on_on_the_next_one_with_the_head_again():
    file = io.BytesIO()
    report = write_xlsx([HEAD, *([n, "x"] for n in range(7))], file, lambda n: None, max_sheet_rows=4)
    found = sheets(file.getvalue())
    assert (report["rows"], report["sheets"]) == (7, 3)
    assert [len(rows) for rows in found.values()] == [4, 4, 2]
    assert {rows[0] for rows in found.values()} == {("id", "said")}
    assert [row[0] for rows in found.values() for row in rows[1:]] == list(range(7))


@pytest.mark.parametrize("form", list(FORMATS))
def test_nothing_to_export_is_a_head_alone(form: str):
    content = written(form, [HEAD])
    expected = {"exact": b"id,said\r\n", "spreadsheet": "\ufeffid,said\r\n".encode(), "jsonl": b""}
    if form == "xlsx":
        assert sheets(content) == {"Rows": [("id", "said")]}
    else:
        assert content == expected[form]


def test_a_writer_says_how_far_it_is():
    told: list[int] = []
    write_jsonl(([n] for n in range(1_001)), io.BytesIO(), told.append)
    assert told == [0, 200, 400, 600, 800, 1_000]
