"""Which items of a report are worth looking at: people right and the model wrong, and the like. No Django.

Everything is read from the report's frozen inputs, so the page counts what the report counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.resolution import Status, resolve
from annotate.wording import _
from evaluation.reports.frozen import votes_by_item


@dataclass(frozen=True)
class Case:
    """One item: people's mean score and the score of their vote, each chosen run's mean score over its answers.

    None without a score; a tie has none, for it is nobody's answer. n_missing: predictions of the chosen runs that
    were asked and have no answer.
    """

    unit: int
    people: float | None
    vote: float | None
    models: tuple[float | None, ...]
    status: Status
    n_missing: int

    @property
    def gap(self) -> float:
        """How far people and the chosen models lie apart, 0 where one side has no score."""
        answered = [score for score in self.models if score is not None]
        if self.people is None or not answered:
            return 0.0
        # Rounded, for 2/3 - 0 and 1 - 1/3 are the same gap.
        return round(abs(self.people - sum(answered) / len(answered)), 9)


def _right(score: float | None) -> bool:
    """More than half of the score; exactly half is neither right nor wrong."""
    return score is not None and score > 0.5


def _wrong(score: float | None) -> bool:
    return score is not None and score < 0.5


# The whitelist: name -> (words, question). With several runs chosen, it must hold for each of them.
FILTERS: dict[str, tuple[str, Callable[[Case], bool]]] = {
    "model_wrong": (_("people right, model wrong"), lambda case: _right(case.vote) and _each(case, _wrong)),
    "people_wrong": (_("people wrong, model right"), lambda case: _wrong(case.vote) and _each(case, _right)),
    "both_wrong": (_("both wrong"), lambda case: _wrong(case.vote) and _each(case, _wrong)),
    "disagree": (_("people disagree"), lambda case: case.status in (Status.PLURALITY, Status.TIE)),
    "no_answer": (_("model without an answer"), lambda case: case.n_missing > 0),
}
SORTS = {"order": _("order of the set"), "gap": _("largest gap")}


def _each(case: Case, verdict: Callable[[float | None], bool]) -> bool:
    return bool(case.models) and all(verdict(score) for score in case.models)


def cases(matrices: Mapping[str, Any], *, scorer: str, runs: Sequence[int]) -> list[Case]:
    """One case an item, in the order of the set. runs: the chosen ones, by their ids."""
    n_units = len(matrices["items"]["external_ids"])
    people = _mean_scores(matrices["people"]["answers"], scorer, n_units)
    chosen = [run for run in matrices["runs"] if run["run"] in runs]
    models = [_mean_scores(run["answers"], scorer, n_units) for run in chosen]
    missing = [0] * n_units
    for run in chosen:
        answers = run["answers"]
        for unit, standing, key in zip(answers["unit"], answers["standing"], answers["key"], strict=True):
            missing[unit] += standing != "not_asked" and key is None
    place = {key: number for number, key in enumerate(matrices["keys"])}
    outcomes = [resolve(votes) for votes in votes_by_item(matrices)]
    winners = [None if outcome.key is None else place[outcome.key] for outcome in outcomes]
    voted = _mean_scores(matrices["people"]["answers"], scorer, n_units, only=winners)
    return [
        Case(
            unit=unit,
            people=people[unit],
            vote=voted[unit],
            models=tuple(model[unit] for model in models),
            status=outcomes[unit].status,
            n_missing=missing[unit],
        )
        for unit in range(n_units)
    ]


def choose(
    found: Sequence[Case],
    *,
    matrices: Mapping[str, Any],
    filter_name: str = "",
    stratum: tuple[str, str] | None = None,
    sort: str = "order",
) -> list[Case]:
    """The cases that pass the filter and lie in the stratum; the largest gap first if asked, else as in the set."""
    chosen = list(found)
    if filter_name:
        question = FILTERS[filter_name][1]
        chosen = [case for case in chosen if question(case)]
    if stratum is not None:
        pairs = matrices["items"]["strata"]
        chosen = [case for case in chosen if _belongs(pairs[case.unit], *stratum)]
    return sorted(chosen, key=lambda case: -case.gap) if sort == "gap" else chosen


def strata(matrices: Mapping[str, Any]) -> dict[str, list[str]]:
    """The strata's names with their values."""
    found: dict[str, set[str]] = {}
    for pairs in matrices["items"]["strata"]:
        for name, value in pairs:
            found.setdefault(str(name), set()).add(str(value))
    return {name: sorted(values) for name, values in found.items()}


def _belongs(pairs: Sequence[Sequence[str]], name: str, value: str) -> bool:
    return any(str(other) == name and str(found) == value for other, found in pairs)


def _mean_scores(
    answers: Mapping[str, Any], scorer: str, n_units: int, *, only: Sequence[int | None] | None = None
) -> list[float | None]:
    """The mean score of the counted answers to each item. only: for each item the one key whose answers count."""
    sums, counts = [0.0] * n_units, [0] * n_units
    columns = (answers["unit"], answers["standing"], answers["key"], answers["scores"][scorer])
    for unit, standing, key, score in zip(*columns, strict=True):
        if standing == "counted" and score is not None and (only is None or only[unit] == key):
            sums[unit] += score
            counts[unit] += 1
    return [total / n if n else None for total, n in zip(sums, counts, strict=True)]
