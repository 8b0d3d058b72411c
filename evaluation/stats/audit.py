"""The share of right labels in a population, from an audited sample of each stratum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.proportions import wilson_bounds
from evaluation.stats.intervals import (
    Bootstrap,
    Ints,
    percentile_interval,
    resampled_sums,
    root_codes,
    sum_by_root,
    wilson,
)
from evaluation.stats.means import pooled_mean
from evaluation.stats.results import NO_TRIALS, Estimate, Interval


@dataclass(frozen=True)
class StratumAccuracy:
    """One stratum: of n audited items of `population`, so many were right (a sum of means need not be whole).

    interval: Wilson's; None where items of it share a root.
    """

    name: str
    n: int
    n_right: float
    population: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class StratifiedAccuracy:
    """The audit by stratum, as it was sampled, and as the population would have it.

    sampled: right / audited over all strata, each audited item weighing the same, with Wilson's interval. population:
    each stratum weighing as its share of the population. standard_error, standard_error_finite: of the latter, without
    and with the correction for having audited a part of a finite population; None where a stratum has one item.
    """

    per_stratum: tuple[StratumAccuracy, ...]
    sampled: Estimate
    population: Estimate
    standard_error: float | None
    standard_error_finite: float | None


def stratified_accuracy(
    n: npt.ArrayLike,
    n_right: npt.ArrayLike,
    population: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    is_mean: bool = False,
) -> StratifiedAccuracy:
    """Accuracy of labels from a sample drawn at random within strata.

    n, n_right, population: whole numbers, shape (n_strata,): audited, right among them, and in the population.
    is_mean: n_right adds up the mean of each item's several verdicts and need not be whole. An item then still counts
    once, as if its verdicts agreed: such a mean varies at most as a single verdict does, so no interval is too narrow.
    The interval of the population's accuracy is Wilson's for as many independent items as the sample is worth: its
    items over their design effect (the weighted variance of the strata over that of a plain sample), and never more
    than the weights alone leave of them, so that ten right of ten in every stratum are no certainty. What was audited
    out of a finite population counts for more: n (N - 1) / (N - n) independent items. With every item audited nothing
    is estimated, and there is no interval.
    Undefined (no_trials) where a stratum of the population has no audited item. Raises ValueError for shapes that do
    not fit, and unless 0 <= right <= n <= population.
    Sources: Cochran 1977, Sampling Techniques, 3rd ed., chapter 5; Korn & Graubard 1998, Survey Methodology 24, 193-201
    (the effective sample size of an interval), with Wilson's bounds as in Franco, Little, Louis & Slud 2019, Journal of
    Survey Statistics and Methodology 7, 334-364.
    """
    audited, size = _counts(n), _counts(population)
    right = _counts(n_right, is_whole=not is_mean)
    if not audited.shape == right.shape == size.shape:
        raise ValueError("n, n_right and population must have one number for each stratum.")
    if (right > audited).any() or (audited > size).any():
        raise ValueError("In every stratum right <= n <= population must hold.")
    labels = [f"stratum {i + 1}" for i in range(audited.size)] if names is None else list(names)
    if len(labels) != audited.size:
        raise ValueError("There must be one name for each stratum.")
    strata = tuple(
        StratumAccuracy(
            name=label,
            n=int(trials),
            n_right=float(k) if is_mean else int(k),
            population=int(in_population),
            value=float(k / trials) if trials else None,
            interval=_wilson(float(k), int(trials), level),
        )
        for label, trials, k, in_population in zip(labels, audited, right, size, strict=True)
    )
    n_audited = int(audited.sum())
    sampled = _estimate("audit_sampled", n_audited, int(size.sum()))
    if n_audited:
        value = float(right.sum() / n_audited)
        sampled = replace(sampled, value=value, undefined="", interval=_wilson(float(right.sum()), n_audited, level))
    return StratifiedAccuracy(strata, sampled, *_of_population(audited, right, size, labels, level))


def stratified_accuracy_of_roots(
    scores: npt.ArrayLike,
    strata: npt.ArrayLike,
    roots: npt.ArrayLike,
    population: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    bootstrap: Bootstrap | None,
    level: float = 0.95,
) -> StratifiedAccuracy:
    """The same accuracy where several audited items may hang on one root, such as the questions about one table.

    scores: in [0, 1], shape (n_items,), 1 where a label is right, between where verdicts are averaged. strata: the
    place of each item's stratum in population. roots: of each item. Where no two items share a root it is
    `stratified_accuracy`. Else the items of a root come into a resample together or not at all: the share in the sample
    gets the percentile bootstrap over roots; the population's accuracy that of its linear form, in which item i of
    stratum h moves the figure by W_h (y_i - p_h) / sqrt(n_h (n_h - 1)), times sqrt(1 - n_h / N_h) for the finite
    population: so no resample lacks a stratum. A stratum whose scores are all equal does not vary in it and is no
    certainty: it adds the distances of its Wilson bounds, each of its roots being one trial. The standard errors add up
    those moves within roots; with a root an item they are Cochran's.
    bootstrap: None for no intervals. Raises ValueError as `stratified_accuracy` does, and for arrays that do not fit.
    Sources: Cochran 1977, chapters 5 and 11; Rao & Wu 1988, Journal of the American Statistical Association 83,
    231-241.
    """
    values, places = np.asarray(scores, dtype=np.float64), np.asarray(strata, dtype=np.int64)
    size = _counts(population)
    if values.ndim != 1 or values.shape != places.shape or ((places < 0) | (places >= size.size)).any():
        raise ValueError("There must be one score and one stratum of the population for each item.")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("A score lies between 0 and 1.")
    audited = np.bincount(places, minlength=size.size).astype(np.float64)
    right = np.bincount(places, weights=values, minlength=size.size).astype(np.float64)
    plain = stratified_accuracy(audited, right, size, names=names, level=level, is_mean=True)
    codes = root_codes(roots, values.size)
    if codes is None:
        return plain
    n_roots = int(codes.max()) + 1
    of_items = pooled_mean(values[:, np.newaxis], codes, bootstrap)
    shared = {place for place in range(size.size) if np.unique(codes[places == place]).size < int(audited[place])}
    return replace(
        plain,
        per_stratum=tuple(
            replace(stratum, interval=None) if place in shared else stratum
            for place, stratum in enumerate(plain.per_stratum)
        ),
        sampled=replace(plain.sampled, interval=of_items.interval, note=of_items.note, n_roots=n_roots),
        **_of_population_by_root(plain, values, places, codes, audited, right, size, bootstrap),
    )


def _of_population_by_root(
    plain: StratifiedAccuracy,
    values: npt.NDArray[np.float64],
    places: Ints,
    codes: Ints,
    audited: npt.NDArray[np.float64],
    right: npt.NDArray[np.float64],
    size: npt.NDArray[np.float64],
    bootstrap: Bootstrap | None,
) -> dict[str, Any]:
    n_roots = int(codes.max()) + 1
    result = replace(plain.population, n_roots=n_roots)
    if result.value is None:
        return {"population": result}
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(audited > 0, right / audited, 0.0)
        by_item = np.where(audited > 1, size / size.sum() / np.sqrt(audited * (audited - 1)), 0.0)
        open_part = np.where(size > 0, np.sqrt(1 - audited / size), 0.0)
    moves = (by_item[places] * (values - shares[places]))[:, np.newaxis]
    by_root, by_root_finite = (sum_by_root(one, codes) for one in (moves, moves * open_part[places][:, np.newaxis]))
    errors: dict[str, float | None] = {"standard_error": None, "standard_error_finite": None}
    if plain.standard_error is not None:
        errors = {
            "standard_error": float(np.sqrt((by_root**2).sum())),
            "standard_error_finite": float(np.sqrt((by_root_finite**2).sum())),
        }
    if plain.population.interval is None or bootstrap is None:
        return errors | {"population": replace(result, interval=None)}
    resampled = result.value + np.concatenate([sums[:, 0] for sums in resampled_sums(by_root_finite, bootstrap)])
    interval, note = percentile_interval(resampled, bootstrap, n_roots=n_roots)
    if interval is None:
        return errors | {"population": replace(result, interval=None, note=note)}
    below, above = result.value - interval.lower, interval.upper - result.value
    alike = []
    for place in np.flatnonzero((audited > 0) & (audited < size)):
        own = values[places == place]
        if np.ptp(own) > 0:
            continue
        # What was audited out of a finite population counts for more, as without roots.
        trials = np.unique(codes[places == place]).size * (size[place] - 1) / (size[place] - audited[place])
        lower, upper = wilson_bounds(shares[place], trials, bootstrap.level)
        weight = size[place] / size.sum()
        alike.append((weight * (shares[place] - lower), weight * (upper - shares[place])))
    if alike:
        # One row for each such stratum: how far its bounds are below and above.
        below, above = np.hypot([below, above], np.linalg.norm(np.array(alike), axis=0)).tolist()
        interval = replace(
            interval,
            method=f"{interval.method}; Wilson's by root in strata whose labels are all alike",
            degenerate=False,
        )
        note = ""
    interval = replace(interval, lower=max(0.0, result.value - below), upper=min(1.0, result.value + above))
    return errors | {"population": replace(result, interval=interval, note=note)}


def _of_population(
    audited: npt.NDArray[np.float64],
    right: npt.NDArray[np.float64],
    size: npt.NDArray[np.float64],
    names: Sequence[str],
    level: float,
) -> tuple[Estimate, float | None, float | None]:
    result = _estimate("audit_population", int(audited.sum()), int(size.sum()))
    present = size > 0
    empty = [
        name for name, trials, in_population in zip(names, audited, size, strict=True) if in_population > trials == 0
    ]
    if empty or not present.any():
        note = f"no audited item in {', '.join(empty)}" if empty else "the population is empty"
        return replace(result, note=note), None, None
    trials, k, in_population = audited[present], right[present], size[present]
    shares, weights = k / trials, in_population / in_population.sum()
    # Weights that are rounded may add up to a little more than one.
    value = min(1.0, float(weights @ shares))
    error: float | None = None
    error_finite: float | None = None
    if (trials > 1).all():
        variances = weights**2 * shares * (1 - shares) / (trials - 1)
        error = float(np.sqrt(variances.sum()))
        error_finite = float(np.sqrt((variances * (1 - trials / in_population)).sum()))
    sampled = trials < in_population
    result = replace(result, value=value, undefined="")
    if not sampled.any():
        return replace(result, note="every item was audited: nothing is estimated"), error, error_finite
    lower, upper = wilson_bounds(value, _worth(trials, shares, in_population), level)
    interval = Interval(
        # The value itself may be rounded past them.
        lower=min(lower, value),
        upper=max(upper, value),
        level=level,
        method="Wilson with the effective sample size, weighted by population, with finite-population correction",
    )
    return replace(result, interval=interval), error, error_finite


def _worth(
    trials: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], in_population: npt.NDArray[np.float64]
) -> float:
    """How many independent items the audited ones are worth; strata that were audited whole leave nothing open."""
    open_ = trials < in_population
    weights = (in_population / in_population.sum())[open_]
    n, size, right = trials[open_], in_population[open_], shares[open_]
    by_weights = 1 / float((weights**2 * (size - n) / (n * (size - 1))).sum())
    value, n_all = float(in_population @ shares / in_population.sum()), float(trials.sum())
    spread = value * (1 - value)
    if n_all < 2 or spread <= 0:
        return by_weights
    # One item does not tell how its stratum varies: it is taken for as mixed as the whole.
    within = np.where(n > 1, right * (1 - right) / np.maximum(n - 1, 1), spread)
    variance = float((weights**2 * within * (1 - n / size)).sum())
    return min(by_weights, spread * n_all / (n_all - 1) / variance) if variance > 0 else by_weights


def _estimate(name: str, n: int, n_population: int) -> Estimate:
    return Estimate(name, None, n=n, n_left_out=n_population - n, n_items=n, n_roots=n, n_people=0, undefined=NO_TRIALS)


def _wilson(k: float, n: int, level: float) -> Interval | None:
    if k == int(k) or n == 0:
        return wilson(int(k), n, level)
    return Interval(*wilson_bounds(k / n, n, level), level=level, method="wilson")


def _counts(column: npt.ArrayLike, *, is_whole: bool = True) -> npt.NDArray[np.float64]:
    counts = np.asarray(column, dtype=np.float64)
    if counts.ndim != 1 or not (
        np.isfinite(counts).all() and (counts >= 0).all() and (not is_whole or (counts == np.floor(counts)).all())
    ):
        raise ValueError("The numbers of an audit are whole numbers from 0, one for each stratum.")
    return counts
