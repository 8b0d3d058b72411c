"""Agreement on labels that have an order or stand for numbers: near misses count for less than far ones."""

from collections.abc import Callable

import numpy as np

from evaluation.stats.agreement import gwet_coefficient
from evaluation.stats.intervals import Bootstrap, Floats
from evaluation.stats.ratings import Ratings, beside, ratio
from evaluation.stats.results import Coefficient

# The ordinal distance depends on how often each label is used, so all pairs of labels are carried along.
MAX_ORDINAL_LABELS = 100
# A table of all distances between labels: 2,000 are 32 MB.
MAX_TABLED_LABELS = 2_000


def krippendorff_alpha_ordinal(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Krippendorff's alpha for labels in the order of the scale.

    The distance of two labels is the number of answers between them, half of their own counted: the square of the
    difference of their mid-ranks among all pairable answers. Undefined as the nominal one. Raises ValueError for a
    scale of more than 100 labels.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    q = ratings.n_labels
    if q > MAX_ORDINAL_LABELS:
        raise ValueError(f"The ordinal alpha is for scales of at most {MAX_ORDINAL_LABELS} labels, not {q}.")
    counts, weights = _dense(ratings), _pairable_weights(ratings)
    lower, upper = np.triu_indices(q, k=1)
    usable = (weights > 0).astype(np.float64)
    # Ordered pairs of answers with these two labels, each answer weighing 1: half of a coincidence matrix.
    coincidences = counts[:, lower] * counts[:, upper] * weights[:, np.newaxis]

    def alpha(sums: Floats) -> Floats:
        labels, pairs = sums[:, :q], sums[:, q:]
        n = labels.sum(axis=1)
        ranks = (np.cumsum(labels, axis=1) - labels / 2) / np.maximum(n, 1)[:, np.newaxis]
        observed = 2 * (pairs * (ranks[:, lower] - ranks[:, upper]) ** 2).sum(axis=1)
        # The mean rank is one half whatever the counts are.
        expected = 2 * (labels * (ranks - 0.5) ** 2).sum(axis=1)
        return _alpha(observed, expected, n)

    features = np.hstack([counts * usable[:, np.newaxis], coincidences])
    return ratings.patterns.coefficient("krippendorff_alpha_ordinal", features, alpha, bootstrap)


def krippendorff_alpha_interval(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Krippendorff's alpha for numbers whose differences mean something: the distance is the squared difference.

    Undefined as the nominal one. Raises ValueError where the labels stand for no numbers.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    values = _values(ratings)
    # Neither origin nor unit matters; near zero and of size one, sums of squares keep their digits.
    values = (values - values.mean()) / (np.ptp(values) or 1.0)
    weights = _pairable_weights(ratings)
    usable = (weights > 0).astype(np.float64)
    n, total, squares = ratings.n_answers, ratings.counts @ values, ratings.counts @ values**2
    within = 2 * (n * squares - total**2) * weights

    def alpha(sums: Floats) -> Floats:
        n_values, between = sums[:, 1], 2 * (sums[:, 3] - sums[:, 2] ** 2 / np.maximum(sums[:, 1], 1))
        return _alpha(sums[:, 0], between, n_values)

    features = np.stack([within, n * usable, total * usable, squares * usable], axis=1)
    return ratings.patterns.coefficient("krippendorff_alpha_interval", features, alpha, bootstrap)


def krippendorff_alpha_ratio(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Krippendorff's alpha for amounts from zero: the distance is the squared difference over the squared sum.

    Undefined as the nominal one. Raises ValueError where the labels stand for no numbers or for one below zero, and
    for more than 2,000 labels.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    values = _values(ratings)
    if (values < 0).any():
        raise ValueError("The ratio alpha is for numbers from zero.")
    if values.size > MAX_TABLED_LABELS:
        raise ValueError(f"The ratio alpha is for at most {MAX_TABLED_LABELS:,} labels, not {values.size:,}.")
    sums_of_two = values[:, np.newaxis] + values
    difference = values[:, np.newaxis] - values
    distance = np.divide(difference, sums_of_two, out=np.zeros_like(difference), where=sums_of_two > 0) ** 2
    # Amounts that are all alike give tiny distances, which must not pass for none.
    distance /= distance.max() or 1.0
    counts, weights = _dense(ratings), _pairable_weights(ratings)
    usable = (weights > 0).astype(np.float64)
    within = ((counts @ distance) * counts).sum(axis=1) * weights

    def alpha(sums: Floats) -> Floats:
        labels = sums[:, 1:]
        n = labels.sum(axis=1)
        between = ((labels @ distance) * labels).sum(axis=1) / np.maximum(n, 1)
        return _alpha(sums[:, 0], between, n)

    features = beside(within[:, np.newaxis], counts * usable[:, np.newaxis])
    return ratings.patterns.coefficient("krippendorff_alpha_ratio", features, alpha, bootstrap)


def gwet_ac2_linear(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Gwet's AC2, agreement falling off with the difference of the labels' values (of their places without values).

    Undefined as gwet_ac1. Raises ValueError for more than 2,000 labels.
    Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., chapter 5.
    """
    return _gwet_ac2("gwet_ac2_linear", ratings, _spread(ratings), bootstrap)


def gwet_ac2_quadratic(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Gwet's AC2 with the square of that difference: near misses count as nearly right."""
    return _gwet_ac2("gwet_ac2_quadratic", ratings, _spread(ratings) ** 2, bootstrap)


def gwet_ac2_ordinal(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Gwet's AC2 with ordinal weights: of labels k places apart, k (k + 1) / 2 of the widest such count is lost."""
    places = np.abs(np.subtract.outer(np.arange(ratings.n_labels), np.arange(ratings.n_labels)))
    lost = places * (places + 1) / 2
    return _gwet_ac2("gwet_ac2_ordinal", ratings, lost / max(lost.max(), 1), bootstrap)


SCALE_COEFFICIENTS: dict[str, Callable[[Ratings, Bootstrap | None], Coefficient]] = {
    "krippendorff_alpha_ordinal": krippendorff_alpha_ordinal,
    "krippendorff_alpha_interval": krippendorff_alpha_interval,
    "krippendorff_alpha_ratio": krippendorff_alpha_ratio,
    "gwet_ac2_linear": gwet_ac2_linear,
    "gwet_ac2_quadratic": gwet_ac2_quadratic,
    "gwet_ac2_ordinal": gwet_ac2_ordinal,
}


def _gwet_ac2(name: str, ratings: Ratings, lost: Floats, bootstrap: Bootstrap | None) -> Coefficient:
    """lost: shape (n_labels, n_labels), from 0 for equal labels to 1 for those farthest apart."""
    counts, n = _dense(ratings), ratings.n_answers
    weights = 1 - lost
    usable = (n >= 2).astype(np.float64)
    agreeing = ((counts @ weights) * counts).sum(axis=1) - n
    share = usable * agreeing / np.maximum(n * (n - 1), 1)
    return gwet_coefficient(name, ratings, share, usable, total_weight=float(weights.sum()), bootstrap=bootstrap)


def _alpha(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """observed: sums of distances within units; expected: within all n answers, each pair twice, over n."""
    return 1 - ratio(ratio(observed, n), ratio(expected, n - 1))


def _pairable_weights(ratings: Ratings) -> Floats:
    """1 / (answers - 1) for kinds of units with two answers or more, else 0."""
    n = ratings.n_answers
    return np.where(n >= 2, 1 / np.maximum(n - 1, 1), 0.0)


def _values(ratings: Ratings) -> Floats:
    if ratings.values is None:
        raise ValueError("The labels must stand for numbers: give their values.")
    return ratings.values


def _spread(ratings: Ratings) -> Floats:
    """How far apart the labels are, as a share of the widest distance."""
    values = np.arange(ratings.n_labels, dtype=np.float64) if ratings.values is None else ratings.values
    distances = np.abs(np.subtract.outer(values, values))
    return distances / (distances.max() or 1.0)


def _dense(ratings: Ratings) -> Floats:
    if ratings.n_labels > MAX_TABLED_LABELS:
        raise ValueError(f"This coefficient is for at most {MAX_TABLED_LABELS:,} labels, not {ratings.n_labels:,}.")
    counts = ratings.counts
    return counts if isinstance(counts, np.ndarray) else np.asarray(counts.toarray(), dtype=np.float64)
