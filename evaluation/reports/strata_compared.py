"""Whether people's votes, or a run, are better on the items of one stratum than on others. No Django. Exploratory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Bools, Comparison, Floats
from evaluation.reports.differences import FALSE_DISCOVERY_RATE, filled_scores, vote_scores
from evaluation.reports.figures import (
    MIN_STRATUM_ITEMS,
    PEOPLE_VOTE,
    Figure,
    Row,
    interval_columns,
    items_of_stratum,
    run_row,
    strata_of,
)
from evaluation.reports.mcnemar import NOT_BINARY, NOT_INDEPENDENT, SEVERAL_ANSWERS
from evaluation.stats import TOO_FEW, benjamini_hochberg, two_proportions


def strata_compared_figures(comparison: Comparison, *, scorer: str, level: float) -> list[Figure]:
    """The share right on the items of each value of a stratum less that on all other items: two sets of other items, so
    two proportions. Of a stratum with two values one comparison says it all.

    Undefined below 20 items on either side, where scores lie between right and wrong, where a run was asked several
    times, and where items hang together by a root.
    """
    found = [
        _compared(comparison, name, value, scorer, level, *side)
        for name, values in strata_of(comparison).items()
        for value in (values[:1] if len(values) == 2 else values if len(values) > 2 else ())
        for side in _sides(comparison, scorer)
    ]
    tested = [place for place, figure in enumerate(found) if figure.p is not None]
    for place, p in zip(tested, benjamini_hochberg([found[place].p for place in tested]), strict=True):
        found[place] = replace(found[place], p_adjusted=p, adjustment=FALSE_DISCOVERY_RATE, n_family=len(tested))
    return found


def _sides(comparison: Comparison, scorer: str) -> Iterator[tuple[Row, Floats, str]]:
    """(row, scores of shape (n_items,), why they cannot be compared)."""
    yield PEOPLE_VOTE, vote_scores(comparison.people, scorer), ""
    for run in comparison.runs:
        why_not = SEVERAL_ANSWERS if run.labels.shape[1] > 1 else ""
        yield run_row(run), filled_scores(run, scorer)[:, 0], why_not


def _compared(
    comparison: Comparison,
    name: str,
    value: str,
    scorer: str,
    level: float,
    row: Row,
    scores: Floats,
    why_not: str,
) -> Figure:
    present: Bools = ~np.isnan(scores)
    inside = items_of_stratum(comparison, name, value) & present
    outside = present & ~inside
    n, n_others = int(inside.sum()), int(outside.sum())
    n_roots = int(np.unique(comparison.roots[present]).size)
    blank = Figure(
        section="strata_compared",
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=scorer,
        denominator="all",
        stratum=name,
        stratum_value=value,
        n=n,
        n_items=n + n_others,
        n_roots=n_roots,
        is_exploratory=True,
    )
    if min(n, n_others) < MIN_STRATUM_ITEMS:
        note = _("fewer than %(n_items)s items", n_items=MIN_STRATUM_ITEMS)
        return replace(blank, undefined=TOO_FEW, note=note)
    if not why_not and not np.isin(scores[present], (0, 1)).all():
        why_not = NOT_BINARY
    if not why_not and n_roots < n + n_others:
        why_not = NOT_INDEPENDENT
    if why_not:
        return replace(blank, undefined=why_not)
    test = two_proportions(int(scores[inside].sum()), n, int(scores[outside].sum()), n_others, level)
    return replace(blank, value=test.difference, p=test.p, **interval_columns(test.interval))
