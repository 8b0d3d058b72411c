"""METEOR: word alignment by form, by stem and, where WordNet is installed, by synonym."""

from collections.abc import Collection
from typing import Any

from evaluation.scorers.registry import Parameters, Score, scorer
from evaluation.scorers.stems import porter_stem
from evaluation.scorers.wordnet import PAYS_FROM, missing_wordnet, wordnet

_PARAMETERS: Parameters = {"alpha": 0.9, "beta": 3, "gamma": 0.5, "tokenizer": "white space", "stemmer": "Porter"}


class _Stemmer:
    """NLTK's Porter stemmer with a memory."""

    def stem(self, word: str) -> str:
        return porter_stem(word)


class _NoSynonyms:
    """A WordNet that knows no word."""

    def synsets(self, word: str) -> list[Any]:
        return []


def meteor_score(answer: str, gold: str, synonyms: Any) -> float:
    """NLTK's METEOR of one pair: words split at white space, its default weights.

    An exact answer of one word scores .5, because a single chunk of a single word counts as fragmented.
    Source: Lavie and Agarwal 2007; computed by NLTK, which looks synonyms up by stem and so finds fewer of them.
    """
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(gold.split(), answer.split(), stemmer=_Stemmer(), wordnet=synonyms))


@scorer("meteor_no_synonyms", parameters={**_PARAMETERS, "synonyms": "none"})
def meteor_no_synonyms(answer: str, gold: Collection[str]) -> Score:
    """METEOR by form and stem alone, the best over the gold answers."""
    return _best(answer, gold, _NoSynonyms())


@scorer(
    "meteor_nltk", parameters={**_PARAMETERS, "synonyms": "WordNet 3.0"}, spread_from=PAYS_FROM, missing=missing_wordnet
)
def meteor_nltk(answer: str, gold: Collection[str]) -> Score:
    """METEOR with WordNet's synonyms as NLTK finds them, the best over the gold answers."""
    return _best(answer, gold, wordnet())


def _best(answer: str, gold: Collection[str], synonyms: Any) -> Score:
    labels = [label for label in gold if label.split()]
    if not labels:
        return Score(None, "the gold label is empty")
    return Score(max(meteor_score(answer, label, synonyms) for label in labels))
