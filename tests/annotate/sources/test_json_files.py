"""A ZIP of JSON files, and nested fields as columns."""

from __future__ import annotations

import io
import json

import pytest

from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from tests.annotate.sources.files import read, refusal, values
from tests.annotate.sources.workbooks import zipped


def test_each_file_is_a_record_with_its_path_as_columns():
    data = zipped(
        {
            "set/xml/Join/b_1.json": json.dumps({"Q": "b?", "Label": {"type": "Join", "n": 2}}),
            "set/csv/Join/a_0.json": json.dumps({"Q": "a?", "Label": {"type": "Join", "n": 1}}),
            "set/README.md": "passed over",
            "__MACOSX/set/csv/Join/._a_0.json": "passed over",
        }
    )
    assert detect(io.BytesIO(data), "set.zip").format == "json_files"
    first, second = values(data, "set.zip")
    assert first == {
        "Q": "a?",
        "Label.type": "Join",
        "Label.n": 1,
        "(file)": "set/csv/Join/a_0.json",
        "(folder 1)": "set",
        "(folder 2)": "csv",
        "(folder 3)": "Join",
        "(name)": "a_0",
    }
    assert second["(name)"] == "b_1"
    assert values(data, "set.zip", unfold=False)[0]["Label"] == {"type": "Join", "n": 1}


def test_files_of_many_records():
    data = zipped({"a.jsonl": '{"id": 1}\n\n{"id": 2}\n', "b.json": '[{"id": 3}]', "c.json": '{"id": 4, "data": [{}]}'})
    assert [(record.line, dict(record.values)["id"]) for record in read(data, "x.zip")] == [
        (1, 1),
        (3, 2),
        (1, 3),
        (1, 4),
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.json": ""}, "In “a.json”"),
        ({"a.json": '{"id": 1'}, "In “a.json”: Line 1, column 9: this is not valid JSON"),
        ({"a.json": '{"id": 1} x'}, "In “a.json”: Line 1, column 11"),
        ({"a.json": '{"id": NaN}'}, "NaN is not a value"),
        ({"a.json": '{"id": "\\ud800"}'}, "half of a surrogate pair"),
        ({"a.json": b'{"id": "\xff"}'}, "In “a.json”: Line 1, column 9: byte 0xFF is not UTF-8"),
        ({"a.jsonl": '{"id": 1}\n[2]\n'}, "In “a.jsonl”: Line 2"),
        ({"../a.json": "{}"}, "leads out of it"),
        ({"a.json": '{"a": {"b": 1}, "a.b": 2}'}, "has this field twice"),
        ({"a.json": '{"q": "' + " " * 30_000_000 + '"}'}, "more than 200 times its size"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_place(files, said):
    with pytest.raises(SourceError, match=said):
        read(zipped(files), "x.zip")


def test_archives_without_json_and_broken_ones():
    assert "ZIP archive without JSON files" in refusal(zipped({"a.csv": "id\n1\n"}), "x.zip").message
    assert "cannot be read" in refusal(zipped({"a.json": "{}"})[:-30], "x.zip").message
