"""McNemar's test of answers that are right or wrong, pair by pair. No Django. Exploratory throughout.

It asks of the same pairs what the permutation test asks, so its p-values are a family of their own: together with the
others each question would count twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison, Floats, RunSide
from evaluation.reports.differences import FALSE_DISCOVERY_RATE, MAX_COMPARED_RUNS, filled_scores, vote_scores
from evaluation.reports.figures import Figure, Row
from evaluation.stats import NO_TRIALS, benjamini_hochberg, mcnemar_of_scores

NOT_BINARY, NOT_INDEPENDENT, SEVERAL_ANSWERS = "not_binary", "not_independent", "several_answers"
EXACT, MID_P, FIRST_ONLY, SECOND_ONLY = "mcnemar_exact", "mcnemar_mid_p", "only_first_right", "only_second_right"


def mcnemar_figures(comparison: Comparison, *, scorer: str) -> list[Figure]:
    """Each run against the people, then each run against each later one, as tables of two by two tell it.

    Against the people: their one answer to each item where nobody else answered it, else their vote, which describes.
    The value is the share that only the first had right minus the share that only the second had. Undefined where
    scores lie between right and wrong, where a run was asked several times, and where items hang together by a root:
    the test is about independent pairs, and the permutation test swaps whole roots.
    """
    found = [figure for pair in _pairs(comparison, scorer) for figure in _pair(comparison, scorer, *pair)]
    tested = [place for place, figure in enumerate(found) if figure.p is not None]
    for place, p in zip(tested, benjamini_hochberg([found[place].p for place in tested]), strict=True):
        found[place] = replace(found[place], p_adjusted=p, adjustment=FALSE_DISCOVERY_RATE, n_family=len(tested))
    return found


def _pairs(comparison: Comparison, scorer: str) -> Iterator[tuple[Row, Floats, Floats, str, str]]:
    """(row, first, second, why it cannot be tested, note): shape (n_items,), 0 where an answer is missing."""
    people = comparison.people
    is_single = bool((people.offered.sum(axis=1) <= 1).all())
    theirs = vote_scores(people, scorer)
    words = _("one person’s answer") if is_single else _("described only: the people’s vote")
    runs = comparison.runs[:MAX_COMPARED_RUNS]
    for run in runs:
        label = _("%(run)s against the people", run=run.name)
        row = Row(f"run_{run.run}_people", "model", label, run.run)
        yield row, _scores(run, scorer), theirs, _why_not(run), words
    for one, other in combinations(runs, 2):
        label = _("%(one)s against %(other)s", one=one.name, other=other.name)
        row = Row(f"run_{one.run}_run_{other.run}", "model", label, one.run)
        yield row, _scores(one, scorer), _scores(other, scorer), _why_not(one, other), ""


def _pair(
    comparison: Comparison, scorer: str, row: Row, first: Floats, second: Floats, why_not: str, note: str
) -> list[Figure]:
    shared = ~np.isnan(first) & ~np.isnan(second)
    n, n_roots = int(shared.sum()), int(np.unique(comparison.roots[shared]).size)
    blank = Figure(
        section="mcnemar",
        row=row.row,
        who=row.who,
        label=row.label,
        measure=EXACT,
        run=row.run,
        denominator="all",
        n=n,
        n_items=n,
        n_left_out=int((np.isnan(first) != np.isnan(second)).sum()),
        n_roots=n_roots,
        is_exploratory=True,
        note=note,
        method=_("McNemar’s exact test"),
    )
    if not n:
        return [replace(blank, undefined=NO_TRIALS)]
    if not why_not and not np.isin(np.concatenate([first[shared], second[shared]]), (0, 1)).all():
        why_not = NOT_BINARY
    if not why_not and n_roots < n:
        why_not = NOT_INDEPENDENT
    if why_not:
        return [replace(blank, undefined=why_not)]
    test = mcnemar_of_scores(first, second)
    return [
        replace(blank, value=(test.b - test.c) / n, p=test.exact_p),
        replace(blank, measure=MID_P, value=test.mid_p, method=_("McNemar’s mid-p test")),
        replace(blank, measure=FIRST_ONLY, value=test.b / n, count=test.b),
        replace(blank, measure=SECOND_ONLY, value=test.c / n, count=test.c),
    ]


def _why_not(*runs: RunSide) -> str:
    return SEVERAL_ANSWERS if any(run.labels.shape[1] > 1 for run in runs) else ""


def _scores(run: RunSide, scorer: str) -> Floats:
    filled: Floats = filled_scores(run, scorer)[:, 0]
    return filled
