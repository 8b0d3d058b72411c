"""Scores: what a scorer says of an answer against a version of the gold label, written once.

People's answers and models' answers go through the same lines: neither they nor a scorer can tell who answered. Only
answers are scored; an unparsed or refused completion, an error or a skip has no score, and figures count it apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from evaluation.matrices import ModelRun, People, Scores, Units
from evaluation.models import Score
from evaluation.scorers import Score as Scored
from evaluation.scorers import get_scorer
from evaluation.scorers.spread import score_pairs

_BATCH = 1000

# The columns of Score that name whose answer it is of.
COLUMNS = ("annotation_id", "prediction_id")

Pair = tuple[str, frozenset[str]]


class ScorableAnswer(NamedTuple):
    """An answer's row, its value, and the gold label it is held against."""

    column: str
    pk: int
    value: str
    gold_id: int
    gold: frozenset[str]

    @property
    def pair(self) -> Pair:
        return self.value, self.gold


def score_answers(
    *,
    field: str,
    scorers: Sequence[str],
    units: Units,
    people: People,
    runs: Sequence[ModelRun],
    progress: Callable[[int, int], None] = lambda n_scored, n_to_score: None,
) -> Scores:
    """Write the missing scores of the counted answers that have gold; return the scores of them all.

    Equal answers to equal gold are scored once, whoever gave them, also where an earlier report scored one of them.
    Calling it again writes nothing. A new version of a gold label or of a scorer adds rows and changes none, so an
    older report can still be read beside the answers it was made of.
    progress: told how many pairs are scored, and how many there are to score, over all scorers that have been met.
    """
    answers = [
        *_scorable(
            "annotation_id",
            units,
            (
                (row.annotation, row.unit, row.value)
                for row in chain(people.asked(), people.later())
                if row.unit not in people.decided_gold
            ),
        ),
        *_scorable(
            "prediction_id",
            units,
            ((row.prediction, row.unit, row.value) for run in runs for row in run.answers if row.key is not None),
        ),
    ]
    found = Scores(annotations={}, predictions={})
    n_before = 0
    for scorer in scorers:
        pairs = _Pairs(field=field, scorer=scorer, answers=answers)
        n_after = n_before + len(pairs.to_score)
        progress(n_before, n_after)
        pairs.score(partial(_tell, progress, n_before, n_after))
        n_before = n_after
        pairs.store()
        found.annotations[scorer] = pairs.values("annotation_id")
        found.predictions[scorer] = pairs.values("prediction_id")
    progress(n_before, n_before)
    return found


def score_of(*, scorer: str, value: str, gold: frozenset[str]) -> Scored:
    """What the scorer says of one answer: all that it is given is the answer and the gold label."""
    return get_scorer(scorer)(value, gold)


def _scorable(column: str, units: Units, rows: Iterable[tuple[int | None, int, str | None]]) -> list[ScorableAnswer]:
    """Of rows (primary key, unit, value) those with an answer to an item with gold."""
    return [
        ScorableAnswer(column, pk, value, gold_id, frozenset(units.golds[unit]))
        for pk, unit, value in rows
        if pk is not None and value is not None and (gold_id := units.gold_ids[unit]) is not None
    ]


def _tell(progress: Callable[[int, int], None], n_before: int, n_after: int, n_scored: int) -> None:
    progress(n_before + n_scored, n_after)


class _Pairs:
    """What one scorer says of every pair of answer and gold: read where it is stored, scored and stored where not.

    The same lines serve people and models; only the column that names the row of an answer differs.
    """

    def __init__(self, *, field: str, scorer: str, answers: Sequence[ScorableAnswer]) -> None:
        self.field, self.answers, self.scorer = field, answers, get_scorer(scorer)
        self.known: dict[Pair, Scored] = {}
        self.missing: list[ScorableAnswer] = []
        stored = self._stored()
        for answer in answers:
            if (score := stored.get((answer.column, answer.pk, answer.gold_id))) is not None:
                self.known[answer.pair] = score
            else:
                self.missing.append(answer)
        # In order of appearance, each once.
        self.to_score = [pair for pair in dict.fromkeys(a.pair for a in self.missing) if pair not in self.known]

    def score(self, progress: Callable[[int], None]) -> None:
        scores = score_pairs(self.scorer, self.to_score, progress=progress)
        self.known.update(zip(self.to_score, scores, strict=True))

    def store(self) -> None:
        """Write what was not there. Another report may have written the same meanwhile; its row says the same."""
        for column in COLUMNS:
            new = [self._row(answer) for answer in self.missing if answer.column == column]
            Score.objects.bulk_create(new, batch_size=_BATCH, ignore_conflicts=True)

    def values(self, column: str) -> dict[int, float | None]:
        return {answer.pk: self.known[answer.pair].value for answer in self.answers if answer.column == column}

    def _stored(self) -> dict[tuple[str, int, int], Scored]:
        found = {}
        for column in COLUMNS:
            keys = [answer.pk for answer in self.answers if answer.column == column]
            for start in range(0, len(keys), _BATCH):
                rows = Score.objects.filter(
                    **{f"{column}__in": keys[start : start + _BATCH]},
                    field=self.field,
                    scorer=self.scorer.name,
                    scorer_version=self.scorer.version,
                )
                for pk, gold, value, note in rows.values_list(column, "gold_id", "value", "note"):
                    found[column, pk, gold] = Scored(value, note)
        return found

    def _row(self, answer: ScorableAnswer) -> Score:
        score = self.known[answer.pair]
        return Score(
            **{answer.column: answer.pk},
            field=self.field,
            scorer=self.scorer.name,
            scorer_version=self.scorer.version,
            gold_id=answer.gold_id,
            value=score.value,
            note=score.note[:200],
        )
