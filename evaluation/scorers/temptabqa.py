"""TempTabQA's scores as its script computes them (its mode 1), for comparison with its published tables.

Before anything is scored the pair is converted: what shares a time, or contains the other, is made equal. 1997 and 1897
are then the same answer, and so are 12 and 1: read the rule in docs/measures.md before quoting it. Its
published "R2" is ROUGE-L.
"""

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from evaluation.scorers.meteor import meteor_score
from evaluation.scorers.registry import Score, scorer
from evaluation.scorers.rouge import latin_stems, rouge_l, rouge_n
from evaluation.scorers.token_f1 import bag_f1
from evaluation.scorers.tokens import squad_tokens
from evaluation.scorers.wordnet import PAYS_FROM, missing_wordnet, wordnet

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {
    **{word: value for value, word in enumerate(_UNITS.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=2)},
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
}
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name: number for number, full in enumerate(_MONTHS.split(), start=1) for name in (full, full[:3])}
_TIME = re.compile(r"([0-9]{1,2}).([0-9]{2})", re.DOTALL)
_HALF = re.compile(r" {0,3}([ap])m\b")
_DIGITS = re.compile("[0-9]+")
_MONTH_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_DAY_MONTH = re.compile(rf"\b([0-9]{{1,2}})(?:st|nd|rd|th)? ({_MONTH_NAMES})\b")
_MONTH_DAY = re.compile(rf"\b({_MONTH_NAMES}) ([0-9]{{1,2}})(?:st|nd|rd|th)?\b")


@lru_cache(maxsize=1000)
def convert(gold: str, prediction: str) -> tuple[str, str]:
    """The pair as the script scores it, in lower case. An empty prediction is read as "nan", as it reads its files."""
    gold, prediction = gold.lower(), prediction.lower() or "nan"
    if gold == prediction:
        return gold, prediction
    gold, prediction = _number_name(gold), _number_name(prediction)
    gold, prediction = _without_quotes_and_dots(gold), _without_quotes_and_dots(prediction)
    if gold == prediction or _as_time(gold) == _as_time(prediction):
        return gold, gold
    if prediction in gold:
        return prediction, prediction
    if gold in prediction:
        return gold, gold
    if _DIGITS.findall(gold) == _DIGITS.findall(prediction):
        return gold, prediction
    day = _day_and_month(gold)
    if day is not None and day == _day_and_month(prediction):
        return gold, gold
    return gold, prediction


def _registered(
    name: str,
    measure: Callable[[str, str], float],
    *,
    missing: Callable[[], str] = lambda: "",
    spread_from: int | None = None,
) -> None:
    @scorer(name, is_published_rule=True, missing=missing, spread_from=spread_from)
    def best(answer: str, gold: Collection[str]) -> Score:
        """The best over the gold answers."""
        return Score(max(measure(*convert(label, answer)) for label in gold))


def _exact_match(gold: str, prediction: str) -> float:
    return float(squad_tokens(gold) == squad_tokens(prediction))


def _f1(gold: str, prediction: str) -> float:
    return bag_f1(squad_tokens(prediction), squad_tokens(gold))


def _rouge_1(gold: str, prediction: str) -> float:
    return rouge_n(latin_stems(prediction), latin_stems(gold), 1)


def _rouge_l(gold: str, prediction: str) -> float:
    return rouge_l(latin_stems(prediction), latin_stems(gold))


def _meteor(gold: str, prediction: str) -> float:
    return meteor_score(prediction, gold, wordnet())


_registered("temptabqa_exact_match", _exact_match)
_registered("temptabqa_f1", _f1)
_registered("temptabqa_rouge_1", _rouge_1)
_registered("temptabqa_rouge_l", _rouge_l)
_registered("temptabqa_meteor", _meteor, missing=missing_wordnet, spread_from=PAYS_FROM)


def _number_name(text: str) -> str:
    """ "one hundred" becomes 101: words are added up. A blank becomes 0; any other word leaves the text as is."""
    values = [_NUMBERS.get(word) for word in text.split()]
    if None in values:
        return text
    return str(sum(value for value in values if value is not None))


def _without_quotes_and_dots(text: str) -> str:
    return re.sub(r"(?<=\w)\.", "", text.replace('"', ""))


def _as_time(text: str) -> str:
    """The first one or two digits, any character, two digits, as hours and minutes; a year passes for one (01:97)."""
    match = _TIME.search(text)
    if match is None:
        return text
    hours, minutes = int(match[1]), match[2]
    if half := _HALF.match(text, match.end()):
        hours = hours % 12 + (12 if half[1] == "p" else 0)
    return f"{hours:02}:{minutes}"


def _day_and_month(text: str) -> tuple[int, int] | None:
    if match := _DAY_MONTH.search(text):
        return int(match[1]), _MONTH[match[2]]
    if match := _MONTH_DAY.search(text):
        return int(match[2]), _MONTH[match[1]]
    return None
