"""JSON as it may enter: exact numbers, and no value that a database or an export would choke on later.

The standard decoder accepts NaN, infinities, repeated keys, lone surrogates, NUL and any depth. Each is refused here
with the path of the value. Decoding stays the C decoder's; only what looks suspect is looked at again.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from annotate.wording import _

MAX_INTEGER_DIGITS = 4300  # what Python converts without a special permission, and far more than any identifier has

# `\u0000`, or a `\uD8xx` to `\uDFxx` that may lack its other half. An escaped backslash before it makes a false alarm,
# which the look at the decoded value clears.
_SUSPECT_ESCAPE = re.compile(r"\\u(?:0000|[dD][89abcdefABCDEF])")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
# What Python's decoder says, as people read it.
_DECODERS_WORDS = {
    "Expecting value": _("expecting value"),
    "Expecting property name enclosed in double quotes": _("expecting property name enclosed in double quotes"),
    "Expecting ':' delimiter": _("expecting ':' delimiter"),
    "Expecting ',' delimiter": _("expecting ',' delimiter"),
    "Illegal trailing comma before end of object": _("illegal trailing comma before end of object"),
    "Illegal trailing comma before end of array": _("illegal trailing comma before end of array"),
    "Invalid control character at": _("invalid control character at"),
    "Unterminated string starting at": _("unterminated string starting at"),
    "Invalid \\escape": _("invalid \\escape"),
    "Invalid \\uXXXX escape": _("invalid \\uXXXX escape"),
    "Extra data": _("something follows the value"),
}


class FloatLiteral(float):
    """A JSON fraction that remembers how it was written: 1.10 as an id is `1.10`, and no digit is lost."""

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> "FloatLiteral":
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def is_exact(self) -> bool:
        """Whether the float has every digit that was written."""
        try:
            return Decimal(self.literal) == Decimal(repr(float(self)))
        except InvalidOperation:  # an exponent beyond Decimal's: the float is 0.0 and lost everything
            return False


class RefusedValue(ValueError):
    """Valid for the decoder, refused by us: what, at which path, and at which position of the text if known."""

    def __init__(self, problem: str, *, field: str | None = None, position: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.field, self.position = problem, field, position


@dataclass(frozen=True, slots=True)
class _Marker:
    """Stands in the decoded value where something is refused, so that its path can be found."""

    problem: str


class _Suspect(ValueError):
    """Raised by the decoder's hooks, which do not know where in the value they are."""


def decode_json(
    text: str, start: int, *, max_depth: int, allow_control_characters: bool, tolerant: bool = False
) -> tuple[Any, int]:
    """Decode the value that begins exactly at `start`; the value and the position after it.

    Objects become dicts in file order, whole numbers ints, fractions FloatLiteral.
    tolerant: NaN and infinities are None, for they mean that there is no value; NUL and lone surrogates stay in texts,
    and whoever stores them must replace them. Repeated keys and depth are refused as ever.
    Raises json.JSONDecodeError if the text is not JSON (or is cut), RefusedValue for what JSON allows and we do not.
    """
    decoders = _DECODERS[allow_control_characters, tolerant]
    is_suspect = False
    try:
        try:
            value, end = decoders.fast.raw_decode(text, start)
        except json.JSONDecodeError:
            raise
        except ValueError:  # a hook's _Suspect, or an integer longer than Python converts
            is_suspect = True
            value, end = decoders.marking.raw_decode(text, start)
    except RecursionError:
        raise _too_deep(max_depth, _position_beyond(text, start, len(text), max_depth)) from None
    # Before anything walks the value: the walk recurses, and only a bounded depth is safe for it.
    if text.count("[", start, end) + text.count("{", start, end) > max_depth:
        position = _position_beyond(text, start, end, max_depth)
        if position is not None:
            raise _too_deep(max_depth, position)
    if is_suspect or (not tolerant and _SUSPECT_ESCAPE.search(text, start, end)):
        for problem, path in _refused_in(value, "", tolerant):
            raise RefusedValue(problem, field=path or None)
    return value, end


