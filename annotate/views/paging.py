"""Lists that go on after a row, or page by page: which one an address names."""

from __future__ import annotations

from django.http import HttpRequest


def row_before(request: HttpRequest) -> int:
    """The primary key in `?after=`, after which the page begins; 0 is the beginning of the list.

    Anything but digits is a link somebody mended by hand, and a number that no database key can be is none either.
    """
    text = request.GET.get("after", "")
    return int(text) if text.isdecimal() and len(text) < 19 else 0


def page_number(request: HttpRequest) -> int:
    """The page in `?page=`, from 1; for lists that are short enough to count their way to it."""
    text = request.GET.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
