"""The difference of two sets of scores on exactly the items that both have scores for."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import (
    Bootstrap,
    Floats,
    percentile_interval,
    resampled_sums,
    root_codes,
    sum_by_root,
)
from evaluation.stats.means import row_means, score_matrix
from evaluation.stats.results import NO_TRIALS, Interval


@dataclass(frozen=True)
class PairedDifference:
    """first - second on the shared items.

    value: None (no_trials) without a shared item. first_mean, second_mean: both sides on the same items, so that the
    difference can be checked by eye. n: shared items. n_left_out: items that only one side has a score for.
    share_not_above_zero: share of resampled differences that are 0 or less; None without resampling.
    """

    name: str
    value: float | None
    first_mean: float | None
    second_mean: float | None
    n: int
    n_left_out: int
    n_roots: int
    undefined: str = ""
    interval: Interval | None = None
    share_not_above_zero: float | None = None
    note: str = ""


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> PairedDifference:
    """The mean over shared items of first - second, with a bootstrap interval over roots.

    first, second: scores in [0, 1], NaN where missing, shape (n_items,) or (n_items, n_repeats); repeats of a model,
    or several people, are averaged per item first. roots: shape (n_items,). Each item weighs the same; a root goes
    into a resample with all its items.
    Swapping first and second negates the difference and mirrors the interval, because the same roots are drawn.
    Raises ValueError for shapes that do not fit or a score outside [0, 1].
    """
    one, other = item_means(first), item_means(second)
    if one.shape != other.shape:
        raise ValueError("first and second must have scores for the same items, in the same order.")
    shared = ~np.isnan(one) & ~np.isnan(other)
    codes = root_codes(roots, one.size)
    kept_codes = root_codes(np.flatnonzero(shared) if codes is None else codes[shared], int(shared.sum()))
    differences = (one - other)[shared]
    n = differences.size
    result = PairedDifference(
        name="paired_difference",
        value=None,
        first_mean=None,
        second_mean=None,
        n=n,
        n_left_out=int((np.isnan(one) != np.isnan(other)).sum()),
        n_roots=n if kept_codes is None else int(kept_codes.max()) + 1,
        undefined=NO_TRIALS,
    )
    if n == 0:
        return result
    result = replace(
        result,
        value=float(differences.mean()),
        first_mean=float(one[shared].mean()),
        second_mean=float(other[shared].mean()),
        undefined="",
    )
    if bootstrap is None:
        return result
    rows = sum_by_root(np.stack([differences, np.ones(n)], axis=1), kept_codes)
    resampled = np.concatenate([sums[:, 0] / sums[:, 1] for sums in resampled_sums(rows, bootstrap)])
    interval, note = percentile_interval(resampled, bootstrap, n_roots=result.n_roots)
    # Sums of fractions that cancel leave 1e-17 on either side of 0.
    not_above = float((resampled <= 1e-12).mean())
    return replace(result, interval=interval, share_not_above_zero=not_above, note=note)


def item_means(scores: npt.ArrayLike) -> Floats:
    """The mean of each item's scores, NaN without one: shape (n_items,) from that or from (n_items, n_repeats)."""
    values = np.asarray(scores, dtype=np.float64)
    return row_means(score_matrix(values[:, np.newaxis] if values.ndim == 1 else values))
