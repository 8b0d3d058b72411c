"""Further differences of a report, the adjustment of all of them together, and what they say about a next study.

No Django. What is named before results are seen is one family, adjusted by Holm; everything else is exploratory and is
adjusted to the false discovery rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison, Floats, RunSide, Side
from evaluation.reports.figures import Figure, Row, interval_columns, run_row
from evaluation.stats import (
    Bootstrap,
    benjamini_hochberg,
    count_missing_as_wrong,
    detectable_difference,
    holm,
    items_needed,
    majority_votes,
    paired_difference,
    permutation_test,
    pilot_spread,
    power_of,
)

# Pairs of runs: 45 of ten. More would bury the comparisons that a reader looks for.
MAX_COMPARED_RUNS = 10
# The differences, in proportions, for which the report says how many items would show them.
PLANNED_DIFFERENCES = (0.01, 0.02, 0.05, 0.1)
HOLM, FALSE_DISCOVERY_RATE = "holm", "benjamini_hochberg"


def vote_difference_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> list[Figure]:
    """Each run's vote of its repeats minus the people's vote, item by item; a tie is not right on either side.

    Like against like where the run has as many repeats as items have people; against a single answer it describes.
    """
    people = vote_scores(comparison.people, scorer)
    k_people = int(np.median(_n_asked(comparison.people))) if _n_asked(comparison.people).size else 0
    found = []
    for run in comparison.runs:
        n_repeats = run.labels.shape[1]
        note = ""
        if n_repeats != k_people:
            note = _(
                "described only: the vote of %(k_people)s people against %(n_repeats)s of the model",
                k_people=k_people,
                n_repeats=n_repeats,
            )
        votes = vote_scores(run, scorer)
        figure = _paired("vote_difference", run_row(run), scorer, votes, people, comparison, bootstrap)
        found.append(replace(figure, note="; ".join(part for part in (figure.note, note) if part)))
    return found


def run_difference_figures(comparison: Comparison, *, scorer: str, bootstrap: Bootstrap) -> list[Figure]:
    """Each run minus each later one, on the items that both were asked; repeats are averaged per item."""
    return [
        _paired(
            "run_difference",
            Row(f"run_{one.run}_run_{other.run}", "model", f"{one.name} against {other.name}", one.run),
            scorer,
            filled_scores(one, scorer),
            filled_scores(other, scorer),
            comparison,
            bootstrap,
        )
        for one, other in combinations(comparison.runs[:MAX_COMPARED_RUNS], 2)
    ]


def planning_figures(comparison: Comparison, *, scorer: str, run: int | None) -> list[Figure]:
    """This study as the pilot of the next: the design effect, what its items could find, how many would find more.

    From the spread of mean person minus the run, at 80 % power and a level of 5 %, two-sided. Nothing without a run.
    """
    chosen = next((side for side in comparison.runs if side.run == run), None)
    if chosen is None:
        return []
    spread = pilot_spread(
        filled_scores(comparison.people, scorer), filled_scores(chosen, scorer), roots=comparison.roots
    )
    blank = Figure(
        section="planning",
        row=f"run_{chosen.run}",
        who="model",
        label=chosen.name,
        measure="design_effect",
        value=spread.design_effect,
        n=spread.n,
        n_items=spread.n,
        n_roots=spread.n_roots,
        sd=spread.sd,
        undefined=spread.undefined,
        run=chosen.run,
        is_exploratory=True,
        note="from the differences of this report; power .8, level .05, two-sided",
    )
    if spread.sd is None or spread.design_effect is None:
        return [blank]
    circumstances = {"sd": spread.sd, "design_effect": spread.design_effect}
    found = [blank]
    if spread.n > 1:
        smallest = detectable_difference(n_items=spread.n, **circumstances)
        found.append(replace(blank, measure="detectable_difference", value=smallest))
    for difference in PLANNED_DIFFERENCES:
        needed = items_needed(difference, **circumstances)
        found.append(replace(blank, measure="items_needed", value=difference, count=needed.n_items))
        if spread.n > 1:
            power = power_of(difference, n_items=spread.n, **circumstances)
            found.append(
                replace(blank, measure="power", stratum="difference", stratum_value=f"{difference:g}", value=power)
            )
    return found


def adjust_together(figures: Sequence[Figure]) -> list[Figure]:
    """The same figures with adjusted p-values: Holm over the primary ones, Benjamini-Hochberg over all others."""
    found = list(figures)
    for is_primary, name, adjust in ((True, HOLM, holm), (False, FALSE_DISCOVERY_RATE, benjamini_hochberg)):
        places = [i for i, figure in enumerate(found) if figure.p is not None and figure.is_primary == is_primary]
        for place, p in zip(places, adjust([found[place].p for place in places]), strict=True):
            found[place] = replace(
                found[place], p_adjusted=p, adjustment=name, n_family=len(places), is_exploratory=not is_primary
            )
    return found


def _paired(
    section: str,
    row: Row,
    scorer: str,
    first: Floats,
    second: Floats,
    comparison: Comparison,
    bootstrap: Bootstrap,
) -> Figure:
    result = paired_difference(first, second, roots=comparison.roots, bootstrap=bootstrap)
    test = permutation_test(first, second, roots=comparison.roots, bootstrap=bootstrap)
    return Figure(
        section=section,
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=scorer,
        denominator="all",
        value=result.value,
        n=result.n,
        n_items=result.n,
        n_left_out=result.n_left_out,
        n_roots=result.n_roots,
        undefined=result.undefined,
        p=test.p,
        note=result.note,
        **interval_columns(result.interval),
    )


def filled_scores(side: Side | RunSide, scorer: str) -> Floats:
    """Scores with 0 where an answer was asked for and is missing."""
    return count_missing_as_wrong(side.scores[scorer], side.offered)


def vote_scores(side: Side | RunSide, scorer: str) -> Floats:
    """Shape (n_items,): the mean score of the winning answers, 0 without a winner, NaN where none was asked."""
    labels, scores = side.labels, side.scores[scorer]
    winners = majority_votes(labels).winners
    won = (labels == winners[:, np.newaxis]) & (winners >= 0)[:, np.newaxis] & ~np.isnan(scores)
    n_won = won.sum(axis=1)
    means = np.where(won, scores, 0.0).sum(axis=1) / np.maximum(n_won, 1)
    return np.where(side.asked_items, means, np.nan)


def _n_asked(side: Side) -> Floats:
    """How many were asked about each item that anybody was asked about."""
    n_asked: Floats = side.offered.sum(axis=1)[side.asked_items].astype(np.float64)
    return n_asked
