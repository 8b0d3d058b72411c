"""Scorers: one answer against its gold labels. They see nothing else, so they cannot tell who answered.

docs/measures.md describes every scorer here. A new one is a copy of its neighbour, a test and a paragraph there.
"""

from evaluation.scorers import bleu as _bleu  # noqa: F401  importing a scorer registers it
from evaluation.scorers import cell_f1 as _cell_f1  # noqa: F401
from evaluation.scorers import exact_match as _exact_match  # noqa: F401
from evaluation.scorers import galois as _galois  # noqa: F401
from evaluation.scorers import items as _items  # noqa: F401
from evaluation.scorers import label_accuracy as _label_accuracy  # noqa: F401
from evaluation.scorers import meteor as _meteor  # noqa: F401
from evaluation.scorers import qatch as _qatch  # noqa: F401
from evaluation.scorers import rouge as _rouge  # noqa: F401
from evaluation.scorers import same_answer as _same_answer  # noqa: F401
from evaluation.scorers import structext as _structext  # noqa: F401
from evaluation.scorers import temptabqa as _temptabqa  # noqa: F401
from evaluation.scorers import temptabqa_c as _temptabqa_c  # noqa: F401
from evaluation.scorers import token_f1 as _token_f1  # noqa: F401
from evaluation.scorers import tuples as _tuples  # noqa: F401
from evaluation.scorers import wikitablequestions as _wikitablequestions  # noqa: F401
from evaluation.scorers.registry import (
    SCORERS,
    Score,
    Scorer,
    ScorerUnavailable,
    Takes,
    UnknownScorer,
    get_scorer,
    scorer,
)

__all__ = ["SCORERS", "Score", "Scorer", "ScorerUnavailable", "Takes", "UnknownScorer", "get_scorer", "scorer"]
