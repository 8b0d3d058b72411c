"""Whether a printed percentage can come from n trials at all."""

from decimal import Decimal
from fractions import Fraction


def attainable_percentage(percent: float | str | Decimal, n: int, *, decimals: int) -> bool:
    """Whether some k of n trials is this percentage, printed with so many decimals.

    A percentage that lies exactly between two printed ones counts for both, as rounding conventions differ. Raises
    ValueError for n below 1 and for a percentage that is not printed with so many decimals.
    Source: the GRIM test of Brown & Heathers 2017, Social Psychological and Personality Science 8(4), 363-369.
    """
    if n < 1 or decimals < 0:
        raise ValueError("There must be at least one trial, and no negative number of decimals.")
    printed = Fraction(Decimal(str(percent)))
    unit = Fraction(1, 10**decimals)
    if printed % unit:
        raise ValueError(f"{percent} has more than {decimals} decimals.")
    # The trials nearest to it: if these are not within half a unit, none are.
    nearest = min(max(0, round(printed * n / 100)), n)
    return abs(Fraction(100 * nearest, n) - printed) <= unit / 2
