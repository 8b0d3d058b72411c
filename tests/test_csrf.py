"""Tokens that this project masks itself are Django's in everything but the time that they take."""

from __future__ import annotations

from collections import Counter

from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH, _does_token_match
from django.test import RequestFactory

from config.csrf import masked_token

SECRET = "abcXYZ0189" * 3 + "zZ"


def tokens(n: int, secret: str = SECRET) -> list[str]:
    request = RequestFactory().get("/")
    request.META["CSRF_COOKIE"] = secret
    return [masked_token(request) for _ in range(n)]


def test_django_takes_the_token_for_its_own_secret_alone():
    for token in tokens(200):
        assert _does_token_match(token, SECRET)
        assert not _does_token_match(token, SECRET[::-1])


def test_every_token_has_a_mask_of_its_own_and_every_letter_is_as_likely():
    drawn = tokens(2_000)
    assert len(set(drawn)) == len(drawn)
    for half in (slice(CSRF_SECRET_LENGTH), slice(CSRF_SECRET_LENGTH, None)):
        counts = Counter(letter for token in drawn for letter in token[half])
        assert set(counts) == set(CSRF_ALLOWED_CHARS)
        # 64,000 draws from 62 letters: 1,032 each, with a deviation of 32.
        assert all(abs(count - 1_032) < 6 * 32 for count in counts.values()), counts


def test_without_a_cookie_django_draws_the_secret():
    request = RequestFactory().get("/")
    token = masked_token(request)
    assert _does_token_match(token, request.META["CSRF_COOKIE"])
    assert request.META["CSRF_COOKIE_NEEDS_UPDATE"]
