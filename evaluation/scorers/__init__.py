"""Scorers: one answer against its gold labels. They see nothing else, so they cannot tell who answered.

docs/measures.md describes every scorer here. A new one is a copy of its neighbour, a test and a paragraph there.
"""

from evaluation.scorers import exact_match as _exact_match  # noqa: F401  importing a scorer registers it
from evaluation.scorers import label_accuracy as _label_accuracy  # noqa: F401
from evaluation.scorers import token_f1 as _token_f1  # noqa: F401
from evaluation.scorers.registry import SCORERS, Score, Scorer, UnknownScorer, get_scorer, scorer

__all__ = ["SCORERS", "Score", "Scorer", "UnknownScorer", "get_scorer", "scorer"]
