"""The mean of scores over people, the shape that every accuracy here has, with its interval."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.proportions import wilson_bounds
from evaluation.stats.intervals import (
    Bootstrap,
    Floats,
    Ints,
    Rows,
    expanded_tail,
    percentile_interval,
    resample_weights,
    resampled_sums,
    root_codes,
    sum_by_root,
    wilson,
)
from evaluation.stats.results import NO_TRIALS, Estimate, Interval

# With fewer people, resampling people says little about people in general; the figure is then about these people.
MIN_PEOPLE_TO_RESAMPLE = 10
# With fewer roots that hold a score away from the end that the mean lies near, resamples do not show how skewed it is.
MIN_TELLING_ROOTS = 10
_MAX_DENSE_CELLS = 20_000_000


def count_missing_as_wrong(scores: npt.ArrayLike, offered: npt.ArrayLike) -> Floats:
    """The scores with 0 where an answer was offered but is missing; still NaN where none was offered."""
    values = np.asarray(scores, dtype=np.float64)
    return np.where(np.asarray(offered, dtype=bool) & np.isnan(values), 0.0, values)


def score_matrix(scores: npt.ArrayLike) -> Floats:
    """scores as floats, shape (n_items, n_people); raises ValueError for another shape or a score outside [0, 1]."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError("scores must be a two-dimensional array (items x people).")
    if ((values < 0) | (values > 1)).any():
        raise ValueError("A score lies between 0 and 1, or is NaN where there is none.")
    return values


def mean_over_people(
    name: str, values: Floats, codes: Ints | None, bootstrap: Bootstrap | None, voices: str, wilson_applies: bool = True
) -> Estimate:
    """The mean over columns of each column's mean over its defined cells, with its interval; values (items x people).

    wilson_applies: the values are scores, so that Wilson's interval has a meaning where they are all 0 or 1.
    """
    present = ~np.isnan(values)
    items = present.any(axis=1)
    people = present.any(axis=0)
    kept = values[items][:, people]
    kept_codes = root_codes(np.flatnonzero(items) if codes is None else codes[items], kept.shape[0])
    n_people = int(people.sum())
    estimate = Estimate(
        name=name,
        value=None,
        n=int(present.sum()),
        n_left_out=0,
        n_items=int(items.sum()),
        n_roots=kept.shape[0] if kept_codes is None else int(kept_codes.max()) + 1,
        n_people=n_people,
    )
    if estimate.n == 0:
        return replace(estimate, undefined=NO_TRIALS)
    means = column_means(kept)
    estimate = replace(estimate, value=float(means.mean()))
    if bootstrap is None:
        return estimate
    only_right_or_wrong = wilson_applies and bool(np.isin(kept[~np.isnan(kept)], (0.0, 1.0)).all())
    if n_people == 1 and kept_codes is None and only_right_or_wrong:
        return replace(estimate, interval=wilson(int(np.nansum(kept)), estimate.n, bootstrap.level))
    resampled = _resampled_means(kept, kept_codes, bootstrap)
    interval, note = people_interval(resampled, bootstrap, n_roots=estimate.n_roots, n_people=n_people, voices=voices)
    if interval is not None and interval.degenerate and only_right_or_wrong:
        interval, note = _instead_of_degenerate(estimate, bootstrap)
    elif interval is not None and wilson_applies and _n_telling_roots(kept, kept_codes) < MIN_TELLING_ROOTS:
        interval = _of_effective_trials(interval, estimate, resampled)
    return replace(estimate, interval=interval, note=note)


def people_weights(n_people: int, bootstrap: Bootstrap) -> Floats:
    """How often each person is in each resample, shape (n_resamples, n_people): once, if they are fewer than ten."""
    if n_people < MIN_PEOPLE_TO_RESAMPLE:
        return np.ones((bootstrap.n_resamples, n_people))
    return resample_weights(n_people, bootstrap, resampled="people")


def people_interval(
    values: Floats, bootstrap: Bootstrap, *, n_roots: int, n_people: int, voices: str = "people"
) -> tuple[Interval | None, str]:
    """The interval of a mean over people, resampled with people_weights, and a note where it is about these people."""
    two_way = n_people >= MIN_PEOPLE_TO_RESAMPLE
    resampled = f"{voices} and roots" if two_way else "roots"
    interval, note = percentile_interval(values, bootstrap, n_roots=n_roots, resampled=resampled)
    if interval is not None and n_people > 1 and not two_way:
        note = "; ".join(part for part in (note, f"the interval is about these {n_people} {voices}") if part)
    return interval, note


def _instead_of_degenerate(estimate: Estimate, bootstrap: Bootstrap) -> tuple[Interval | None, str]:
    """All right or all wrong leaves the bootstrap nothing to vary: each root then counts as one trial."""
    n_right = estimate.n_roots if estimate.value and estimate.value > 0.5 else 0
    note = "every answer has the same score: Wilson's interval with each root as one trial"
    return wilson(n_right, estimate.n_roots, bootstrap.level), note


