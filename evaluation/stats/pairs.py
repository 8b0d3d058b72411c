"""Agreement of two raters who are told apart: Cohen's kappa and Scott's pi, for one pair, for all pairs, and of each
person with the rest."""

from collections.abc import Callable
from dataclasses import dataclass, replace

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
from evaluation.stats.ratings import Answers, Patterns, Ratings, Statistic, label_matrix, ratio
from evaluation.stats.results import NO_PAIRS, NO_VARIATION, Coefficient

# Light's kappa resamples the tables of all pairs together: 45 pairs.
MAX_RATERS_TO_RESAMPLE = 10
_MAX_DENSE_CELLS = 20_000_000


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the units that both have labelled. first, second: their columns."""

    first: int
    second: int
    percent: Coefficient
    kappa: Coefficient


@dataclass(frozen=True)
class RaterAgreement:
    """One rater with the others on the units of this rater that somebody else has labelled. rater: the column.

    percent: the mean over units of the share of the others who say the same. kappa: Cohen's, the others of a unit
    sharing its weight.
    """

    rater: int
    percent: Coefficient
    kappa: Coefficient


def cohen_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    n_labels: int | None = None,
) -> Coefficient:
    """Chance-corrected agreement of two raters on nominal labels, each with their own shares of the labels.

    first, second: whole numbers, shape (n_units,), -1 where missing; only units with both count. Resampled pair by
    pair: a unit is its pair of labels. Returns a number in [-1, 1]; None without a pair (no_pairs), or when both use
    one label, the same (no_variation). Raises ValueError for arrays that are not one-dimensional, of different
    lengths, or not of labels below n_labels.
    Source: Cohen 1960, Educational and Psychological Measurement 20(1), 37-46.
    """
    table = _PairTable.read(first, second, roots, n_labels)
    return table.kappa("cohen_kappa", distance=None, bootstrap=bootstrap)


def cohen_kappa_linear(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    n_labels: int | None = None,
) -> Coefficient:
    """Cohen's weighted kappa, disagreement growing with the places between two labels on the declared scale.

    Source: Cohen 1968, Psychological Bulletin 70(4), 213-220.
    """
    table = _PairTable.read(first, second, roots, n_labels)
    return table.kappa("cohen_kappa_linear", distance=_places(table.n_labels), bootstrap=bootstrap)


def cohen_kappa_quadratic(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    n_labels: int | None = None,
) -> Coefficient:
    """Cohen's weighted kappa with the square of the places between two labels.

    Source: Cohen 1968, Psychological Bulletin 70(4), 213-220.
    """
    table = _PairTable.read(first, second, roots, n_labels)
    return table.kappa("cohen_kappa_quadratic", distance=_places(table.n_labels) ** 2, bootstrap=bootstrap)


def scott_pi(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    n_labels: int | None = None,
) -> Coefficient:
    """As cohen_kappa, but with one share of each label for both raters: for raters who are roles, not persons.

    Source: Scott 1955, Public Opinion Quarterly 19(3), 321-325.
    """
    table = _PairTable.read(first, second, roots, n_labels)
    return table.kappa("scott_pi", distance=None, bootstrap=bootstrap, shares_are_common=True)


PAIR_COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "cohen_kappa": cohen_kappa,
    "cohen_kappa_linear": cohen_kappa_linear,
    "cohen_kappa_quadratic": cohen_kappa_quadratic,
    "scott_pi": scott_pi,
}


def light_kappa(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """The mean of Cohen's kappa over all pairs of raters who share a unit.

    Pairs whose kappa is undefined are left out of the mean, and the note counts them. Undefined where all are:
    no_pairs, or no_variation. No interval for more than 10 raters. Raises ValueError where only counts are known.
    Source: Light 1971, Psychological Bulletin 76(5), 365-377.
    """
    kappas, n_shared = _kappas_of_pairs(ratings)
    patterns = ratings.patterns
    # Counts of units, pairs and raters are those of any coefficient of the same ratings.
    result = patterns.coefficient("light_kappa", np.ones((patterns.pairs.size, 1)), lambda sums: sums[:, 0])
    if result.value is None:
        return result
    defined = ~np.isnan(kappas)
    if not defined.any():
        return replace(result, value=None, undefined=NO_VARIATION if n_shared.any() else NO_PAIRS)
    n_undefined = int((~defined & (n_shared > 0)).sum())
    note = f"{n_undefined} of {kappas.size} pairs of raters have no kappa and are left out" if n_undefined else ""
    result = replace(result, value=float(kappas[defined].mean()), note=note)
    if bootstrap is None:
        return result
    n_raters = ratings.n_raters or 0
    if n_raters > MAX_RATERS_TO_RESAMPLE:
        refusal = f"no interval: {n_raters} raters, and all pairs are resampled together for at most "
        return replace(result, note=_joined(note, f"{refusal}{MAX_RATERS_TO_RESAMPLE}"))
    values, n_roots = _resampled_mean_kappas(ratings, bootstrap)
    interval, about = percentile_interval(values, bootstrap, n_roots=n_roots)
    return replace(result, interval=interval, note=_joined(note, about))


def pair_agreements(ratings: Ratings, bootstrap: Bootstrap | None = None) -> tuple[PairAgreement, ...]:
    """Percent agreement and Cohen's kappa of every two raters who share a unit, in the order of their columns."""
    labels, columns = _label_columns(ratings)
    found = []
    for i, first in enumerate(columns):
        for j in range(i + 1, len(columns)):
            shared = np.flatnonzero((labels[:, i] >= 0) & (labels[:, j] >= 0))
            if not shared.size:
                continue
            roots = None if ratings.roots is None else ratings.roots[shared]
            table = _PairTable.read(labels[shared, i], labels[shared, j], roots, ratings.n_labels)
            percent = table.percent("percent_agreement", bootstrap)
            kappa = table.kappa("cohen_kappa", distance=None, bootstrap=bootstrap)
            found.append(PairAgreement(first, columns[j], percent, kappa))
    return tuple(found)


