"""JSON as models write it: read as far as it is clear, with a word for everything that was repaired.

One pass over the text and a fixed amount of work: broken JSON must not hold up a worker (a reader that tries every way
to mend `{"{"{"` takes minutes for 40 kB).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64
# Steps for one text, shared by all attempts: what is longer is given up as unreadable.
MAX_STEPS = 60_000
# Openings of brackets in prose ("[see note]") that are tried as JSON.
_MAX_ATTEMPTS = 50

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/|#[^\n]*)*+")
_OPENING = re.compile(r"[\[{]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?(?![\w.%])")
_LOOSE_NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?![\w.%])")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,20})?(?=\s{0,40}[,}\]])")
_WORD = re.compile(r"[^\W\d][\w$-]{0,60}")
_NAME = re.compile(r"([^\W\d][\w$ -]{0,60}?)\s{0,20}:")
_BARE_TEXT = re.compile(r"[^\s,{}\[\]\"':][^,{}\[\]\"':\n]{0,200}")
_ELLIPSIS = re.compile(r"\.\.\.|…")
_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON = {"True": True, "False": False, "None": None, "NaN": None, "nan": None, "Infinity": None, "undefined": None}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
# What may follow the end of a string, after white space; a quote before anything else is part of the text.
_AFTER_STRING = re.compile(r"\s*+(?:[,:}\]]|$|//|#|[\"'][\w -]{1,60}[\"']\s{0,20}:)")
# In a Python tuple a bracket may follow, too.
_AFTER_STRING_OF_TUPLE = re.compile(r"\s*+[,)]")
_INSIDE = {closing: re.compile(rf"[^{closing}\\\n]*+") for closing in _QUOTES.values()}


class Unreadable(ValueError):
    """Not JSON, by no repair that we make."""


class Cut(Exception):
    """The text ended."""


class Reading:
    """One value read from `start` on: the value, where it ended, what was repaired.

    cut: ids of the containers that were not closed when the text ended; their last member is missing or was dropped.
    """

    def __init__(self, text: str, start: int, steps: int = MAX_STEPS) -> None:
        self.text = text
        self.position = start
        self.steps = steps
        self.flags: set[str] = set()
        self.cut: set[int] = set()
        self.n_tuples = 0
        self.value: Any = None

    def read(self) -> "Reading":
        """Raises Unreadable."""
        try:
            self.value, self.position = _STRICT.raw_decode(self.text, self.position)
        except (ValueError, RecursionError):
            try:
                self.value = self._value(0, in_object=False)
            except Cut:
                raise Unreadable from None
        else:
            _check_depth(self.value, 0)
        return self

    def _value(self, depth: int, *, in_object: bool) -> Any:
        self._step()
        self._skip_space()
        character = self._peek()
        if character == "{":
            return self._object(depth + 1)
        if character == "[":
            return self._array(depth + 1)
        if character == "(" and depth and not in_object:
            self.flags.add("tuples")
            self.n_tuples += 1
            found = self._array(depth + 1, closing=")")
            self.n_tuples -= 1
            return found
        if character in _QUOTES:
            return self._string(character)
        return self._scalar(in_object)

    def _object(self, depth: int) -> dict[str, Any]:
        self._enter(depth)
        found: dict[str, Any] = {}
        has_bare_names = has_bare_text = False
        try:
            while not self._ends("}", "]" if depth > 1 else "", bool(found)):
                name, is_bare = self._name()
                value = self._value(depth, in_object=True)
                has_bare_names |= is_bare
                has_bare_text |= "unquoted_text" in self.flags
                if has_bare_names and has_bare_text:
                    raise Unreadable  # "{note: see below}" is prose
                found[name] = value
        except Cut:
            self._note_cut(found)
        return found

    def _array(self, depth: int, closing: str = "]") -> list[Any]:
        self._enter(depth)
        found: list[Any] = []
        outer = "]" if closing == ")" else "}" if depth > 1 else ""
        try:
            while not self._ends(closing, outer, bool(found)):
                if self._skip(_ELLIPSIS):
                    self.flags.add("truncated")
                    continue
                found.append(self._value(depth, in_object=False))
                if id(found[-1]) in self.cut:
                    raise Cut
        except Cut:
            self._note_cut(found)
        return found

    def _enter(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Unreadable
        self.position += 1

    def _ends(self, closing: str, outer: str, has_members: bool) -> bool:
        """Whether the container ends here; else the comma before the next member is passed over."""
        self._step()
        self._skip_space()
        n_commas = 0
        while self._peek() == ",":
            n_commas += 1
            self.position += 1
            self._skip_space()
        character = self._peek()
        if character == closing:
            self.position += 1
        elif character == outer:
            self.flags.add("brackets")  # the outer container ends without this one having been closed
        else:
            if has_members and not n_commas:
                self.flags.add("missing_comma")
            if n_commas > has_members:
                self.flags.add("extra_comma")
            return False
        if n_commas:
            self.flags.add("trailing_comma")
        return True

    def _name(self) -> tuple[str, bool]:
        character = self._peek()
        if character in _QUOTES:
            name = self._string(character)
            self._skip_space()
            if self._peek() != ":":
                raise Unreadable
            self.position += 1
            return name, False
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise Unreadable
        self.flags.add("unquoted_names")
        self.position = match.end()
        return match.group(1), True

    def _string(self, quote: str) -> str:
        closing = _QUOTES[quote]
        if quote == "'":
            self.flags.add("single_quotes")
        elif quote != '"':
            self.flags.add("curly_quotes")
        pieces: list[str] = []
        position = self.position + 1
        inside = _INSIDE[closing]
        while True:
            self._step()
            match = inside.match(self.text, position)
            assert match is not None  # it matches the empty text
            pieces.append(match.group())
            position = match.end()
            if position >= len(self.text):
                raise Cut
            character = self.text[position]
            if character == "\\":
                piece, position = _unescaped(self.text, position)
                pieces.append(piece)
                continue
            position += 1
            if character == closing:
                if (_AFTER_STRING_OF_TUPLE if self.n_tuples else _AFTER_STRING).match(self.text, position):
                    break
                self.flags.add("quotes")  # an unescaped quote inside: 'O'Brien'
            pieces.append(character)
        self.position = position
        return "".join(pieces)

    def _scalar(self, in_object: bool) -> Any:
        text, position = self.text, self.position
        if in_object and (match := _THOUSANDS.match(text, position)):
            self.flags.add("thousands_separators")
            self.position = match.end()
            return _number(match.group().replace(",", ""))
        if match := _NUMBER.match(text, position):
            self._not_cut(match.end())
            return _number(match.group())
        if match := _LOOSE_NUMBER.match(text, position):
            self._not_cut(match.end())
            self.flags.add("number_forms")
            digits = match.group()
            # 007 is a code: as a number it would lose its zeros.
            return digits if re.match(r"[+-]?0\d", digits) else _number(_plain(digits))
        if match := _WORD.match(text, position):
            word = match.group()
            for literals, flag in ((_LITERALS, ""), (_PYTHON, "python_literals")):
                if word in literals:
                    self.position = match.end()
                    self.flags |= {flag} if flag else set()
                    return literals[word]
        if in_object and (match := _BARE_TEXT.match(text, position)):
            self._not_cut(match.end())
            self.flags.add("unquoted_text")
            return match.group().strip()
        if position >= len(text):
            raise Cut
        raise Unreadable

    def _not_cut(self, end: int) -> None:
        """A number at the very end of the text may have lost its last digits."""
        if end >= len(self.text):
            raise Cut
        self.position = end

    def _note_cut(self, container: Any) -> None:
        self.flags.add("truncated")
        self.cut.add(id(container))
        self.position = len(self.text)

    def _peek(self) -> str:
        if self.position >= len(self.text):
            raise Cut
        return self.text[self.position]

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match is not None

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # it matches the empty text
        if match.end() > self.position:
            if not match.group().isspace():
                self.flags.add("comments")
            self.position = match.end()

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Unreadable


def readings(text: str) -> Iterator[tuple[int, Reading]]:
    """(where it starts, what was read) for every object or array in a text that can be read, one after another."""
    steps, position = MAX_STEPS, 0
    for _ in range(_MAX_ATTEMPTS):
        opening = _OPENING.search(text, position)
        if opening is None or steps <= 0:
            return
        reading = Reading(text, opening.start(), steps)
        try:
            reading.read()
        except Unreadable:
            position = opening.start() + 1
        else:
            yield opening.start(), reading
            position = max(reading.position, opening.start() + 1)
        steps = min(reading.steps, steps - 1)


def _unescaped(text: str, position: int) -> tuple[str, int]:
    """What the backslash at `position` stands for, and where the text goes on."""
    character = text[position + 1 : position + 2]
    if not character:
        raise Cut
    if character == "u":
        digits = text[position + 2 : position + 6]
        if re.fullmatch("[0-9a-fA-F]{4}", digits):
            pair = re.match(
                r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})", text[position : position + 12]
            )
            if pair:
                high, low = (int(half, 16) for half in pair.groups())
                return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), position + 12
            code = int(digits, 16)
            # Half a character cannot be stored.
            return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code), position + 6
    plain = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(character, character)
    return plain, position + 2


def _plain(digits: str) -> str:
    """+5, .5 and 5. as JSON writes them."""
    whole, point, fraction = digits.lstrip("+").partition(".")
    return f"{whole if whole.strip('-') else whole + '0'}{point}{fraction or '0'}" if point else whole


def _number(digits: str) -> int | float | str:
    """Whole numbers whole; what a float could not hold stays text."""
    if re.fullmatch(r"-?\d{1,40}", digits):
        return int(digits)
    value = float(digits)
    return digits if value in (float("inf"), float("-inf")) or len(digits) > 40 else value


def _check_depth(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Unreadable
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(member, dict | list):
            _check_depth(member, depth + 1)


# parse_constant: NaN and Infinity are no JSON and no value; the loose reader says that it made them null.
def _refuse(name: str) -> None:
    raise ValueError(name)


_STRICT = json.JSONDecoder(parse_constant=_refuse, parse_int=_number, parse_float=_number)
