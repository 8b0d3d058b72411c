"""A short answer, a few words or numbers, read out of a chatty completion."""

import json
import re
from collections.abc import Sequence

from evaluation.parsing.envelope import (
    JSON_STRUCTURE,
    answer_segments,
    before_next_question,
    drop_reasoning,
    is_refusal,
    json_or_boxed_answer,
    own_turn,
    within_reach,
)
from evaluation.parsing.loose_json import readings
from evaluation.parsing.parsed import Parsed, ParseStatus

_FENCED = re.compile(r"```[\w+-]{0,20}[ \t]*\n(.*?)```", re.DOTALL)
_BULLET = re.compile(r"^(?:[-*•+]|\d{1,3}[.)])[ \t]+")
# On a line of its own "1. Mai" is a day and "1. FC" a club.
_MARK = re.compile(r"^[-*•+][ \t]+")
_EXPLANATION = re.compile(
    r"[.;,]?\s\(?(?:(?:explanation|reasoning|rationale|justification)\s?:|because\s"
    r"|(?:according to|from) the (?:table|text|infobox|passage|context))"
    # In a title such words may stand alone: "The Reason: Live".
    r"|(?:[.;,]\s|\s\()(?:reason|note|evidence|source)\s?:",
    re.IGNORECASE,
)
_POLITE_ENDING = re.compile(r"(?<=.)(?:です|でした)$")
_WRAPPED = (
    ("```", "```"),
    *(("**", "**"), ("__", "__"), ("*", "*"), ("`", "`")),
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("「", "」")),
)
# A first line longer than this is a sentence about the question, not the answer to it.
_MAX_WORDS_OF_BARE_ANSWER = 12
# Lines that are no longer, and no sentences, are several answers.
_MAX_WORDS_OF_MEMBER = 6
_SENTENCE = re.compile(r"[.!?:;。！？：；]$|[:：]")
_ANSWER_NAMES = ("answer", "final_answer", "final answer", "response", "result", "respuesta", "答案")


def parse_short_answer(text: str) -> Parsed:
    """The answer that a completion gives, without what models put around it.

    In this order: reasoning blocks and further questions that the model asks itself are dropped; an answer in JSON, a
    box or a tag; the line or the list after the last marker ("Answer:", "the final answer is"); a refusal; the only
    fenced block; a single line; a list, or lines of at most 6 words; a first line of at most 12 words. From what is
    found an explanation ("because ...", "Explanation: ..."), quotes, bold type and a final full stop are cut. Members
    of a list are joined by commas, or by semicolons where they contain commas.
    Several lines without any of that are ambiguous: which of them is the answer is not guessed.
    """
    visible, cut_off = drop_reasoning(own_turn(within_reach(text)))
    visible = before_next_question(visible).strip()
    if not visible:
        return Parsed(None, ParseStatus.NONE, "the reasoning was cut off" if cut_off else "empty")
    if JSON_STRUCTURE.search(visible) and (structured := _structured(visible)):
        return structured
    wrapped = json_or_boxed_answer(visible)
    if wrapped is not None:
        if wrapped == "null":
            return Parsed(None, ParseStatus.NONE, "null in JSON")
        return _parsed(wrapped, "in JSON or a box")
    for segment in answer_segments(visible):
        lines = [line.strip() for line in segment.splitlines() if line.strip(" \t*_`#:：")]
        if lines:
            return _list_at_start(lines) or _parsed(lines[0], "after an answer marker")
    if is_refusal(visible):
        return Parsed(None, ParseStatus.REFUSAL, "a refusal in the text")
    blocks = _FENCED.findall(visible) if visible.count("```") == 2 else []
    return _bare(blocks[0] if blocks and blocks[0].strip() else visible)


