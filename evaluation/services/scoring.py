"""Scores: what a scorer says of an answer against a version of the gold label, written once.

People's answers and models' answers go through one function, `score_of`: neither it nor a scorer can tell who
answered. Only answers are scored; an unparsed or refused completion, an error or a skip has no score, and figures
count it apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evaluation.matrices import ModelRun, People, Scores, Units
from evaluation.models import Score
from evaluation.scorers import Score as Scored
from evaluation.scorers import get_scorer

_BATCH = 1000


class ScorableAnswer(NamedTuple):
    """An answer's row, its value, and the gold label it is held against."""

    pk: int
    value: str
    gold_id: int
    gold: frozenset[str]


def score_answers(
    *, field: str, scorers: Sequence[str], units: Units, people: People, runs: Sequence[ModelRun]
) -> Scores:
    """Write the missing scores of the counted answers that have gold; return the scores of them all.

    Calling it again writes nothing. A new version of a gold label or of a scorer adds rows and changes none, so an
    older report can still be read beside the answers it was made of.
    """
    annotations = _scorable(units, ((row.annotation, row.unit, row.value) for row in people.asked()))
    predictions = _scorable(
        units, ((row.prediction, row.unit, row.value) for run in runs for row in run.answers if row.key is not None)
    )
    # The same lines for people and models; only the column that names the row differs.
    return Scores(
        annotations={
            scorer: _stored_or_new(column="annotation_id", field=field, scorer=scorer, answers=annotations)
            for scorer in scorers
        },
        predictions={
            scorer: _stored_or_new(column="prediction_id", field=field, scorer=scorer, answers=predictions)
            for scorer in scorers
        },
    )


def score_of(*, scorer: str, value: str, gold: frozenset[str]) -> Scored:
    """What the scorer says of one answer: all that it is given is the answer and the gold label."""
    return get_scorer(scorer)(value, gold)


def _scorable(units: Units, rows: Iterable[tuple[int | None, int, str | None]]) -> list[ScorableAnswer]:
    """Of rows (primary key, unit, value) those with an answer to an item with gold."""
    return [
        ScorableAnswer(pk, value, gold_id, frozenset(units.golds[unit]))
        for pk, unit, value in rows
        if pk is not None and value is not None and (gold_id := units.gold_ids[unit]) is not None
    ]


def _stored_or_new(
    *, column: str, field: str, scorer: str, answers: Sequence[ScorableAnswer]
) -> dict[int, float | None]:
    version = get_scorer(scorer).version
    known: dict[tuple[str, frozenset[str]], Scored] = {}
    values: dict[int, float | None] = {}
    for start in range(0, len(answers), _BATCH):
        batch = answers[start : start + _BATCH]
        in_batch = {f"{column}__in": [answer.pk for answer in batch]}
        rows = Score.objects.filter(**in_batch, field=field, scorer=scorer, scorer_version=version)
        stored = {(pk, gold): value for pk, gold, value in rows.values_list(column, "gold_id", "value")}
        new = []
        for answer in batch:
            if (answer.pk, answer.gold_id) in stored:
                values[answer.pk] = stored[answer.pk, answer.gold_id]
                continue
            if (answer.value, answer.gold) not in known:
                known[answer.value, answer.gold] = score_of(scorer=scorer, value=answer.value, gold=answer.gold)
            scored = known[answer.value, answer.gold]
            values[answer.pk] = scored.value
            new.append(
                Score(
                    **{column: answer.pk},
                    field=field,
                    scorer=scorer,
                    scorer_version=version,
                    gold_id=answer.gold_id,
                    value=scored.value,
                    note=scored.note[:200],
                )
            )
        # Another report may have scored the same answer meanwhile; its row says the same.
        Score.objects.bulk_create(new, ignore_conflicts=True)
    return values
