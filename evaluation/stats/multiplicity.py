"""P-values of several comparisons that are read together."""

from collections.abc import Sequence

PValues = Sequence[float | None]


def holm(p_values: PValues) -> list[float | None]:
    """Holm's step-down adjustment, in the order of the input: for the family of comparisons named before.

    None stays None and is not counted. Raises ValueError for what is no p-value.
    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.
    """
    order, m = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (m - rank) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: PValues) -> list[float | None]:
    """The step-up adjustment to the false discovery rate, in the order of the input: for exploratory comparisons.

    None stays None and is not counted. Raises ValueError for what is no p-value.
    Source: Benjamini and Hochberg 1995, Journal of the Royal Statistical Society B 57, 289-300.
    """
    order, m = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, p * m / rank)
        adjusted[place] = smallest
    return adjusted


def _ascending(p_values: PValues) -> tuple[list[tuple[float, int]], int]:
    """(p, place) of those that there are, smallest first, and their number."""
    present = [(float(p), place) for place, p in enumerate(p_values) if p is not None]
    if not all(0 <= p <= 1 for p, _ in present):
        raise ValueError("A p-value lies between 0 and 1, or is None where there is none.")
    return sorted(present), len(present)
