"""Parquet: every type as an item can hold it, and files that cannot be read."""

from __future__ import annotations

import datetime
import decimal
import io
import subprocess
import sys
from typing import Any

import pyarrow as arrow
import pyarrow.parquet
import pytest

from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from annotate.sources.mapping import ContentColumn, Mapping, apply
from annotate.sources.records import Limits
from config.env import PROJECT
from tests.annotate.sources.files import read, refusal, values
from tests.annotate.sources.workbooks import words_only


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    table = columns if isinstance(columns, arrow.Table) else arrow.table(columns)
    arrow.parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


UTC = datetime.UTC
MOMENT = datetime.datetime(2022, 12, 1, 17, 45, 3, 250_000)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (arrow.array(["007"]), "007"),
        (arrow.array(["水 \U0001f600  "]), "水 \U0001f600  "),
        (arrow.array(["yes"]).dictionary_encode(), "yes"),
        (arrow.array([1234567890123456789]), 1234567890123456789),
        (arrow.array([2**64 - 1], arrow.uint64()), 2**64 - 1),
        (arrow.array([0.1]), 0.1),
        (arrow.array([0.1], arrow.float32()), 0.1),
        (arrow.array([True]), True),
        (arrow.array([None], arrow.string()), None),
        (arrow.array([decimal.Decimal("1.10")]), "1.10"),
        (arrow.array([decimal.Decimal("12345678901234567890.5")]), "12345678901234567890.5"),
        (arrow.array([datetime.date(2022, 12, 1)]), "2022-12-01"),
        (arrow.array([datetime.time(17, 45)]), "17:45:00"),
        (arrow.array([MOMENT], arrow.timestamp("ms")), "2022-12-01T17:45:03.250000"),
        (arrow.array([MOMENT.replace(tzinfo=UTC)], arrow.timestamp("us", "UTC")), "2022-12-01T17:45:03.250000+00:00"),
        (arrow.array([1_000_000_001], arrow.timestamp("ns")), "1970-01-01T00:00:01"),
        (arrow.array([datetime.timedelta(hours=62)]), "2 days, 14:00:00"),
        (arrow.array([b"text"], arrow.binary()), "text"),
        (arrow.array([["a", None]]), ["a", None]),
        (arrow.array([{"title": "T", "rows": [{"k": 1.5}]}]), {"title": "T", "rows": [{"k": 1.5}]}),
        (arrow.array([[("a", 1)]], arrow.map_(arrow.string(), arrow.int64())), [["a", 1]]),
    ],
    ids=words_only,
)
def test_every_type(column, value):
    assert values(parquet({"x": column}), "items.parquet") == [{"x": value}]


def test_row_groups_are_read_in_order_whatever_the_name():
    data = parquet({"id": [str(n) for n in range(2_500)], "q": ["?"] * 2_500}, row_group_size=700)
    assert detect(io.BytesIO(data), "items.csv").format == "parquet"
    records = read(data, "items.csv")
    assert [record.number for record in records] == list(range(1, 2_501))
    assert [dict(record.values)["id"] for record in records] == [str(n) for n in range(2_500)]


def test_nested_fields_become_columns_when_asked():
    data = parquet({"meta": [{"task": "Join", "depth": {"n": 2}}]})
    assert values(data, "items.parquet", unfold=True) == [{"meta.task": "Join", "meta.depth.n": 2}]


def test_what_is_no_number_refuses_the_item_that_needs_it():
    first, second = read(parquet({"q": ["a", "b"], "score": [float("nan"), 1.0]}), "items.parquet")
    shown = Mapping((ContentColumn("q", "q"), ContentColumn("score", "score")))
    with pytest.raises(SourceError, match="NaN is not a value") as caught:
        apply(shown, first)
    assert (caught.value.row, caught.value.field) == (1, "score")
    assert apply(Mapping((ContentColumn("q", "q"),)), first).extra == [["score", None]]
    assert apply(shown, second).content == [["q", "b"], ["score", 1.0]]


GOOD = parquet({"q": ["a"] * 1_000})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD[: len(GOOD) // 2], "beginning of a Parquet file"),
        (b"PAR1" + bytes(100) + b"PAR1", "cannot be read"),
        (GOOD[:40] + b"\xff" * 40 + GOOD[80:], "cannot be read"),
        (parquet({"q": arrow.array([], arrow.string())}), "holds no records"),
        (parquet({"q": ["a", "b\0"]}), "Line 2, row 2, field “q”: there is a NUL"),
        (parquet({"q": arrow.array([b"a", b"\xff\xfe"], arrow.binary())}), "Line 2, row 2, field “q”: there are bytes"),
        (parquet({"q": ["a" * 5_000]}), "Line 1, row 1: this row has more than 4,000 bytes"),
        (parquet({f"c{n}": [1] for n in range(2_001)}), "more than 2,000 columns"),
        (
            parquet(arrow.Table.from_arrays([arrow.array([1]), arrow.array([2])], names=["q", "q"])),
            "field “q”: two columns have the same name|Field “q”: two columns have the same name",
        ),
    ],
    ids=words_only,
)
def test_what_cannot_be_read_is_refused_with_its_place(data, said):
    with pytest.raises(SourceError, match=said):
        read(data, "items.parquet", limits=Limits(max_item_bytes=4_000))


def test_nesting_has_a_limit():
    value: Any = "deep"
    for _ in range(12):
        value = [value]
    assert (
        "nested more than 8 deep"
        in refusal(parquet({"q": [value]}), "items.parquet", limits=Limits(max_depth=8)).message
    )


def test_without_the_library_the_command_is_told(tmp_path):
    path = tmp_path / "items.parquet"
    path.write_bytes(GOOD)
    # In a process of its own, where the library cannot be found.
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from annotate.sources.detect import detect\n"
        "from annotate.sources.errors import SourceError\n"
        "from annotate.sources.reading import read_records\n"
        f"file = open({str(path)!r}, 'rb')\n"
        "try: list(read_records(file, detect(file, 'items.parquet')))\n"
        "except SourceError as fault: print(fault.message)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    assert "pip install -r requirements-parquet.txt" in said
