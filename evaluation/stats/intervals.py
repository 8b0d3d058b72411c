"""Intervals: Wilson for independent right-or-wrong trials, the percentile bootstrap over roots for everything else.

A root is what was drawn independently: the table, database or duplicate group of an item, or the item itself. Answers
to items of one root go into a resample together, with all answers to each item, or not at all.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.stats.results import Interval

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = Any  # a dense float array or a scipy.sparse CSR array, shape (n_rows, n_columns)

# Numbers held at once while resampling: 4 million are 32 MB. Larger requests run in blocks of resamples.
_BLOCK = 4_000_000
_MAX_PACKED = 2**62
# Above this share of undefined resamples the rest no longer stand for the sampling distribution.
MAX_UNDEFINED_SHARE = 0.05


@dataclass(frozen=True)
class Bootstrap:
    """How to resample. Every figure draws from its own generator, made from the seed and the name of what is resampled.

    So a figure can be computed again alone: it does not depend on which figures were computed before it.
    """

    seed: int
    n_resamples: int = 2000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.n_resamples < 100:
            raise ValueError("A percentile interval needs at least 100 resamples.")
        if not 0 < self.level < 1:
            raise ValueError("The level of an interval lies between 0 and 1.")

    def generator(self, resampled: str) -> np.random.Generator:
        """A fresh generator for `resampled` ("roots", "people"): equal seeds and names draw equal resamples."""
        return np.random.default_rng([self.seed, zlib.crc32(resampled.encode())])


def wilson(k: int, n: int, level: float = 0.95) -> Interval | None:
    """Wilson's score interval for k successes in n independent trials, without continuity correction.

    Returns proportions within [0, 1], or None when n is 0. Raises ValueError unless 0 <= k <= n.
    Only for one independent answer per root: answers that share a root need the bootstrap.
    Source: Wilson 1927, Journal of the American Statistical Association 22, 209-212; computed by SciPy.
    """
    if not 0 <= k <= n:
        raise ValueError("k must lie between 0 and n.")
    if n == 0:
        return None
    # SciPy's statistics take half a second to import; the web server, which only shows stored intervals, never pays.
    from scipy.stats import binomtest

    bounds = binomtest(int(k), int(n)).proportion_ci(confidence_level=level, method="wilson")
    # The formula leaves 1e-17 instead of 0 at the ends.
    lower = 0.0 if k == 0 else max(0.0, float(bounds.low))
    upper = 1.0 if k == n else min(1.0, float(bounds.high))
    return Interval(lower, upper, level=level, method="wilson")


def root_codes(roots: npt.ArrayLike | None, n_units: int) -> Ints | None:
    """Roots as 0, 1, 2 ... in order of first appearance; None if every unit is its own root.

    roots: shape (n_units,), any sortable ids, or None. Raises ValueError on another length.
    """
    if roots is None:
        return None
    ids = np.asarray(roots)
    if ids.shape != (n_units,):
        raise ValueError(f"There must be one root for each of the {n_units} units, not an array of shape {ids.shape}.")
    _, first, codes = np.unique(ids, return_index=True, return_inverse=True)
    if first.size == n_units:
        return None
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes]


def sum_by_root(features: Rows, codes: Ints | None) -> Rows:
    """Add up the rows of each root. features: shape (n_units, m); returns shape (n_roots, m)."""
    if codes is None or features.shape[0] == 0:
        return features
    n_roots = int(codes.max()) + 1
    if isinstance(features, np.ndarray):
        columns = [np.bincount(codes, weights=column, minlength=n_roots) for column in features.T]
        return np.stack(columns, axis=1) if columns else np.zeros((n_roots, 0))
    from scipy.sparse import csr_array

    membership = csr_array((np.ones(codes.size), (codes, np.arange(codes.size))), shape=(n_roots, codes.size))
    return (membership @ features).tocsr()


def group_equal_rows(rows: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Equal rows of a dense array. Returns the index of the first row of each kind, in order, and every row's kind."""
    n_rows = rows.shape[0]
    # A row becomes one number, a digit a column: one sort over all of them instead of one for each.
    packed, span = np.zeros(n_rows, dtype=np.int64), 1
    for column in rows.T if n_rows else ():
        digits, n_digits = _digits(column)
        if span > _MAX_PACKED // n_digits:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
            span = int(packed.max()) + 1
        packed, span = packed * n_digits + digits, span * n_digits
    _, first, kinds = np.unique(packed, return_index=True, return_inverse=True)
    # Kinds are numbered as they first appear, so that relabelling or negating values draws the very same resamples.
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return np.sort(first), rank[kinds]


