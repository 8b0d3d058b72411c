"""Where the agreement lies: for each label, for each unit, and between labels."""

from dataclasses import dataclass

import numpy as np

from evaluation.stats.agreement import fleiss_kappa, krippendorff_alpha_nominal, pair_shares
from evaluation.stats.intervals import Bootstrap, Floats
from evaluation.stats.ratings import Ratings, flat, ratio
from evaluation.stats.results import Coefficient


@dataclass(frozen=True)
class LabelAgreement:
    """One label against all others. label: its code. n_answers: how often it was given, on units with a pair.

    specific: of two answers to a unit, given that one is this label, the chance that the other is it too. kappa, alpha:
    Fleiss' and Krippendorff's of "this label or another".
    """

    label: int
    n_answers: int
    specific: Coefficient
    kappa: Coefficient
    alpha: Coefficient


def label_agreements(ratings: Ratings, bootstrap: Bootstrap | None = None) -> tuple[LabelAgreement, ...]:
    """Every declared label, in the order of the scale. One that nobody gave is undefined (no_variation).

    Source: the kappa of a category of Fleiss 1971; specific agreement of Spitzer & Fleiss 1974, British Journal of
    Psychiatry 125, 341-347.
    """
    return tuple(_label_agreement(ratings, label, bootstrap) for label in range(ratings.n_labels))


def unit_agreements(ratings: Ratings) -> Floats:
    """The share of answer pairs that agree, for each unit; NaN for a unit with fewer than two answers. (n_units,)"""
    usable, share = pair_shares(ratings)
    return np.where(usable > 0, share, np.nan)[ratings.kinds]


def coincidence_matrix(ratings: Ratings) -> Floats:
    """How often two labels met on a unit: each unit's ordered pairs of answers, over its number of answers less one.

    Returns shape (n_labels, n_labels), symmetric; it adds up to the number of answers to units with a pair.
    Source: Krippendorff 2011.
    """
    n = ratings.n_answers
    units = np.bincount(ratings.kinds, minlength=n.size)
    weights = np.where(n >= 2, units / np.maximum(n - 1, 1), 0.0)
    counts = ratings.counts if isinstance(ratings.counts, np.ndarray) else ratings.counts.toarray()
    met = counts.T @ (counts * weights[:, np.newaxis])
    return np.asarray(met - np.diag((counts * weights[:, np.newaxis]).sum(axis=0)), dtype=np.float64)


def _label_agreement(ratings: Ratings, label: int, bootstrap: Bootstrap | None) -> LabelAgreement:
    binary = ratings.label_against_rest(label)
    own, n = flat(binary.counts[:, 0]), binary.n_answers
    usable = n >= 2
    given = own * usable
    met = given * (own - 1) / np.maximum(n - 1, 1)
    specific = binary.patterns.coefficient(
        "specific_agreement", np.stack([met, given, usable], axis=1), lambda s: ratio(s[:, 0], s[:, 1]), bootstrap
    )
    return LabelAgreement(
        label=label,
        n_answers=int(given[binary.kinds].sum()),
        specific=specific,
        kappa=fleiss_kappa(binary, bootstrap),
        alpha=krippendorff_alpha_nominal(binary, bootstrap),
    )
