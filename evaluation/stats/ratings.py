"""The answers to the same units, and how a coefficient is made of them.

Units with the same label counts are of one kind. A coefficient is a function of sums over units of what a unit's kind
says, so the value and all its resamples are computed from such sums by the same lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

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

# Above this many cells rows are kept sparse: 11,000 questions with free-text answers use 20,000 labels.
_MAX_DENSE_CELLS = 20_000_000

Statistic = Callable[[Floats], Floats]  # sums, shape (n, m) -> values, shape (n,), NaN where undefined


@dataclass(frozen=True)
class Patterns:
    """Units by kind, and the root each belongs to: all that resampling needs to know of them.

    kinds: shape (n_units,). roots: shape (n_units,), codes from 0, or None if every unit is its own root. pairs: for
    each kind, how many pairs of answers a unit of it has; units without one are left out.
    """

    kinds: Ints
    roots: Ints | None
    pairs: Floats
    n_raters: int | None = None

    def coefficient(
        self, name: str, features: Rows, statistic: Statistic, bootstrap: Bootstrap | None = None
    ) -> Coefficient:
        """The coefficient whose value is `statistic` of the features added up over units.

        features: a row for each kind. Undefined without a pair (no_pairs), and where the statistic is NaN because
        there is nothing that chance could have told apart (no_variation).
        """
        has_pairs = (self.pairs > 0)[self.kinds]
        n = int(has_pairs.sum())
        roots = np.flatnonzero(has_pairs) if self.roots is None else self.roots[has_pairs]
        units_of_kind = np.bincount(self.kinds, minlength=self.pairs.size).astype(np.float64)
        result = Coefficient(
            name,
            None,
            n=n,
            n_left_out=self.kinds.size - n,
            n_roots=int(np.unique(roots).size),
            n_pairs=int(units_of_kind @ self.pairs),
            n_raters=self.n_raters,
            undefined=NO_PAIRS,
        )
        if n == 0:
            return result
        sums = np.asarray(units_of_kind[np.newaxis, :] @ features, dtype=np.float64).reshape(1, -1)
        value = float(statistic(sums)[0])
        if np.isnan(value):
            return replace(result, undefined=NO_VARIATION)
        result = replace(result, value=value, undefined="")
        if bootstrap is None:
            return result
        values, n_roots = self._resampled_values(features, statistic, bootstrap)
        interval, note = percentile_interval(values, bootstrap, n_roots=n_roots)
        return replace(result, interval=interval, note=note)

    def _resampled_values(self, features: Rows, statistic: Statistic, bootstrap: Bootstrap) -> tuple[Floats, int]:
        """The statistic of every resample of the roots that count, and how many roots those are.

        A unit whose features are all zero is left out of the coefficient, and so of the resampling.
        """
        counted = flat(abs(features).sum(axis=1)) > 0
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


@dataclass(frozen=True)
class Answers:
    """Who gave which label to which unit: three arrays of shape (n_answers,), codes from 0, by unit, then rater."""

    units: Ints
    raters: Ints
    labels: Ints


@dataclass(frozen=True)
class Ratings:
    """The answers to each unit as label counts, and the root each unit belongs to.

    counts: distinct rows of label counts, shape (n_kinds, n_labels), dense or CSR; the columns are the declared scale
    in its order. kinds: shape (n_units,); unit u has the counts of row kinds[u]. roots: as in Patterns.
    values: shape (n_labels,), the number each label stands for, None if it stands for none.
    answers: who gave them, None where only counts are known. n_raters: those with an answer, None where unknown.
    """

    counts: Rows
    kinds: Ints
    roots: Ints | None
    values: Floats | None = None
    answers: Answers | None = None
    n_raters: int | None = None

    @classmethod
    def from_labels(
        cls,
        labels: npt.ArrayLike,
        roots: npt.ArrayLike | None = None,
        *,
        n_labels: int | None = None,
        values: npt.ArrayLike | None = None,
    ) -> "Ratings":
        """labels: whole numbers, shape (n_units, n_raters), -1 where an answer is missing. The order of raters is free.

        n_labels: how many labels are declared; None means those up to the highest in use. values: the number that
        each declared label stands for. Raises ValueError for another shape, another type (so for a NaN), a number
        below -1, a label outside the scale or a value that is not finite.
        """
        matrix = label_matrix(labels)
        units, raters = np.nonzero(matrix >= 0)
        found = matrix[units, raters].astype(np.int64)
        return cls._build(units, raters, found, n_units=matrix.shape[0], roots=roots, n_labels=n_labels, values=values)

    @classmethod
    def from_answers(
        cls,
        units: npt.ArrayLike,
        raters: npt.ArrayLike,
        labels: npt.ArrayLike,
        *,
        n_units: int,
        roots: npt.ArrayLike | None = None,
        n_labels: int | None = None,
        values: npt.ArrayLike | None = None,
    ) -> "Ratings":
        """One entry an answer, instead of a cell for everybody who might have given one: for a million of 500 people.

        units, raters, labels: whole numbers from 0, shape (n_answers,). Raises ValueError as from_labels does, and for
        a rater with two answers to one unit.
        """
        columns = []
        for name, column in (("units", units), ("raters", raters), ("labels", labels)):
            codes = np.asarray(column)
            if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
                raise ValueError(f"{name} must be a one-dimensional array of whole numbers.")
            if codes.size and codes.min() < 0:
                raise ValueError(f"{name} are numbers from 0; leave out what is missing.")
            columns.append(codes.astype(np.int64, copy=False))
        unit, rater, label = columns
        if not unit.size == rater.size == label.size:
            raise ValueError("units, raters and labels must have one entry for each answer.")
        if unit.size and unit.max() >= n_units:
            raise ValueError(f"Unit {unit.max()} is not one of the {n_units} units.")
        order = np.lexsort((rater, unit))
        unit, rater, label = unit[order], rater[order], label[order]
        twice = np.flatnonzero((np.diff(unit) == 0) & (np.diff(rater) == 0))
        if twice.size:
            raise ValueError(f"Rater {rater[twice[0]]} has two answers to unit {unit[twice[0]]}.")
        return cls._build(unit, rater, label, n_units=n_units, roots=roots, n_labels=n_labels, values=values)

    @classmethod
    def from_counts(
        cls,
        counts: npt.ArrayLike,
        roots: npt.ArrayLike | None = None,
        *,
        values: npt.ArrayLike | None = None,
    ) -> "Ratings":
        """counts: shape (n_units, n_labels), how many answers of each label a unit has.

        Raises ValueError for another shape, a count that is negative or not whole, or a value that is not finite.
        """
        matrix = _rectangle(counts, "counts must be a two-dimensional array (units x labels).")
        if matrix.size and not ((matrix >= 0).all() and (matrix == np.floor(matrix)).all()):
            raise ValueError("Counts are whole numbers from 0.")
        first, kinds = group_equal_rows(matrix)
        numbers = _scale_values(values, matrix.shape[1])
        return cls(matrix[first].astype(np.float64), kinds, root_codes(roots, matrix.shape[0]), numbers)

    @classmethod
    def _build(
        cls,
        units: Ints,
        raters: Ints,
        labels: Ints,
        *,
        n_units: int,
        roots: npt.ArrayLike | None,
        n_labels: int | None,
        values: npt.ArrayLike | None,
    ) -> "Ratings":
        n_used = int(labels.max()) + 1 if labels.size else 0
        if n_labels is None:
            n_labels = n_used if values is None else np.asarray(values).size
        n_labels = max(1, n_labels)
        if n_used > n_labels:
            raise ValueError(f"Label {n_used - 1} is outside the scale of {n_labels} labels.")
        answers = Answers(units, raters, labels)
        n_raters = int(np.unique(raters).size)
        if n_units * n_labels <= _MAX_DENSE_CELLS:
            counts = np.bincount(units * n_labels + labels, minlength=n_units * n_labels)
            ratings = cls.from_counts(counts.reshape(n_units, n_labels), roots, values=values)
            return replace(ratings, answers=answers, n_raters=n_raters)
        from scipy.sparse import csr_array

        sparse = csr_array((np.ones(units.size), (units, labels)), shape=(n_units, n_labels))
        sparse.sum_duplicates()
        numbers = _scale_values(values, n_labels)
        return cls(sparse, np.arange(n_units), root_codes(roots, n_units), numbers, answers, n_raters)

    @property
    def n_answers(self) -> Floats:
        """Answers in each kind of unit, shape (n_kinds,)."""
        return flat(self.counts.sum(axis=1))

    @property
    def n_labels(self) -> int:
        return int(self.counts.shape[1])

    @property
    def agreeing_pairs(self) -> Floats:
        """Ordered pairs of equal answers in each kind of unit, shape (n_kinds,)."""
        return flat((self.counts * self.counts).sum(axis=1)) - self.n_answers

    @property
    def patterns(self) -> Patterns:
        """The units as resampling sees them: those with two answers or more count."""
        n = self.n_answers
        return Patterns(self.kinds, self.roots, pairs=n * (n - 1) / 2, n_raters=self.n_raters)

    def label_against_rest(self, label: int) -> "Ratings":
        """The same answers with two labels: this one, and any other."""
        own = flat(self.counts[:, [label]].sum(axis=1))
        return Ratings(
            np.stack([own, self.n_answers - own], axis=1),
            self.kinds,
            self.roots,
            n_raters=self.n_raters,
        )


def label_matrix(labels: npt.ArrayLike) -> npt.NDArray[Any]:
    """labels as whole numbers from -1, shape (n_units, n_raters); raises ValueError for anything else."""
    problem = "labels must be a two-dimensional array of whole numbers (units x raters)."
    matrix = _rectangle(labels, problem)
    if matrix.size and matrix.dtype.kind not in "iu":
        raise ValueError(problem)
    if matrix.size and matrix.min() < -1:
        raise ValueError("A label is a number from 0; only -1 stands for a missing answer.")
    return matrix


def _rectangle(cells: npt.ArrayLike, problem: str) -> npt.NDArray[Any]:
    try:
        matrix = np.asarray(cells)
    except ValueError:  # rows of different lengths
        raise ValueError(problem) from None
    if matrix.ndim != 2:
        raise ValueError(problem)
    return matrix


def _scale_values(values: npt.ArrayLike | None, n_labels: int) -> Floats | None:
    if values is None:
        return None
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_labels,) or not np.isfinite(numbers).all():
        raise ValueError(f"values must be a finite number for each of the {n_labels} labels.")
    return numbers


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0 (1e-12 allows for sums of fractions)."""
    defined = np.abs(denominator) > 1e-12
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=defined)


def flat(values: Any) -> Floats:
    """A column of a dense or sparse array as shape (n,)."""
    if hasattr(values, "toarray"):
        values = values.toarray()
    return np.asarray(values, dtype=np.float64).reshape(-1)


def scale_rows(rows: Rows, factors: Floats) -> Rows:
    """Each row times its factor."""
    if isinstance(rows, np.ndarray):
        return rows * factors[:, np.newaxis]
    return rows.multiply(factors[:, np.newaxis]).tocsr()


def beside(left: Floats, right: Rows) -> Rows:
    """Columns of a dense array, then those of a dense or sparse one."""
    if isinstance(right, np.ndarray):
        return np.hstack([left, right])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(left), right]).tocsr()
