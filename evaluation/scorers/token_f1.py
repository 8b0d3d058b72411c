"""How many words do the answer and the gold answer share?"""

from collections import Counter
from collections.abc import Collection, Sequence

from evaluation.scorers.registry import Score, scorer
from evaluation.scorers.tokens import squad_tokens, unicode_tokens


@scorer("token_f1", version=2)
def token_f1(answer: str, gold: Collection[str]) -> Score:
    """The best F1 over the gold answers of the bags of words, words in any script."""
    words = unicode_tokens(answer)
    return Score(max(bag_f1(words, unicode_tokens(label)) for label in gold))


@scorer("token_f1_squad", is_published_rule=True)
def token_f1_squad(answer: str, gold: Collection[str]) -> Score:
    """The same by SQuAD's rules for words, for comparison with published figures."""
    words = squad_tokens(answer)
    return Score(max(bag_f1(words, squad_tokens(label)) for label in gold))


def bag_f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    """2 * shared / (words of both), a word shared as often as both have it. 1 if both are empty, 0 if one is."""
    if not answer or not gold:
        return float(not answer and not gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))
