"""JSON Lines: one object a line, a line ends at LF and nowhere else."""

import json
from collections.abc import Iterator

from annotate.sources.decoding import BinaryFile, is_larger, text_lines, too_large
from annotate.sources.errors import SourceError
from annotate.sources.records import Limits, Record
from annotate.sources.strict_json import RefusedValue, decode_json, in_words
from annotate.wording import _


def read_jsonl(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """Blank lines are passed over. A raw CR or TAB inside a string is kept, though JSON wants it escaped.

    Raises SourceError with line and column.
    """
    number = 0
    for line, text in enumerate(text_lines(file, encoding, max_bytes=limits.max_item_bytes), start=1):
        if text.isspace():
            continue
        number += 1
        if is_larger(text, limits.max_item_bytes):
            raise too_large(limits.max_item_bytes, line=line, row=number)
        start = len(text) - len(text.lstrip(" \t\r\n"))
        try:
            value, end = decode_json(
                text, start, max_depth=limits.max_depth, allow_control_characters=True, tolerant=limits.tolerant
            )
        except json.JSONDecodeError as fault:
            raise broken_json(fault.msg, line=line, column=fault.pos + 1) from fault
        except RefusedValue as fault:
            column = None if fault.position is None else fault.position + 1
            raise SourceError(fault.problem, line=line, column=column, row=number, field=fault.field) from fault
        rest = text[end:].lstrip(" \t\r\n")
        if rest:
            raise broken_json(_("something follows the value"), line=line, column=len(text) - len(rest) + 1)
        if not isinstance(value, dict):
            raise SourceError(
                _(
                    'each line must hold one JSON object with named fields, such as {"id": "7", "claim": "..."}; '
                    "this line holds something else."
                ),
                line=line,
                column=start + 1,
            )
        yield Record(number, line, list(value.items()))


def broken_json(reason: str, *, line: int, column: int) -> SourceError:
    reason = in_words(reason)
    return SourceError(
        _("this is not valid JSON (%(reason)s); correct it and import the file again.", reason=reason),
        line=line,
        column=column,
    )
