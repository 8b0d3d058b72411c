"""Hints to whoever writes questions: what a good author would look at again. Never a wall. Pure: texts in, hints out.

The only place that knows them: the page asks the server while somebody types, and shows what it says. A hint that
reads words knows the languages named beside it; in others it is silent rather than wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.answers.equivalence import INVISIBLE, is_blank, text_key
from annotate.answers.meaning.spelling import spelled
from annotate.answers.meaning.yes_no import read_yes_no
from annotate.wording import _, ngettext

# A question ends in one of these, whatever its language; the Greek one is a semicolon, the Armenian one stands on the
# stressed vowel of the word that asks.
QUESTION_MARKS = "?？؟⁇⁈‽՞፧꘏⳺⁉"
GREEK_MARKS = ";\u037e"
# Languages that write questions without a mark; Japanese and Khmer have one that need not stand.
WITHOUT_MARK = frozenset({"th", "lo", "km", "my", "bo", "dz", "ja", "shn", "nod", "mnw"})
_SCRIPTS_WITHOUT_MARK = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff]")
_CLOSING = "\"'”’»«)]}」』）】〉》.。 \t\r\n"

_AUXILIARIES = frozenset(
    [
        *("is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would"),
        *("shall", "should", "may", "might", "must", "isn't", "aren't", "wasn't", "weren't", "don't", "doesn't"),
        *("didn't", "hasn't", "haven't", "hadn't", "can't", "couldn't", "won't", "wouldn't"),
    ]
)
_PRONOUNS = frozenset(["he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs"])
# "How long did it take", "Is it true that", "What year was it when": the pronoun means nothing that was named.
_EMPTY_IT = re.compile(
    r"\b(?:does|did|do|has|will|would) it (?:take|took|taken|last)\b|\bit (?:true|possible|that|when)\b"
)
_DETERMINED = re.compile(
    r"\b(?:the|this|that|these|those|which|what|whose|an?) (?!year|date|month|day|time|age)[a-z]{3,}"
)
_CHINESE_PRONOUN = re.compile(r"^(?:在)?[他她它]")
_ARABIC_YES_NO = ("هل ", "أليس ", "ألم ")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

N_FIRST_WORDS = 2
# In a batch of a dozen tables some beginnings come back by themselves: from the third time on it is a habit.
REPEATS_IN_A_BATCH = 3


@dataclass(frozen=True)
class Hint:
    """field, position: which pair of which field, counted from 0; a field that is one question has position 0."""

    field: str
    position: int
    code: str
    text: str


def hints_for_question(question: str, *, language: str = "", field: str = "", position: int = 0) -> list[Hint]:
    """Of a question that stands alone, such as a claim rewritten: whether its mark is there."""
    if is_blank(question) or has_question_mark(question, language):
        return []
    return [Hint(field, position, "no_question_mark", _("A question usually ends with a question mark."))]


def hints_for_pairs(
    pairs: Sequence[Mapping[str, Any]], *, language: str = "", field: str = "", earlier: Sequence[str] = ()
) -> list[Hint]:
    """Of questions with their answers, in the order of the pairs.

    earlier: how the same person's last questions here begin (`first_words`), those of this item left out.
    """
    beginnings = [first_words(str(pair.get("question") or "")) for pair in pairs]
    used = Counter(earlier)
    found: list[Hint] = []
    for position, pair in enumerate(pairs):
        question, answer = str(pair.get("question") or ""), str(pair.get("answer") or "")
        if is_blank(question):
            continue
        n_here = beginnings[:position].count(beginnings[position])
        told = _about_pair(question, answer, language, n_here=n_here, n_before=used[beginnings[position]])
        if not beginnings[position]:
            told.pop("repeated", None)
        found += [Hint(field, position, code, text) for code, text in told.items()]
        found += hints_for_question(question, language=language, field=field, position=position)
    return found


def _about_pair(question: str, answer: str, language: str, *, n_here: int, n_before: int) -> dict[str, str]:
    told: dict[str, str] = {}
    if is_yes_no(question, answer, language):
        told["yes_no"] = _("It can be answered with yes or no: ask for a name, a date or a number instead.")
    if pronoun := pronoun_without_referent(question, language):
        told["pronoun"] = _("“%(pronoun)s” stands for nobody that the question names: name them.", pronoun=pronoun)
    if n_here or n_before + 1 >= REPEATS_IN_A_BATCH:
        n = n_here + n_before
        told["repeated"] = ngettext(
            "It begins like another question of yours: try another way to ask.",
            "It begins like %(n)s others of yours: try another way to ask.",
            n,
            n=n,
        )
    if stands_in(answer, question):
        told["answer_in_question"] = _("The answer stands in the question, word for word.")
    return told


def first_words(question: str) -> str:
    """How a question begins: its first two words, or two characters of Chinese and Japanese; "" if it has fewer.

    Other scripts that set no blanks between words have no first word that could be told.
    """
    words = text_key(question)
    if _HAN.match(words):
        found = list("".join(_WORD.findall(words))[:N_FIRST_WORDS])
        return "".join(found) if len(found) == N_FIRST_WORDS else ""
    if _UNSPACED.match(words):
        return ""
    found = [word.replace("’", "'") for word in _WORD.findall(words)[:N_FIRST_WORDS]]
    return " ".join(found) if len(found) == N_FIRST_WORDS else ""


def has_question_mark(question: str, language: str = "") -> bool:
    """Whether the mark is there, or the language does without; a language that is not given is told by its script."""
    base = language.lower().partition("-")[0]
    if base in WITHOUT_MARK or (not base and _SCRIPTS_WITHOUT_MARK.search(question)):
        return True
    if "՞" in question:
        return True
    text = question.translate(INVISIBLE).rstrip(_CLOSING)
    return text.endswith(tuple(QUESTION_MARKS + (GREEK_MARKS if base == "el" else "")))


def is_yes_no(question: str, answer: str = "", language: str = "") -> bool:
    """By the answer in any language that answers are read in; by the question in English, Chinese and Arabic.

    "Is it A or B?" asks for one of two.
    """
    if read_yes_no(spelled(answer).rstrip(".!")) in ("truth:yes", "truth:no"):
        return True
    words = spelled(question)
    base = language.lower().partition("-")[0]
    if base == "zh":
        return words.rstrip("?").endswith(("吗", "嗎")) or any(part in words for part in ("是否", "是不是", "有没有"))
    if base == "ar":
        return words.startswith(_ARABIC_YES_NO)
    if base not in ("", "en"):
        return False
    first = _WORD.match(words)
    return first is not None and first.group().replace("’", "'") in _AUXILIARIES and " or " not in words


def pronoun_without_referent(question: str, language: str = "") -> str:
    """The first pronoun that nothing named before it can mean, as it is written; "" without one.

    In English and Chinese. A name (a capital within the sentence) or a noun with its article counts as named.
    """
    base = language.lower().partition("-")[0]
    if base == "zh":
        found = _CHINESE_PRONOUN.match(question.strip())
        return found.group().removeprefix("在") if found else ""
    if base not in ("", "en"):
        return ""
    for word in _WORD.finditer(question):
        if word.group().lower() not in _PRONOUNS or (word.group().isupper() and len(word.group()) > 1):
            continue  # IT is a field, not a pronoun.
        before = question[: word.start()]
        if word.group().lower() == "it" and _EMPTY_IT.search(question[max(0, word.start() - 6) :].lower()):
            continue
        is_named = any(one.group()[0].isupper() for one in list(_WORD.finditer(before))[1:])
        return "" if is_named or _DETERMINED.search(before.lower()) else word.group()
    return ""


def stands_in(answer: str, question: str) -> bool:
    """Whether the words of the answer stand in the question one after another; 12 does not stand in 1912."""
    inner, outer = text_key(answer).strip(" .。"), text_key(question)
    if not inner:
        return False
    if _UNSPACED.search(inner):
        return inner in outer
    return re.search(rf"(?<!\w){re.escape(inner)}(?!\w)", outer) is not None
