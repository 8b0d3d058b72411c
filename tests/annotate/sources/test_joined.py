"""Questions joined to their tables, and archives that are refused."""

import io
import json
import stat
import zipfile

import pytest

from annotate.sources.blocks import block_type, grid, infobox
from annotate.sources.errors import SourceError
from annotate.sources.joined import Tables, join_tables, read_tables
from annotate.sources.records import Limits

from .files import read

QUESTIONS = b'[{"q": "a", "table_id": 7},\n {"q": "b", "table_id": "8"}]'


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return buffer.getvalue()


def tables_of(data: bytes, name: str = "tables.zip", **options: object) -> Tables:
    return read_tables(io.BytesIO(data), name, **options)


def refused(data: bytes, name: str = "tables.zip", **options: object) -> SourceError:
    with pytest.raises(SourceError) as caught:
        tables_of(data, name, **options)
    return caught.value


def table(**values: object) -> bytes:
    return json.dumps(values).encode()


def test_each_question_gets_its_table():
    tables = tables_of(archive({"tables/7.json": table(A={"x": "1"}), "tables/8.json": table(B="2")}))
    records = list(join_tables(read(QUESTIONS, "q.json"), tables, column="table_id"))
    assert [dict(record.values)["table"] for record in records] == [infobox({"A": {"x": "1"}}), infobox({"B": "2"})]
    assert [(record.number, record.line) for record in records] == [(1, 1), (2, 2)]


def test_a_missing_table_is_named_with_line_and_row():
    tables = tables_of(archive({"7.json": table(A="1")}))
    with pytest.raises(SourceError, match="no table “8” among the 1") as caught:
        list(join_tables(read(QUESTIONS, "q.json"), tables, column="table_id"))
    assert (caught.value.line, caught.value.row, caught.value.field) == (2, 2, "table_id")


def test_a_question_without_a_table_and_a_column_of_the_same_name_are_refused():
    tables = tables_of(archive({"7.json": table(A="1")}))
    with pytest.raises(SourceError, match="no table is named here"):
        list(join_tables(read(b'[{"q": "a"}]', "q.json"), tables, column="table_id"))
    with pytest.raises(SourceError, match="column of this name"):
        list(join_tables(read(QUESTIONS, "q.json"), tables, column="table_id", key="q"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", '{"7": {"A": {"x": "1"}}, "8": {"A": {"x": "2"}}}'),
        ("t.json", '[{"id": 7, "A": {"x": "1"}}, {"id": 8, "A": {"x": "2"}}]'),
        ("t.jsonl", '{"table_id": "7", "A": {"x": "1"}}\n{"table_id": "8", "A": {"x": "2"}}'),
    ],
)
def test_many_tables_in_one_file(name, text):
    tables = tables_of(text.encode(), name)
    assert len(tables) == 2
    assert block_type(tables.get("7")) == "table"
    assert "1" in json.dumps(tables.get("7"))


def test_a_row_of_a_csv_is_a_table_of_its_columns():
    tables = tables_of(b"name,Born,Died\nHolm,1901,1980\n", "t.csv", id_column="name")
    assert tables.get("Holm") == infobox({"Born": "1901", "Died": "1980"})


def test_two_tables_of_one_name_and_a_table_without_are_refused():
    assert "two tables" in refused(b'[{"id": 7, "a": "x"}, {"id": "7", "a": "y"}]', "t.json").message
    assert refused(b'[{"id": 7, "a": "x"}, {"a": "y"}]', "t.json").row == 2


def test_csv_members_are_grids_and_text_members_monospaced():
    members = {"a/one.csv": b'n,n\n1,"x,y"\n', "b/two.txt": b"a -> b\n", "c/three.json": b'[["h"],["1"]]'}
    tables = tables_of(archive(members))
    assert tables.get("one") == grid([["n", "n"], ["1", "x,y"]])
    assert tables.get("b/two.txt") == {"type": "mono", "text": "a -> b\n"}
    assert tables.get("three.json") == grid([["h"], ["1"]])


