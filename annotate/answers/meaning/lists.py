"""Several answers in one: "A, B and C" in any order."""

import re

from annotate.answers.meaning.dates import DAY, MONTH

# The comma inside "March 5, 2012" separates nothing.
_COMMA_IN_DATE = re.compile(rf"\b((?:{MONTH})\.? {DAY}|{DAY} (?:of )?(?:{MONTH})\.?),( \d{{4}})\b")
_STRONG = re.compile(r" ?[;|] ?")
_AND = re.compile(r",? (?:and|&) ")
# Between digits a comma separates thousands or decimals.
_COMMA = re.compile(r"(?<!\d), ?| ?,(?!\d) ?")
_TIGHT_NUMBERS = re.compile(r"\d{1,9}(?:,\d{1,9}){1,200}")
_TYPED_COMMA = re.compile(r",(?!\d)|(?<!\d),")
_MAX_MEMBERS = 500
# A longer member is a clause: its order in the sentence may matter.
_MAX_MEMBER_WORDS = 12


def members_of(text: str) -> list[str] | None:
    """The members of a spelled text, in its order; None if it is no list."""
    if _TIGHT_NUMBERS.fullmatch(text):
        return _tight(text)
    if "\x00" in text:
        return None
    masked, marks = _without_insides(_COMMA_IN_DATE.sub(r"\1\2", text))
    if _STRONG.search(masked):
        parts = _STRONG.split(masked)
    else:
        parts = [part for piece in _AND.split(masked) for part in _COMMA.split(piece)]
    members = [_with_insides(part, marks).strip(" ") for part in parts]
    members = [member.removeprefix("and ").removeprefix("& ").strip(" ") for member in members]
    members = [member for member in members if member]
    if not 1 < len(members) <= _MAX_MEMBERS or any(member.count(" ") >= _MAX_MEMBER_WORDS for member in members):
        return None
    return members


def _tight(text: str) -> list[str] | None:
    """1999,2005,2006: a list only where no comma can be one of a number."""
    members = text.split(",")
    is_clear = len(members) > 2 and all(len(member) != 3 for member in members[1:])
    return members if is_clear else None


def _without_insides(text: str) -> tuple[str, list[str]]:
    """The text with what stands in brackets replaced by a mark, and those insides in their order."""
    kept: list[str] = []
    insides: list[str] = []
    depth, start = 0, 0
    for position, character in enumerate(text):
        if character in "([":
            if depth == 0:
                kept.append(text[start:position])
                start = position
            depth += 1
        elif character in ")]" and depth:
            depth -= 1
            if depth == 0:
                kept.append("\x00")
                insides.append(text[start : position + 1])
                start = position + 1
    kept.append(text[start:])
    return "".join(kept), insides


def _with_insides(part: str, insides: list[str]) -> str:
    while "\x00" in part:
        part = part.replace("\x00", insides.pop(0), 1)
    return part


def split_typed(text: str) -> list[str]:
    """The members of a list as somebody types it: one a line; on a single line with semicolons, bars or commas."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    mark = next((mark for mark in (";", "|") if mark in lines[0]), None)
    parts = lines[0].split(mark) if mark else _TYPED_COMMA.split(lines[0])
    return [part.strip() for part in parts if part.strip()]
