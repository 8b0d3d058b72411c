"""How many of several short answers are right, whatever their order?"""

from collections import Counter
from collections.abc import Collection, Sequence

from annotate.answers.equivalence import text_key
from evaluation.scorers.answers import Takes
from evaluation.scorers.registry import Score, scorer
from evaluation.scorers.token_f1 import bag_f1


@scorer("items_exact", version=2, takes=Takes.ITEMS)
def items_exact(answer: Sequence[str], gold: Collection[Sequence[str]]) -> Score:
    """1.0 if the answer has exactly the items of a gold answer, each as often, in any order; else 0.0."""
    given = Counter(map(text_key, answer))
    return Score(float(any(given == Counter(map(text_key, label)) for label in gold)))


@scorer("items_f1", version=2, takes=Takes.ITEMS)
def items_f1(answer: Sequence[str], gold: Collection[Sequence[str]]) -> Score:
    """2 * shared / (items of both), an item shared as often as both have it; the best over the gold answers."""
    given = [text_key(item) for item in answer]
    return Score(max(bag_f1(given, [text_key(item) for item in label]) for label in gold))