def test_a_name_that_fits_two_tables_fits_none_but_paths_still_do():
    tables = tables_of(archive({"x/1.json": table(A="1"), "y/1.json": table(A="2"), "y/2.json": table(A="3")}))
    assert tables.get("1") is None
    assert tables.get("y/1.json") == infobox({"A": "2"})
    assert tables.get("2") == infobox({"A": "3"})
    with pytest.raises(SourceError, match="several tables are called “1”"):
        list(join_tables(read(b'[{"t": 1}]', "q.json"), tables, column="t"))


def test_other_files_are_passed_over_and_counted():
    members = {"1.json": table(A="1"), "read me.pdf": b"x", "__MACOSX/1.json": b"x", ".hidden.json": b"x"}
    tables = tables_of(archive(members))
    assert (len(tables), tables.n_passed_over) == (1, 3)


def test_a_fault_in_a_member_names_the_member_and_its_line():
    error = refused(archive({"t/1.json": b'{"a": 1}', "t/2.json": b'{\n"a": 1,\n"b": }'}))
    assert error.message.startswith("In “t/2.json”: Line 3, column 6: this is not valid JSON")
    assert "In “3.json”" in refused(archive({"3.json": b'{"a": NaN}'})).message
    assert "In “4.csv”" in refused(archive({"4.csv": b"a,b\n1\n"})).message


@pytest.mark.parametrize("name", ["../1.json", "a/../../1.json", "/etc/1.json", "a\\..\\1.json", "C:/1.json"])
def test_paths_that_lead_out_are_refused(name):
    # writestr would turn a backslash over on Windows only; the raw name is what an attacker writes.
    assert "leads out" in refused(archive({name: table(A="1")})).message


def test_links_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        link = zipfile.ZipInfo("1.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "/etc/passwd")
    assert "link" in refused(buffer.getvalue()).message


def test_too_many_files_are_refused_and_the_number_is_a_setting():
    members = {f"{n}.json": b'{"a": "1"}' for n in range(11)}
    assert len(tables_of(archive(members), max_members=11)) == 11
    assert "more than 10 files" in refused(archive(members), max_members=10).message


def test_a_directory_of_a_million_files_is_refused_before_it_is_read():
    data = archive({f"{'x' * 200}{n}.json": b"" for n in range(400)})
    assert "more than 10 files" in refused(data, max_members=10).message


def test_a_bomb_is_refused():
    spaces = b'{"a": "' + b" " * 1_900_000 + b'"}'
    assert "more than 200 times" in refused(archive({"1.json": spaces})).message
    assert tables_of(archive({"1.json": spaces}, zipfile.ZIP_STORED)).n_tables == 1


def test_sizes_are_limited_for_one_table_and_for_all():
    data = archive({f"{n}.json": table(A="x" * 1000) for n in range(3)})
    assert "more than 500 bytes" in refused(data, limits=Limits(max_item_bytes=500)).message
    assert "more than 2,000 bytes" in refused(data, max_total_bytes=2000).message
    rows = b"id,A\n" + b"".join(b"%d,%s\n" % (n, b"x" * 1000) for n in range(3))
    assert "more than 2,000 bytes" in refused(rows, "t.csv", max_total_bytes=2000).message


def test_broken_encrypted_and_empty_archives_are_refused():
    good = archive({"1.json": table(A="1" * 500)})
    assert "cannot be read" in refused(good[:40]).message
    damaged = bytearray(good)
    damaged[45] ^= 0xFF
    assert "cannot be unpacked" in refused(bytes(damaged)).message
    encrypted = bytearray(good)
    encrypted[6] |= 1
    encrypted[encrypted.rfind(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refused(bytes(encrypted)).message
    assert "no table" in refused(archive({"readme.pdf": b"x"})).message
    assert "no table" in refused(archive({})).message


def test_the_upload_stays_open():
    file = io.BytesIO(archive({"1.json": table(A="1")}))
    read_tables(file, "t.zip")
    assert not file.closed
