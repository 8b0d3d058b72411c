"""Two proportions of independent trials: other people or other items on each side."""

import math
from dataclasses import dataclass

from evaluation.stats.intervals import wilson
from evaluation.stats.results import NO_TRIALS, ZERO_VARIANCE, Interval


@dataclass(frozen=True)
class TwoProportions:
    """difference: first - second. z, p: pooled, two-sided; z is None (zero_variance) where all trials end alike."""

    difference: float | None
    n_first: int
    n_second: int
    z: float | None
    p: float | None
    interval: Interval | None
    undefined: str = ""


def two_proportions(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> TwoProportions:
    """x1 of n1 against x2 of n2 independent trials: the pooled z test and Newcombe's interval of the difference.

    Undefined (no_trials) where a side has none. Not for people and models on the same items: their difference is
    paired. Raises ValueError unless 0 <= x <= n.
    Source: Newcombe 1998, Statistics in Medicine 17, 873-890, method 10.
    """
    first, second = wilson(x1, n1, level), wilson(x2, n2, level)
    if first is None or second is None:
        return TwoProportions(None, n1, n2, None, None, None, undefined=NO_TRIALS)
    one, other = x1 / n1, x2 / n2
    difference = one - other
    lower = difference - math.hypot(one - first.lower, second.upper - other)
    upper = difference + math.hypot(first.upper - one, other - second.lower)
    interval = Interval(max(-1.0, lower), min(1.0, upper), level=level, method="Newcombe, hybrid score")
    pooled = (x1 + x2) / (n1 + n2)
    if pooled in (0.0, 1.0):
        return TwoProportions(difference, n1, n2, None, 1.0, interval, undefined=ZERO_VARIANCE)
    z = difference / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return TwoProportions(difference, n1, n2, z, math.erfc(abs(z) / math.sqrt(2)), interval)
