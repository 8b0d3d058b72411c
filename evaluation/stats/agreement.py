"""Agreement among the answers to the same units: two or more per unit, nominal labels, any number missing.

Every coefficient here is a function of sums over units of what the unit's label counts say. The point value and all
resamples are computed from such sums by the same lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.stats.aggregation import has_majority
from evaluation.stats.intervals import (
    Bootstrap,
    Floats,
    Ints,
    Rows,
    group_equal_rows,
    percentile_interval,
    resampled_sums,
    root_codes,
    sum_by_root,
)
from evaluation.stats.results import NO_PAIRS, NO_VARIATION, Coefficient

# Above this many cells the label counts are kept sparse: 11,000 questions with free-text answers use 20,000 labels.
_MAX_DENSE_CELLS = 20_000_000


@dataclass(frozen=True)
class Ratings:
    """The answers to each unit as label counts, and the root each unit belongs to.

    counts: distinct rows of label counts, shape (n_kinds, n_labels), dense or CSR.
    kinds: shape (n_units,); unit u has the counts of row kinds[u].
    roots: shape (n_units,), codes from 0, or None if every unit is its own root.
    """

    counts: Rows
    kinds: Ints
    roots: Ints | None

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike, roots: npt.ArrayLike | None = None) -> "Ratings":
        """labels: whole numbers, shape (n_units, n_raters), -1 where an answer is missing. The order of raters is free.

        Raises ValueError for another shape, another type or a number below -1.
        """
        matrix = np.asarray(labels)
        if matrix.ndim != 2 or (matrix.size and matrix.dtype.kind not in "iu"):
            raise ValueError("labels must be a two-dimensional array of whole numbers (units x raters).")
        matrix = matrix.astype(np.int64)
        if matrix.size and matrix.min() < -1:
            raise ValueError("A label is a number from 0; only -1 stands for a missing answer.")
        n_units = matrix.shape[0]
        n_labels = max(1, int(matrix.max()) + 1) if matrix.size else 1
        unit, rater = np.nonzero(matrix >= 0)
        label = matrix[unit, rater]
        if n_units * n_labels <= _MAX_DENSE_CELLS:
            counts = np.bincount(unit * n_labels + label, minlength=n_units * n_labels)
            return cls.from_counts(counts.reshape(n_units, n_labels), roots)
        from scipy.sparse import csr_array

        sparse = csr_array((np.ones(unit.size), (unit, label)), shape=(n_units, n_labels))
        sparse.sum_duplicates()
        return cls(sparse, np.arange(n_units), root_codes(roots, n_units))

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike, roots: npt.ArrayLike | None = None) -> "Ratings":
        """counts: shape (n_units, n_labels), how many answers of each label a unit has.

        Raises ValueError for another shape or a count that is negative or not whole.
        """
        matrix = np.asarray(counts)
        if matrix.ndim != 2:
            raise ValueError("counts must be a two-dimensional array (units x labels).")
        if matrix.size and (matrix.min() < 0 or (matrix != np.floor(matrix)).any()):
            raise ValueError("Counts are whole numbers from 0.")
        first, kinds = group_equal_rows(matrix)
        return cls(matrix[first].astype(np.float64), kinds, root_codes(roots, matrix.shape[0]))

    @property
    def n_answers(self) -> Floats:
        """Answers in each kind of unit, shape (n_kinds,)."""
        return _flat(self.counts.sum(axis=1))

    @property
    def agreeing_pairs(self) -> Floats:
        """Ordered pairs of equal answers in each kind of unit, shape (n_kinds,)."""
        return _flat((self.counts * self.counts).sum(axis=1)) - self.n_answers

    def resampled_values(self, features: Rows, statistic: "Statistic", bootstrap: Bootstrap) -> tuple[Floats, int]:
        """The statistic of every resample of the roots that count, and how many roots those are.

        A unit whose features are all zero is left out of the coefficient, and so of the resampling.
        """
        counted = _flat(abs(features).sum(axis=1)) > 0
        units = np.flatnonzero(counted[self.kinds])
        multiplicity: Ints | None = None
        if self.roots is None:
            multiplicity = np.bincount(self.kinds[units], minlength=features.shape[0]).astype(np.int64)
            rows, multiplicity = features[multiplicity > 0], multiplicity[multiplicity > 0]
            n_roots = units.size
            if rows.shape[0] * 4 > n_roots:  # hardly two units are alike: drawing units is cheaper
                rows, multiplicity = features[self.kinds[units]], None
        else:
            codes = root_codes(self.roots[units], units.size)
            rows = sum_by_root(features[self.kinds[units]], codes)
            n_roots = rows.shape[0]
        blocks = [statistic(sums) for sums in resampled_sums(rows, bootstrap, multiplicity=multiplicity)]
        return np.concatenate(blocks), n_roots


Statistic = Callable[[Floats], Floats]  # sums, shape (n, m) -> values, shape (n,), NaN where undefined


def percent_agreement(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """The mean over units of the share of answer pairs that agree: each unit weighs the same.

    Units with fewer than two answers are left out. Returns a proportion, None (no_pairs) when no unit has two.
    Source: the observed agreement of Fleiss 1971; with unequal numbers of answers as in Gwet 2014.
    """
    usable, share = _pair_shares(ratings)
    return _coefficient(
        "percent_agreement", ratings, np.stack([share, usable], axis=1), lambda s: _ratio(s[:, 0], s[:, 1]), bootstrap
    )


def percent_agreement_pooled(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Agreeing pairs of answers / all pairs of answers to the same unit: each pair weighs the same.

    Differs from percent_agreement where units have different numbers of answers. Returns a proportion, None (no_pairs)
    when no unit has two answers.
    """
    n = ratings.n_answers
    pairs = np.stack([ratings.agreeing_pairs, n * (n - 1)], axis=1)
    return _coefficient("percent_agreement_pooled", ratings, pairs, lambda s: _ratio(s[:, 0], s[:, 1]), bootstrap)


