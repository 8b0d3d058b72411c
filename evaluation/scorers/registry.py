"""What a scorer is, and the list of all of them by name."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.scorers.answers import READERS, AnswerUnreadable, Takes

__all__ = ["SCORERS", "Score", "Scorer", "ScorerUnavailable", "Takes", "UnknownScorer", "get_scorer", "scorer"]


@dataclass(frozen=True)
class Score:
    """value: in [0, 1]; None if the answer cannot be scored, for the reason in `note`. None is counted, never a 0."""

    value: float | None
    note: str = ""


Parameters = Mapping[str, str | int | float | bool]
# The answer and the acceptable ones, each in the form that the scorer takes (answers.py).
ScoringFunction = Callable[[Any, Any], Score]


@dataclass(frozen=True)
class Scorer:
    """A scoring function with its name and version. Scores store the version: raise it when any score can change.

    takes: the form of the answers. parameters: what the name stands for beyond the rule, for the manifest.
    is_published_rule: the rule of a paper or of its code, kept for comparison; offered by name, never a default.
    spread_from: the number of pairs from which child processes pay, with what they cost to start; None: never.
    missing: says what an installation lacks for it, "" if nothing.
    """

    name: str
    version: int
    function: ScoringFunction
    takes: Takes = Takes.TEXT
    parameters: Parameters = field(default_factory=dict)
    is_published_rule: bool = False
    spread_from: int | None = None
    missing: Callable[[], str] = lambda: ""

    def __call__(self, answer: object, gold: Collection[object] | None) -> Score:
        """Score the answer. Without gold, or where either side is not what the scorer takes, it is unscorable.

        Raises ScorerUnavailable where the installation lacks something, TypeError if gold is one text and no
        collection, and ValueError if the rule itself gave no number in [0, 1].
        """
        if isinstance(gold, str | bytes | Mapping):
            raise TypeError("gold is a collection of acceptable answers, not a single one.")
        if not gold:
            return Score(None, "no gold label")
        if lacks := self.missing():
            raise ScorerUnavailable(f"The scorer {self.name} cannot be used here: {lacks}")
        read = READERS[self.takes]
        try:
            given = read(answer)
        except AnswerUnreadable as problem:
            return Score(None, f"the answer cannot be read: {problem}")
        try:
            accepted = [read(label) for label in gold]
        except AnswerUnreadable as problem:
            return Score(None, f"the gold label cannot be read: {problem}")
        score = self.function(given, accepted)
        if score.value is not None and not (math.isfinite(score.value) and 0 <= score.value <= 1):
            raise ValueError(f"The scorer {self.name} gave {score.value}, which is no score.")
        return score


class UnknownScorer(LookupError):
    """No scorer has this name."""

    http_status = 404


class ScorerUnavailable(RuntimeError):
    """The scorer needs something that is not installed here; the message says what, and how to get it."""

    http_status = 422


SCORERS: dict[str, Scorer] = {}


def scorer(
    name: str,
    *,
    version: int = 1,
    takes: Takes = Takes.TEXT,
    parameters: Parameters | None = None,
    is_published_rule: bool = False,
    spread_from: int | None = None,
    missing: Callable[[], str] = lambda: "",
) -> Callable[[ScoringFunction], Scorer]:
    """Register a function under a name; names are part of reports and never change their meaning."""

    def register(function: ScoringFunction) -> Scorer:
        if name in SCORERS:
            raise ValueError(f"The scorer {name} is registered twice.")
        SCORERS[name] = registered = Scorer(
            name=name,
            version=version,
            function=function,
            takes=takes,
            parameters=parameters or {},
            is_published_rule=is_published_rule,
            spread_from=spread_from,
            missing=missing,
        )
        return registered

    return register


def get_scorer(name: str) -> Scorer:
    """Raises UnknownScorer, which names those that there are."""
    try:
        return SCORERS[name]
    except KeyError:
        raise UnknownScorer(f"There is no scorer {name!r}. Known: {', '.join(sorted(SCORERS))}.") from None
