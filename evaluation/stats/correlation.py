"""How far two measures order answers, or systems, alike."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import Bootstrap, Floats, percentile_interval, root_codes
from evaluation.stats.means import column_means
from evaluation.stats.results import NO_VARIATION, TOO_FEW, Coefficient


@dataclass(frozen=True)
class Correlations:
    """Each with n, the pairs that both sides have, and n_left_out, those that only one has."""

    pearson: Coefficient
    spearman: Coefficient
    kendall_tau_b: Coefficient

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.pearson, self.spearman, self.kendall_tau_b))


@dataclass(frozen=True)
class MetricCorrelations:
    """Two measures of the same answers: by item (every answer of every system) and by system (its mean)."""

    items: Correlations
    systems: Correlations


def correlations(
    x: npt.ArrayLike, y: npt.ArrayLike, *, roots: npt.ArrayLike | None = None, bootstrap: Bootstrap | None = None
) -> Correlations:
    """Pearson's r, Spearman's rho (r of mid-ranks) and Kendall's tau-b of pairs.

    x, y: shape (n,), NaN where missing; a pair with a missing side is left out and counted. Undefined: too_few below
    two pairs, no_variation where a side has one value only. roots: shape (n,), what is resampled together.
    Raises ValueError for other shapes or an infinite value.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("x and y must be arrays of the same length.")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ValueError("An infinite value has no place in a correlation.")
    present = ~np.isnan(first) & ~np.isnan(second)
    codes = root_codes(roots, first.size)
    n_left_out = int((np.isnan(first) != np.isnan(second)).sum())
    first, second = first[present], second[present]
    kept = root_codes(np.flatnonzero(present) if codes is None else codes[present], first.size)
    values = _values(first, second)
    n_roots = first.size if kept is None else int(kept.max(initial=-1)) + 1
    undefined = TOO_FEW if first.size < 2 else NO_VARIATION
    found = [
        Coefficient(
            name=name,
            value=None if np.isnan(value) else float(value),
            n=first.size,
            n_left_out=n_left_out,
            n_roots=n_roots,
            undefined=undefined if np.isnan(value) else "",
        )
        for name, value in zip(("pearson", "spearman", "kendall_tau_b"), values, strict=True)
    ]
    if bootstrap is not None and not np.isnan(values).any():
        resampled = _resampled(first, second, kept, n_roots, bootstrap)
        for place, coefficient in enumerate(found):
            interval, note = percentile_interval(resampled[:, place], bootstrap, n_roots=n_roots)
            found[place] = Coefficient(**{**vars(coefficient), "interval": interval, "note": note})
    return Correlations(*found)


def metric_correlations(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> MetricCorrelations:
    """How two measures of the same answers agree, by item and by system.

    first, second: shape (n_items, n_systems), NaN where missing. By item: all cells that both have, resampled by root.
    By system: the means over the cells that both have, so that neither mean speaks of other items; systems are few, so
    there is no interval. A high correlation by system does not imply one by item.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 2 or one.shape != other.shape:
        raise ValueError("first and second must be arrays of items x systems of the same shape.")
    n_items, n_systems = one.shape
    ids = np.arange(n_items) if roots is None else np.asarray(roots)
    if ids.shape != (n_items,):
        raise ValueError("There must be one root for each item.")
    by_item = correlations(one.ravel(), other.ravel(), roots=np.repeat(ids, n_systems), bootstrap=bootstrap)
    shared = ~np.isnan(one) & ~np.isnan(other)
    means = [column_means(np.where(shared, scores, np.nan)) for scores in (one, other)]
    return MetricCorrelations(items=by_item, systems=correlations(*means))


def _values(x: Floats, y: Floats) -> Floats:
    """The three coefficients, NaN where undefined."""
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.full(3, np.nan)
    # SciPy's statistics take half a second to import; only a task that correlates pays for it.
    from scipy.stats import kendalltau, rankdata

    return np.array([_pearson(x, y), _pearson(rankdata(x), rankdata(y)), float(kendalltau(x, y).statistic)])


def _pearson(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    # Two values that differ by less than a float of their size can tell leave no spread.
    return float(np.clip((a @ b) / spread, -1, 1)) if spread else float("nan")


# Cells of the table of distinct values that is counted for each resample; beyond it every resample is ranked anew.
_MAX_CELLS = 4_096


def _resampled(x: Floats, y: Floats, codes: npt.NDArray[np.int64] | None, n_roots: int, bootstrap: Bootstrap) -> Floats:
    """The three coefficients of every resample of the roots, shape (n_resamples, 3)."""
    rng = bootstrap.generator("roots")
    order = np.arange(x.size) if codes is None else np.argsort(codes, kind="stable")
    sizes = np.ones(x.size, dtype=np.int64) if codes is None else np.bincount(codes)
    members = np.split(order, np.cumsum(sizes)[:-1])
    x_values, x_places = np.unique(x, return_inverse=True)
    y_values, y_places = np.unique(y, return_inverse=True)
    cells = x_places * y_values.size + y_places
    n_cells = x_values.size * y_values.size
    found = np.empty((bootstrap.n_resamples, 3))
    for place in range(bootstrap.n_resamples):
        drawn = rng.integers(0, n_roots, size=n_roots)
        rows = drawn if codes is None else np.concatenate([members[root] for root in drawn])
        if n_cells <= _MAX_CELLS:
            table = np.bincount(cells[rows], minlength=n_cells).reshape(x_values.size, y_values.size)
            found[place] = _values_of_table(table, x_values, y_values)
        else:
            found[place] = _values(x[rows], y[rows])
    return found


def _values_of_table(table: npt.NDArray[np.int64], x: Floats, y: Floats) -> Floats:
    """The same three coefficients of pairs that are counted by their values, which a judge's right and wrong allow:
    nothing is ranked again for each resample."""
    counts = table.astype(np.float64)
    of_x, of_y, n = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    if (of_x > 0).sum() < 2 or (of_y > 0).sum() < 2:
        return np.full(3, np.nan)
    x_ranks, y_ranks = np.cumsum(of_x) - (of_x - 1) / 2, np.cumsum(of_y) - (of_y - 1) / 2
    # Pairs of pairs in the same order: those with both values larger; in the other order: y smaller.
    larger = counts[::-1].cumsum(axis=0)[::-1] - counts
    right = larger[:, ::-1].cumsum(axis=1)[:, ::-1] - larger
    left = larger.cumsum(axis=1) - larger
    same_order, other_order = (counts * right).sum(), (counts * left).sum()
    pairs = n * (n - 1) / 2
    untied = np.sqrt((pairs - (of_x * (of_x - 1)).sum() / 2) * (pairs - (of_y * (of_y - 1)).sum() / 2))
    return np.array(
        [
            _pearson_of_table(counts, x, y),
            _pearson_of_table(counts, x_ranks, y_ranks),
            np.clip((same_order - other_order) / untied, -1, 1),
        ]
    )


def _pearson_of_table(counts: Floats, x: Floats, y: Floats) -> float:
    of_x, of_y, n = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    a, b = x - (of_x @ x) / n, y - (of_y @ y) / n
    spread = float(np.sqrt((of_x @ a**2) * (of_y @ b**2)))
    return float(np.clip((a @ counts @ b) / spread, -1, 1)) if spread else float("nan")
