"""Pairs a second of every scorer, and of the library it stands for, called plainly in the same run.

    python -m benchmarks.scorers [--pairs 3000] [--only rouge_l_stem ...]

Pairs are seeded: short answers of 1 to 16 words for texts, tables of 20 rows and 4 columns. Every pair is different, so
that no memory helps but that of single words. The first pair, which loads libraries, is not timed.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evaluation.scorers import SCORERS, Takes
from evaluation.scorers.rouge import rouge_words
from evaluation.scorers.wordnet import missing_wordnet, wordnet

WORDS = (
    "the a of in years months gold medal doctor physician running runs large big happily city river north 1912 2012 12 "
    "won born played general elections president Oslo Bergen Москва 北京 automobile car red house houses building"
)
ROUNDS = 3


def texts(n: int, rng: random.Random) -> list[tuple[str, str]]:
    words = [*WORDS.split(), *(f"name{number}" for number in range(2000))]
    return [(sentence(words, rng), sentence(words, rng)) for _ in range(n)]


def sentence(words: Sequence[str], rng: random.Random) -> str:
    return " ".join(rng.choices(words, k=rng.randint(1, 16)))


def tables(n: int, rng: random.Random) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    names = ["".join(rng.choices("abcdefgh ", k=14)) for _ in range(400)]
    pairs = []
    for _ in range(n):
        rows: list[list[object]] = [
            [rng.choice(names), str(rng.randint(1, 10**6)), rng.choice(names), str(rng.randint(1900, 2020))]
            for _ in range(20)
        ]
        answered = [row if rng.random() < 0.7 else [rng.choice(names), *row[1:]] for row in rows]
        rng.shuffle(answered)
        columns = ["name", "n", "place", "year"]
        pairs.append(({"columns": columns, "rows": answered}, {"columns": columns, "rows": rows}))
    return pairs


def libraries() -> dict[str, Callable[[str, str], object]]:
    """What is called instead of each scorer, as its documentation shows it; those that are installed."""
    import sacrebleu
    from nltk.translate.meteor_score import single_meteor_score

    class NoSynonyms:
        def synsets(self, word: str) -> list[object]:
            return []

    found: dict[str, Callable[[str, str], object]] = {
        "bleu": lambda answer, gold: sacrebleu.sentence_bleu(answer, [gold], use_effective_order=True),
        "meteor_no_synonyms": lambda a, gold: single_meteor_score(gold.split(), a.split(), wordnet=NoSynonyms()),
    }
    if not missing_wordnet():
        reader = type("Reader", (), {"synsets": staticmethod(wordnet().synsets.__wrapped__)})()
        found["meteor_nltk"] = lambda a, gold: single_meteor_score(gold.split(), a.split(), wordnet=reader)
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        return found
    tokenizer = type("Characters", (), {"tokenize": staticmethod(rouge_words)})()
    for name, other in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
        plain, stemmed = RougeScorer([other], tokenizer=tokenizer), RougeScorer([other], use_stemmer=True)
        found[name] = partial(score_of_library, plain)
        found[f"{name}_stem"] = partial(score_of_library, stemmed)
    return found


def score_of_library(library: Any, answer: str, gold: str) -> object:
    return library.score(gold, answer)


def pairs_a_second(call: Callable[[Any, Any], object], pairs: Sequence[tuple[Any, Any]]) -> float:
    """The median of three rounds over all pairs."""
    call(*pairs[0])
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for answer, gold in pairs:
            call(answer, gold)
        rates.append(len(pairs) / (time.perf_counter() - began))
    return sorted(rates)[ROUNDS // 2]


def score_of(scorer: Callable[..., object], answer: Any, gold: Any) -> object:
    return scorer(answer, [gold])


def main() -> None:
    parser = argparse.ArgumentParser(description="Pairs a second of every scorer and of its library.")
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--only", nargs="*", default=[], help="scorers by name; all if left out")
    options = parser.parse_args()
    rng = random.Random(1)
    by_form: dict[Takes, Sequence[tuple[Any, Any]]] = {
        Takes.TEXT: texts(options.pairs, rng),
        Takes.TABLE: tables(max(options.pairs // 10, 10), rng),
    }
    plain = libraries()
    print(f"{'scorer':38}{'pairs a second':>16}{'library':>16}{'ratio':>8}")
    for name, scorer in SCORERS.items():
        if (options.only and name not in options.only) or scorer.missing():
            continue
        pairs = by_form[Takes.TABLE if scorer.takes is Takes.TABLE else Takes.TEXT]
        ours = pairs_a_second(partial(score_of, scorer), pairs)
        theirs = pairs_a_second(plain[name], pairs) if name in plain else None
        beside = f"{theirs:>16,.0f}{ours / theirs:>8.1f}" if theirs else ""
        print(f"{name:38}{ours:>16,.0f}{beside}", flush=True)


if __name__ == "__main__":
    main()
