"""Every number of a report, from the arrays of a comparison. No Django, no rounding, no per cent.

One Figure is one row of figures.csv. People and runs pass through the same functions as columns of scores; two
denominators stand side by side, and what neither counts is a figure of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from statistics import stdev
from typing import Any

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison, Floats, Ints, RunSide, Side
from evaluation.stats import (
    COEFFICIENTS,
    MAX_ORDINAL_LABELS,
    MAX_TABLED_LABELS,
    PAIR_COEFFICIENTS,
    SCALE_COEFFICIENTS,
    TOO_FEW,
    Bootstrap,
    Coefficient,
    Estimate,
    Interval,
    MeanPerson,
    Ratings,
    best_person,
    count_missing_as_wrong,
    leave_one_out,
    light_kappa,
    macro_f1,
    majority_votes,
    mean_person,
    mean_person_difference,
    permutation_test_of_people,
    pooled_rounds,
    vote_of_k,
)

# Below this a stratum's figure says more about chance than about the stratum.
MIN_STRATUM_ITEMS = 20
NO_STRATUM = "(none)"


@dataclass(frozen=True)
class Figure:
    """One number with its circumstances.

    section: accuracy, difference, leave_one_out, agreement, votes, outcomes, person, breakdown; vote_difference,
    run_difference, planning; best_person, agreement_label, agreement_person, agreement_pair, agreement_stratum;
    account, mcnemar, metrics, prompts, grid; those of audits and judges begin with their name. row: whose number it
    is. measure: a scorer, a coefficient, an outcome. denominator: "all" (an answer that is missing counts as not right)
    or "answered". value: a proportion, a difference of proportions or a coefficient, None when undefined for the reason
    in `undefined`. count: of `n`, for shares of countable things. n: what was averaged (answers, or items for
    coefficients and votes). n_left_out: what could have been counted there and was not. sd: over people, or over
    repeats. p: of the permutation test of a difference, or of McNemar's; p_adjusted: by `adjustment`, with n_family of
    them together. stage: the slug of another stage that the number is from. rule, decided_on: by which decisions
    something was left out, and of which day. n_undefined: of n_resamples, those in which it was undefined, left out.
    """

    section: str
    row: str
    who: str
    label: str
    measure: str
    denominator: str = ""
    stratum: str = ""
    stratum_value: str = ""
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    count: int | None = None
    n: int = 0
    n_items: int = 0
    n_left_out: int = 0
    n_people: int = 0
    n_roots: int = 0
    n_pairs: int = 0
    sd: float | None = None
    undefined: str = ""
    level: float | None = None
    method: str = ""
    n_resamples: int | None = None
    seed: int | None = None
    run: int | None = None
    is_primary: bool = False
    is_exploratory: bool = False
    p: float | None = None
    p_adjusted: float | None = None
    adjustment: str = ""
    n_family: int | None = None
    note: str = ""
    stage: str = ""
    rule: str = ""
    decided_on: str = ""
    n_undefined: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


FIGURE_COLUMNS = tuple(field.name for field in fields(Figure))


@dataclass(frozen=True)
class Row:
    """A row of the report: its name, its words, and who it is about."""

    row: str
    who: str
    label: str
    run: int | None = None


PEOPLE_MEAN = Row("people_mean", "people", _("People, mean person"))
PEOPLE_POOLED = Row("people_pooled", "people", _("People, all answers pooled"))
PEOPLE_VOTE = Row("people_vote", "people", _("People, vote"))
PEOPLE_VOTE_ESCALATED = Row("people_vote_escalated", "people", _("People, after escalation: vote"))
BEST_PERSON = Row("people_best", "people", _("The best person, chosen on other items"))
LEAVE_ONE_OUT = Row("people_leave_one_out", "people", _("One person against the vote of the others"))


def run_row(run: RunSide) -> Row:
    return Row(f"run_{run.run}", "model", run.name, run.run)


def all_figures(
    comparison: Comparison,
    *,
    scorers: Sequence[str],
    primary_scorer: str,
    primary_run: int | None,
    bootstrap: Bootstrap,
    every_run_is_primary: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> list[Figure]:
    """The figures of a report, in the order of its sections; differences.py adds those beyond the named comparisons.

    every_run_is_primary: the mean person against each run is one family, not only against primary_run.
    progress: called between the longer steps.
    """
    found: list[Figure] = []
    for scorer in scorers:
        found += accuracy_figures(comparison, scorer=scorer, bootstrap=bootstrap)
        progress()
    if comparison.gold_classes is not None:
        found += macro_f1_figures(comparison, bootstrap=bootstrap)
        progress()
    for scorer in scorers:
        for figure in difference_figures(comparison, scorer=scorer, bootstrap=bootstrap):
            is_named = every_run_is_primary or (primary_run is not None and figure.run == primary_run)
            is_primary = is_named and scorer == primary_scorer and figure.denominator == "all"
            found.append(replace(figure, is_primary=is_primary))
        progress()
    found += leave_one_out_figures(comparison, bootstrap=bootstrap)
    found += agreement_figures(comparison, bootstrap=bootstrap)
    progress()
    found += vote_figures(comparison)
    found += outcome_figures(comparison)
    found += person_figures(comparison, scorer=primary_scorer)
    found += best_person_figures(comparison, scorer=primary_scorer, bootstrap=bootstrap)
    for figure in breakdown_figures(comparison, scorer=primary_scorer, bootstrap=bootstrap):
        found.append(figure)
        progress()
    return found


def accuracy_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> list[Figure]:
    """Mean person, pooled answers, vote of k and every run, by both denominators."""
    people = comparison.people
    means = _means(comparison, people, PEOPLE_MEAN, scorer=scorer, bootstrap=bootstrap)
    found = _mean_figures(PEOPLE_MEAN, scorer, means)
    found.append(from_estimate("accuracy", PEOPLE_POOLED, scorer, means.pooled, denominator="answered"))
    found += _vote_accuracy(PEOPLE_VOTE, comparison, people.labels, people.scores[scorer], scorer, bootstrap)
    if comparison.later is not None:
        labels, later = pooled_rounds(people.labels, comparison.later.labels), comparison.later.scores[scorer]
        scores = np.where(labels == people.labels, people.scores[scorer], later)
        found += _vote_accuracy(PEOPLE_VOTE_ESCALATED, comparison, labels, scores, scorer, bootstrap)
    for run in comparison.runs:
        row = run_row(run)
        found += _mean_figures(row, scorer, _means(comparison, run, row, scorer=scorer, bootstrap=bootstrap))
    return found


def _vote_accuracy(
    row: Row, comparison: Comparison, labels: Ints, scores: Floats, scorer: str, bootstrap: Bootstrap
) -> list[Figure]:
    """The vote of these answers by both denominators, over the items that round one was asked about."""
    asked = comparison.people.asked_items
    votes = vote_of_k(labels, scores, scorable=asked, roots=comparison.roots, bootstrap=bootstrap)
    n_answers = int(((labels >= 0) & asked[:, np.newaxis]).sum())
    n_votes = _votes_words(votes.votes_per_item)
    labels_of = {
        PEOPLE_VOTE.row: _("People, vote of %(n_votes)s", n_votes=n_votes),
        PEOPLE_VOTE_ESCALATED.row: _("People, after escalation: vote of %(n_votes)s", n_votes=n_votes),
    }
    row = replace(row, label=labels_of.get(row.row, f"{row.label} of {n_votes}"))
    figures = []
    for denominator, estimate in (("all", votes.all_items), ("answered", votes.resolved)):
        figure = from_estimate("accuracy", row, scorer, estimate, denominator=denominator)
        figures.append(replace(figure, n=n_answers, n_people=len(comparison.people.names)))
    return figures


def macro_f1_figures(comparison: Comparison, *, bootstrap: Bootstrap) -> list[Figure]:
    """Macro-F1 over the declared labels and over the labels in gold; what is no label costs recall of its gold."""
    assert comparison.gold_classes is not None
    n_classes = len(comparison.classes)
    n_several = int((comparison.has_gold & (comparison.gold_classes < 0)).sum())
    note = _("%(n_several)s items with several gold labels left out", n_several=n_several) if n_several else ""
    asked = comparison.people.asked_items[:, np.newaxis]
    winners = majority_votes(comparison.people.labels).winners[:, np.newaxis]
    columns = [(row, side.labels, side.offered) for side, row in _sides(comparison)]
    columns.insert(1, (PEOPLE_VOTE, winners, asked))
    found = []
    for row, labels, offered in columns:
        for denominator, unparsed in (("all", "wrong"), ("answered", "left_out")):
            result = macro_f1(
                comparison.gold_classes,
                labels,
                n_classes,
                offered=offered,
                unparsed=unparsed,  # type: ignore[arg-type]
                roots=comparison.roots,
                bootstrap=bootstrap,
            )
            for estimate in (result.all_declared, result.gold_classes):
                figure = from_estimate("accuracy", row, estimate.name, estimate, denominator=denominator)
                found.append(replace(figure, note=_joined(figure.note, note)))
    return found


def difference_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> list[Figure]:
    """Each run minus the mean person, on exactly the items that both have a score for.

    Where an answer is missing, "all" counts it as not right on both sides, and "answered" leaves the item out.
    """
    people = comparison.people
    filled = count_missing_as_wrong(people.scores[scorer], people.offered)
    found = []
    for run in comparison.runs:
        for denominator, persons, model in (
            ("all", filled, count_missing_as_wrong(run.scores[scorer], run.offered)),
            ("answered", people.scores[scorer], run.scores[scorer]),
        ):
            estimate = mean_person_difference(persons, model, roots=comparison.roots, bootstrap=bootstrap)
            figure = from_estimate("difference", run_row(run), scorer, _negated(estimate), denominator=denominator)
            if denominator == "all":
                test = permutation_test_of_people(persons, model, roots=comparison.roots, bootstrap=bootstrap)
                figure = replace(figure, p=test.p)
            found.append(figure)
    return found


def leave_one_out_figures(comparison: Comparison, *, bootstrap: Bootstrap) -> list[Figure]:
    """Each person, and each run's first answer, against the vote of the same n - 1 others. Gold plays no part.

    An item that a run was not asked is no wrong answer of it, and left out of its figures.
    """
    labels, roots = comparison.people.labels, comparison.roots
    measure = "equals_vote_of_others"
    alone = leave_one_out(labels, roots=roots, bootstrap=bootstrap)
    found = [from_estimate("leave_one_out", LEAVE_ONE_OUT, measure, alone.person)]
    for run in comparison.runs:
        answers, asked = run.labels[:, 0], run.asked[:, 0]
        result = leave_one_out(labels, answers, model_asked=asked, roots=roots, bootstrap=bootstrap)
        note = "first of its repeats" if run.labels.shape[1] > 1 else ""
        if result.model is None or result.difference is None:
            continue
        for name, estimate in ((measure, result.model), (f"{measure}_difference", _negated(result.difference))):
            figure = from_estimate("leave_one_out", run_row(run), name, estimate)
            found.append(replace(figure, note=_joined(figure.note, note)))
    return found


def agreement_figures(
    comparison: Comparison, *, bootstrap: Bootstrap, measures: Collection[str] | None = None
) -> list[Figure]:
    """Every coefficient among people that fits the level of the answers, from round one, with or without gold.

    measures: only these, for whoever cannot wait for all.
    """
    coefficients = coefficients_that_fit(comparison)
    ratings = ratings_of(comparison)
    row = Row("people", "people", _("Agreement among people"))
    return [
        from_coefficient("agreement", row, coefficient(ratings, bootstrap))
        for name, coefficient in coefficients.items()
        if measures is None or name in measures
    ]


def ratings_of(comparison: Comparison) -> Ratings:
    """People's answers of round one as the coefficients take them."""
    labels = comparison.people.labels
    # Options that an earlier version of the form had are labels, too.
    n_labels = max(len(comparison.classes), int(labels.max(initial=-1)) + 1)
    values = comparison.values
    if values is not None:
        n_labels = len(values)
    return Ratings.from_labels(labels, comparison.roots, n_labels=n_labels, values=values)


