"""StrucText-Eval's score: ROUGE-L of the `rouge` library 1.0.1 at summary level, cut at .75.

Kept for comparison with its published figures. Words are split at blanks and are a set, sentences are split at every
dot, and case and punctuation count: true is not True, `a->b` not `a -> b`, and file names may come in any order.
"""

from collections.abc import Collection, Sequence

from evaluation.scorers.registry import Parameters, Score, scorer

THRESHOLD = 0.75
# Words compared in all pairs of sentences. An answer of 46,000 characters needs some thousands, a hostile one billions.
MAX_STEPS = 5_000_000
_PARAMETERS: Parameters = {"library": "rouge 1.0.1", "level": "summary"}


class TooManySentences(ValueError):
    """Comparing every sentence with every other would take minutes."""


@scorer("structext_rouge_l", parameters=_PARAMETERS, is_published_rule=True)
def structext_rouge_l(answer: str, gold: Collection[str]) -> Score:
    """F as it is, the best over the gold answers; an empty answer is worth 0."""
    return _best(answer, gold)


@scorer("structext_rouge_l_75", parameters={**_PARAMETERS, "threshold": THRESHOLD}, is_published_rule=True)
def structext_rouge_l_75(answer: str, gold: Collection[str]) -> Score:
    """What its tables call accuracy: F, or 0 below .75; an empty answer is worth 0."""
    return _cut(_best(answer, gold))


@scorer(
    "structext_rouge_l_75_empty_left_out", parameters={**_PARAMETERS, "threshold": THRESHOLD}, is_published_rule=True
)
def structext_rouge_l_75_empty_left_out(answer: str, gold: Collection[str]) -> Score:
    """The same as its script has it: an empty answer, or one of dots alone, raises there and leaves the mean."""
    if not _sentences(answer):
        return Score(None, "empty, or dots alone: the published script leaves it out")
    return _cut(_best(answer, gold))


def summary_rouge_l(gold: str, response: str) -> float:
    """2 P R / (P + R + 1e-8) over the union of the longest common subsequences of all pairs of sentences.

    The script passes the gold answer as the hypothesis and the response as the reference; where several subsequences
    are longest, that decides which one is taken. 0 if a side has no sentence. Raises TooManySentences.
    """
    evaluated, reference = _sentences(gold), _sentences(response)
    if not evaluated or not reference:
        return 0.0
    n_evaluated, n_reference = len(set().union(*evaluated)), len(set().union(*reference))
    shared = len(_union_of_lcs(reference, evaluated))
    recall, precision = shared / n_reference, shared / n_evaluated
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def _best(answer: str, gold: Collection[str]) -> Score:
    try:
        return Score(max(summary_rouge_l(label, answer) for label in gold))
    except TooManySentences as problem:
        return Score(None, str(problem))


def _cut(score: Score) -> Score:
    return Score(0.0) if score.value is not None and score.value < THRESHOLD else score


def _sentences(text: str) -> list[tuple[str, ...]]:
    """Between dots, unless nothing at all stands there; of white space alone one empty word is left, as there."""
    return [tuple(" ".join(sentence.split()).split(" ")) for sentence in text.split(".") if sentence]


def _union_of_lcs(reference: Sequence[tuple[str, ...]], evaluated: Sequence[tuple[str, ...]]) -> set[str]:
    """The words that stand in the longest common subsequence of some pair of sentences."""
    with_word: dict[str, list[int]] = {}
    distinct = list(dict.fromkeys(evaluated))
    for place, sentence in enumerate(distinct):
        for word in set(sentence):
            with_word.setdefault(word, []).append(place)
    # Once every shared word has been found there is nothing left to find.
    possible = with_word.keys() & set().union(*reference)
    union: set[str] = set()
    steps = 0
    for sentence in dict.fromkeys(reference):
        for place in sorted({place for word in set(sentence) for place in with_word.get(word, ())}):
            if len(union) == len(possible):
                return union
            steps += len(sentence) + len(distinct[place])
            if steps > MAX_STEPS:
                raise TooManySentences(f"not scored: more than {MAX_STEPS:,} words to compare between sentences")
            union.update(_lcs(sentence, distinct[place]))
    return union


def _lcs(x: Sequence[str], y: Sequence[str]) -> set[str]:
    """The words of one longest common subsequence: found from the end, going back in y where it can.

    One bit a word of y: row i holds a 0 for every word at which the length grows (Crochemore et al. 2001), so a row is
    a few machine words and the table of lengths needs not be kept.
    """
    where: dict[str, int] = {}
    for place, word in enumerate(y):
        where[word] = where.get(word, 0) | 1 << place
    everything = (1 << len(y)) - 1
    rows = [everything]
    for word in x:
        row = rows[-1]
        grown = row & where.get(word, 0)
        rows.append(((row + grown) | (row - grown)) & everything)
    found = set()
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            found.add(x[i - 1])
            i, j = i - 1, j - 1
        elif _length(rows[i - 1], j) > _length(rows[i], j - 1):
            i -= 1
        else:
            j -= 1
    return found


def _length(row: int, j: int) -> int:
    """The length of the longest common subsequence with the first j words of y."""
    return j - (row & ((1 << j) - 1)).bit_count()
