"""What an audit says of the labels: right by stratum and overall, by each reviewer, their mean and their consensus.

Two denominators stand side by side: "all" counts "unsure" as not right, "decided" leaves it out. A stratum weighs in
the sample as it was drawn, in the population as it is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from annotate.auditing import correction_key, correction_words, label_key, label_words
from annotate.exceptions import WorkNotPossible
from annotate.models import Person, Stage
from annotate.services.auditing import (
    RIGHT,
    UNSURE,
    WRONG,
    Audited,
    Drawn,
    Stratum,
    Verdict,
    audited_labels,
    draw_made,
)
from annotate.services.repairing import REPAIRED, Repair, repairs_of
from annotate.wording import _

if TYPE_CHECKING:
    from evaluation.stats import StratifiedAccuracy

# Two verdicts an item are counted fast; more items than these have no resampled intervals while somebody waits.
MAX_RESAMPLED = 5_000
RESAMPLES = 1_000
SEED = 1
ALL, DECIDED = "all", "decided"
DENOMINATORS = (ALL, DECIDED)
VERDICTS = (RIGHT, WRONG, UNSURE)
HEAD = ("item", "label", "in_population", "in_sample", "root", "left_out")


@dataclass(frozen=True)
class Result:
    """One row of figures: a reviewer, their mean or their consensus, by one denominator.

    sampled: every drawn label weighs the same. population: every stratum as it is there. Figures as reports have them.
    """

    row: str
    label: str
    denominator: str
    sampled: dict[str, Any]
    population: dict[str, Any]
    standard_error: float | None
    standard_error_finite: float | None


@dataclass(frozen=True)
class StratumResult:
    """One stratum. n_audited: labels with all their verdicts. by_reviewer: (right, of how many) of each reviewer.

    mean, consensus: figures, "unsure" counted as not right.
    """

    stratum: Stratum
    words: tuple[str, ...]
    n_audited: int
    n_gone: int
    by_reviewer: list[tuple[int, int]]
    mean: dict[str, Any]
    consensus: dict[str, Any]


@dataclass(frozen=True)
class Column:
    """What a verdict says of a label. label: what would be right; "" where it is right, unsure, or nobody says."""

    verdict: str
    label: str = ""


@dataclass(frozen=True)
class Said:
    """A verdict as people read it. correction: the label that would be right, in words."""

    reviewer: str
    verdict: str
    correction: str
    note: str


@dataclass(frozen=True)
class Error:
    """A label that somebody called wrong, and what became of it since (annotate/services/repairing.py)."""

    audited: Audited
    words: list[str]
    stratum: tuple[str, ...]
    said: list[Said]
    repair: Repair


@dataclass(frozen=True)
class AuditResults:
    """reviewers: pseudonyms. n_waiting: labels that lack a verdict. n_gone: left out or withdrawn since the draw.

    n_roots: tables, databases or groups behind the labels; fewer than labels where some share one.
    matrix: labels in rows; in columns right, each corrected label, wrong without one, unsure; verdicts are counted.
    """

    drawn: Drawn
    reviewers: tuple[str, ...]
    items: tuple[Audited, ...]
    n_waiting: int
    n_gone: int
    n_unsure: int
    results: list[Result]
    strata: list[StratumResult]
    agreement: list[dict[str, Any]]
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    matrix: list[list[int]]
    errors: list[Error]

    @property
    def n_repaired(self) -> int:
        return sum(one.repair.state == REPAIRED for one in self.errors)

    @property
    def n_complete(self) -> int:
        return len(self.items) - self.n_waiting

    @property
    def n_roots(self) -> int:
        return len({one.root for one in self.items})

    @property
    def is_resampled(self) -> bool:
        return len(self.items) <= MAX_RESAMPLED


def audit_results(*, stage: Stage) -> AuditResults:
    """Raises WorkNotPossible for a stage that was not drawn."""
    made, everything = _read(stage)
    items = [one for one in everything if not one.is_gone]
    people = sorted({verdict.person for one in items for verdict in one.verdicts})
    names = dict(Person.objects.filter(pk__in=people).values_list("pk", "pseudonym"))
    people.sort(key=lambda pk: names[pk])
    labels, columns, matrix = _corrections(made, items)
    return AuditResults(
        drawn=made,
        reviewers=tuple(names[person] for person in people),
        items=tuple(items),
        n_waiting=sum(not one.is_complete for one in items),
        n_gone=len(everything) - len(items),
        n_unsure=sum(verdict.value == UNSURE for one in items for verdict in one.verdicts),
        results=_results(made, items, people, names),
        strata=_strata(made, everything, people),
        agreement=_agreement(items, people),
        labels=labels,
        columns=columns,
        matrix=matrix,
        errors=_errors(made, items, names),
    )


def verdict_rows(*, stage: Stage) -> Iterator[Sequence[object]]:
    """Every drawn label with the verdicts on it, from which each figure can be worked out again."""
    made, items = _read(stage)
    people = sorted({verdict.person for one in items for verdict in one.verdicts})
    names = dict(Person.objects.filter(pk__in=people).values_list("pk", "pseudonym"))
    people.sort(key=lambda pk: names[pk])
    keys = [f"stratum.{key}" for key in made.keys]
    yield [
        *HEAD,
        *keys,
        *(f"{part}.{names[person]}" for person in people for part in ("verdict", "correction", "note")),
    ]
    roots = {root: n for n, root in enumerate(dict.fromkeys(one.root for one in items))}
    for one in items:
        stratum = made.strata[one.stratum]
        said = {verdict.person: verdict for verdict in one.verdicts}
        cells: list[object] = []
        for person in people:
            verdict = said.get(person)
            cells += [verdict.value, verdict.correction, verdict.note] if verdict else ["", "", ""]
        yield [
            one.external_id,
            label_key(made.field, one.labels),
            stratum.n_population,
            stratum.n_drawn,
            roots[one.root],
            int(one.is_gone),
            *stratum.values[: len(made.keys)],
            *cells,
        ]


def _read(stage: Stage) -> tuple[Drawn, list[Audited]]:
    made = draw_made(stage)
    if made is None:
        raise WorkNotPossible(_("Nothing was drawn for this stage yet."))
    return made, audited_labels(made)


def _score(one: Audited, row: str, person: int | None, denominator: str) -> float | None:
    """What a label counts for in a row: 1 right, 0 not right, None where it does not count."""
    said = [verdict for verdict in one.verdicts if person is None or verdict.person == person]
    if denominator == DECIDED and row != "consensus":
        said = [verdict for verdict in said if verdict.value != UNSURE]
    if not said or (row == "consensus" and (not one.is_complete or len(said) < 2)):
        return None
    if row != "consensus":
        return fmean(verdict.value == RIGHT for verdict in said)
    values = {verdict.value for verdict in said}
    if denominator == DECIDED and values not in ({RIGHT}, {WRONG}):
        return None
    return float(values == {RIGHT})


@dataclass(frozen=True)
class _Scored:
    """The labels that count in a row of figures: what each counts for, and its stratum and root."""

    scores: list[float]
    strata: list[int]
    roots: list[int]

    def part(self, stratum: int) -> _Scored:
        """Those of one stratum, as the only one there is."""
        places = [place for place, own in enumerate(self.strata) if own == stratum]
        return _Scored([self.scores[n] for n in places], [0] * len(places), [self.roots[n] for n in places])

    def accuracy(self, sizes: Sequence[int], names: Sequence[str] | None = None) -> StratifiedAccuracy:
        """Over strata of these sizes; labels that share a root are resampled together."""
        from evaluation.stats import Bootstrap, stratified_accuracy_of_roots

        is_resampled = len(self.scores) <= MAX_RESAMPLED
        bootstrap = Bootstrap(seed=SEED, n_resamples=RESAMPLES) if is_resampled else None
        return stratified_accuracy_of_roots(
            self.scores, self.strata, self.roots, sizes, names=names, bootstrap=bootstrap
        )


def _scored(items: Sequence[Audited], row: str, person: int | None, denominator: str) -> _Scored:
    counted = [(one, score) for one in items if (score := _score(one, row, person, denominator)) is not None]
    return _Scored(
        [score for _, score in counted], [one.stratum for one, _ in counted], [one.root for one, _ in counted]
    )


def _results(made: Drawn, items: Sequence[Audited], people: Sequence[int], names: dict[int, str]) -> list[Result]:
    from evaluation.reports.figures import Row, from_estimate

    rows: list[tuple[str, str, int | None]] = [(f"reviewer_{names[one]}", names[one], one) for one in people]
    rows += [("mean", "", None)] + ([("consensus", "", None)] if len(people) > 1 else [])
    sizes = [stratum.n_population for stratum in made.strata]
    words = [", ".join(made.in_words(stratum.values)) for stratum in made.strata]
    found = []
    for row, label, person in rows:
        for denominator in DENOMINATORS:
            estimate = _scored(items, row, person, denominator).accuracy(sizes, words)
            about = Row(row, "people", label)
            sampled, population = (
                from_estimate("audit", about, one.name, one, denominator=denominator).to_json()
                for one in (estimate.sampled, estimate.population)
            )
            errors = (estimate.standard_error, estimate.standard_error_finite)
            found.append(Result(row, label, denominator, sampled, population, *errors))
    return found


def _strata(made: Drawn, everything: Sequence[Audited], people: Sequence[int]) -> list[StratumResult]:
    from evaluation.reports.figures import Row, from_estimate

    items = [one for one in everything if not one.is_gone]
    complete = Counter(one.stratum for one in items if one.is_complete)
    gone = Counter(one.stratum for one in everything if one.is_gone)
    by_reviewer = [_scored(items, "reviewer", person, ALL) for person in people]
    mean, consensus = (_scored(items, row, None, ALL) for row in ("mean", "consensus"))

    def figure(row: str, scored: _Scored, place: int) -> dict[str, Any]:
        estimate = scored.part(place).accuracy([made.strata[place].n_population]).sampled
        return from_estimate("audit_stratum", Row(row, "people", ""), estimate.name, estimate).to_json()

    def right(scored: _Scored, place: int) -> tuple[int, int]:
        own = scored.part(place).scores
        return int(sum(own)), len(own)

    return [
        StratumResult(
            stratum=stratum,
            words=tuple(made.in_words(stratum.values)),
            n_audited=complete[place],
            n_gone=gone[place],
            by_reviewer=[right(scored, place) for scored in by_reviewer],
            mean=figure("mean", mean, place),
            consensus=figure("consensus", consensus, place),
        )
        for place, stratum in enumerate(made.strata)
    ]


def _agreement(items: Sequence[Audited], people: Sequence[int]) -> list[dict[str, Any]]:
    """Of the verdicts: percent, Gwet's AC1 and Krippendorff's alpha; Cohen's kappa of exactly two reviewers."""
    if len(people) < 2:
        return []
    import numpy as np

    from evaluation.reports.figures import Row, from_coefficient
    from evaluation.stats import (
        Bootstrap,
        Ratings,
        cohen_kappa,
        gwet_ac1,
        krippendorff_alpha_nominal,
        percent_agreement,
    )

    columns = {person: place for place, person in enumerate(people)}
    matrix = np.full((len(items), len(people)), -1, dtype=np.int64)
    for row, one in enumerate(items):
        for verdict in one.verdicts:
            matrix[row, columns[verdict.person]] = VERDICTS.index(verdict.value)
    roots = np.array([one.root for one in items], dtype=np.int64)
    bootstrap = Bootstrap(seed=SEED, n_resamples=RESAMPLES) if len(items) <= MAX_RESAMPLED else None
    ratings = Ratings.from_labels(matrix, roots, n_labels=len(VERDICTS))
    found = [measure(ratings, bootstrap) for measure in (percent_agreement, gwet_ac1, krippendorff_alpha_nominal)]
    if len(people) == 2:
        found.append(cohen_kappa(*matrix.T, roots=roots, bootstrap=bootstrap, n_labels=len(VERDICTS)))
    about = Row("reviewers", "people", "Agreement of the reviewers")
    return [from_coefficient("audit_agreement", about, one).to_json() for one in found]