def rater_agreements(ratings: Ratings, bootstrap: Bootstrap | None = None) -> tuple[RaterAgreement, ...]:
    """Each rater with the others, in the order of their columns; those who share no unit are undefined (no_pairs)."""
    answers, q = _answers(ratings), ratings.n_labels
    found = []
    n_raters = ratings.n_raters or 0
    for rater in np.unique(answers.raters).tolist():
        own = answers.raters == rater
        units, labels = answers.units[own], answers.labels[own]
        counts = _dense_rows(ratings.counts[ratings.kinds[units]])
        counts[np.arange(units.size), labels] -= 1
        n_others = counts.sum(axis=1)
        usable = n_others > 0
        shares = counts / np.maximum(n_others, 1)[:, np.newaxis]
        mine = np.zeros((units.size, q))
        mine[np.arange(units.size), labels] = usable
        differs = usable - shares[np.arange(units.size), labels] * usable
        features = np.hstack([usable[:, np.newaxis], differs[:, np.newaxis], mine, shares])
        first, kinds = group_equal_rows(features)
        roots = None if ratings.roots is None else ratings.roots[units]
        patterns = Patterns(kinds, root_codes(roots, units.size), pairs=n_others[first], n_raters=n_raters)
        percent = patterns.coefficient("percent_agreement", features[first], _percent, bootstrap)
        kappa = patterns.coefficient("cohen_kappa", features[first], _kappa_statistic(q, None, False), bootstrap)
        found.append(RaterAgreement(rater, percent, kappa))
    return tuple(found)


def confusion_matrix(first: npt.ArrayLike, second: npt.ArrayLike, n_labels: int | None = None) -> Ints:
    """How often `first` (rows) said each label where `second` (columns) said each; only units with both.

    Returns counts, shape (n_labels, n_labels). Raises ValueError as cohen_kappa does.
    """
    table = _PairTable.read(first, second, None, n_labels)
    cells = np.bincount(table.a * table.n_labels + table.b, minlength=table.n_labels**2)
    return cells.reshape(table.n_labels, table.n_labels).astype(np.int64)


