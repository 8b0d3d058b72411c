"""Names that count in base 26 with the lowest letter first: a, b, ... z, ab, bb, as the benchmark has them."""

from collections.abc import Iterator, Sequence

SMALL = "abcdefghijklmnopqrstuvwxyz"
SMALL_BACKWARDS = SMALL[::-1]
CAPITAL = SMALL.upper()
CAPITAL_BACKWARDS = CAPITAL[::-1]
WORDS = (
    "apple", "bridge", "candle", "dentist", "essence", "forest", "garden", "harbor", "island", "jacket", "kettle",
    "ladder", "meadow", "needle", "orchard", "pebble", "quarter", "ribbon", "saddle", "timber", "unicorn", "valley",
    "window", "X-ray", "yogurt", "zebra",
)  # fmt: skip


def name_of(number: int, digits: Sequence[str] = SMALL, between: str = "") -> str:
    """0 -> a, 25 -> z, 26 -> ab, 27 -> bb: digits of the number, the lowest first."""
    parts = [digits[number % len(digits)]]
    while number := number // len(digits):
        parts.append(digits[number % len(digits)])
    return between.join(parts)


def names(start: int = 0, digits: Sequence[str] = SMALL, between: str = "") -> Iterator[str]:
    """One name after another; none comes twice."""
    while True:
        yield name_of(start, digits, between)
        start += 1
