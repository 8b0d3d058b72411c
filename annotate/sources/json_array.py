"""One JSON document that holds all records, read through a growing window: never more than one record in memory.

Three shapes: a list of objects; an object with one list of objects in it, `{"version": 1, "data": [...]}`; an object
whose values are all objects, `{"702": {...}, "703": {...}}`, whose keys become the column KEY_COLUMN.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

from annotate.sources.decoding import BinaryFile, is_larger, moved_on, text_chunks, too_large
from annotate.sources.errors import SourceError, shortened
from annotate.sources.jsonl import broken_json
from annotate.sources.records import Limits, Record
from annotate.sources.strict_json import RefusedValue, decode_json

KEY_COLUMN = "(key)"  # the parentheses keep it apart from any column a file is likely to have

_SPACE = " \t\r\n"
# A cut value shows itself at the end of what was read: the longest thing the decoder refuses from its beginning is an
# escape sequence pair or a literal, both shorter than this.
_CUT_MARGIN = 16


def read_json(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """Raises SourceError with line and column; for a document of another shape, saying which shapes can be read."""
    opening = _Window(file, encoding, limits).peek()
    window = _Window(file, encoding, limits)
    if opening == "[":
        yield from _elements(window)
        window.expect_end()
    elif opening == "{":
        # Which of its values are records can be known only at the end: {"info": {...}, "data": [...]} begins like the
        # third shape. So such a file is read twice; the first time only looks.
        shape = _shape(_Window(file, encoding, limits))
        yield from _members(window, shape)
        window.expect_end()
    else:
        raise window.wrong("a JSON file must begin with [ or {")


def _elements(window: "_Window", number: int = 0) -> Iterator[Record]:
    """The objects of the list that begins here."""
    window.take("[")
    if window.peek() == "]":
        window.take("]")
        return
    while True:
        number += 1
        if window.peek() != "{":
            raise window.wrong("each element of the list must be an object in { }")
        line = window.line
        yield Record(number, line, list(window.value(row=number).items()))
        if window.peek() != ",":
            break
        window.take(",")
    window.take("]")


def _members(window: "_Window", shape: str | None) -> Iterator[Record]:
    """The records of the object that begins here: those of the list called `shape`, or, for None, every value."""
    number = 0
    for key, line in _keys(window):
        if shape is None:
            number += 1
            value = window.value(row=number)
            if KEY_COLUMN in value:
                raise SourceError(f"rename the field “{KEY_COLUMN}”: the import uses that name.", line=line, row=number)
            yield Record(number, line, [(KEY_COLUMN, key), *value.items()])
        elif key == shape:
            yield from _elements(window)
        else:
            window.value(row=None)


def _shape(window: "_Window") -> str | None:
    """The name of the only list of objects, or None when every value is an object. Raises SourceError otherwise."""
    lists: list[str] = []
    kinds: set[Literal["object", "list", "other"]] = set()
    seen: set[str] = set()
    first_line = 1
    for key, line in _keys(window):
        first_line = first_line if seen else line
        if key in seen:
            raise SourceError("the same key stands twice in one object; keep one of them.", line=line, field=key)
        seen.add(key)
        opening = window.peek()
        if opening == "[":
            kinds.add("list")
            if window.is_list_of_objects():
                lists.append(key)
                for _ in _elements(window):
                    pass
                continue
        else:
            kinds.add("object" if opening == "{" else "other")
        window.value(row=None)
    if len(lists) == 1:
        return lists[0]
    if not lists and kinds == {"object"}:
        return None
    if len(lists) > 1:
        names = ", ".join(f"“{shortened(name)}”" for name in lists[:5])
        raise SourceError(
            f"there are several lists of records ({names}); put the one to import into a file of its own.",
            line=first_line,
        )
    raise SourceError(
        "no records were found: a JSON file must hold a list of objects, an object with one such list in it, or an "
        "object whose values are all objects.",
        line=first_line,
    )


def _keys(window: "_Window") -> Iterator[tuple[str, int]]:
    """(key, its line) of the object that begins here; the caller reads the value before asking for the next."""
    window.take("{")
    if window.peek() == "}":
        window.take("}")
        return
    while True:
        if window.peek() != '"':
            raise window.wrong("a key in double quotes is expected")
        line = window.line
        key = window.value(row=None)
        window.take(":")
        window.peek()
        yield key, line
        if window.peek() != ",":
            break
        window.take(",")
    window.take("}")


class _Window:
    """The part of the text that is being looked at, and where it stands in the file."""

    def __init__(self, file: BinaryFile, encoding: str, limits: Limits) -> None:
        self._chunks = text_chunks(file, encoding)
        self._limits = limits
        self._text = ""
        self._position = 0
        self._is_complete = False
        self.line, self.column = 1, 1

    def peek(self) -> str:
        """The next character that is not white space, without taking it; "" at the end."""
        while True:
            start = self._position
            end = len(self._text)
            while start < end and self._text[start] in _SPACE:
                start += 1
            self._move_to(start)
            if start < end:
                return self._text[start]
            if not self._read_more():
                return ""

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise self.wrong(f"{character} is expected")
        self._move_to(self._position + 1)

    def expect_end(self) -> None:
        if self.peek():
            raise self.wrong("something follows the end of the data")

    def is_list_of_objects(self) -> bool:
        """Whether the list that begins here has an object as its first element."""
        offset = 1
        while True:
            rest = self._text[self._position + offset : self._position + offset + 1]
            if rest and rest not in _SPACE:
                return rest == "{"
            if rest:
                offset += 1
            elif not self._read_more():
                return False

    def value(self, *, row: int | None) -> Any:
        """Decode and take the value that begins at the next character."""
        self.peek()
        max_bytes = self._limits.max_item_bytes
        while True:
            try:
                value, end = decode_json(
                    self._text, self._position, max_depth=self._limits.max_depth, allow_control_characters=False
                )
            except json.JSONDecodeError as fault:
                is_cut = fault.msg.startswith("Unterminated") or fault.pos >= len(self._text) - _CUT_MARGIN
                if is_cut and len(self._text) - self._position > max_bytes:
                    raise too_large(max_bytes, line=self.line, row=row) from fault
                if is_cut and not self._is_complete:
                    self._read_more()
                    continue
                line, column = self._place_of(fault.pos)
                raise broken_json(fault.msg, line=line, column=column) from fault
            except RefusedValue as fault:
                place = (self.line, None) if fault.position is None else self._place_of(fault.position)
                raise SourceError(fault.problem, line=place[0], column=place[1], row=row, field=fault.field) from fault
            # A number at the very end may go on in what was not read yet; "1.5e+" is decoded up to the 5.
            if len(self._text) - end <= 2 and not self._is_complete:
                self._read_more()
                continue
            if is_larger(self._text[self._position : end], max_bytes):
                raise too_large(max_bytes, line=self.line, row=row)
            self._move_to(end)
            return value

    def wrong(self, reason: str) -> SourceError:
        return broken_json(reason, line=self.line, column=self.column)

    def _place_of(self, position: int) -> tuple[int, int]:
        return moved_on(self.line, self.column, self._text[self._position : position])

    def _move_to(self, position: int) -> None:
        if position != self._position:
            self.line, self.column = self._place_of(position)
            self._position = position

    def _read_more(self) -> bool:
        """Drop what was taken and at least double the rest, so that a long value is not decoded at every chunk."""
        if self._is_complete:
            return False
        pieces = [self._text[self._position :]]
        wanted, got = len(pieces[0]) + 1, 0
        while got < wanted:
            piece = next(self._chunks, None)
            if piece is None:
                self._is_complete = True
                break
            pieces.append(piece)
            got += len(piece)
        self._text, self._position = "".join(pieces), 0
        return got > 0
