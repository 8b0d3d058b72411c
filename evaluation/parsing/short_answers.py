"""A short answer, a few words or numbers, read out of a chatty completion."""

import json
import re

from evaluation.parsing.envelope import (
    answer_segments,
    before_next_question,
    drop_reasoning,
    is_refusal,
    json_or_boxed_answer,
    within_reach,
)
from evaluation.parsing.parsed import Parsed, ParseStatus

_FENCED = re.compile(r"```[\w+-]{0,20}[ \t]*\n(.*?)```", re.DOTALL)
_BULLET = re.compile(r"^(?:[-*•+]|\d{1,3}[.)])[ \t]+")
_EXPLANATION = re.compile(
    r"[.;,]?\s\(?(?:(?:explanation|reason|reasoning|rationale|justification|note|evidence|source)\s?:|because\s"
    r"|(?:according to|from) the (?:table|text|infobox|passage|context))",
    re.IGNORECASE,
)
_WRAPPED = (
    *(("**", "**"), ("__", "__"), ("*", "*"), ("`", "`")),
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("「", "」")),
)
# A first line longer than this is a sentence about the question, not the answer to it.
_MAX_WORDS_OF_BARE_ANSWER = 12


def parse_short_answer(text: str) -> Parsed:
    """The answer that a completion gives, without what models put around it.

    In this order: reasoning blocks and further questions that the model asks itself are dropped; an answer in JSON or
    a box; the line after the last marker ("Answer:", "the final answer is"); a refusal; the only fenced block; a single
    line; a list, its members joined by commas; a first line of at most 12 words. From what is found an explanation
    ("because ...", "Explanation: ..."), quotes, bold type and a final full stop are cut.
    Several lines without any of that are ambiguous: which of them is the answer is not guessed.
    """
    visible, cut_off = drop_reasoning(within_reach(text))
    visible = before_next_question(visible).strip()
    if not visible:
        return Parsed(None, ParseStatus.NONE, "the reasoning was cut off" if cut_off else "empty")
    wrapped = _json_list(visible) or json_or_boxed_answer(visible)
    if wrapped is not None:
        if wrapped == "null":
            return Parsed(None, ParseStatus.NONE, "null in JSON")
        return _parsed(wrapped, "in JSON or a box")
    for segment in answer_segments(visible):
        line = next((line for line in segment.splitlines() if line.strip(" \t*_`#:：")), "")
        if line:
            return _parsed(line, "after an answer marker")
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
        return _parsed(lines[0], "the only line")
    if all(_BULLET.match(line) for line in lines):
        return _parsed(", ".join(_cleaned(_BULLET.sub("", line)) for line in lines), "a list")
    if len(lines[0].split()) <= _MAX_WORDS_OF_BARE_ANSWER:
        return _parsed(lines[0], "the first line")
    return Parsed(None, ParseStatus.AMBIGUOUS, "several lines, and nothing marks the answer")


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
    answer = _BULLET.sub("", answer.strip().lstrip(":：= "))
    for _ in range(4):  # bold inside quotes, a full stop inside or outside of them
        answer = _without_full_stop(answer.strip())
        inside = _unwrapped(answer)
        if inside == answer:
            break
        answer = inside
    return answer.strip()


def _unwrapped(answer: str) -> str:
    for opening, closing in _WRAPPED:
        inside = answer[len(opening) : -len(closing)]
        if inside and opening not in inside and answer == f"{opening}{inside}{closing}":
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


def _json_list(text: str) -> str | None:
    """The members of {"answer": [...]} joined by commas; None for anything else."""
    body = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not body.startswith("{"):
        return None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):  # not JSON, or nested without end
        return None
    for key in ("answer", "final_answer", "final answer", "response", "result"):
        members = data.get(key)
        if isinstance(members, list) and members and all(isinstance(member, str | int | float) for member in members):
            return ", ".join(str(member) for member in members)
    return None
