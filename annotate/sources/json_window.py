"""A JSON document read through a growing window: never more than one of its values in memory."""

import json
from collections.abc import Iterator
from typing import Any

from annotate.sources.decoding import BinaryFile, is_larger, moved_on, text_chunks, too_large
from annotate.sources.errors import SourceError
from annotate.sources.jsonl import broken_json
from annotate.sources.records import Limits, Record
from annotate.sources.strict_json import RefusedValue, decode_json
from annotate.wording import _

_SPACE = " \t\r\n"
# A cut value shows itself at the end of what was read: the longest thing the decoder refuses from its beginning is an
# escape sequence pair or a literal, both shorter than this.
_CUT_MARGIN = 16


class JsonWindow:
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
            raise self.wrong(_("%(character)s is expected", character=character))
        self._move_to(self._position + 1)

    def expect_end(self) -> None:
        if self.peek():
            raise self.wrong(_("something follows the end of the data"))

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

    def members(self) -> Iterator[tuple[str, int]]:
        """(key, its line) of the object that begins here; the caller reads the value before asking for the next."""
        self.take("{")
        if self.peek() == "}":
            self.take("}")
            return
        while True:
            if self.peek() != '"':
                raise self.wrong(_("a key in double quotes is expected"))
            line = self.line
            key = self.value(row=None)
            self.take(":")
            self.peek()
            yield key, line
            if self.peek() != ",":
                break
            self.take(",")
        self.take("}")

    def records(self) -> Iterator[Record]:
        """The objects of the list that begins here."""
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        number = 0
        while True:
            number += 1
            if self.peek() != "{":
                raise self.wrong(_("each element of the list must be an object in { }"))
            line = self.line
            yield Record(number, line, list(self.value(row=number).items()))
            if self.peek() != ",":
                break
            self.take(",")
        self.take("]")

    def value(self, *, row: int | None) -> Any:
        """Decode and take the value that begins at the next character."""
        self.peek()
        max_bytes = self._limits.max_item_bytes
        while True:
            try:
                value, end = decode_json(
                    self._text,
                    self._position,
                    max_depth=self._limits.max_depth,
                    allow_control_characters=False,
                    tolerant=self._limits.tolerant,
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
