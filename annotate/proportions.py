"""How sure a share is: the one formula of both sides. No Django, and no library, because pages use it."""

from __future__ import annotations

from statistics import NormalDist


def wilson_bounds(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's bounds for a share of n independent trials, where n need not be whole: an effective number of them.

    Source: Wilson 1927, Journal of the American Statistical Association 22, 209-212.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * ((share * (1 - share) + z**2 / (4 * n)) / n) ** 0.5 / (1 + z**2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)
