"""What reading a completion gives."""

from dataclasses import dataclass
from enum import StrEnum

from annotate.answers import JsonValue

# Raise it whenever a completion can be read differently from before.
PARSER_VERSION = 3


class ParseStatus(StrEnum):
    """How the reading went; only `ok` gives a value, and all others count as unparsed, each by its own name."""

    OK = "ok"
    REFUSAL = "refusal"  # the model says that it will not or cannot answer
    AMBIGUOUS = "ambiguous"  # more than one answer, or a negated one
    NONE = "none"  # no answer in it


@dataclass(frozen=True)
class Parsed:
    """value: in the form in which a person's answer comes; None unless status is ok. note: where it was found.

    repairs: what was mended on the way, one word each.
    """

    value: JsonValue
    status: ParseStatus
    note: str = ""
    repairs: tuple[str, ...] = ()
