"""The longest answers of the seeds, and the work that is bounded instead of done."""

import random
import re

import pytest

from evaluation.scorers import get_scorer, structext
from evaluation.scorers.rouge import latin_words
from evaluation.scorers.structext import TooManySentences, summary_rouge_l


def long_text(seed: int, n_words: int = 9300) -> str:
    rng = random.Random(seed)
    return " ".join(f"w{rng.randint(0, 500)}" for _ in range(n_words))


@pytest.mark.parametrize("name", ["rouge_l", "rouge_l_stem", "structext_rouge_l"])
def test_answers_of_46_000_characters_are_scored_whole(name):
    # A table of 9,300 x 9,300 words would need gigabytes; the suite's time limit is what fails.
    answer, gold = long_text(1), long_text(2)
    assert len(answer) > 44_000
    assert 0 < get_scorer(name)(answer, [gold]).value < 1
    assert get_scorer(name)(answer, [answer]).value == pytest.approx(1, abs=1e-6)


def test_the_length_of_the_common_subsequence_is_that_of_the_table():
    for seed in range(20):
        rng = random.Random(seed)
        x, y = (" ".join(rng.choices("abcd", k=rng.randint(1, 40))) for _ in range(2))
        a, b = latin_words(x), latin_words(y)
        table = [[0] * (len(b) + 1)]
        for word in a:
            row = [0]
            for j, other in enumerate(b):
                row.append(table[-1][j] + 1 if word == other else max(table[-1][j + 1], row[-1]))
            table.append(row)
        shared = table[-1][-1]
        f = 2 * shared / (len(a) + len(b)) if shared else 0
        assert get_scorer("rouge_l")(x, [y]).value == pytest.approx(f)


def test_too_many_sentences_are_told_and_not_compared(monkeypatch):
    monkeypatch.setattr(structext, "MAX_STEPS", 100)
    # Each sentence shares "a" with all others, and "never" is shared but never in a longest subsequence found early.
    text = ".".join(f"a b{n} never" for n in range(50))
    other = ".".join(f"never a c{n}" for n in range(50))
    with pytest.raises(TooManySentences, match="more than 100 words"):
        summary_rouge_l(text, other)
    scored = get_scorer("structext_rouge_l_75")(other, [text])
    assert scored.value is None
    assert re.match("not scored: more than", scored.note)
