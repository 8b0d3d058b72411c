"""Does the answer mean what a gold answer means?"""

from collections.abc import Collection

from annotate.answers import short_answer_key
from evaluation.scorers.registry import Score, scorer


@scorer("same_answer", version=2)
def same_answer(answer: str, gold: Collection[str]) -> Score:
    """1.0 if the answer and a gold answer are the same by the rule that counts votes on short answers, else 0.0.

    365 days, 12 months and one year are one answer; nothing is rounded and no tolerance allowed.
    """
    key = short_answer_key(answer)
    return Score(float(any(key == short_answer_key(label) for label in gold)))
