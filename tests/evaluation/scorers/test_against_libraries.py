"""Scorers against the libraries that everybody cites, on the same pairs, to nine digits."""

import random

import pytest

from evaluation.scorers import get_scorer
from evaluation.scorers.meteor import meteor_score
from evaluation.scorers.rouge import rouge_words
from evaluation.scorers.structext import summary_rouge_l
from evaluation.scorers.wordnet import missing_wordnet, wordnet

_WORDS = (
    "the a cat cats sat sitting on mat doctor physician left large big happily 1912 2012 running runs well-known "
    "Oslo, (1905) U.S. x. 北京 大学 Київ don't automobile car . .."
)
WORDS = _WORDS.split(" ")


def pairs(n: int, words: list[str] = WORDS) -> list[tuple[str, str]]:
    rng = random.Random(3)
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 14))) for _ in range(2 * n)]
    return list(zip(texts[:n], texts[n:], strict=True))


class CharacterTokenizer:
    """What rouge-score's `tokenizer` argument wants."""

    def tokenize(self, text):
        return rouge_words(text)


@pytest.mark.parametrize(
    ("ending", "options"), [("", {"tokenizer": CharacterTokenizer()}), ("_stem", {"use_stemmer": True})]
)
def test_rouge_equals_rouge_score(ending, options):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    library = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], **options)
    n_scored = 0
    for answer, gold in pairs(150):
        theirs = library.score(gold, answer)
        for name, other in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            found = get_scorer(name + ending)(answer, [gold]).value
            # Undefined where gold has no word that ROUGE knows; the library says 0.
            assert found == pytest.approx(theirs[other].fmeasure, abs=1e-9) or (found is None and theirs[other][2] == 0)
            n_scored += found is not None
    assert n_scored > 400


def test_bleu_equals_sacrebleu():
    import sacrebleu

    for answer, gold in pairs(150):
        theirs = sacrebleu.sentence_bleu(answer, [gold], use_effective_order=True).score / 100
        assert get_scorer("bleu")(answer, [gold]).value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.skipif(bool(missing_wordnet()), reason=f"METEOR with synonyms: {missing_wordnet()}")
def test_meteor_equals_nltk_with_its_own_stemmer_and_reader():
    from nltk.translate.meteor_score import single_meteor_score

    class Plain:
        """The reader without the memory."""

        synsets = staticmethod(wordnet().synsets.__wrapped__)

    for answer, gold in pairs(80):
        theirs = single_meteor_score(gold.split(), answer.split(), wordnet=Plain())
        assert meteor_score(answer, gold, wordnet()) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.skipif(bool(missing_wordnet()), reason=f"METEOR with synonyms: {missing_wordnet()}")
def test_wordnet_makes_the_difference_that_the_name_says():
    # .981 is 1 - .5 * (1/3)^3: three matches in one chunk; without synonyms two in two chunks: (1 - .5 * 1) * 2/3.
    assert get_scorer("meteor_nltk")("the doctor left", ["the physician left"]).value == pytest.approx(1 - 0.5 / 27)
    assert get_scorer("meteor_no_synonyms")("the doctor left", ["the physician left"]).value == pytest.approx(1 / 3)


def test_structext_equals_the_rouge_library():
    library = pytest.importorskip("rouge").Rouge(metrics=["rouge-l"])
    for answer, gold in pairs(200, [*WORDS, "True.", "a->b.", "x.jpg", "cat."]):
        try:
            theirs = library.get_scores(gold, answer)[0]["rouge-l"]["f"]
        except ValueError:
            # The library takes no empty side; nor does it one of dots alone.
            assert summary_rouge_l(gold, answer) == 0
            continue
        assert summary_rouge_l(gold, answer) == pytest.approx(theirs, abs=1e-9)
