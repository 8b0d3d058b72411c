"""What a number carries with it: n, what was left out, its interval, and why it is undefined if it is."""

from dataclasses import dataclass, replace
from typing import TypeVar

# Why a value is None. A template turns these into words; no value is ever 0, 1 or NaN instead.
NO_PAIRS = "no_pairs"  # no item has two answers
NO_VARIATION = "no_variation"  # one label in use: agreement by chance is 1, the coefficient is 0/0
NO_TRIALS = "no_trials"  # nothing to average
TOO_FEW = "too_few"  # fewer people than the figure needs
ZERO_VARIANCE = "zero_variance"  # every trial ended alike, so nothing can be measured against their spread
NO_DISCORDANT = "no_discordant"  # no item tells the two sides apart


@dataclass(frozen=True)
class Interval:
    """A confidence interval with what is needed to get it again.

    level: such as 0.95. method: `wilson` or a `percentile bootstrap` and what it resamples.
    n_resamples, seed: of a bootstrap, else None. n_undefined: resamples whose value was undefined, left out.
    degenerate: all resamples gave one value, so the width says nothing about the uncertainty.
    """

    lower: float
    upper: float
    level: float
    method: str
    n_resamples: int | None = None
    seed: int | None = None
    n_undefined: int = 0
    degenerate: bool = False


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement over units (items).

    value: None when undefined, for the reason in `undefined`.
    n: units with two answers or more. n_left_out: units with fewer. n_roots: independent groups among the n units.
    n_pairs: pairs of answers to the same unit. n_raters: people with an answer, None where only counts are known.
    interval: None when undefined, not asked for, or refused for the reason in `note`.
    """

    name: str
    value: float | None
    n: int
    n_left_out: int
    n_roots: int
    n_pairs: int = 0
    n_raters: int | None = None
    undefined: str = ""
    interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True)
class Estimate:
    """A mean of scores in [0, 1], or a difference of such means.

    n: answers averaged. n_left_out: answers that could have been given and scored but were not, and are not counted
    in n. n_items, n_roots, n_people: how many items, independent groups of items and people stand behind them; a model
    counts as one person per repeat.
    """

    name: str
    value: float | None
    n: int
    n_left_out: int
    n_items: int
    n_roots: int
    n_people: int
    undefined: str = ""
    interval: Interval | None = None
    note: str = ""


_Result = TypeVar("_Result", Coefficient, Estimate)


def with_note(result: _Result, *notes: str) -> _Result:
    """The same result, its note followed by these; empty ones are dropped."""
    return replace(result, note="; ".join(note for note in (result.note, *notes) if note))
