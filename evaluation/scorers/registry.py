"""What a scorer is, and the list of all of them by name."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """value: in [0, 1]; None if the answer cannot be scored, for the reason in `note`. None is counted, never a 0."""

    value: float | None
    note: str = ""


ScoringFunction = Callable[[str, frozenset[str]], Score]


@dataclass(frozen=True)
class Scorer:
    """A scoring function with its name and version. Scores store the version: raise it when any score can change."""

    name: str
    version: int
    function: ScoringFunction

    def __call__(self, answer: str, gold: frozenset[str]) -> Score:
        """Score the answer; without gold it is unscorable, whatever the scorer."""
        if not gold:
            return Score(None, "no gold label")
        return self.function(answer, gold)


class UnknownScorer(LookupError):
    """No scorer has this name."""

    http_status = 404


SCORERS: dict[str, Scorer] = {}


def scorer(name: str, *, version: int = 1) -> Callable[[ScoringFunction], Scorer]:
    """Register a function under a name; names are part of reports and never change their meaning."""

    def register(function: ScoringFunction) -> Scorer:
        if name in SCORERS:
            raise ValueError(f"The scorer {name} is registered twice.")
        SCORERS[name] = registered = Scorer(name, version, function)
        return registered

    return register


def get_scorer(name: str) -> Scorer:
    """Raises UnknownScorer, which names those that there are."""
    try:
        return SCORERS[name]
    except KeyError:
        raise UnknownScorer(f"There is no scorer {name!r}. Known: {', '.join(sorted(SCORERS))}.") from None