def coefficients_that_fit(comparison: Comparison) -> dict[str, Callable[[Ratings, Bootstrap | None], Coefficient]]:
    """The nominal coefficients and those of the level of the answers; for exactly two people Cohen's and Scott's, too.

    Where anything can be an answer no labels are declared, and there is no AC1, no kappa of pairs, no ordinal alpha.
    """
    found: dict[str, Callable[[Ratings, Bootstrap | None], Coefficient]] = dict(COEFFICIENTS)
    level = comparison.level
    if level in ("interval", "ratio"):
        found["krippendorff_alpha_interval"] = SCALE_COEFFICIENTS["krippendorff_alpha_interval"]
    if level == "ratio" and len(comparison.keys) <= MAX_TABLED_LABELS:
        found["krippendorff_alpha_ratio"] = SCALE_COEFFICIENTS["krippendorff_alpha_ratio"]
    if not comparison.classes:
        del found["gwet_ac1"]
        return found
    is_ordered = level != "nominal"
    if is_ordered and len(comparison.keys) <= MAX_ORDINAL_LABELS:
        found["krippendorff_alpha_ordinal"] = SCALE_COEFFICIENTS["krippendorff_alpha_ordinal"]
    if is_ordered:
        name = "gwet_ac2_ordinal" if level == "ordinal" else "gwet_ac2_quadratic"
        found[name] = SCALE_COEFFICIENTS[name]
    n_people = int((comparison.people.labels >= 0).any(axis=0).sum())
    if n_people == 2:
        weighted = ("cohen_kappa_linear", "cohen_kappa_quadratic") if is_ordered else ()
        for name in ("cohen_kappa", *weighted, "scott_pi"):
            found[name] = partial(_of_two, PAIR_COEFFICIENTS[name], comparison)
    elif n_people > 2:
        found["light_kappa"] = light_kappa
    return found