def _n_telling_roots(values: Floats, codes: Ints | None) -> int:
    """How many roots hold a score away from 0 or 1, whichever the scores lie nearer to."""
    end = 1.0 if np.nanmean(values) > 0.5 else 0.0
    telling = np.flatnonzero((np.abs(np.nan_to_num(values, nan=end) - end) > 1e-12).any(axis=1))
    return int(np.unique(telling if codes is None else codes[telling]).size)


def _of_effective_trials(interval: Interval, estimate: Estimate, resampled: Floats) -> Interval:
    """Wilson's interval for as many trials as give a share the variance of the resamples, at the tails they have.

    Percentiles of a mean of which three mistakes are known end too close to it on their side: its distribution is
    skewed, and three mistakes do not show how much.
    """
    variance, value = float(np.nanvar(resampled)), estimate.value or 0.0
    if interval.degenerate or variance <= 0:
        return interval
    # With three roots or fewer the tail is so thin that no normal quantile can be told from infinity.
    tail = max(expanded_tail(interval.level, estimate.n_roots), 1e-9)
    lower, upper = wilson_bounds(value, value * (1 - value) / variance, 1 - 2 * tail)
    return replace(
        interval, lower=lower, upper=upper, method=f"Wilson with the effective number of trials, by {interval.method}"
    )


def _resampled_means(values: Floats, codes: Ints | None, bootstrap: Bootstrap) -> Floats:
    """The mean over people in each resample, shape (n_resamples,); people without an item in it are left out."""
    n_people = values.shape[1]
    present = ~np.isnan(values)
    cells = np.hstack([np.where(present, values, 0.0), present.astype(np.float64)])
    rows = sum_by_root(sparse_if_large(cells), codes)
    weights = people_weights(n_people, bootstrap)
    means = []
    start = 0
    for sums in resampled_sums(rows, bootstrap):
        totals, counts = sums[:, :n_people], sums[:, n_people:]
        size = counts.shape[0]
        drawn = weights[start : start + size] * (counts > 0)
        n_drawn = drawn.sum(axis=1)
        sum_of_means = (drawn * totals / np.maximum(counts, 1)).sum(axis=1)
        means.append(np.divide(sum_of_means, n_drawn, out=np.full(size, np.nan), where=n_drawn > 0))
        start += size
    return np.concatenate(means)


def pooled_mean(values: Floats, codes: Ints | None, bootstrap: Bootstrap | None) -> Estimate:
    """The mean over all answers, whoever gave them; answers to one root are resampled together."""
    present = ~np.isnan(values)
    items = present.any(axis=1)
    estimate = Estimate(
        name="pooled_answers",
        value=None,
        n=int(present.sum()),
        n_left_out=0,
        n_items=int(items.sum()),
        n_roots=int(np.unique(np.flatnonzero(items) if codes is None else codes[items]).size),
        n_people=int(present.any(axis=0).sum()),
    )
    if estimate.n == 0:
        return replace(estimate, undefined=NO_TRIALS)
    estimate = replace(estimate, value=float(np.nansum(values) / estimate.n))
    if bootstrap is None:
        return estimate
    totals = np.stack([np.nansum(values, axis=1), present.sum(axis=1).astype(np.float64)], axis=1)[items]
    kept_codes = root_codes(np.flatnonzero(items) if codes is None else codes[items], totals.shape[0])
    rows = sum_by_root(totals, kept_codes)
    resampled = np.concatenate([sums[:, 0] / sums[:, 1] for sums in resampled_sums(rows, bootstrap)])
    interval, note = percentile_interval(resampled, bootstrap, n_roots=estimate.n_roots)
    if interval is not None and interval.degenerate and bool(np.isin(values[present], (0.0, 1.0)).all()):
        interval, note = _instead_of_degenerate(estimate, bootstrap)
    elif interval is not None and _n_telling_roots(values[items], kept_codes) < MIN_TELLING_ROOTS:
        interval = _of_effective_trials(interval, estimate, resampled)
    return replace(estimate, interval=interval, note=note)


def column_means(values: Floats) -> Floats:
    """The mean of each column over its defined cells, NaN for a column without one."""
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    totals = np.where(present, values, 0.0).sum(axis=0)
    means: Floats = np.divide(totals, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    return means


def row_means(values: Floats) -> Floats:
    """The mean of each row over its defined cells, NaN for a row without one."""
    return column_means(values.T)


def mean_or_none(values: Floats) -> float | None:
    """The mean of the defined values, None without one."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def sparse_if_large(cells: npt.NDArray[Any]) -> Rows:
    """The same rows, as a CSR array where a dense one would be slow to multiply."""
    if cells.size <= _MAX_DENSE_CELLS:
        return cells.astype(np.float64)
    from scipy.sparse import csr_array

    return csr_array(cells).astype(np.float64)
