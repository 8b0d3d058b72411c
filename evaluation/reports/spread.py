"""How much accuracy varies over prompts to one model, and over a grid of two strata. No Django. Exploratory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev

import numpy as np

from annotate.wording import _, ngettext
from evaluation.reports.comparison import Bools, Comparison, Floats
from evaluation.reports.differences import filled_scores
from evaluation.reports.figures import MIN_STRATUM_ITEMS, PEOPLE_MEAN, Figure, Row, interval_columns, run_row
from evaluation.stats import NO_TRIALS, TOO_FEW, Bootstrap, mean_person, spread_over_grid
from evaluation.stats.paired import item_means


@dataclass(frozen=True)
class Asked:
    """How a run asked: which model, with which prompt strategy."""

    model: str
    prompt: str


def prompt_figures(
    comparison: Comparison, *, scorer: str, asked: Mapping[int, Asked], bootstrap: Bootstrap
) -> list[Figure]:
    """For every model with two runs or more: mean, SD, lowest and highest of its runs' accuracies ("all"), over exactly
    the items that all of them were asked. Each run weighs the same, and repeats are averaged first. The interval of the
    mean is about these runs."""
    found: list[Figure] = []
    for model in dict.fromkeys(asked[run.run].model for run in comparison.runs):
        runs = [run for run in comparison.runs if asked[run.run].model == model]
        if len(runs) < 2:
            continue
        shared: Bools = np.logical_and.reduce([run.asked_items for run in runs])
        prompts = {asked[run.run].prompt for run in runs}
        blank = Figure(
            section="prompts",
            row=f"model_{len(found)}",
            who="model",
            label=model,
            measure="mean_over_runs",
            denominator="all",
            n=len(runs),
            n_items=int(shared.sum()),
            n_roots=int(np.unique(comparison.roots[shared]).size),
            is_exploratory=True,
            note=ngettext("%(n)s prompt strategy", "%(n)s prompt strategies", len(prompts), n=len(prompts)),
        )
        if not shared.any():
            found.append(replace(blank, undefined="no_shared_items"))
            continue
        scores = np.column_stack([item_means(filled_scores(run, scorer)) for run in runs])[shared]
        means = {run.name: float(mean) for run, mean in zip(runs, scores.mean(axis=0), strict=True)}
        lowest, highest = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
        spread = stdev(means.values())
        estimate = mean_person(scores, roots=comparison.roots[shared], bootstrap=bootstrap, voices="runs").all_items
        interval = interval_columns(estimate.interval)
        found += [
            replace(blank, value=estimate.value, sd=spread, **interval),
            replace(blank, measure="sd_over_runs", value=spread),
            replace(blank, measure="lowest_run", value=means[lowest], note=lowest),
            replace(blank, measure="highest_run", value=means[highest], note=highest),
        ]
    return found


def grid_of(comparison: Comparison) -> tuple[str, str] | None:
    """The first two strata, in order of appearance, of which every item has one value at most, a whole number, and
    that have two values or more; None where there are no two of them."""
    values: dict[str, set[str]] = {}
    refused: set[str] = set()
    for pairs in comparison.strata:
        names = [str(name) for name, _value in pairs]
        refused |= {name for name in names if names.count(name) > 1}
        for name, value in pairs:
            values.setdefault(str(name), set()).add(str(value))
    fitting = [
        name
        for name, found in values.items()
        if name not in refused and len(found) > 1 and all(value.isascii() and value.isdigit() for value in found)
    ]
    return (fitting[0], fitting[1]) if len(fitting) > 1 else None


def grid_figures(comparison: Comparison, *, scorer: str) -> list[Figure]:
    """Mean person's items and each run over the cells of the grid: a figure a cell, then the SD over filled cells.

    A cell is the mean of the scores ("all") of its items, told from 20 items on as in any breakdown; each cell weighs
    the same in the SD, whose `n` are cells and whose note says how many of them are small.
    """
    names = grid_of(comparison)
    if names is None:
        return []
    places = [_place(pairs, names) for pairs in comparison.strata]
    in_grid = np.array([place is not None for place in places], dtype=bool)
    cells = [place for place in places if place is not None]
    found: list[Figure] = []
    sides = [(comparison.people, PEOPLE_MEAN), *((run, run_row(run)) for run in comparison.runs)]
    for side, row in sides:
        scores = item_means(filled_scores(side, scorer))[in_grid]
        spread = spread_over_grid([a for a, _b in cells], [b for _a, b in cells], scores)
        of_cells = [_cell(row, scorer, names, cell, mean, scores, cells) for cell, mean in spread.means.items()]
        found += of_cells
        found.append(
            Figure(
                section="grid",
                row=row.row,
                who=row.who,
                label=row.label,
                run=row.run,
                measure="sd_over_cells",
                denominator="all",
                stratum=" × ".join(names),
                value=spread.std_sample,
                n=spread.n_cells,
                n_items=spread.n,
                n_left_out=int((~in_grid).sum()),
                undefined=spread.undefined,
                note=_("fewer than two cells") if spread.undefined == TOO_FEW else _small(of_cells),
                is_exploratory=True,
            )
        )
    return found


def _cell(
    row: Row,
    scorer: str,
    names: tuple[str, str],
    cell: tuple[object, object],
    mean: float | None,
    scores: Floats,
    cells: list[tuple[int, int]],
) -> Figure:
    n = int(sum(place == cell and not np.isnan(score) for place, score in zip(cells, scores, strict=True)))
    is_small = 0 < n < MIN_STRATUM_ITEMS
    return Figure(
        section="grid",
        row=row.row,
        who=row.who,
        label=row.label,
        run=row.run,
        measure=scorer,
        denominator="all",
        stratum=" × ".join(names),
        stratum_value=f"{cell[0]} × {cell[1]}",
        value=None if is_small else mean,
        n=n,
        n_items=n,
        undefined=NO_TRIALS if mean is None else TOO_FEW if is_small else "",
        note=_("fewer than %(n_items)s items", n_items=MIN_STRATUM_ITEMS) if is_small else "",
        is_exploratory=True,
    )


def _small(cells: Sequence[Figure]) -> str:
    n = sum(figure.undefined == TOO_FEW for figure in cells)
    return _("cells of fewer than %(n_items)s items: %(n)s", n=n, n_items=MIN_STRATUM_ITEMS) if n else ""


def _place(pairs: Sequence[Sequence[str]], names: tuple[str, str]) -> tuple[int, int] | None:
    found = {str(name): str(value) for name, value in pairs}
    if not all(name in found for name in names):
        return None
    return int(found[names[0]]), int(found[names[1]])
