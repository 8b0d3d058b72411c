"""The key of a short answer: what it means, in the order in which meanings are tried."""

import json

from annotate.answers.equivalence import INVISIBLE, text_key
from annotate.answers.meaning.clock import read_24_hours, read_time
from annotate.answers.meaning.dates import read_date
from annotate.answers.meaning.durations import read_duration
from annotate.answers.meaning.lists import members_of
from annotate.answers.meaning.qualifiers import read_qualified
from annotate.answers.meaning.quantities import read_quantity
from annotate.answers.meaning.ranges import read_range
from annotate.answers.meaning.spelling import bare, plain_text, spelled
from annotate.answers.meaning.yes_no import read_yes_no

# A key begins with its kind; text that begins like one is marked as text, so that nobody can write a key.
KINDS = (
    *("truth", "date", "day", "month", "year", "decade", "century", "moment", "time", "duration", "number", "ordinal"),
    *("open", "range", "list", "text"),
)
_MARKS = tuple(f"{kind}:" for kind in KINDS)
# A longer text is a paragraph: it is compared by its words.
MAX_READ = 2_000
_MAX_MEMBER = 300


def short_answer_key(text: str, expected_unit: str = "") -> str:
    """The canonical key of an answer of a few words: equal keys are equal answers.

    Tried in this order: yes, no or not sure; a date or a time; a duration or an age; money, per cent, a number with a
    unit, with or without a qualifier ("over"); a range; a list in any order; else its words. What can be read in two
    ways is not read: it equals its own spelling only. Nothing is rounded, and no tolerance is allowed: that is a
    scorer's business.

    expected_unit: what the question asks in ("months", "%", "$"); a number without a unit gets it.
    """
    seen = " ".join(text.translate(INVISIBLE).split())
    if len(seen) > MAX_READ:
        return _marked(text_key(seen))
    plain = spelled(seen)
    unit = spelled(expected_unit)
    answer = bare(plain)
    key = _meaning(answer, unit)
    if key is not None:
        return key
    members = members_of(answer)
    if members is None:
        return _words(plain)
    return f"list:{json.dumps(sorted(member_key(member, unit) for member in members), ensure_ascii=False)}"


def member_key(text: str, unit: str = "") -> str:
    """The key of one member of a list, of one cell of a table: as that of an answer, but never a list again."""
    if len(text) > MAX_READ:
        return _marked(text_key(text))
    answer = bare(spelled(text))
    key = _meaning(answer, unit)
    return _words(answer) if key is None else key


def _meaning(answer: str, unit: str) -> str | None:
    if len(answer) > _MAX_MEMBER:
        return None
    return (
        read_yes_no(answer)
        or _value(answer, unit)
        or read_qualified(answer, lambda rest: _value(rest, unit))
        or read_range(answer, lambda end: _value(end, unit))
    )


def _value(text: str, unit: str) -> str | None:
    return (
        read_date(text)
        or read_time(text)
        or _moment(text)
        or read_duration(text)
        or read_quantity(_without_in(text), unit)
    )


def _moment(text: str) -> str | None:
    """A day with a time: 2 June 2003, 17:45."""
    for separator in (", ", " at ", " ", "t"):
        day, found, time = text.rpartition(separator)
        if found and time[:1].isdigit() and (date := read_date(day.rstrip(","))) and date.startswith("date:"):
            at = read_24_hours(time) if separator == "t" else read_time(time)
            return None if at is None else f"moment:{date.removeprefix('date:')} {at.removeprefix('time:')}"
    return None


def _without_in(text: str) -> str:
    """ "in 1912" is the year that "1912" is; "in 5" may be something else."""
    year = text.removeprefix("in ")
    return year if len(year) == 4 and year.isdigit() else text


def _words(text: str) -> str:
    return _marked(plain_text(text))


def _marked(words: str) -> str:
    return f"text:{words}" if words.startswith(_MARKS) else words
