"""How many items a comparison needs, and what it can find, from the spread of a pilot.

Normal approximation for a paired mean difference, two-sided. A design effect above 1 says that items of one root repeat
each other, so that 300 items may be worth 100 independent ones.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import root_codes
from evaluation.stats.paired import item_means
from evaluation.stats.results import NO_TRIALS, TOO_FEW, ZERO_VARIANCE


@dataclass(frozen=True)
class PilotSpread:
    """Of paired differences: sd over items, design_effect: variance of their mean with roots / without, as if items
    were independent. None, with the reason, below two roots or without spread."""

    sd: float | None
    design_effect: float | None
    n: int
    n_roots: int
    undefined: str = ""


@dataclass(frozen=True)
class ItemsNeeded:
    """n_items: None where a difference of 0 is to be found. n_effective: the same if all items were independent."""

    n_items: int | None
    n_effective: int | None
    difference: float
    power: float
    alpha: float
    undefined: str = ""


def pilot_spread(first: npt.ArrayLike, second: npt.ArrayLike, *, roots: npt.ArrayLike | None = None) -> PilotSpread:
    """The spread of first - second over the items that both have; roots as in paired_difference.

    The variance of the mean with roots is that of the sum of roots' deviations, times roots / (roots - 1).
    """
    one, other = item_means(first), item_means(second)
    if one.shape != other.shape:
        raise ValueError("first and second must have scores for the same items, in the same order.")
    shared = ~np.isnan(one) & ~np.isnan(other)
    n = int(shared.sum())
    if n == 0:
        return PilotSpread(None, None, 0, 0, undefined=NO_TRIALS)
    codes = root_codes(roots, one.size)
    kept = root_codes(np.flatnonzero(shared) if codes is None else codes[shared], n)
    differences = (one - other)[shared]
    deviations = differences - differences.mean()
    totals = deviations if kept is None else np.bincount(kept, weights=deviations)
    n_roots = totals.size
    if n_roots < 2:
        return PilotSpread(None, None, n, n_roots, undefined=TOO_FEW)
    variance = float(deviations @ deviations) / (n - 1)
    if variance < 1e-15:
        return PilotSpread(0.0, None, n, n_roots, undefined=ZERO_VARIANCE)
    of_mean = float(totals @ totals) * n_roots / (n_roots - 1) / n**2
    return PilotSpread(math.sqrt(variance), of_mean / (variance / n), n, n_roots)


def items_needed(
    difference: float, *, sd: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> ItemsNeeded:
    """The items with which a true difference is found with that probability: deff ((z_a/2 + z_power) sd / d)^2.

    difference: of means, such as .05. sd: of item differences. Raises ValueError for what cannot be.
    Source: the usual formula for a paired mean; design effect as Kish 1965, Survey Sampling.
    """
    _check(sd, design_effect, alpha)
    if not 0 < power < 1 or not abs(difference) <= 1:
        raise ValueError("Power lies between 0 and 1, and a difference of means between -1 and 1.")
    if difference == 0:
        return ItemsNeeded(None, None, 0.0, power, alpha, undefined="no_difference")
    n = ((_z(1 - alpha / 2) + _z(power)) * sd / difference) ** 2
    # 100.00000000001 is 100 items.
    return ItemsNeeded(
        max(2, math.ceil(n * design_effect - 1e-9)), max(2, math.ceil(n - 1e-9)), difference, power, alpha
    )


def power_of(difference: float, *, n_items: int, sd: float, design_effect: float = 1.0, alpha: float = 0.05) -> float:
    """The probability that n_items find a true difference, either way. Raises ValueError for what cannot be."""
    _check(sd, design_effect, alpha)
    if n_items < 2:
        raise ValueError("A comparison needs at least two items.")
    if sd == 0:
        return 1.0 if difference else alpha
    from scipy.special import ndtr

    shift = abs(difference) / (sd * math.sqrt(design_effect / n_items))
    return float(ndtr(shift - _z(1 - alpha / 2)) + ndtr(-shift - _z(1 - alpha / 2)))


def detectable_difference(
    *, n_items: int, sd: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> float:
    """The smallest true difference that n_items find with that probability: the inverse of items_needed."""
    _check(sd, design_effect, alpha)
    if n_items < 2 or not 0 < power < 1:
        raise ValueError("A comparison needs at least two items and a power between 0 and 1.")
    return (_z(1 - alpha / 2) + _z(power)) * sd * math.sqrt(design_effect / n_items)


def _check(sd: float, design_effect: float, alpha: float) -> None:
    if not (math.isfinite(sd) and sd >= 0 and math.isfinite(design_effect) and design_effect > 0):
        raise ValueError("The spread cannot be negative, and a design effect is above 0.")
    if not 0 < alpha < 1:
        raise ValueError("The level of a test lies between 0 and 1.")


def _z(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
