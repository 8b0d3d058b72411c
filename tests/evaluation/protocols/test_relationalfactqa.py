"""RelationalFactQA, played: questions are checked, people fill tables, models are asked in words and in SQL."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from tests.evaluation.protocols.play import Play, accuracy, figure, of_run
from tests.openai_server import Running

pytestmark = pytest.mark.django_db

COLUMNS = ["country", "capital"]
ROWS = [["Ruritania", "Strelsau"], ["Freedonia", "Glorial"]]
WHOLE = {"columns": COLUMNS, "rows": ROWS}
MAPPING = Mapping(
    tuple(ContentColumn(key, key) for key in ("question", "sql", "columns")),
    id_column="id",
    gold=(GoldColumn("rows", "table"),),
    strata=("attributes", "operator"),
)


def records() -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{n}",
            "question": f"List realms {n} with their capitals.",
            "sql": f"SELECT country, capital FROM realms{n}",
            "columns": COLUMNS,
            "table": json.dumps(WHOLE),
            "attributes": 2,
            "operator": "SELECT",
        }
        for n in range(3)
    ]


def as_objects(rows: list[list[str]]) -> list[dict[str, str]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def test_from_questions_to_cells_and_tuples(server: Running):
    play = Play("relationalfactqa")
    # The gold label is of what people are asked later, so that the items come into the project first.
    play.load(records(), mapping=MAPPING)
    assert play.add("check", play.project.item_sets.get()) == 3

    # Checked: one is accepted, one reworded, one dropped.
    play.open("check")
    (expert,) = play.people(1, "adjudicator")

    def decide(_: Any, name: str) -> dict[str, Any]:
        return {
            "r0": {"decision": "accept"},
            "r1": {"decision": "edit", "question": "Which realms 1 are there, with their capitals?"},
            "r2": {"decision": "drop", "code": "ambiguous"},
        }[name]

    assert len(play.work("check", expert, decide)) == 3
    play.close("check")
    places = play.stage("answers").stage_items.order_by("revision__item__external_id")
    asked = [dict(map(tuple, place.revision.content))["question"] for place in places]
    assert asked == ["List realms 0 with their capitals.", "Which realms 1 are there, with their capitals?"]

    # Answered: one knows all, one knows a row, one knows a row and makes another up.
    play.open("answers")
    known = [ROWS, ROWS[:1], [ROWS[0], ["Zubrowka", "Lutz Spa Town"]]]
    for person, rows in zip(play.people(3), known, strict=True):
        done = play.work("answers", person, lambda _, name, rows=rows: {"rows": {"columns": COLUMNS, "rows": rows}})
        assert done == ["r0", "r1"] or sorted(done) == ["r0", "r1"]
    play.close("answers")
    items = play.items_of("answers", "all questions")

    # Models: asked once in words a row comes. Asked for more the other comes, too, then none; in SQL all come at once.
    given = [json.dumps(as_objects([row])) for row in ROWS]
    server.play(text=given[0])
    once = play.run("natural language, asked once", items, server)
    server.play(
        {"contains": "realms", "behaviour": {"text": given[0]}},
        {"times": 2, "behaviour": {"text": given[1]}},
        text="[]",
    )
    words = play.run("natural language", items, server)
    assert [one.calls.count() for one in words.predictions.all()] == [3, 3]
    server.play({"contains": "realms", "behaviour": {"text": json.dumps(as_objects(ROWS))}}, text="[]")
    sql = play.run("SQL", items, server)
    shown = [json.dumps(run.predictions.first().calls.get(step=0).messages) for run in (words, sql)]
    assert ["SELECT country" in prompt for prompt in shown] == [False, True]
    assert words.parameters["temperature"] == 0

    report = play.report("Cells and tuples", items, [once, words, sql])
    # Cells: all; two of four, all right: 2 * 1 * .5 / 1.5; two of four right, two of four wrong.
    assert accuracy(report, "people_mean") == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    # Rows: two of two, one of two, one of two.
    assert accuracy(report, "people_mean", "tuple_fraction") == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert of_run(report, once) == pytest.approx(2 / 3)
    assert of_run(report, once, "tuple_similarity") == pytest.approx(1 / 2)
    for run in (words, sql):
        assert (of_run(report, run), of_run(report, run, "tuple_similarity")) == (1, 1)
    # The public code's rule finds the same here.
    assert of_run(report, once, "galois_cell_f1") == pytest.approx(2 / 3)
    # Who was asked in SQL saw something else than people did.
    assert report.manifest["shown"]["differences"]["SQL"] == {"only_people": ["question"], "only_model": ["sql"]}
    assert report.manifest["stage"]["is_closed_book"] is True
    assert (
        figure(
            report, section="breakdown", stratum="attributes", stratum_value="2", row=f"run_{sql.pk}", measure="cell_f1"
        )["n_items"]
        == 2
    )
