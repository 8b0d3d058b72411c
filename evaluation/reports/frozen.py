"""A report's inputs as JSON: which answers, whose, with which scores; all that side by side and the writers read.

Columns instead of rows, so that 10,000 answers stay small. No Django.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.matrices import ModelRun, People, Scores, Units

VERSION = 1


def freeze(
    *,
    units: Units,
    people: People,
    runs: Sequence[ModelRun],
    scores: Scores,
    keys: Sequence[str],
    estimated: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The inputs in the order of the item set. Answers point to items, people and keys by place in their list.

    estimated: what dawid_skene.py of the reports froze; None where nothing was estimated.
    """
    code = {key: place for place, key in enumerate(keys)}
    return {
        "version": VERSION,
        "items": {
            "external_ids": units.external_ids,
            "revisions": units.revisions,
            "roots": units.root_names,
            "golds": [list(gold) for gold in units.golds],
            "gold_versions": units.gold_versions,
            "decided_gold": sorted(people.decided_gold),
            "strata": units.strata,
        },
        "keys": list(keys),
        "dawid_skene": estimated,
        "people": {
            "pseudonyms": people.pseudonyms,
            "answers": {
                **_columns(people.answers, ("unit", "person", "annotation")),
                "outcome": [str(row.outcome) for row in people.answers],
                "standing": [str(row.standing) for row in people.answers],
                "key": [None if row.key is None else code[row.key] for row in people.answers],
                "scores": _scores(scores.annotations, (row.annotation for row in people.answers)),
            },
        },
        "runs": [
            {
                "run": run.run,
                "name": run.name,
                "repeats": run.repeats,
                "answers": {
                    **_columns(run.answers, ("unit", "repeat", "prediction", "outcome")),
                    "standing": [str(row.standing) for row in run.answers],
                    "key": [None if row.key is None else code[row.key] for row in run.answers],
                    "scores": _scores(scores.predictions, (row.prediction for row in run.answers)),
                },
            }
            for run in runs
        ],
    }


def votes_by_item(matrices: Mapping[str, Any]) -> list[list[str]]:
    """The keys of the counted answers to each item."""
    votes: list[list[str]] = [[] for _ in matrices["items"]["external_ids"]]
    answers = matrices["people"]["answers"]
    for unit, standing, key in zip(answers["unit"], answers["standing"], answers["key"], strict=True):
        if standing == "counted" and key is not None:
            votes[unit].append(matrices["keys"][key])
    return votes


def _columns(rows: Sequence[Any], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [getattr(row, name) for row in rows] for name in names}


def _scores(
    values: Mapping[str, Mapping[int, float | None]], pks: Iterable[int | None]
) -> dict[str, list[float | None]]:
    order = list(pks)
    return {scorer: [by_row.get(pk) if pk is not None else None for pk in order] for scorer, by_row in values.items()}
