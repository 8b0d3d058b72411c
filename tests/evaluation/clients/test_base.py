"""Waiting, redaction, and text that can be stored."""

import time

import pytest

from evaluation.clients.base import ClientError, Completion, CompletionStatus, ErrorKind, back_off_seconds, redact
from evaluation.storable import shorten, storable


@pytest.mark.parametrize(
    ("attempt", "draw", "seconds"),
    [
        (1, 0.0, 1.0),  # half of 2
        (1, 0.5, 1.5),
        (3, 0.0, 4.0),  # half of 8
        (3, 0.999, pytest.approx(8.0, abs=0.01)),
        (9, 0.0, 150.0),  # half of the longest step, 300
        (10_000, 0.0, 150.0),
    ],
)
def test_the_wait_doubles_up_to_five_minutes_and_is_spread_over_its_upper_half(attempt, draw, seconds):
    assert back_off_seconds(attempt, retry_after=None, draw=draw) == seconds


@pytest.mark.parametrize(
    ("retry_after", "draw", "seconds"), [(0, 0.9, 0.0), (8, 0.0, 8.0), (8, 0.5, 9.0), (100, 0.5, 102.5)]
)
def test_a_server_is_never_asked_before_its_retry_after(retry_after, draw, seconds):
    assert back_off_seconds(7, retry_after=retry_after, draw=draw) == seconds


def test_every_kind_of_error_heals_or_stops_the_run_or_concerns_one_request():
    assert {kind: (ClientError(kind, "").heals, ClientError(kind, "").stops_run) for kind in ErrorKind} == {
        ErrorKind.RATE_LIMITED: (True, False),
        ErrorKind.SERVER_ERROR: (True, False),
        ErrorKind.TIMEOUT: (True, False),
        ErrorKind.CONNECTION: (True, False),
        ErrorKind.BAD_RESPONSE: (False, False),
        ErrorKind.BAD_REQUEST: (False, False),
        ErrorKind.AUTH: (False, True),
        ErrorKind.NOT_FOUND: (False, True),
        ErrorKind.REFUSED_ADDRESS: (False, True),
        ErrorKind.REDIRECT: (False, True),
    }


def test_a_refusal_said_by_the_provider_outranks_its_text():
    assert Completion(text="Yes", refusal="I will not.").status == CompletionStatus.REFUSED


@pytest.mark.parametrize(
    ("message", "redacted"),
    [
        ("key is abcdefghij-KLMNOP", "key is [key]"),
        ("provided: abcdefghij***", "provided: [key]***"),
        ("ends in ij-KLMNOP.", "ends in [key]."),
        ("Authorization: Bearer other-token-123", "Authorization: [key]"),
        ("sk-proj-123456 is wrong", "[key] is wrong"),
        ("see https://me:pass@example.org/x", "see https://[key]example.org/x"),
        ("the monkey-patching of an unrelated word", "the monkey-patching of an unrelated word"),
    ],
)
def test_keys_are_taken_out_of_messages(message, redacted):
    assert redact(message, ["abcdefghij-KLMNOP", ""]) == redacted


@pytest.mark.parametrize("hostile", ["sk-" * 50_000, "//" + "a" * 100_000, "Bearer " + "." * 100_000, "a" * 100_000])
def test_redaction_is_quick_on_hostile_text(hostile):
    started = time.perf_counter()
    redact(hostile, ["a" * 200, "sk-sk-sk-sk-x"])
    assert time.perf_counter() - started < 0.2


def test_text_is_made_storable_and_short():
    assert storable("a\x00b\udfffc😀") == "a\ufffdb\ufffdc😀"
    assert shorten("two\n  lines") == "two lines"
    assert shorten("x" * 501) == "x" * 499 + "…"
