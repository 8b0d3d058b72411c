"""Times of day."""

import re

_TWELVE_HOURS = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))? ?([ap])\.? ?m\.?")
# One digit and no am or pm, as in 5:30, may be morning, evening or a running time.
_TWENTY_FOUR_HOURS = re.compile(r"(\d{2}):(\d{2})(?: ?h)?|(\d{2}):(\d{2}):(\d{2})(?: ?h)?")
_NAMED = {"noon": "12:00", "12 noon": "12:00", "midday": "12:00", "midnight": "00:00", "12 midnight": "00:00"}


def read_time(text: str) -> str | None:
    """time:HH:MM, with seconds where they are given and not 0; None for what is no time of day, such as 62:12."""
    text = text.removeprefix("at ")
    if text in _NAMED:
        return f"time:{_NAMED[text]}"
    if match := _TWELVE_HOURS.fullmatch(text):
        hour, minute, second, half = match.groups()
        if not 1 <= int(hour) <= 12:
            return None
        return _time(int(hour) % 12 + 12 * (half == "p"), int(minute or 0), int(second or 0))
    if match := _TWENTY_FOUR_HOURS.fullmatch(text):
        numbers = [int(group) for group in match.groups() if group is not None]
        return _time(*numbers)
    return None


def _time(hour: int, minute: int, second: int = 0) -> str | None:
    if hour > 23 or minute > 59 or second > 59:
        return None
    return f"time:{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
