"""Gold tables from SQL: worked by hand on a database of three rows, with their columns, kinds, order and faults."""

from __future__ import annotations

import io
import json
from time import monotonic

import pytest

from annotate.answers import FieldSpec, get_field_type
from annotate.answers.columns import Column, columns_of
from annotate.sources.databases import read_databases
from annotate.sources.errors import SourceError
from annotate.sources.guessing import guess_mapping
from annotate.sources.mapping import apply
from annotate.sources.records import Record
from annotate.sources.sql_tables import (
    IN_ANY_ORDER,
    IN_ORDER,
    Query,
    ask,
    asked_mapping,
    has_outer_order,
    kind_of,
    operators_in,
    proposed_query,
    table_of,
    without_schema,
)

from .test_databases import sqlite_bytes


@pytest.fixture
def world():
    databases = read_databases(io.BytesIO(sqlite_bytes()), "world.sqlite")
    yield databases
    databases.close()


def asked(world, sql: str, **query) -> dict:
    record = Record(3, 4, [("q_id", "q7"), ("question", "Which?"), ("sql", sql)])
    return dict(ask(record, Query("sql", **query), world, question="q7").values)


def test_the_gold_table_by_hand(world):
    # Skarvoy has 1200 people, Ost 80; nobody knows of Belm.
    given = asked(world, "SELECT name, people, founded FROM city")
    assert given["columns"] == ["name: text", "people: number", "founded: text"]
    # Sorted, since the query says nothing of the order.
    assert json.loads(given["gold_table"]) == {
        "columns": ["name", "people", "founded"],
        "rows": [["Belm", None, "1804-11-30"], ["Ost", "80", None], ["Skarvoy", "1200", "1190-05-01"]],
    }
    assert (given["row_order"], given["attributes"], given["tuples"], given["cells"]) == (IN_ANY_ORDER, 3, 3, 9)
    assert json.loads(given["schema"]) == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": ["string", "null"]},
                "people": {"type": ["number", "null"]},
                "founded": {"type": ["string", "null"]},
            },
            "required": ["name", "people", "founded"],
            "additionalProperties": False,
        },
    }


def test_dates_become_years_on_request_and_only_where_all_of_a_column_are_dates(world):
    given = asked(world, "SELECT founded, name FROM city", dates_as_years=True)
    assert given["columns"] == ["founded: year", "name: text"]
    assert json.loads(given["gold_table"])["rows"] == [[None, "Ost"], ["1190", "Skarvoy"], ["1804", "Belm"]]
    mixed = table_of(["a"], [("1990-01-01",), ("unknown",)], "SELECT a FROM t", dates_as_years=True)
    assert (mixed.columns[0].type, mixed.rows) == ("text", (("1990-01-01",), ("unknown",)))


def test_the_order_of_a_query_that_orders_is_kept_and_stated(world):
    given = asked(world, "SELECT name FROM city ORDER BY people DESC")
    assert given["row_order"] == IN_ORDER
    assert json.loads(given["gold_table"])["rows"] == [["Skarvoy"], ["Ost"], ["Belm"]]


def test_numbers_are_plain_digits():
    table = table_of(["a"], [(2.0,), (2.5,), (1e20,), (-3,), (None,)], "SELECT a FROM t ORDER BY 1")
    assert table.columns == (Column("a", "number"),)
    assert [row[0] for row in table.rows] == ["2", "2.5", "100000000000000000000", "-3", None]


def test_an_empty_table_is_an_answer(world):
    given = asked(world, "SELECT name FROM city WHERE people > 99999")
    assert json.loads(given["gold_table"]) == {"columns": ["name"], "rows": []}


def test_gold_is_an_answer_of_a_table_field(world):
    given = asked(world, "SELECT name, people FROM city")
    spec = FieldSpec(name="table", type="table", caption="Table", columns=("name", "people"))
    value = get_field_type("table").validate(given["gold_table"], spec)
    assert value["rows"] == json.loads(given["gold_table"])["rows"]
    assert [column.type for column in columns_of(given["columns"])] == ["text", "number"]


@pytest.mark.parametrize(
    ("types", "kind"),
    [("number", "numeric"), ("number year", "numeric"), ("text", "categorical"), ("text number", "mixed")],
)
def test_of_what_a_table_is(types, kind):
    assert kind_of([Column(f"c{n}", name) for n, name in enumerate(types.split())]) == kind


@pytest.mark.parametrize(
    ("sql", "operators", "is_ordered"),
    [
        ("SELECT a FROM t", ["none"], False),
        ("SELECT count(*) FROM t", ["aggregate"], False),
        ("SELECT a FROM t JOIN u ON t.i = u.i", ["join"], False),
        ("SELECT t.a FROM t, u WHERE t.i = u.i", ["join", "where"], False),
        ("SELECT a FROM t ORDER BY a, b", ["order by"], True),
        ("SELECT a, b FROM t GROUP BY a, b", ["group by"], False),
        ("SELECT DISTINCT a FROM t ORDER BY a LIMIT 3", ["distinct", "order by", "limit"], True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) x", ["order by"], False),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM u)", ["where", "nested"], False),
        ("SELECT a, sum(b) FROM t GROUP BY a HAVING sum(b) > 2", ["aggregate", "group by", "having"], False),
        ("SELECT a FROM t WHERE b LIKE '%order by%'", ["where", "like"], False),
        ("SELECT a FROM t UNION SELECT b FROM u", ["set operation"], False),
        ('SELECT "order by" FROM t -- limit 3', ["none"], False),
        ("SELECT row_number() OVER (ORDER BY a) AS n FROM t", ["order by"], False),
    ],
)
def test_what_a_query_does(sql, operators, is_ordered):
    found = [name for name in operators_in(sql) if not (name == "nested" and "nested" not in operators)]
    assert (found, has_outer_order(sql)) == (operators, is_ordered)


