"""BLEU of one answer, as sacrebleu counts it for a sentence."""

from collections.abc import Collection
from functools import cache
from typing import Any

from evaluation.scorers.registry import Parameters, Score, scorer


def sentence_bleu(answer: str, gold: Collection[str], *, tokenizer: str = "13a", effective_order: bool = True) -> float:
    """sacrebleu's sentence BLEU against all gold answers together, 0 to 1 (it says 0 to 100).

    effective_order: orders of which the answer has no n-gram are left out. Without it an exact answer of two words
    scores 0, because it has no three words in a row.
    Source: Post 2018, A Call for Clarity in Reporting BLEU Scores; exponential smoothing.
    """
    score = _metric(tokenizer, effective_order).sentence_score(answer, sorted(gold))
    # An exact answer comes out as 100.00000000000004.
    return min(1.0, max(0.0, float(score.score) / 100))


def _bleu(tokenizer: str) -> Any:
    def bleu(answer: str, gold: Collection[str]) -> Score:
        """BLEU, 0 to 1; undefined where no gold answer has a word."""
        labels = [label for label in gold if label.strip()]
        if not labels:
            return Score(None, "the gold label is empty")
        return Score(sentence_bleu(answer, labels, tokenizer=tokenizer))

    return bleu


_PARAMETERS: Parameters = {"effective_order": True, "smoothing": "exp", "max_order": 4}
bleu = scorer("bleu", parameters={**_PARAMETERS, "tokenizer": "13a"})(_bleu("13a"))
bleu_zh = scorer("bleu_zh", parameters={**_PARAMETERS, "tokenizer": "zh"})(_bleu("zh"))


@cache
def _metric(tokenizer: str, effective_order: bool) -> Any:
    # Half a second to import; only a process that needs BLEU pays for it.
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=effective_order, tokenize=tokenizer)
