"""How many word sequences do the answer and the gold answer share?

The F-measures of rouge-score, to 1e-9 (tests compare). Counted here and not there, because its longest common
subsequence fills a table of words times words in Python: an answer of 46,000 characters would take a minute and
gigabytes. The bit-parallel length is the same number in milliseconds.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from evaluation.scorers.registry import Parameters, Score, scorer
from evaluation.scorers.stems import porter_stem

_LATIN_WORDS = re.compile("[a-z0-9]+")
# As tokens.py knows them: Han, Hiragana and Katakana are written without spaces.
_WORDS = re.compile(
    "[a-z0-9]+|[\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

Tokens = Callable[[str], list[str]]


def rouge_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in lower case, and each Han or Kana character."""
    return _WORDS.findall(text.lower())


def latin_words(text: str) -> list[str]:
    """The default tokenizer of rouge-score: runs of a-z and 0-9 in lower case, and nothing else."""
    return _LATIN_WORDS.findall(text.lower())


def latin_stems(text: str) -> list[str]:
    """The same with its stemmer: words of more than three letters are stemmed."""
    return [porter_stem(word) if len(word) > 3 else word for word in latin_words(text)]


def rouge_n(answer: Sequence[str], gold: Sequence[str], n: int) -> float:
    """F-measure of the shared n-grams, each as often as both have it; 0 where a side has none."""
    given, wanted = _ngrams(answer, n), _ngrams(gold, n)
    return _f_measure((given & wanted).total(), given.total(), wanted.total())


def rouge_l(answer: Sequence[str], gold: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of words; 0 where a side has none."""
    if not answer or not gold:
        return 0.0
    from rapidfuzz.distance import LCSseq

    codes: dict[str, int] = {}
    given, wanted = ([codes.setdefault(word, len(codes)) for word in words] for words in (answer, gold))
    return _f_measure(LCSseq.similarity(given, wanted), len(given), len(wanted))


def _rouge(tokens: Tokens, measure: Callable[[Sequence[str], Sequence[str]], float]) -> Callable[..., Score]:
    def best(answer: str, gold: Collection[str]) -> Score:
        """The best over the gold answers."""
        words = [found for label in gold if (found := tokens(label))]
        if not words:
            # rouge-score says 0 here, also for an answer that is the gold answer.
            return Score(None, "the gold label has no word that ROUGE counts: it knows a-z, 0-9, Han and Kana")
        given = tokens(answer)
        if not given and len(words) < len(gold) and answer.strip():
            return Score(None, "neither the answer nor one of its gold labels has a word that ROUGE counts")
        return Score(max(measure(given, wanted) for wanted in words))

    return best


def _pairs(answer: Sequence[str], gold: Sequence[str]) -> float:
    return rouge_n(answer, gold, 2)


def _words(answer: Sequence[str], gold: Sequence[str]) -> float:
    return rouge_n(answer, gold, 1)


_PLAIN: Parameters = {"tokenizer": "a-z0-9 runs, Han and Kana characters", "stemmer": False}
_STEMMED: Parameters = {"tokenizer": "a-z0-9 runs", "stemmer": True}
rouge_1 = scorer("rouge_1", parameters=_PLAIN)(_rouge(rouge_words, _words))
rouge_2 = scorer("rouge_2", parameters=_PLAIN)(_rouge(rouge_words, _pairs))
rouge_l_score = scorer("rouge_l", parameters=_PLAIN)(_rouge(rouge_words, rouge_l))
rouge_1_stem = scorer("rouge_1_stem", parameters=_STEMMED)(_rouge(latin_stems, _words))
rouge_2_stem = scorer("rouge_2_stem", parameters=_STEMMED)(_rouge(latin_stems, _pairs))
rouge_l_stem = scorer("rouge_l_stem", parameters=_STEMMED)(_rouge(latin_stems, rouge_l))


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _f_measure(shared: int, n_answer: int, n_gold: int) -> float:
    if not shared:
        return 0.0
    precision, recall = shared / n_answer, shared / n_gold
    return 2 * precision * recall / (precision + recall)