def test_schemas_of_other_systems_are_left_out_but_not_of_texts():
    sql = "SELECT target.city.name, 'target.city' FROM target.city, public . \"city\" WHERE retarget.a = 1"
    assert without_schema(sql) == "SELECT city.name, 'target.city' FROM city, \"city\" WHERE retarget.a = 1"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DROP TABLE city", "only SELECT gives a table"),
        ("SELECT name, name FROM city", "two columns of the query are called “name”"),
        ("SELECT name AS a_b, people AS [A B] FROM city", "two columns"),
        ("SELECT x'00' AS a", "binary data"),
        ("SELECT 9e999 AS a", "infinite"),
        ("SELECT printf('%.*c', 3000, 'x') AS a", "3,000 characters; at most 2,000"),
        ("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r", "at most 2,000"),
        ("SELECT " + ", ".join(f"{n} AS c{n}" for n in range(51)), "51 columns; at most 50"),
        ("", "there is no query"),
        ("SELECT 1 AS a" + " " * 50_000 + "x", "more than 50,000 characters"),
        ("SELECT a FROM nowhere", "no such table"),
    ],
)
def test_faults_name_the_question_and_the_reason(world, sql, words):
    with pytest.raises(SourceError) as refused:
        asked(world, sql)
    assert "uestion q7" in refused.value.message
    assert words in refused.value.message
    assert (refused.value.line, refused.value.row, refused.value.field) == (4, 3, "sql")


@pytest.mark.parametrize(
    "piece", ["/*", "/**/", "'", '"', "'\"", "--", "from a,(", "target ", "target.", "'now ", "( "]
)
def test_no_query_takes_long_to_look_at(world, piece):
    sql = piece * (49_000 // len(piece))
    begun = monotonic()
    without_schema(sql)
    operators_in(sql)
    with pytest.raises(SourceError):
        asked(world, sql + "x")
    assert monotonic() - begun < 2


def test_a_database_that_is_not_there_is_named_with_those_that_are(world):
    record = Record(1, 1, [("sql", "SELECT 1"), ("db", "mars")])
    with pytest.raises(SourceError, match="there is no database “mars”; there are: world"):
        ask(record, Query("sql", "db"), world)


def test_the_time_of_all_queries_is_limited(world):
    world.seconds_left = 0.0
    with pytest.raises(SourceError, match="take too long together"):
        asked(world, "SELECT name FROM city")


def test_columns_are_recognised_by_name_and_by_what_is_in_them():
    records = [Record(n, n, [("Q_ID", n), ("SQL", "select 1"), ("db_id", "w"), ("query", "who?")]) for n in range(3)]
    assert proposed_query(["Q_ID", "SQL", "db_id", "query"], records) == Query("SQL", "db_id")
    assert proposed_query(["Q_ID", "query"], records) is None


def test_what_the_columns_of_a_question_mean(world):
    columns = ["q_id", "question", "sql", "db_id", "domain"]
    record = Record(1, 1, list(zip(columns, ["q1", "Which?", "SELECT name FROM city", "world", "x"], strict=True)))
    query = Query("sql", "db_id")
    mapping = asked_mapping(guess_mapping(columns, [record], []), query, columns, "table")
    draft = apply(mapping, ask(record, query, world))
    assert draft.external_id == "q1"
    assert [key for key, _ in draft.content] == ["question", "sql", "columns", "schema", "row_order"]
    assert list(draft.gold) == ["table"]
    assert draft.group == "world"
    assert draft.strata == [
        ["domain", "x"], ["attributes", "1"], ["tuples", "3"], ["cells", "3"], ["operator", "none"],
        ["kind", "categorical"],
    ]  # fmt: skip
    assert draft.extra == [["sql_database", "world"]]


def test_several_operators_are_several_strata(world):
    record = Record(1, 1, [("id", "q"), ("sql", "SELECT name FROM city WHERE people > 1 ORDER BY 1")])
    mapping = asked_mapping(guess_mapping(["id", "sql"], [record], []), Query("sql"), ["id", "sql"], "table")
    strata = apply(mapping, ask(record, Query("sql"), world)).strata
    assert strata[-3:-1] == [["operator", "where"], ["operator", "order by"]]


def test_what_was_counted_before_is_kept_and_what_a_query_gives_is_never_taken_from_the_file(world):
    record = Record(1, 1, [("sql", "SELECT name FROM city"), ("tuples", "904")])
    assert dict(ask(record, Query("sql"), world).values)["tuples"] == "904"
    record = Record(1, 1, [("sql", "SELECT name FROM city"), ("gold_table", "{}")])
    with pytest.raises(SourceError, match="already, which the query is to give"):
        ask(record, Query("sql"), world)
