"""One JSON document: three shapes, read piece by piece."""

import io
import json

import pytest

from annotate.sources.detect import detect
from annotate.sources.reading import read_records
from annotate.sources.records import Limits

from .files import read, refusal, values

ROWS = [{"id": "007", "q": 'é [{,\\" 👍', "n": [1, {"a": None}]}, {"id": "8", "q": "", "n": []}]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_objects(indent):
    assert values(json.dumps(ROWS, indent=indent).encode(), "x.json") == ROWS


def test_records_know_the_line_where_they_begin():
    data = b'[\n  {"id": 1},\n\n  {\n  "id": 2}, {"id": 3}\n]\n'
    assert [(r.number, r.line) for r in read(data, "x.json")] == [(1, 2), (2, 4), (3, 5)]


def test_an_object_with_one_list_of_objects_whatever_stands_around_it():
    document = {"version": 1.5, "info": {"by": "us"}, "labels": ["a", "b"], "data": ROWS, "end": True}
    assert values(json.dumps(document).encode(), "x.json") == ROWS


def test_an_object_of_objects_gives_its_keys_as_a_column():
    document = {"0702": {"title": "a"}, "703": {"title": "b"}}
    expected = [{"(key)": "0702", "title": "a"}, {"(key)": "703", "title": "b"}]
    assert values(json.dumps(document).encode(), "x.json") == expected


def test_two_lists_of_objects_are_refused_by_name():
    error = refusal(json.dumps({"train": ROWS, "test": ROWS}).encode(), "x.json")
    assert "“train”, “test”" in error.message


@pytest.mark.parametrize("document", [{"a": 1}, {"a": [1, 2]}, {"a": {"x": 1}, "b": 2}, {}, {"a": []}])
def test_a_document_without_records_is_refused(document):
    assert "no records" in refusal(json.dumps(document).encode(), "x.json").message


def test_an_empty_list_is_refused():
    assert "no records" in refusal(b"[ ]", "x.json").message


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("document", [ROWS, {"n": 12, "d": ROWS, "m": -1.5e3}, {"1": ROWS[0], "2": ROWS[1]}])
def test_the_pieces_the_file_comes_in_do_not_matter(monkeypatch, chunk, document):
    data = json.dumps(document, indent=1).encode()
    expected = values(data, "x.json")
    detected = detect(io.BytesIO(data), "x.json")
    monkeypatch.setattr("annotate.sources.decoding.CHUNK_BYTES", chunk)
    assert [dict(r.values) for r in read_records(io.BytesIO(data), detected)] == expected


def test_broken_json_is_named_by_line_and_column():
    rows = ",\n".join('{"id": 1}' for _ in range(4015))
    error = refusal(f'[\n{rows},\n{{"id": 2 "q": 3}}\n]'.encode(), "x.json")
    # The bracket has line 1 for itself, the 4,015 records follow: the broken one stands in line 4,017.
    assert (error.line, error.column) == (4017, 10)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('[\n{"a": 1}\n{"a": 2}]', 3, 1),  # the comma between them is missing
        ('[{"a": 1}', 1, 10),
        ('[{"a": 1}]\n]', 2, 1),
        ('[{"a": 1},\n 7]', 2, 2),
        ('[{"a": 1},\n]', 2, 1),
        ('[{"a": "x\ny"}]', 1, 10),  # a line end inside a string: most likely the quote before it is missing
        ('[{"a": 1}, {"a": tru}]', 1, 18),
        ("[{'a': 1}]", 1, 3),
    ],
)
def test_faults_are_placed(text, line, column):
    error = refusal(text.encode(), "x.json")
    assert (error.line, error.column) == (line, column)


def test_refused_values_name_row_and_field():
    error = refusal(b'[{"a": 1},\n {"a": {"b": NaN}}]', "x.json")
    assert (error.line, error.row, error.field) == (2, 2, "a.b")
    twice = refusal(b'{"x": {"a": 1},\n "x": {"a": 2}}', "x.json")
    assert (twice.line, twice.field) == (2, "x")


def test_an_item_above_the_limit_is_refused_with_its_line():
    data = json.dumps([{"q": "a"}, {"q": "x" * 300_000}, {"q": "b"}], indent=0).encode()
    error = refusal(data, "x.json", limits=Limits(max_item_bytes=200_000))
    assert (error.line, error.row) == (5, 2)  # "[", then three lines for the first record
    assert "more than 200,000 bytes" in error.message


def test_an_item_of_one_megabyte_is_read():
    rows = [{"q": "ä" * 500_000}, {"q": "b"}]
    assert values(json.dumps(rows, ensure_ascii=False).encode(), "x.json") == rows


def test_deep_nesting_is_refused_with_its_place():
    error = refusal(b'[{"a": 1},\n{"q": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]", "x.json")
    assert (error.line, error.column) == (2, len('{"q": ') + 63 + 1)
