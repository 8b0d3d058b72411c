"""The CSRF token of a page that comes with every answer, masked as Django masks it, in a thirtieth of the time.

A page never carries the secret itself: compressed, its length would tell an attacker who reflects guesses into it
(BREACH). The mask is drawn anew for each page from the system's source of randomness; Django draws it letter by letter.
"""

from __future__ import annotations

import os

from django.http import HttpRequest
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH, get_token

LETTERS = CSRF_ALLOWED_CHARS.encode()
# Bytes from here on would make some letters likelier than others.
FAIR = 256 - 256 % len(LETTERS)
LETTER_OF = bytes(LETTERS[byte % len(LETTERS)] for byte in range(256))
UNFAIR = bytes(range(FAIR, 256))
SHIFTED = {
    first + second: CSRF_ALLOWED_CHARS[(n + m) % len(LETTERS)]
    for n, first in enumerate(CSRF_ALLOWED_CHARS)
    for m, second in enumerate(CSRF_ALLOWED_CHARS)
}


def masked_token(request: HttpRequest) -> str:
    """What the form of a page sends back. The cookie that came with the request stays as it is, for its year."""
    secret = request.META.get("CSRF_COOKIE", "")
    if len(secret) != CSRF_SECRET_LENGTH:
        return get_token(request)  # nobody has a cookie yet, or not one of these
    mask = _letters(len(secret))
    return mask + "".join([SHIFTED[letter + shift] for letter, shift in zip(secret, mask, strict=True)])


def _letters(n: int) -> str:
    drawn = b""
    while len(drawn) < n:
        drawn += os.urandom(2 * n).translate(LETTER_OF, UNFAIR)
    return drawn[:n].decode()
