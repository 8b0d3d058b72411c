"""Is the label right?"""

from evaluation.scorers.registry import Score, scorer


@scorer("label_accuracy")
def label_accuracy(answer: str, gold: frozenset[str]) -> Score:
    """1.0 if the answer is one of the gold labels, else 0.0. Both are option values, so nothing is folded."""
    return Score(float(answer in gold))
