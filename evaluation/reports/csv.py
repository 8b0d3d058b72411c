"""Rows of the CSV files. annotate/csv_text.py makes text of them, `exact` or for a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotate.csv_text import utc, yes_no
from annotate.resolution import resolve
from evaluation.reports.frozen import votes_by_item

if TYPE_CHECKING:
    from evaluation.matrices import ModelRun, People, Scores, Units
    from evaluation.reports.account import Decision

ANSWER_COLUMNS = (
    "item",
    "content_hash",
    "root",
    "gold",
    "gold_version",
    "gold_of_these_votes",
    "strata",
    "who",
    "source",
    "run",
    "repeat",
    "round",
    "outcome",
    "standing",
    "reason",
    "rule",
    "decided_on",
    "answer",
    "answer_key",
    "other_fields",
    "form_version",
    "guideline_version",
    "flagged",
    "active_seconds",
    "wall_seconds",
    "finished_at",
    "sample",
)


def answer_rows(
    *,
    units: Units,
    people: People,
    runs: Sequence[ModelRun],
    scores: Scores,
    is_sample: bool,
    decisions: Sequence[Decision | None],
) -> Iterator[list[object]]:
    """A head row, then every outcome, of people and models alike, in the order of the items.

    gold, strata and other_fields are JSON. standing is `counted`, or why the outcome is in no figure. Scores stand in
    columns score.<scorer>, empty where there is none. An answer is not held against a gold label that its own stage's
    votes came to: gold_of_these_votes says so, and gold is empty. source is a pseudonym, or a run's name. rule and
    decided_on: by which decision an answer is excluded, from `decisions`, one for each answer of people.
    """
    scorers = list(scores.annotations)
    yield [*ANSWER_COLUMNS, *(f"score.{scorer}" for scorer in scorers)]
    by_unit: list[list[list[object]]] = [[] for _ in range(len(units))]
    for row, decision in zip(people.answers, decisions, strict=True):
        by_unit[row.unit].append(
            [
                "person",
                people.pseudonyms[row.person],
                None,
                None,
                row.round,
                row.outcome,
                row.standing,
                row.reason,
                decision.rule if decision else None,
                decision.day if decision else None,
                row.value,
                row.key,
                _json(row.other_fields) if row.other_fields else None,
                row.stage_version,
                row.guideline_version,
                yes_no(row.is_flagged),
                row.active_seconds,
                row.wall_seconds,
                utc(row.finished_at),
                yes_no(row.is_sample or is_sample),
                *(None if row.annotation is None else scores.annotations[s].get(row.annotation) for s in scorers),
            ]
        )
    for run in runs:
        for answer in run.answers:
            by_unit[answer.unit].append(
                [
                    "model",
                    run.name,
                    run.run,
                    answer.repeat,
                    None,
                    answer.outcome,
                    answer.standing,
                    answer.note,
                    None,
                    None,
                    answer.value,
                    answer.key,
                    _json(answer.other_fields) if answer.other_fields else None,
                    run.form_version,
                    None,
                    yes_no(False),
                    None,
                    None,
                    utc(answer.finished_at),
                    yes_no(is_sample),
                    *(scores.predictions[scorer].get(answer.prediction) for scorer in scorers),
                ]
            )
    for unit, rows in enumerate(by_unit):
        item = [units.external_ids[unit], units.content_hashes[unit], units.root_names[unit]]
        gold = [_json(list(units.golds[unit])) if units.golds[unit] else None, units.gold_versions[unit]]
        for told in rows:
            is_their_own = told[0] == "person" and unit in people.decided_gold
            known = [None, None] if is_their_own else gold
            yield [*item, *known, yes_no(is_their_own), _json(units.strata[unit]), *told]


def figure_rows(figures: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[list[object]]:
    """A head row, then one row a figure. An undefined value is empty, and `undefined` says why."""
    yield list(columns)
    for figure in figures:
        yield [yes_no(figure[name]) if isinstance(figure[name], bool) else figure[name] for name in columns]


def majority_rows(matrices: Mapping[str, Any]) -> Iterator[list[object]]:
    """A head row, then one row an item: how its vote ended, and the share of its pairs of votes that agree.

    A tie has no answer; its keys stand in `tied`. Fewer than two votes have no agreement. The class that the model of
    Dawid and Skene holds most probable stands beside it, with its probability, where the report estimated one.
    """
    estimated = matrices.get("dawid_skene")
    head = ["item", "root", "gold", "status", "answer_key", "n_votes", "margin", "tied", "agreement"]
    yield [*head, *(("dawid_skene_key", "dawid_skene_probability") if estimated else ())]
    items, votes = matrices["items"], votes_by_item(matrices)
    for unit, external_id in enumerate(items["external_ids"]):
        outcome = resolve(votes[unit])
        gold = items["golds"][unit]
        yield [
            external_id,
            items["roots"][unit],
            _json(gold) if gold else None,
            outcome.status,
            outcome.key,
            outcome.votes,
            outcome.margin,
            _json(list(outcome.tied)) if outcome.tied else None,
            outcome.agreement,
            *((estimated["keys"][unit], estimated["probabilities"][unit]) if estimated else ()),
        ]


def label_matrix_rows(matrices: Mapping[str, Any]) -> Iterator[list[object]]:
    """The matrix behind every agreement coefficient: a row an item, a column a person, the keys of the answers."""
    people = matrices["people"]["pseudonyms"]
    yield ["item", "root", *people]
    items, answers = matrices["items"], matrices["people"]["answers"]
    cells: list[list[object]] = [[None] * len(people) for _ in items["external_ids"]]
    for unit, person, standing, key in zip(
        answers["unit"], answers["person"], answers["standing"], answers["key"], strict=True
    ):
        if standing == "counted" and key is not None:
            cells[unit][person] = matrices["keys"][key]
    for unit, external_id in enumerate(items["external_ids"]):
        yield [external_id, items["roots"][unit], *cells[unit]]


def score_matrix_rows(matrices: Mapping[str, Any], scorer: str) -> Iterator[list[object]]:
    """The matrix behind accuracies and differences: a row an item, a column a person or a repeat of a run.

    An empty cell was not asked or does not count; `-` was asked and has no answer.
    """
    people, runs = matrices["people"], matrices["runs"]
    columns = list(people["pseudonyms"])
    first_column = {}
    for run in runs:
        first_column[run["run"]] = len(columns)
        columns += [f"{run['name']} [{repeat + 1}]" for repeat in range(run["repeats"])]
    items = matrices["items"]
    cells: list[list[object]] = [[None] * len(columns) for _ in items["external_ids"]]
    decided = set(items.get("decided_gold", ()))
    compared = [[] if unit in decided else gold for unit, gold in enumerate(items["golds"])]
    _fill(cells, people["answers"], people["answers"]["person"], scorer, compared)
    for run in runs:
        answers = run["answers"]
        _fill(cells, answers, [first_column[run["run"]] + r for r in answers["repeat"]], scorer, items["golds"])
    yield ["item", "root", *columns]
    for unit, external_id in enumerate(items["external_ids"]):
        yield [external_id, items["roots"][unit], *cells[unit]]


def _fill(
    cells: list[list[object]],
    answers: Mapping[str, Any],
    columns: Sequence[int],
    scorer: str,
    golds: Sequence[Sequence[str]],
) -> None:
    for place, (unit, standing) in enumerate(zip(answers["unit"], answers["standing"], strict=True)):
        if standing in ("counted", "no_value") and golds[unit]:
            score = answers["scores"][scorer][place]
            cells[unit][columns[place]] = "-" if score is None else score


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
