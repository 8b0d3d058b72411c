"""Is the label right?"""

from collections.abc import Collection

from evaluation.scorers.registry import Score, Takes, scorer


@scorer("label_accuracy", takes=Takes.LABEL)
def label_accuracy(answer: str, gold: Collection[str]) -> Score:
    """1.0 if the answer is one of the gold labels, else 0.0. Both are option values, so nothing is folded."""
    return Score(float(answer in gold))