def _digits(column: npt.NDArray[Any]) -> tuple[Ints, int]:
    """A column as numbers from 0, equal where the values are, and how many there may be."""
    lowest, highest = column.min(), column.max()
    if column.dtype.kind in "iu" and highest - lowest < 2**20:
        return (column - lowest).astype(np.int64), int(highest - lowest) + 1
    values, digits = np.unique(column, return_inverse=True)
    return digits.astype(np.int64), values.size


def resampled_sums(
    rows: Rows, bootstrap: Bootstrap, *, resampled: str = "roots", multiplicity: Ints | None = None
) -> Iterator[Floats]:
    """Draw as many rows as there are, with replacement, and add up their columns: once for every resample.

    rows: shape (n_rows, m), one row per root. multiplicity: how often each row stands for a root (1 if None).
    Yields blocks of shape (n, m), n_resamples in all.

    Rows that are equal are interchangeable: one multinomial draw over the distinct rows is the same as drawing roots,
    and the 100,000 items of a study have a few dozen distinct rows.
    """
    rng = bootstrap.generator(resampled)
    if multiplicity is None and isinstance(rows, np.ndarray) and rows.shape[1] <= 32 and rows.shape[0] > 1000:
        first, kinds = group_equal_rows(rows)
        if first.size * 4 < rows.shape[0]:
            rows, multiplicity = rows[first], np.bincount(kinds).astype(np.int64)
    n_rows, n_columns = rows.shape
    block = max(1, _BLOCK // max(n_rows, n_columns, 1))
    for start in range(0, bootstrap.n_resamples, block):
        size = min(block, bootstrap.n_resamples - start)
        if multiplicity is None:
            weights = _draw_rows(rng, n_rows, size)
        else:
            total = int(multiplicity.sum())
            weights = rng.multinomial(total, multiplicity / total, size=size).astype(np.float64)
        yield weights @ rows if isinstance(rows, np.ndarray) else (rows.T @ weights.T).T


def resample_weights(n: int, bootstrap: Bootstrap, *, resampled: str) -> Floats:
    """How often each of n (people) is drawn. Returns shape (n_resamples, n); each row adds up to n."""
    return _draw_rows(bootstrap.generator(resampled), n, bootstrap.n_resamples)


def _draw_rows(rng: np.random.Generator, n_rows: int, size: int) -> Floats:
    drawn = rng.integers(0, n_rows, size=(size, n_rows)) + n_rows * np.arange(size)[:, np.newaxis]
    return np.bincount(drawn.ravel(), minlength=size * n_rows).reshape(size, n_rows).astype(np.float64)


def percentile_interval(
    values: Floats, bootstrap: Bootstrap, *, n_roots: int, resampled: str = "roots"
) -> tuple[Interval | None, str]:
    """The percentile interval of resampled values, shape (n_resamples,), NaN where undefined; and a note.

    No interval, and a note that says so, for fewer than two roots (a single one is drawn every time) or when more
    than 5 % of the resamples are undefined. Fewer are left out, and the note counts them.
    """
    if n_roots < 2:
        return None, "no interval: a single independent unit cannot show how much units vary"
    undefined = np.isnan(values)
    n_undefined = int(undefined.sum())
    if n_undefined > MAX_UNDEFINED_SHARE * values.size:
        return None, f"no interval: {n_undefined} of {values.size} resamples were undefined"
    tail = expanded_tail(bootstrap.level, n_roots)
    lower, upper = np.quantile(values[~undefined], [tail, 1 - tail])
    # Resampled sums of fractions differ in their last digits; such an interval is a point all the same.
    degenerate = bool(np.ptp(values[~undefined]) < 1e-12)
    interval = Interval(
        lower=float(lower),
        upper=float(upper),
        level=bootstrap.level,
        method=f"percentile bootstrap over {resampled}",
        n_resamples=bootstrap.n_resamples,
        seed=bootstrap.seed,
        n_undefined=n_undefined,
        degenerate=degenerate,
    )
    notes = []
    if n_undefined:
        notes.append(f"{n_undefined} of {values.size} resamples were undefined and are left out")
    if degenerate:
        notes.append("degenerate interval: every resample gave the same value")
    return interval, "; ".join(notes)


def expanded_tail(level: float, n_roots: int) -> float:
    """The share of resampled values that lies below the lower bound, and above the upper one.

    Resamples of n roots vary by (n - 1) / n of what samples do, and their percentiles are those of a known variance:
    as they are, intervals from 20 roots hold the truth 89 times of 100 instead of 95. So percentiles further out are
    taken, which make of a mean's normal interval Student's: 1.6 % instead of 2.5 with 20 roots, 2.3 % with 100.
    Source: Hesterberg 2015, The American Statistician 69(4), 371-386, the expanded percentile interval.
    """
    from scipy.special import ndtr, stdtrit

    student = float(stdtrit(n_roots - 1, (1 - level) / 2))
    return float(ndtr(student * math.sqrt(n_roots / (n_roots - 1))))
