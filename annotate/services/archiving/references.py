"""Ids of rows inside JSON columns, found by paths such as `runs[].answers.prediction[]`. No Django here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_STEP = re.compile(r"\[\]|[^.\[\]]+")


def renamed(value: Any, path: str, rename: Callable[[int], int]) -> Any:
    """The value with every id that stands at the path put through `rename`, in place where it can be.

    What is not there, and what is null, stays as it is. Raises ValueError for what is there and is no id.
    """
    return _renamed(value, _STEP.findall(path), rename)


def _renamed(value: Any, steps: list[str], rename: Callable[[int], int]) -> Any:
    if value is None:
        return None
    if not steps:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("an id is a whole number")
        return rename(value)
    step, rest = steps[0], steps[1:]
    if step == "[]":
        if not isinstance(value, list):
            raise ValueError("there must be a list here")
        value[:] = [_renamed(element, rest, rename) for element in value]
    else:
        if not isinstance(value, dict):
            raise ValueError("there must be an object here")
        if step in value:
            value[step] = _renamed(value[step], rest, rename)
    return value