@dataclass(frozen=True)
class _PairTable:
    """The labels of two raters on the units that both have labelled."""

    a: Ints
    b: Ints
    roots: Ints | None
    n_labels: int
    n_left_out: int

    @classmethod
    def read(
        cls, first: npt.ArrayLike, second: npt.ArrayLike, roots: npt.ArrayLike | None, n_labels: int | None
    ) -> "_PairTable":
        columns = [np.asarray(column) for column in (first, second)]
        if any(column.ndim != 1 for column in columns) or columns[0].size != columns[1].size:
            raise ValueError("The labels of two raters must be two one-dimensional arrays of the same length.")
        matrix = label_matrix(np.stack(columns, axis=1)).astype(np.int64)
        codes = root_codes(roots, matrix.shape[0])
        both = (matrix >= 0).all(axis=1)
        n_used = int(matrix.max()) + 1 if matrix.size else 0
        if n_labels is not None and n_used > n_labels:
            raise ValueError(f"Label {n_used - 1} is outside the scale of {n_labels} labels.")
        return cls(
            a=matrix[both, 0],
            b=matrix[both, 1],
            roots=None if codes is None else root_codes(codes[both], int(both.sum())),
            n_labels=max(1, n_used if n_labels is None else n_labels),
            n_left_out=int((~both).sum()),
        )

    def kappa(
        self, name: str, *, distance: Floats | None, bootstrap: Bootstrap | None, shares_are_common: bool = False
    ) -> Coefficient:
        """1 - observed / expected disagreement. distance: shape (n_labels, n_labels), None for equal or not."""
        statistic = _kappa_statistic(self.n_labels, distance, shares_are_common)
        return self._coefficient(name, distance, statistic, bootstrap)

    def percent(self, name: str, bootstrap: Bootstrap | None) -> Coefficient:
        return self._coefficient(name, None, _percent, bootstrap)

    def _coefficient(
        self, name: str, distance: Floats | None, statistic: Statistic, bootstrap: Bootstrap | None
    ) -> Coefficient:
        first, kinds = group_equal_rows(np.stack([self.a, self.b], axis=1))
        a, b = self.a[first], self.b[first]
        differs = (a != b).astype(np.float64) if distance is None else distance[a, b]
        features = _label_features(differs, a, b, self.n_labels)
        patterns = Patterns(kinds, self.roots, pairs=np.ones(first.size), n_raters=2)
        result = patterns.coefficient(name, features, statistic, bootstrap)
        return replace(result, n_left_out=self.n_left_out)


def _label_features(differs: Floats, a: Ints, b: Ints, n_labels: int) -> Rows:
    """For each pair of labels: 1, its distance, then which label the first rater gave, then which the second."""
    n = a.size
    if n * (2 + 2 * n_labels) <= _MAX_DENSE_CELLS:
        features = np.zeros((n, 2 + 2 * n_labels))
        features[:, 0], features[:, 1] = 1, differs
        features[np.arange(n), 2 + a] = 1
        features[np.arange(n), 2 + n_labels + b] = 1
        return features
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(n), 4)
    column = np.stack([np.zeros_like(a), np.ones_like(a), 2 + a, 2 + n_labels + b], axis=1).ravel()
    cells = np.stack([np.ones(n), differs, np.ones(n), np.ones(n)], axis=1).ravel()
    return csr_array((cells, (row, column)), shape=(n, 2 + 2 * n_labels))


def _kappa_statistic(n_labels: int, distance: Floats | None, shares_are_common: bool) -> Statistic:
    def kappa(sums: Floats) -> Floats:
        n = sums[:, 0]
        first, second = sums[:, 2 : 2 + n_labels], sums[:, 2 + n_labels :]
        if shares_are_common:
            first = second = (first + second) / 2
        if distance is None:
            expected = 1 - ratio((first * second).sum(axis=1), n**2)
        else:
            expected = ratio(((first @ distance) * second).sum(axis=1), n**2)
        return 1 - ratio(ratio(sums[:, 1], n), expected)

    return kappa


def _percent(sums: Floats) -> Floats:
    return 1 - ratio(sums[:, 1], sums[:, 0])


