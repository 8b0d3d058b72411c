"""Is the answer, word for word, one of the gold answers?"""

from collections.abc import Collection

from evaluation.scorers.registry import Score, scorer
from evaluation.scorers.tokens import squad_tokens, unicode_tokens


@scorer("exact_match", version=2)
def exact_match(answer: str, gold: Collection[str]) -> Score:
    """1.0 if the words of the answer are those of a gold answer in the same order, else 0.0; words in any script."""
    words = unicode_tokens(answer)
    return Score(float(any(words == unicode_tokens(label) for label in gold)))


@scorer("exact_match_squad", is_published_rule=True)
def exact_match_squad(answer: str, gold: Collection[str]) -> Score:
    """The same by SQuAD's rules for words, for comparison with published figures."""
    words = squad_tokens(answer)
    return Score(float(any(words == squad_tokens(label) for label in gold)))