def _position_beyond(text: str, start: int, end: int, max_depth: int) -> int | None:
    """Where nesting first exceeds max_depth, without recursion; None if it does not."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start, end):
        character = text[match.start()]
        if character in "[{":
            depth += 1
            if depth > max_depth:
                return match.start()
        elif character in "]}":
            depth -= 1
    return None


def _too_deep(max_depth: int, position: int | None) -> RefusedValue:
    return RefusedValue(
        _("lists and objects are nested more than %(max_depth)s deep; flatten them.", max_depth=max_depth),
        position=position,
    )


def _refused_in(value: Any, path: str, tolerant: bool) -> Iterator[tuple[str, str]]:
    """(problem, path) of everything refused in a decoded value, in file order."""
    if isinstance(value, _Marker):
        yield value.problem, path
    elif isinstance(value, str):
        if tolerant:
            return
        if "\0" in value:
            yield "there is a NUL character (\\u0000), which no database stores; remove it.", path
        elif _LONE_SURROGATE.search(value):
            yield "there is half of a surrogate pair (\\uD800 to \\uDFFF), which is no character; remove it.", path
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _refused_in(element, f"{path}[{index}]", tolerant)
    elif isinstance(value, dict):
        for key, element in value.items():
            yield from _refused_in(key, path, tolerant)
            yield from _refused_in(element, f"{path}.{key}" if path else key, tolerant)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Suspect
    return values


def _finite(literal: str) -> FloatLiteral:
    number = FloatLiteral(literal)
    if number in (float("inf"), float("-inf")):
        raise _Suspect
    return number


def _finite_or_none(literal: str) -> FloatLiteral | None:
    number = FloatLiteral(literal)
    return None if number in (float("inf"), float("-inf")) else number


def _no_value(_name: str) -> None:
    return None


def _refuse_constant(_name: str) -> Any:
    raise _Suspect


def _mark_repeated_key(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            values[key] = _Marker(_("the same key stands twice in one object; keep one of them."))
        else:
            values[key] = value
    return values


def _mark_infinite(literal: str) -> float | _Marker:
    if abs(float(literal)) == float("inf"):
        return _Marker(
            _(
                "%(literal)s is larger than any number that can be stored; write it as text in quotes.",
                literal=literal[:40],
            )
        )
    return float(literal)


def _mark_long(literal: str) -> int | _Marker:
    if len(literal) > MAX_INTEGER_DIGITS:
        return _Marker(
            _(
                "a whole number has more than %(max_integer_digits)s digits; write it as text in quotes.",
                max_integer_digits=f"{MAX_INTEGER_DIGITS:,}",
            )
        )
    return int(literal)


def _mark_constant(name: str) -> _Marker:
    return _Marker(_("%(name)s is not a value; write null or leave the field out.", name=name))


class _Decoders:
    def __init__(self, *, strict: bool, tolerant: bool) -> None:
        self.fast = json.JSONDecoder(
            object_pairs_hook=_unique_keys,
            parse_float=_finite_or_none if tolerant else _finite,
            parse_constant=_no_value if tolerant else _refuse_constant,
            strict=strict,
        )
        self.marking = json.JSONDecoder(
            object_pairs_hook=_mark_repeated_key,
            parse_float=_finite_or_none if tolerant else _mark_infinite,
            parse_int=_mark_long,
            parse_constant=_no_value if tolerant else _mark_constant,
            strict=strict,
        )


# By (allow_control_characters, tolerant).
_DECODERS = {
    (allowed, tolerant): _Decoders(strict=not allowed, tolerant=tolerant)
    for allowed in (False, True)
    for tolerant in (False, True)
}


def in_words(reason: str) -> str:
    """Why a text is no JSON, as `json.JSONDecodeError.msg` has it, or in words of ours, which stay."""
    return _DECODERS_WORDS.get(reason, reason)