def _bare(text: str) -> Parsed:
    """An answer that nothing marks: by its lines alone."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t`")]
    if len(lines) > 1 and lines[0].endswith((":", "：")):
        lines = lines[1:]
    if not lines:
        return Parsed(None, ParseStatus.NONE, "empty")
    if len(lines) == 1:
        if lines[0].endswith((":", "：")):
            return Parsed(None, ParseStatus.NONE, "nothing after a colon")
        return _parsed(lines[0], "the only line")
    if found := _list_at_start(lines) or _short_lines(lines):
        return found
    if len(lines[0].split()) <= _MAX_WORDS_OF_BARE_ANSWER:
        return _parsed(lines[0], "the first line")
    return Parsed(None, ParseStatus.AMBIGUOUS, "several lines, and nothing marks the answer")


def _list_at_start(lines: Sequence[str]) -> Parsed | None:
    """The members of a list of two or more lines, whatever is said below it; None where the text begins otherwise."""
    n_members = next((n for n, line in enumerate(lines) if not _BULLET.match(line)), len(lines))
    return _members([_BULLET.sub("", line) for line in lines[:n_members]], "a list") if n_members > 1 else None


def _short_lines(lines: Sequence[str]) -> Parsed | None:
    """Lines of a few words each: nobody can say that the first is the answer and the others are not."""
    if any(len(line.split()) > _MAX_WORDS_OF_MEMBER or _SENTENCE.search(line) for line in lines):
        return None
    return _members(lines, "a list of lines")


def _members(found: Sequence[str], where: str) -> Parsed:
    members = [cleaned for member in found if (cleaned := _cleaned(member))]
    answer = ("; " if any("," in member for member in members) else ", ").join(members)
    return Parsed(answer, ParseStatus.OK, where) if answer else Parsed(None, ParseStatus.NONE, f"nothing in {where}")


def _parsed(found: str, where: str) -> Parsed:
    if is_refusal(found):
        return Parsed(None, ParseStatus.REFUSAL, f"a refusal {where}")
    answer = _cleaned(found)
    return Parsed(answer, ParseStatus.OK, where) if answer else Parsed(None, ParseStatus.NONE, f"nothing {where}")


def _cleaned(found: str) -> str:
    answer = found.strip()
    if answer.count("**") % 2:
        # The marker stood inside the bold type, as in "**Answer:** 1912" or "**Answer: 1912**": half of it is left.
        answer = answer.removeprefix("**") if answer.startswith("**") else answer.removesuffix("**")
    if explanation := _EXPLANATION.search(answer, 1):
        answer = answer[: explanation.start()]
    answer = _MARK.sub("", answer.strip().lstrip(":：= "))
    for _ in range(4):  # bold inside quotes, a full stop inside or outside of them
        answer = _without_full_stop(answer.strip())
        inside = _unwrapped(answer)
        if inside == answer:
            break
        answer = inside
    return _POLITE_ENDING.sub("", answer.strip())


def _unwrapped(answer: str) -> str:
    for opening, closing in _WRAPPED:
        inside = answer[len(opening) : -len(closing)]
        if opening not in inside and answer == f"{opening}{inside}{closing}":
            return inside
    return answer


def _without_full_stop(answer: str) -> str:
    """Cut the full stop of a sentence, not that of an abbreviation: "Apple Inc.", "U.S.", "Jr."."""
    if answer.endswith("。"):
        return answer[:-1]
    if not answer.endswith(".") or answer.endswith(".."):
        return answer
    last_word = answer[:-1].rsplit(maxsplit=1)[-1:] or [""]
    is_abbreviation = last_word[0].isalpha() and len(last_word[0]) <= 3 and last_word[0][:1].isupper()
    return answer if is_abbreviation or "." in last_word[0].strip(".0123456789,") else answer[:-1]


def _structured(text: str) -> Parsed | None:
    """The last {"answer": ...} that holds a list or an object; None where the JSON cannot be read."""
    found = None
    for _, reading in readings(text):
        if isinstance(reading.value, dict):
            values = [value for name, value in reading.value.items() if name.casefold() in _ANSWER_NAMES]
            found = next((value for value in values if isinstance(value, list | dict)), found)
    if found is None:
        return None
    values = [value for value in (found.values() if isinstance(found, dict) else found) if value is not None]
    if any(isinstance(value, dict | list) for value in values) or (isinstance(found, dict) and len(values) > 1):
        return Parsed(None, ParseStatus.AMBIGUOUS, "a structure in JSON where a short answer should be")
    if not values:
        return Parsed(None, ParseStatus.NONE, "null in JSON")
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return _members(texts, "in JSON or a box")
