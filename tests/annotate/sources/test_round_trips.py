"""Whatever text people write comes back as it was, through every format and encoding."""

import csv
import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.sources.errors import SourceError
from annotate.sources.records import Limits

from .files import values, values_or_refusal

# Everything Unicode has but what no file may hold: NUL, and surrogates (which UTF-8 cannot write).
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)
LINE = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=60)
UTF = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def as_python_calls(codec: str) -> str:
    """The reader's name of an encoding: marks are dropped by it, byte order is told in the name."""
    return {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(codec, codec)


@given(st.lists(st.dictionaries(TEXT, JSON, min_size=1, max_size=5), min_size=1, max_size=5), UTF, st.booleans())
def test_json_lines_return_what_was_written(rows, codec, ascii_only):
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)
    assert values(text.encode(codec), "x.jsonl", format="jsonl", encoding=as_python_calls(codec)) == rows


@given(
    st.lists(st.dictionaries(TEXT, JSON, min_size=1, max_size=5), min_size=1, max_size=5),
    UTF,
    st.sampled_from([None, 1]),
)
def test_json_returns_what_was_written(rows, codec, indent):
    text = json.dumps(rows, ensure_ascii=False, indent=indent)
    assert values(text.encode(codec), "x.json", format="json", encoding=as_python_calls(codec)) == rows


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), UTF, st.sampled_from([",", ";", "\t", "|"]))
def test_csv_returns_what_was_written(rows, codec, delimiter):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("id", "first", "second")])
    for number, row in enumerate(rows):
        csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerow((number, *row))
    read = values(
        buffer.getvalue().encode(codec),
        "x.csv",
        format="csv",
        encoding=as_python_calls(codec),
        delimiter=delimiter,
        quoting=True,
        backslash_escapes=False,
        has_header=True,
        newline="\r\n",
    )
    assert [(row["id"], row["first"], row["second"]) for row in read] == [(str(n), *row) for n, row in enumerate(rows)]


@given(st.lists(LINE, min_size=1, max_size=6))
def test_utf8_is_detected_in_any_text(lines):
    text = "".join(json.dumps({"q": line}, ensure_ascii=False) + "\n" for line in lines)
    assert values(text.encode(), "x.jsonl") == [{"q": line} for line in lines]


@given(st.text("àâçéèêëîïôûùüÿäößñ ¿¡abcdefgh", min_size=5, max_size=80).filter(lambda text: not text.isascii()))
def test_latin_letters_survive_when_the_encoding_is_said(text):
    data = json.dumps({"q": text}, ensure_ascii=False).encode("latin-1")
    for encoding in ("latin-1", "cp1252"):
        assert values(data, "x.jsonl", encoding=encoding) == [{"q": text}]


@given(st.binary(min_size=1, max_size=400), st.sampled_from(["x.jsonl", "x.json", "x.csv", "x.tsv"]))
def test_any_bytes_are_read_or_refused_with_one_sentence(data, name):
    read = values_or_refusal(data, name)
    if isinstance(read, SourceError):
        assert read.message.endswith(".")
        assert "\n" not in read.message
    else:
        assert read  # no file is read as nothing without a word


@given(st.text('{}[]",:\\ \n09.eE+-tfnualrsN\ud83d', max_size=80), st.sampled_from(["json", "jsonl"]))
def test_any_text_that_resembles_json_is_refused_or_holds_what_json_can_hold(text, format_name):
    read = values_or_refusal(text.encode("utf-8", "replace"), "x", format=format_name)
    if not isinstance(read, SourceError):
        assert json.loads(json.dumps(read, allow_nan=False)) == read


@pytest.mark.parametrize("pattern", ['{"', "[", '"', "\\", "{}", '[{"a":', '"\\u', "1", "-", ' "" ', "\t,", ";|"])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv", "x.tsv"])
def test_hostile_repetitions_are_no_burden(pattern, name):
    data = (pattern * (1_000_000 // len(pattern))).encode()
    started = time.process_time()
    values_or_refusal(data, name, limits=Limits(max_item_bytes=500_000))
    assert time.process_time() - started < 3  # a quadratic step on a megabyte takes minutes
