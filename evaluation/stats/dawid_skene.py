"""Who answers how well and what is right, estimated together: the model of Dawid and Skene."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import Floats, Ints

# Two posteriors closer than this are a tie: nobody's label.
_TIE = 1e-9
# Ends of the search within this of the best log-likelihood are the same maximum.
_SAME_MAXIMUM = 1e-6


@dataclass(frozen=True)
class DawidSkene:
    """The maximum of the likelihood that was found, from several starts.

    labels: shape (n_items,), the most probable class, -1 for a tie or an item without an answer. posteriors: shape
    (n_items, n_classes), NaN for an item without an answer. priors: shape (n_classes,). error_rates: shape
    (n_raters, n_classes, n_classes), how often a rater gives each label (last axis) to items of each true class; NaN
    for a class that this rater never met. accuracies: shape (n_raters,), the expected share of a rater's own answers
    that are right; NaN without an answer.
    log_likelihood, n_iterations, converged: of the best start. log_likelihoods: of each start, in their order;
    n_agreeing of them ended at the best. n_left_out: items without an answer.
    """

    labels: Ints
    posteriors: Floats
    priors: Floats
    error_rates: Floats
    accuracies: Floats
    log_likelihood: float | None
    n_iterations: int
    converged: bool
    log_likelihoods: tuple[float, ...]
    n_agreeing: int
    n_answers: int
    n_left_out: int
    seed: int


def dawid_skene(
    items: npt.ArrayLike,
    raters: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    n_items: int,
    n_raters: int,
    n_classes: int,
    n_starts: int = 10,
    seed: int = 0,
    noise: float = 0.1,
    smoothing: float = 0.0,
    tolerance: float = 1e-10,
    max_iterations: int = 2_000,
) -> DawidSkene:
    """Estimate true classes and every rater's confusion by expectation and maximisation, the best of several starts.

    items, raters, labels: whole numbers from 0, shape (n_answers,), an entry an answer; a rater may answer an item
    several times. smoothing: added to each cell of a rater's confusion before it is made shares.
    Starts: the vote shares, the hard vote with ties split, then vote shares in which seeded noise has this share. All
    are near the votes on purpose (docs/decisions/0012). A start ends when the log-likelihood changes by less than
    tolerance, relative above a hundred, or after max_iterations; `converged` says which. The likelihood does not know
    the names of the classes: they are those that agree best with the votes.
    Raises ValueError for arrays that do not fit, codes outside their range and settings without a meaning.
    Source: Dawid & Skene 1979, Applied Statistics 28(1), 20-28.
    """
    if n_starts < 1 or max_iterations < 1 or n_classes < 1:
        raise ValueError("There must be at least one start, one iteration and one class.")
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise ValueError("Smoothing is a number from 0.")
    if not 0 <= noise <= 1:
        raise ValueError("The share of noise in a start lies between 0 and 1.")
    item = _codes("items", items, n_items)
    rater = _codes("raters", raters, n_raters)
    label = _codes("labels", labels, n_classes)
    if not item.size == rater.size == label.size:
        raise ValueError("items, raters and labels must have one entry for each answer.")
    answered = np.flatnonzero(np.bincount(item, minlength=n_items))
    if not answered.size:
        return _nothing(n_items, n_raters, n_classes, seed)
    place = np.zeros(n_items, dtype=np.int64)
    place[answered] = np.arange(answered.size)
    likelihood = _Likelihood(place[item], rater, label, answered.size, n_raters, n_classes, smoothing)
    ends = [likelihood.climb(start, tolerance, max_iterations) for start in likelihood.starts(n_starts, seed, noise)]
    reached = [end.log_likelihood for end in ends]
    # The first of those that found it: which start that is must not hang on the last digit.
    best = next(end for end in ends if max(reached) - end.log_likelihood <= _SAME_MAXIMUM)
    of_answered = likelihood.named_by_votes(best.posteriors)
    priors, rates, counts = likelihood.parameters(of_answered)
    posteriors = np.full((n_items, n_classes), np.nan)
    posteriors[answered] = of_answered
    right = np.einsum("rcc->r", counts)
    n_given = np.bincount(rater, minlength=n_raters)
    return DawidSkene(
        labels=_most_probable(posteriors),
        posteriors=posteriors,
        priors=priors,
        error_rates=rates,
        accuracies=np.divide(right, n_given, out=np.full(n_raters, np.nan), where=n_given > 0),
        log_likelihood=best.log_likelihood,
        n_iterations=best.n_iterations,
        converged=best.converged,
        log_likelihoods=tuple(reached),
        n_agreeing=sum(max(reached) - one <= _SAME_MAXIMUM for one in reached),
        n_answers=int(item.size),
        n_left_out=n_items - answered.size,
        seed=seed,
    )


@dataclass(frozen=True)
class _End:
    """Where one start led. posteriors: shape (n_items, n_classes)."""

    posteriors: Floats
    log_likelihood: float
    n_iterations: int
    converged: bool


class _Likelihood:
    """The answers as a sparse matrix, items x (rater and label), and the two steps of the search on it."""

    def __init__(
        self, item: Ints, rater: Ints, label: Ints, n_items: int, n_raters: int, n_classes: int, smoothing: float
    ) -> None:
        from scipy.sparse import csr_array

        column = rater * n_classes + label
        shape = (n_items, n_raters * n_classes)
        self.answers: Any = csr_array((np.ones(item.size), (item, column)), shape=shape)
        self.answers.sum_duplicates()
        # Raters' rows in memory order, for the product that runs the other way.
        self.by_rater: Any = self.answers.T.tocsr()
        votes = np.bincount(item * n_classes + label, minlength=n_items * n_classes).reshape(n_items, n_classes)
        self.shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        self.n_raters, self.n_classes, self.smoothing = n_raters, n_classes, smoothing

    def starts(self, n_starts: int, seed: int, noise: float) -> Iterator[Floats]:
        """Posteriors to start from: the vote shares, the hard vote, and noisy mixtures."""
        yield self.shares
        if n_starts > 1:
            hard = (self.shares == self.shares.max(axis=1, keepdims=True)).astype(np.float64)
            yield hard / hard.sum(axis=1, keepdims=True)
        rng = np.random.default_rng([seed, 1979])
        for _ in range(n_starts - 2):
            anything = rng.dirichlet(np.ones(self.n_classes), size=self.shares.shape[0])
            yield (1 - noise) * self.shares + noise * anything

    def climb(self, posteriors: Floats, tolerance: float, max_iterations: int) -> _End:
        before = -np.inf
        for iteration in range(1, max_iterations + 1):
            priors, rates, _ = self._shares_of(posteriors)
            posteriors, log_likelihood = self._posteriors(priors, rates)
            if abs(log_likelihood - before) < tolerance * max(1.0, abs(log_likelihood) / 100):
                return _End(posteriors, log_likelihood, iteration, converged=True)
            before = log_likelihood
        return _End(posteriors, before, max_iterations, converged=False)

    def parameters(self, posteriors: Floats) -> tuple[Floats, Floats, Floats]:
        """Priors, error rates (NaN where a rater met no item of a class) and expected counts, by rater, true, given."""
        priors, rates, counts = self._shares_of(posteriors)
        met = counts.sum(axis=2, keepdims=True) > 0
        return priors, np.where(met, rates, np.nan), counts

    def named_by_votes(self, posteriors: Floats) -> Floats:
        """The classes in the order in which they agree best with the votes."""
        from scipy.optimize import linear_sum_assignment

        # The order as it is wins a draw.
        agreement = self.shares.T @ posteriors + 1e-9 * np.eye(self.n_classes)
        _, order = linear_sum_assignment(agreement, maximize=True)
        return posteriors[:, order]

    def _shares_of(self, posteriors: Floats) -> tuple[Floats, Floats, Floats]:
        given = self.by_rater @ posteriors
        counts = given.reshape(self.n_raters, self.n_classes, self.n_classes).transpose(0, 2, 1)
        smoothed = counts + self.smoothing
        totals = smoothed.sum(axis=2, keepdims=True)
        rates = np.divide(smoothed, totals, out=np.zeros_like(smoothed), where=totals > 0)
        return posteriors.mean(axis=0), rates, counts

    def _posteriors(self, priors: Floats, rates: Floats) -> tuple[Floats, float]:
        with np.errstate(divide="ignore"):
            log_priors, log_rates = np.log(priors), np.log(rates)
        by_column = np.ascontiguousarray(log_rates.transpose(0, 2, 1)).reshape(-1, self.n_classes)
        joint = self.answers @ by_column + log_priors
        # Log-sum-exp: with forty answers an item the products themselves would be zero.
        highest = joint.max(axis=1, keepdims=True)
        scaled = np.exp(joint - highest)
        total = scaled.sum(axis=1, keepdims=True)
        return scaled / total, float((np.log(total) + highest).sum())


def _most_probable(posteriors: Floats) -> Ints:
    """The class of the highest posterior; -1 where two share it or there is none."""
    if posteriors.shape[1] == 1:
        return np.where(np.isnan(posteriors[:, 0]), -1, 0)
    ordered = np.sort(posteriors, axis=1)
    decided = ordered[:, -1] - ordered[:, -2] > _TIE
    return np.where(decided, np.argmax(np.nan_to_num(posteriors, nan=-1.0), axis=1), -1)


def _codes(name: str, values: npt.ArrayLike, n: int) -> Ints:
    codes = np.asarray(values)
    if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be a one-dimensional array of whole numbers.")
    if codes.size and (codes.min() < 0 or codes.max() >= n):
        raise ValueError(f"{name} must lie between 0 and {n - 1}.")
    return codes.astype(np.int64)


def _nothing(n_items: int, n_raters: int, n_classes: int, seed: int) -> DawidSkene:
    return DawidSkene(
        labels=np.full(n_items, -1, dtype=np.int64),
        posteriors=np.full((n_items, n_classes), np.nan),
        priors=np.full(n_classes, np.nan),
        error_rates=np.full((n_raters, n_classes, n_classes), np.nan),
        accuracies=np.full(n_raters, np.nan),
        log_likelihood=None,
        n_iterations=0,
        converged=False,
        log_likelihoods=(),
        n_agreeing=0,
        n_answers=0,
        n_left_out=n_items,
        seed=seed,
    )
