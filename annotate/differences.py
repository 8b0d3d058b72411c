"""Where one answer differs from another, word by word or row by row, for those who have to choose. No Django here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

Kind = Literal["same", "new", "gone"]

# Scripts without blanks between words are compared character by character.
_WORD = re.compile(r"[⺀-鿿぀-ヿ가-힯฀-๿豈-﫿]|[^\W_]+(?:['’.,:-][^\W_]+)*|\s+|.", re.DOTALL)
# Beyond so many words, lines are compared: a comparison takes time by the square of its length.
MAX_WORDS = 1_500
# Texts that have less in common than this are different as a whole, and marking every word would say nothing.
LEAST_IN_COMMON = 0.3


@dataclass(frozen=True)
class Piece:
    """A part of a text. same: also in the other text. new: only in this one. gone: only in the other one."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class MarkedRow:
    """A row of a table, as in Piece."""

    kind: Kind
    cells: tuple[str, ...]


def marked_text(text: str, other: str) -> list[Piece]:
    """The text in pieces, with what the other one has instead; one piece where they have too little in common."""
    if text == other:
        return [Piece("same", text)] if text else []
    mine, others = _parts(text, other)
    matcher = SequenceMatcher(None, others, mine, autojunk=False)
    if _share_in_common(matcher, mine, others) < LEAST_IN_COMMON:
        return [Piece("new", text)] if text else []
    pieces: list[Piece] = []
    for step, from_, to, start, end in matcher.get_opcodes():
        if step == "equal":
            pieces.append(Piece("same", "".join(mine[start:end])))
            continue
        gone, new = "".join(others[from_:to]), "".join(mine[start:end])
        if gone.strip():
            pieces.append(Piece("gone", gone))
        if new:
            pieces.append(Piece("new" if new.strip() else "same", new))
    return pieces


def marked_rows(rows: Sequence[Sequence[Any]], others: Sequence[Sequence[Any]]) -> list[MarkedRow]:
    """The rows in their order, with those that only the other table has where they stand there."""
    mine = [_cells(row) for row in rows]
    theirs = [_cells(row) for row in others]
    matcher = SequenceMatcher(None, theirs, mine, autojunk=False)
    return list(_rows(matcher, mine, theirs))


def _rows(matcher: SequenceMatcher[tuple[str, ...]], mine: list[Any], theirs: list[Any]) -> Iterator[MarkedRow]:
    for step, from_, to, start, end in matcher.get_opcodes():
        if step == "equal":
            yield from (MarkedRow("same", row) for row in mine[start:end])
            continue
        yield from (MarkedRow("gone", row) for row in theirs[from_:to])
        yield from (MarkedRow("new", row) for row in mine[start:end])


def _cells(row: Sequence[Any]) -> tuple[str, ...]:
    return tuple("" if cell is None else str(cell) for cell in row)


def _parts(text: str, other: str) -> tuple[list[str], list[str]]:
    mine, others = _WORD.findall(text), _WORD.findall(other)
    if len(mine) <= MAX_WORDS and len(others) <= MAX_WORDS:
        return mine, others
    return text.splitlines(keepends=True), other.splitlines(keepends=True)


def _share_in_common(matcher: SequenceMatcher[str], mine: list[str], others: list[str]) -> float:
    """Of the words of the shorter text, blanks aside."""
    common = sum(
        1 for block in matcher.get_matching_blocks() for word in mine[block.b : block.b + block.size] if word.strip()
    )
    shorter = min(sum(1 for word in words if word.strip()) for words in (mine, others))
    return common / shorter if shorter else 0.0