def majority_agreement(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """The share of units, among those with two answers or more, where one label has more than half of the answers.

    Returns a proportion, None (no_pairs) when no unit has two answers.
    Source: "majority agreement" of TempTabQA (Gupta et al. 2023), with a majority taken as more than half.
    """
    usable = (ratings.n_answers >= 2).astype(np.float64)
    agreed = usable * has_majority(ratings.counts)
    return _coefficient(
        "majority_agreement", ratings, np.stack([agreed, usable], axis=1), lambda s: _ratio(s[:, 0], s[:, 1]), bootstrap
    )


def fleiss_kappa(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Chance-corrected agreement of many raters; unequal numbers of answers are allowed.

    (observed - by chance) / (1 - by chance), where observed is percent_agreement and by chance is the sum over labels
    of the squared mean share of the label. A unit with a single answer counts in those shares, not in observed.
    Returns a number of at most 1; None without a pair (no_pairs) or when a single label is in use (no_variation).
    Source: Fleiss 1971, Psychological Bulletin 76(5), 378-382; generalised as in Gwet 2014, Handbook of Inter-Rater
    Reliability, 4th ed.
    """
    usable, share = _pair_shares(ratings)
    n = ratings.n_answers
    rated = (n >= 1).astype(np.float64)
    label_shares = _scale_rows(ratings.counts, 1 / np.maximum(n, 1))

    def kappa(sums: Floats) -> Floats:
        observed = _ratio(sums[:, 0], sums[:, 1])
        shares = sums[:, 3:] / np.maximum(sums[:, 2], 1)[:, np.newaxis]
        by_chance = (shares**2).sum(axis=1)
        return _ratio(observed - by_chance, 1 - by_chance)

    features = _beside(np.stack([share, usable, rated], axis=1), label_shares)
    return _coefficient("fleiss_kappa", ratings, features, kappa, bootstrap)


def krippendorff_alpha_nominal(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Krippendorff's alpha for nominal labels: 1 - observed / expected disagreement of pairable answers.

    A unit with a single answer does not count at all. Returns a number of at most 1; None without a pair (no_pairs)
    or when a single label is in use (no_variation).
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    n = ratings.n_answers
    usable = n >= 2
    pairable = n * usable
    agreeing = ratings.agreeing_pairs / np.maximum(n - 1, 1) * usable

    def alpha(sums: Floats) -> Floats:
        n_values = sums[:, 0]
        observed = 1 - _ratio(sums[:, 1], n_values)
        labels = sums[:, 2:]
        expected = 1 - _ratio((labels * (labels - 1)).sum(axis=1), n_values * (n_values - 1))
        return 1 - _ratio(observed, expected)

    labels = _scale_rows(ratings.counts, usable.astype(np.float64))
    features = _beside(np.stack([pairable, agreeing], axis=1), labels)
    return _coefficient("krippendorff_alpha_nominal", ratings, features, alpha, bootstrap)


COEFFICIENTS: dict[str, Callable[[Ratings, Bootstrap | None], Coefficient]] = {
    "percent_agreement": percent_agreement,
    "percent_agreement_pooled": percent_agreement_pooled,
    "majority_agreement": majority_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha_nominal": krippendorff_alpha_nominal,
}


def all_coefficients(ratings: Ratings, bootstrap: Bootstrap | None = None) -> tuple[Coefficient, ...]:
    """Every coefficient of the same ratings: a chance-corrected one is not to be read without the plain ones."""
    return tuple(coefficient(ratings, bootstrap) for coefficient in COEFFICIENTS.values())


def _coefficient(
    name: str, ratings: Ratings, features: Rows, statistic: Statistic, bootstrap: Bootstrap | None
) -> Coefficient:
    """The coefficient whose value is `statistic` of the features added up over units; features has a row per kind."""
    has_pairs = (ratings.n_answers >= 2)[ratings.kinds]
    n = int(has_pairs.sum())
    roots = np.flatnonzero(has_pairs) if ratings.roots is None else ratings.roots[has_pairs]
    result = Coefficient(
        name, None, n=n, n_left_out=ratings.kinds.size - n, n_roots=int(np.unique(roots).size), undefined=NO_PAIRS
    )
    if n == 0:
        return result
    units_of_kind = np.bincount(ratings.kinds, minlength=features.shape[0]).astype(np.float64)
    sums = np.asarray(units_of_kind[np.newaxis, :] @ features, dtype=np.float64).reshape(1, -1)
    value = float(statistic(sums)[0])
    if np.isnan(value):
        return replace(result, undefined=NO_VARIATION)
    result = replace(result, value=value, undefined="")
    if bootstrap is None:
        return result
    values, n_roots = ratings.resampled_values(features, statistic, bootstrap)
    interval, note = percentile_interval(values, bootstrap, n_roots=n_roots)
    return replace(result, interval=interval, note=note)


def _pair_shares(ratings: Ratings) -> tuple[Floats, Floats]:
    """For each kind of unit: 1 if it has a pair, else 0; and the share of its pairs that agree, 0 without one."""
    n = ratings.n_answers
    usable = (n >= 2).astype(np.float64)
    return usable, usable * ratings.agreeing_pairs / np.maximum(n * (n - 1), 1)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0 (1e-12 allows for sums of fractions)."""
    defined = np.abs(denominator) > 1e-12
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=defined)


def _flat(values: Any) -> Floats:
    if hasattr(values, "toarray"):
        values = values.toarray()
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _scale_rows(rows: Rows, factors: Floats) -> Rows:
    if isinstance(rows, np.ndarray):
        return rows * factors[:, np.newaxis]
    return rows.multiply(factors[:, np.newaxis]).tocsr()


def _beside(left: Floats, right: Rows) -> Rows:
    if isinstance(right, np.ndarray):
        return np.hstack([left, right])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(left), right]).tocsr()