def _of_two(
    coefficient: Callable[..., Coefficient], comparison: Comparison, ratings: Ratings, bootstrap: Bootstrap | None
) -> Coefficient:
    """Of the two people who answered."""
    labels = comparison.people.labels
    first, second = labels[:, (labels >= 0).any(axis=0)].T
    return coefficient(first, second, roots=comparison.roots, bootstrap=bootstrap, n_labels=ratings.n_labels)


def vote_figures(comparison: Comparison) -> list[Figure]:
    """How the votes ended, over all items that somebody was asked about: ties are told, and nobody's answer."""
    labels = comparison.people.labels
    asked = (labels >= 0).any(axis=1)
    votes = majority_votes(labels[asked])
    row = Row("people", "people", "Votes")
    n_items = int(asked.sum())
    return [
        _share("votes", row, str(status), votes.statuses.count(status), n_items)
        for status in dict.fromkeys(["unanimous", "majority", "plurality", "tie", *votes.statuses])
    ]


def outcome_figures(comparison: Comparison) -> list[Figure]:
    """What came of every question to a person or model, also where the figures leave it out."""
    found = []
    for side, row in _sides(comparison):
        total = sum(side.outcomes.values())
        row = replace(row, row="people", label=_("People")) if row is PEOPLE_MEAN else row
        found += [_share("outcomes", row, outcome, n, total) for outcome, n in side.outcomes.items()]
    return found