def _corrections(made: Drawn, items: Sequence[Audited]) -> tuple[tuple[str, ...], tuple[Column, ...], list[list[int]]]:
    """Labels as they were drawn, what became of them, and how many verdicts say so."""
    counted: Counter[tuple[str, Column]] = Counter()
    for one in items:
        for verdict in one.verdicts:
            counted[label_key(made.field, one.labels), _column(made, verdict)] += 1
    declared = [option.value for option in made.field.options] if made.field.type == "choice" else []
    labels = list(dict.fromkeys([*declared, *sorted({label for label, _ in counted})]))
    corrections = dict.fromkeys([*declared, *sorted({one.label for _, one in counted if one.label})])
    columns = [Column(RIGHT), *(Column(WRONG, label) for label in corrections), Column(WRONG), Column(UNSURE)]
    return tuple(labels), tuple(columns), [[counted[label, column] for column in columns] for label in labels]


def _column(made: Drawn, verdict: Verdict) -> Column:
    return Column(verdict.value, correction_key(made.field, verdict.correction))


def _errors(made: Drawn, items: Sequence[Audited], names: dict[int, str]) -> list[Error]:
    wrong = [one for one in items if one.wrong]
    repairs = repairs_of(made, wrong)

    def said(verdict: Verdict) -> Said:
        words = correction_words(made.field, verdict.correction)
        return Said(names[verdict.person], verdict.value, words, verdict.note)

    return [
        Error(
            audited=one,
            words=label_words(made.field, one.labels),
            stratum=tuple(made.in_words(made.strata[one.stratum].values)),
            said=[said(verdict) for verdict in sorted(one.verdicts, key=lambda each: names[each.person])],
            repair=repairs[one.place],
        )
        for one in wrong
    ]
