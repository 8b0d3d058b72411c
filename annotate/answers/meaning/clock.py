"""Times of day."""

import re

_TWELVE_HOURS = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))? ?([ap])\.? ?m\.?")
_TWENTY_FOUR_HOURS = re.compile(r"(\d{2}):(\d{2})(?::(\d{2}))?( ?h)?")
_NAMED = {"noon": "12:00", "12 noon": "12:00", "midday": "12:00", "midnight": "00:00", "12 midnight": "00:00"}


def read_time(text: str) -> str | None:
    """time:HH:MM, with seconds where they are given and not 0; None for what is no time of day, such as 62:12.

    Without am or pm 5:30 and 10:30 are in the morning or in the evening, and 02:10:30 is a running time or at night:
    none of them is read. 05:30, 17:30 and 10:30 h are times of a day of 24 hours.
    """
    text = text.removeprefix("at ")
    if text in _NAMED:
        return f"time:{_NAMED[text]}"
    if match := _TWELVE_HOURS.fullmatch(text):
        hour, minute, second, half = match.groups()
        if not 1 <= int(hour) <= 12:
            return None
        return _time(int(hour) % 12 + 12 * (half == "p"), int(minute or 0), int(second or 0))
    match = _TWENTY_FOUR_HOURS.fullmatch(text)
    if match is None:
        return None
    hour, has_seconds, is_marked = int(match[1]), match[3] is not None, match[4] is not None
    is_clear = is_marked or hour > 12 or (hour < 10 and not has_seconds)
    return read_24_hours(text) if is_clear else None


def read_24_hours(text: str) -> str | None:
    """The same of digits that are known to be a time of a day of 24 hours, as after the T of an ISO date."""
    match = _TWENTY_FOUR_HOURS.fullmatch(text)
    return None if match is None else _time(int(match[1]), int(match[2]), int(match[3] or 0))


def _time(hour: int, minute: int, second: int = 0) -> str | None:
    if hour > 23 or minute > 59 or second > 59:
        return None
    return f"time:{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