def person_figures(comparison: Comparison, *, scorer: str) -> list[Figure]:
    """Each person alone, by both denominators, without interval: for reading beside the mean."""
    people = comparison.people
    means = mean_person(people.scores[scorer], offered=people.offered, people=people.names).per_person
    return [
        Figure(
            section="person",
            row=f"person_{mean.person}",
            who="people",
            label=mean.person,
            measure=scorer,
            denominator=denominator,
            value=value,
            n=n,
            n_items=n,
            n_people=1,
            undefined="" if value is not None else "no_trials",
            is_exploratory=True,
        )
        for mean in means
        for denominator, value, n in (
            ("all", mean.all_items, mean.n_all),
            ("answered", mean.answered, mean.n_answered),
        )
    ]


def best_person_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> list[Figure]:
    """Whoever is best, chosen on other items than those scored: a missing answer counts as not right, as in "all"."""
    people = comparison.people
    scores = count_missing_as_wrong(people.scores[scorer], people.offered)
    best = best_person(scores, roots=comparison.roots, people=people.names, seed=bootstrap.seed, bootstrap=bootstrap)
    figure = from_estimate("best_person", BEST_PERSON, scorer, best.accuracy, denominator="all")
    note = _("%(n_chosen)s chosen in five folds", n_chosen=len(best.chosen)) if best.accuracy.value is not None else ""
    return [replace(figure, is_exploratory=True, note=_joined(figure.note, note))]


def breakdown_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> Iterator[Figure]:
    """Mean person and every run by each stratum, with the items that have none, so that a breakdown adds up.

    Exploratory. An item with two values of a stratum stands in both.
    """
    for name, values in strata_of(comparison).items():
        for value in values:
            items = items_of_stratum(comparison, name, value)
            part = comparison.part(items)
            for side, row in _sides(part):
                # Each side by the items it was offered: a stratum of 60 items says little of whoever met three of them.
                n_items = int(side.asked_items.sum())
                if n_items < MIN_STRATUM_ITEMS:
                    figure = _few(row, scorer, n_items)
                else:
                    means = _means(part, side, row, scorer=scorer, bootstrap=bootstrap)
                    figure = _mean_figures(row, scorer, means)[0]
                yield replace(figure, section="breakdown", stratum=name, stratum_value=value, is_exploratory=True)


def strata_of(comparison: Comparison) -> dict[str, list[str]]:
    """The strata's names in order of appearance, each with its values sorted and, last, "(none)" where some lack it."""
    found: dict[str, set[str]] = {}
    for pairs in comparison.strata:
        for name, value in pairs:
            found.setdefault(str(name), set()).add(str(value))
    strata = {}
    for name, values in found.items():
        is_missing = any(all(str(other) != name for other, _ in pairs) for pairs in comparison.strata)
        strata[name] = [*sorted(values), *([NO_STRATUM] if is_missing else [])]
    return strata