def _places(n_labels: int) -> Floats:
    """How far apart labels are on the scale, 1 for its two ends."""
    places = np.arange(n_labels)
    return np.abs(np.subtract.outer(places, places)) / max(n_labels - 1, 1)


def _kappas_of_pairs(ratings: Ratings) -> tuple[Floats, Floats]:
    """Cohen's kappa of every two raters, NaN where undefined, and how many units they share; shape (n_pairs,)."""
    from scipy.sparse import csr_array

    answers = _answers(ratings)
    raters, column = np.unique(answers.raters, return_inverse=True)
    shape = (ratings.kinds.size, raters.size)

    def present(chosen: npt.NDArray[np.bool_]) -> Rows:
        return csr_array((np.ones(int(chosen.sum())), (answers.units[chosen], column[chosen])), shape=shape)

    anybody = present(np.ones(answers.units.size, dtype=bool))
    shared = (anybody.T @ anybody).toarray()
    agreeing, by_chance = np.zeros_like(shared), np.zeros_like(shared)
    for label in np.unique(answers.labels).tolist():
        own = present(answers.labels == label)
        agreeing += (own.T @ own).toarray()
        # [a, b]: how often a says the label on units that b has labelled too.
        said = (own.T @ anybody).toarray()
        by_chance += said * said.T
    upper = np.triu_indices(raters.size, k=1)
    n = shared[upper]
    observed = 1 - ratio(agreeing[upper], n)
    return 1 - ratio(observed, 1 - ratio(by_chance[upper], n**2)), n


def _resampled_mean_kappas(ratings: Ratings, bootstrap: Bootstrap) -> tuple[Floats, int]:
    """Light's kappa of every resample of the roots, and how many roots there are."""
    labels, columns = _label_columns(ratings)
    q = ratings.n_labels
    blocks = []
    for i in range(len(columns)):
        for j in range(i + 1, len(columns)):
            a, b = labels[:, i], labels[:, j]
            both = (a >= 0) & (b >= 0)
            features = np.zeros((labels.shape[0], 2 + 2 * q))
            features[both] = _dense_rows(_label_features((a[both] != b[both]).astype(np.float64), a[both], b[both], q))
            blocks.append(features)
    everything = np.hstack(blocks)
    counted = everything.any(axis=1)
    codes = root_codes(None if ratings.roots is None else ratings.roots[counted], int(counted.sum()))
    rows = sum_by_root(everything[counted], codes)
    multiplicity = None
    first, kinds = group_equal_rows(rows)
    if first.size * 4 < rows.shape[0]:
        multiplicity = np.bincount(kinds).astype(np.int64)
    n_roots = rows.shape[0]
    rows = rows if multiplicity is None else rows[first]
    kappa = _kappa_statistic(q, None, False)
    values = []
    for sums in resampled_sums(rows, bootstrap, multiplicity=multiplicity):
        of_pairs = kappa(sums.reshape(-1, 2 + 2 * q)).reshape(sums.shape[0], -1)
        n_defined = (~np.isnan(of_pairs)).sum(axis=1)
        total = np.nansum(of_pairs, axis=1)
        values.append(np.divide(total, n_defined, out=np.full(total.shape, np.nan), where=n_defined > 0))
    return np.concatenate(values), n_roots


def _label_columns(ratings: Ratings) -> tuple[Ints, list[int]]:
    """The labels as a matrix of those raters who gave any, -1 where missing, and which columns they are."""
    answers = _answers(ratings)
    raters, column = np.unique(answers.raters, return_inverse=True)
    labels = np.full((ratings.kinds.size, raters.size), -1, dtype=np.int64)
    labels[answers.units, column] = answers.labels
    return labels, raters.tolist()


def _answers(ratings: Ratings) -> Answers:
    if ratings.answers is None:
        raise ValueError("From counts alone nobody knows who gave which answer.")
    return ratings.answers


def _dense_rows(rows: Rows) -> Floats:
    return np.array(rows, dtype=np.float64) if isinstance(rows, np.ndarray) else rows.toarray()


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
