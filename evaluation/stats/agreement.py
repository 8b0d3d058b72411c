"""Agreement among the answers to the same units on nominal labels: two or more per unit, any number missing."""

from collections.abc import Callable

import numpy as np

from evaluation.stats.aggregation import has_majority
from evaluation.stats.intervals import Bootstrap, Floats
from evaluation.stats.ratings import Ratings, beside, ratio, scale_rows
from evaluation.stats.results import Coefficient


def percent_agreement(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """The mean over units of the share of answer pairs that agree: each unit weighs the same.

    Units with fewer than two answers are left out. Returns a proportion, None (no_pairs) when no unit has two.
    Source: the observed agreement of Fleiss 1971; with unequal numbers of answers as in Gwet 2014.
    """
    usable, share = pair_shares(ratings)
    features = np.stack([share, usable], axis=1)
    return ratings.patterns.coefficient("percent_agreement", features, lambda s: ratio(s[:, 0], s[:, 1]), bootstrap)


def percent_agreement_pooled(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Agreeing pairs of answers / all pairs of answers to the same unit: each pair weighs the same.

    Differs from percent_agreement where units have different numbers of answers. Returns a proportion, None (no_pairs)
    when no unit has two answers.
    """
    n = ratings.n_answers
    pairs = np.stack([ratings.agreeing_pairs, n * (n - 1)], axis=1)
    return ratings.patterns.coefficient("percent_agreement_pooled", pairs, lambda s: ratio(s[:, 0], s[:, 1]), bootstrap)


def majority_agreement(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """The share of units, among those with two answers or more, where one label has more than half of the answers.

    Returns a proportion, None (no_pairs) when no unit has two answers.
    Source: "majority agreement" of TempTabQA (Gupta et al. 2023), with a majority taken as more than half.
    """
    usable = (ratings.n_answers >= 2).astype(np.float64)
    agreed = usable * has_majority(ratings.counts)
    features = np.stack([agreed, usable], axis=1)
    return ratings.patterns.coefficient("majority_agreement", features, lambda s: ratio(s[:, 0], s[:, 1]), bootstrap)


def fleiss_kappa(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Chance-corrected agreement of many raters; unequal numbers of answers are allowed.

    (observed - by chance) / (1 - by chance), where observed is percent_agreement and by chance is the sum over labels
    of the squared mean share of the label. A unit with a single answer counts in those shares, not in observed.
    Returns a number of at most 1; None without a pair (no_pairs) or when a single label is in use (no_variation).
    Source: Fleiss 1971, Psychological Bulletin 76(5), 378-382; generalised as in Gwet 2014, Handbook of Inter-Rater
    Reliability, 4th ed.
    """
    usable, share = pair_shares(ratings)
    n = ratings.n_answers
    rated = (n >= 1).astype(np.float64)
    label_shares = scale_rows(ratings.counts, 1 / np.maximum(n, 1))

    def kappa(sums: Floats) -> Floats:
        observed = ratio(sums[:, 0], sums[:, 1])
        shares = sums[:, 3:] / np.maximum(sums[:, 2], 1)[:, np.newaxis]
        by_chance = (shares**2).sum(axis=1)
        return ratio(observed - by_chance, 1 - by_chance)

    features = beside(np.stack([share, usable, rated], axis=1), label_shares)
    return ratings.patterns.coefficient("fleiss_kappa", features, kappa, bootstrap)


def gwet_ac1(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Coefficient:
    """Gwet's AC1: (observed - by chance) / (1 - by chance), chance being sum of p(1-p) over labels / (q - 1).

    q is the number of declared labels, used or not; p the mean share of a label over all units with an answer, observed
    is percent_agreement. It stays high where nearly all answers are one label, and is 1 where all are: read it beside
    the others. Returns a number in [-1, 1]; None without a pair (no_pairs) or with one declared label (no_variation).
    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29-48; missing answers as in Gwet
    2014.
    """
    usable, share = pair_shares(ratings)
    return gwet_coefficient(
        "gwet_ac1", ratings, share, usable, total_weight=float(ratings.n_labels), bootstrap=bootstrap
    )


def gwet_coefficient(
    name: str, ratings: Ratings, share: Floats, usable: Floats, *, total_weight: float, bootstrap: Bootstrap | None
) -> Coefficient:
    """AC1 and AC2. share: the (weighted) agreement within a unit of each kind. total_weight: the sum of all weights."""
    n, q = ratings.n_answers, ratings.n_labels
    rated = (n >= 1).astype(np.float64)
    label_shares = scale_rows(ratings.counts, 1 / np.maximum(n, 1))

    def ac(sums: Floats) -> Floats:
        if q == 1:
            return np.full(sums.shape[0], np.nan)
        observed = ratio(sums[:, 0], sums[:, 1])
        shares = sums[:, 3:] / np.maximum(sums[:, 2], 1)[:, np.newaxis]
        by_chance = total_weight * (shares * (1 - shares)).sum(axis=1) / (q * (q - 1))
        return ratio(observed - by_chance, 1 - by_chance)

    features = beside(np.stack([share, usable, rated], axis=1), label_shares)
    return ratings.patterns.coefficient(name, features, ac, bootstrap)


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
        observed = 1 - ratio(sums[:, 1], n_values)
        labels = sums[:, 2:]
        expected = 1 - ratio((labels * (labels - 1)).sum(axis=1), n_values * (n_values - 1))
        return 1 - ratio(observed, expected)

    labels = scale_rows(ratings.counts, usable.astype(np.float64))
    features = beside(np.stack([pairable, agreeing], axis=1), labels)
    return ratings.patterns.coefficient("krippendorff_alpha_nominal", features, alpha, bootstrap)


COEFFICIENTS: dict[str, Callable[[Ratings, Bootstrap | None], Coefficient]] = {
    "percent_agreement": percent_agreement,
    "percent_agreement_pooled": percent_agreement_pooled,
    "majority_agreement": majority_agreement,
    "fleiss_kappa": fleiss_kappa,
    "gwet_ac1": gwet_ac1,
    "krippendorff_alpha_nominal": krippendorff_alpha_nominal,
}


def all_coefficients(ratings: Ratings, bootstrap: Bootstrap | None = None) -> tuple[Coefficient, ...]:
    """Every coefficient of the same ratings: a chance-corrected one is not to be read without the plain ones."""
    return tuple(coefficient(ratings, bootstrap) for coefficient in COEFFICIENTS.values())


def pair_shares(ratings: Ratings) -> tuple[Floats, Floats]:
    """For each kind of unit: 1 if it has a pair, else 0; and the share of its pairs that agree, 0 without one."""
    n = ratings.n_answers
    usable = (n >= 2).astype(np.float64)
    return usable, usable * ratings.agreeing_pairs / np.maximum(n * (n - 1), 1)