def items_of_stratum(comparison: Comparison, name: str, value: str) -> Any:
    """Shape (n_items,): whether an item has this value of the stratum."""

    def belongs(pairs: Sequence[Sequence[str]]) -> bool:
        values = [str(found) for other, found in pairs if str(other) == name]
        return not values if value == NO_STRATUM else value in values

    return np.array([belongs(pairs) for pairs in comparison.strata], dtype=bool)


def _sides(comparison: Comparison) -> list[tuple[Side, Row]]:
    return [(comparison.people, PEOPLE_MEAN), *((run, run_row(run)) for run in comparison.runs)]


def _means(comparison: Comparison, side: Side, row: Row, *, scorer: str, bootstrap: Bootstrap) -> MeanPerson:
    """The mean over the columns of a side: people, or the repeats of a run."""
    return mean_person(
        side.scores[scorer],
        offered=side.offered,
        roots=comparison.roots,
        people=side.names,
        bootstrap=bootstrap,
        voices="people" if row.who == "people" else "repeats",
    )


def _mean_figures(row: Row, scorer: str, means: MeanPerson) -> list[Figure]:
    """Over all that was offered, and over what was answered."""
    by_all = [mean.all_items for mean in means.per_person]
    by_answered = [mean.answered for mean in means.per_person]
    n_missing = means.answered.n_left_out
    return [
        replace(
            from_estimate("accuracy", row, scorer, means.all_items, denominator="all"),
            sd=_sd(by_all),
            note=_joined(
                means.all_items.note,
                _("%(n_missing)s without an answer count as not right", n_missing=n_missing) if n_missing else "",
            ),
        ),
        replace(from_estimate("accuracy", row, scorer, means.answered, denominator="answered"), sd=_sd(by_answered)),
    ]


def _sd(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return stdev(defined) if len(defined) > 1 else None


def _few(row: Row, scorer: str, n_items: int) -> Figure:
    return Figure(
        section="breakdown",
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=scorer,
        denominator="all",
        n_items=n_items,
        undefined=TOO_FEW,
        note=_("fewer than %(n_items)s items", n_items=MIN_STRATUM_ITEMS),
    )


def from_estimate(section: str, row: Row, measure: str, estimate: Estimate, *, denominator: str = "") -> Figure:
    return Figure(
        section=section,
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=measure,
        denominator=denominator,
        value=estimate.value,
        n=estimate.n,
        n_items=estimate.n_items,
        n_left_out=estimate.n_left_out,
        n_people=estimate.n_people,
        n_roots=estimate.n_roots,
        undefined=estimate.undefined,
        note=estimate.note,
        **interval_columns(estimate.interval),
    )


def from_coefficient(section: str, row: Row, coefficient: Coefficient) -> Figure:
    return Figure(
        section=section,
        row=row.row,
        who=row.who,
        label=row.label,
        measure=coefficient.name,
        value=coefficient.value,
        n=coefficient.n,
        n_items=coefficient.n,
        n_left_out=coefficient.n_left_out,
        n_people=coefficient.n_raters or 0,
        n_roots=coefficient.n_roots,
        n_pairs=coefficient.n_pairs,
        undefined=coefficient.undefined,
        note=coefficient.note,
        **interval_columns(coefficient.interval),
    )


def _share(section: str, row: Row, measure: str, count: int, total: int) -> Figure:
    return Figure(
        section=section,
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=measure,
        value=count / total if total else None,
        count=count,
        n=total,
        undefined="" if total else "no_trials",
    )


def interval_columns(interval: Interval | None) -> dict[str, Any]:
    """What a figure takes from its interval."""
    if interval is None:
        return {}
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "level": interval.level,
        "method": interval.method,
        "n_resamples": interval.n_resamples,
        "seed": interval.seed,
        "n_undefined": interval.n_undefined,
    }


def _negated(estimate: Estimate) -> Estimate:
    """Model minus person instead of person minus model: below zero where the model is worse."""
    interval = estimate.interval
    if interval is not None:
        interval = replace(interval, lower=-interval.upper, upper=-interval.lower)
    return replace(estimate, value=None if estimate.value is None else -estimate.value, interval=interval)


def _votes_words(votes_per_item: Sequence[tuple[int, int]]) -> str:
    """The numbers of votes that items have: "3", or "2 to 4"."""
    numbers = [k for k, n_items in votes_per_item if n_items and k]
    if not numbers:
        return "k"
    return str(numbers[0]) if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
