"""Supplied databases: read from SQLite and CSV, asked by SELECT alone, within limits that are said."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.sources.databases import Database, read_databases
from annotate.sources.errors import SourceError

WORLD = """
CREATE TABLE city (name TEXT, people INTEGER, founded TEXT, area REAL);
INSERT INTO city VALUES ('Skarvoy', 1200, '1190-05-01', 2.5), ('Belm', NULL, '1804-11-30', 3.0);
INSERT INTO city VALUES ('Ost', 80, NULL, NULL);
CREATE VIEW large AS SELECT name FROM city WHERE people > 1000;
"""


def sqlite_bytes(script: str = WORLD) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    data = connection.serialize()
    connection.close()
    return data


def zip_of(**files: bytes) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer


@pytest.fixture
def world() -> Iterator[Database]:
    databases = read_databases(io.BytesIO(sqlite_bytes()), "world.sqlite")
    found = databases.get("")
    assert found
    yield found
    databases.close()


def test_a_query_gives_names_and_rows(world):
    names, rows = world.query("SELECT name, people FROM city ORDER BY people DESC", max_rows=10)
    assert names == ["name", "people"]
    assert rows == [("Skarvoy", 1200), ("Ost", 80), ("Belm", None)]
    assert world.query("SELECT name FROM large", max_rows=10)[1] == [("Skarvoy",)]
    assert world.query("WITH c AS (SELECT * FROM city) SELECT count(*) FROM c", max_rows=10)[1] == [(3,)]
    assert world.query("/* all */ -- of them\n select upper(name) from city", max_rows=1)[1] == [
        ("SKARVOY",),
        ("BELM",),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM city",
        "INSERT INTO city VALUES (1, 2, 3, 4)",
        "UPDATE city SET people = 0",
        "DROP TABLE city",
        "CREATE TABLE other (a)",
        "ATTACH DATABASE 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "PRAGMA table_info(city)",
        "EXPLAIN SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM city",
        "WITH c AS (SELECT 1) DELETE FROM city",
        "SELECT * FROM pragma_table_info('city')",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM dbstat",
        "SELECT load_extension('evil')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('x', 'y')",
        "SELECT edit('x')",
        "SELECT random()",
        "SELECT randomblob(9)",
        "SELECT sqlite_version()",
        "SELECT last_insert_rowid()",
        "SELECT date('now')",
        "SELECT strftime('%Y', ' NOW ')",
        "SELECT current_date",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT ?",
        "SELECT * FROM city WHERE",
        "",
        "nonsense",
    ],
)
def test_only_queries_of_its_own_tables_run(world, sql):
    with pytest.raises(SourceError) as refused:
        world.query(sql, max_rows=10)
    assert len(refused.value.message) > 20
    assert world.query("SELECT count(*) FROM city", max_rows=10)[1] == [(3,)]


def test_the_word_now_in_a_text_is_no_clock(world):
    assert world.query("SELECT 'right now' AS a", max_rows=1)[1] == [("right now",)]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM " + ", ".join(f"city c{n}" for n in range(30)),
        "WITH RECURSIVE r(x) AS (SELECT 'a' UNION ALL SELECT x || 'a' FROM r) SELECT max(x) FROM r",
    ],
)
def test_what_does_not_end_is_ended(world, sql):
    with pytest.raises(SourceError, match=r"more than|too big"):
        world.query(sql, max_rows=10, seconds=0.3)


def test_more_rows_than_wanted_are_not_fetched(world):
    _, rows = world.query("SELECT a.name AS a FROM city a, city b, city c", max_rows=5)
    assert len(rows) == 6


def test_a_large_value_is_none_or_refused(world):
    with pytest.raises(SourceError, match="too big"):
        world.query("SELECT replace(printf('%.*c', 1000000, 'x'), 'x', printf('%.*c', 1000000, 'y'))", max_rows=1)


def test_an_unknown_table_is_told_with_those_that_there_are(world):
    with pytest.raises(SourceError, match="no such table: country in the database “world”; it has: city, large"):
        world.query("SELECT * FROM country", max_rows=1)


def test_csv_becomes_a_table_with_kinds_and_nulls():
    data = b"id, name,code,size,note\n1,Belm,007,2.5,null\n2,NULL,008,3,\n"
    databases = read_databases(io.BytesIO(data), "cities.csv")
    found = databases.get("anything") or databases.get("cities")
    kinds = "typeof(id), typeof(code), typeof(size)"
    assert found.query(f"SELECT name, code, size, note, {kinds} FROM cities", max_rows=9)[1] == [
        ("Belm", "007", 2.5, None, "integer", "text", "real"),
        (None, "008", 3.0, None, "integer", "text", "real"),
    ]
    databases.close()


def test_a_zip_has_a_database_for_each_file_and_folder():
    buffer = zip_of(
        **{
            "all/world_1/city.csv": b"name\nBelm\n",
            "all/world_1/river.csv": b"river\nOst\n",
            "all/two/two.sqlite": sqlite_bytes(),
            "README.md": b"not a table",
        }
    )
    databases = read_databases(buffer, "all.zip")
    assert sorted(databases.names) == ["two", "world_1"]
    assert databases.get("") is None
    assert databases.get("World1").tables == ["city", "river"]
    assert databases.get("two").tables == ["city", "large"]
    databases.close()


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (sqlite_bytes()[:5000], "a.db", "cannot be read"),
        (b"SQLite format 3\x00" + b"\xff" * 4000, "a.db", "cannot be read"),
        (b"", "a.csv", "empty"),
        (b"a,b\n1\n", "a.csv", "a.csv"),
        (b"a,a\n1,2\n", "a.csv", "a.csv"),
        (sqlite_bytes("CREATE VIRTUAL TABLE t USING fts5(a)"), "a.db", "virtual table"),
        (zip_of(**{"a.txt": b"x"}).getvalue(), "a.zip", "holds no database"),
        (zip_of(**{"a.sqlite": b"x"}).getvalue(), "a.zip", "no SQLite database"),
        (zip_of(**{"../a.csv": b"a\n1\n"}).getvalue(), "a.zip", "leads out of it"),
        (zip_of(**{"w_1/a.csv": b"a\n1\n", "w1/a.csv": b"a\n1\n"}).getvalue(), "a.zip", "two databases of one name"),
    ],
)
def test_what_is_no_database_is_refused_with_its_place(data, name, words):
    with pytest.raises(SourceError, match=words):
        read_databases(io.BytesIO(data), name)


def test_a_database_that_is_too_large_is_refused():
    with pytest.raises(SourceError, match="more than 1,000 bytes"):
        read_databases(io.BytesIO(sqlite_bytes()), "a.db", max_total_bytes=1_000)


def test_a_database_in_wal_mode_is_read(tmp_path: Path):
    path = tmp_path / "wal.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    connection.close()
    databases = read_databases(io.BytesIO(path.read_bytes()), "wal.db")
    assert databases.get("").query("SELECT a FROM t", max_rows=2)[1] == [(1,)]
    databases.close()


def test_nothing_is_written_anywhere(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for sql in ("VACUUM INTO 'copy.db'", "ATTACH 'other.db' AS other", "SELECT writefile('x', 'y')"):
        with pytest.raises(SourceError):
            world.query(sql, max_rows=1)
    assert list(tmp_path.iterdir()) == []
