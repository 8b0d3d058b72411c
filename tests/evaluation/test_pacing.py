"""The limits of an endpoint, shared: two workers in one process, and their shares in the database."""

from __future__ import annotations

import itertools
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.clients.pace import Ended, Pace
from evaluation.models import Endpoint, EndpointShare
from evaluation.services import pacing
from evaluation.services.pacing import Share, Wish, correction_of, even_part, n_turns, reckoned_tokens, seconds_of
from tests.factories import make_endpoint, make_project

MINUTE = pacing.MINUTE_SECONDS


def limited(**limits: int) -> Endpoint:
    return make_endpoint(make_project(), provider="openai", base_url="http://127.0.0.1:1/v1", **limits)


def begin(share: Share) -> int:
    """Begin as many calls as may be begun at this moment."""
    n = 0
    while share.pace.begin(time.monotonic()) <= 0:
        n += 1
    return n


WANTS_ALL = Wish(n_places=100, n_turns=0, tokens_each=1.0)


# Pure


@pytest.mark.parametrize(("places", "n", "parts"), [(10, 3, [4, 3, 3]), (2, 3, [1, 1, 0]), (8, 1, [8])])
def test_places_are_dealt_evenly_and_none_is_left(places, n, parts):
    assert [even_part(places, n, rank) for rank in range(n)] == parts


def test_a_place_in_the_minute_is_as_long_as_the_tighter_limit_makes_it():
    endpoint = Endpoint(requests_per_minute=60, tokens_per_minute=600)
    assert seconds_of(endpoint, 1) == MINUTE / 60
    assert seconds_of(endpoint, 100) == pytest.approx(MINUTE / 6)
    assert seconds_of(Endpoint(), 100) is None


def test_a_place_is_corrected_when_the_tokens_are_known_and_never_below_a_request():
    endpoint = Endpoint(requests_per_minute=60, tokens_per_minute=600)
    reckoned = seconds_of(endpoint, 100)
    assert correction_of(endpoint, Ended(100, reckoned)) == pytest.approx(0)
    assert correction_of(endpoint, Ended(200, reckoned)) == pytest.approx(MINUTE / 6)
    assert correction_of(endpoint, Ended(0, reckoned)) == pytest.approx(MINUTE / 60 - MINUTE / 6)
    # What was not counted stays as it was reckoned.
    assert correction_of(endpoint, Ended(None, reckoned)) == 0


def test_turns_are_taken_a_moment_ahead_and_no_further():
    # Ten a second: 1.5 s are 15 places for one worker, 8 for each of two.
    assert n_turns(0.1, 0.0, 1, 100, 0) == 15
    assert n_turns(0.1, 0.0, 2, 100, 0) == 8
    assert n_turns(0.1, 0.0, 1, 100, 10) == 5
    assert n_turns(0.1, 0.0, 1, 3, 0) == 3
    # Others have taken the next 1.4 s, or all of them.
    assert n_turns(0.1, 1.4, 1, 100, 0) == 1 + int((1.5 - 1.4) / 0.1)
    assert n_turns(0.1, 1.6, 1, 100, 0) == 0
    # One in ten seconds: the next is taken, however far, and not the one after it.
    assert n_turns(10.0, 9.0, 1, 100, 0) == 1
    assert n_turns(10.0, 11.0, 1, 100, 0) == 0


def test_before_anything_was_counted_rather_too_much_is_reckoned():
    assert reckoned_tokens(300, 50) == 150
    assert reckoned_tokens(300, None) == 100 + pacing.ANSWER_TOKENS


def test_a_turn_that_was_not_used_in_time_is_lost():
    pace = Pace(5)
    pace.in_turn([(10.0, 1.0), (20.0, 1.0)])
    assert pace.begin(9.0) == 1.0
    assert pace.begin(20.5) == 0.0
    assert pace.begin(20.5) == float("inf")
    pace.end(None)
    assert pace.take_ended() == [Ended(None, 1.0)]


# Shares


@pytest.mark.django_db
def test_two_workers_never_have_more_places_than_the_endpoint():
    endpoint = limited(max_in_flight=5)
    first, second = Share(endpoint.pk, "first"), Share(endpoint.pk, "second")
    assert first.take()
    first.renew(WANTS_ALL)
    assert begin(first) == 5
    # The second one is meant to have two, and none of them is free yet.
    assert second.take()
    second.renew(WANTS_ALL)
    assert begin(second) == 0
    first.renew(WANTS_ALL)
    # The calls of the first one end: it begins no more than its three.
    for _ in range(3):
        first.pace.end(None)
    assert begin(first) == 1
    first.renew(WANTS_ALL)
    second.renew(WANTS_ALL)
    assert (begin(first), begin(second)) == (0, 2)
    assert first.pace.n_in_flight + second.pace.n_in_flight == 5
    # The first one leaves, and everything is for the second.
    for _ in range(3):
        first.pace.end(None)
    first.leave()
    second.renew(WANTS_ALL)
    assert begin(second) == 3


@pytest.mark.django_db
def test_who_wants_little_leaves_the_rest_to_the_others():
    endpoint = limited(max_in_flight=8)
    small, large = Share(endpoint.pk, "small"), Share(endpoint.pk, "large")
    small.renew(Wish(n_places=1, n_turns=0, tokens_each=1.0))
    large.renew(WANTS_ALL)
    assert (begin(small), begin(large)) == (1, 7)


@pytest.mark.django_db
def test_a_worker_too_many_is_sent_away_at_once():
    endpoint = limited(max_in_flight=1)
    assert Share(endpoint.pk, "first").take()
    assert not Share(endpoint.pk, "second").take()
    assert list(EndpointShare.objects.values_list("holder", flat=True)) == ["first"]


@pytest.mark.django_db
def test_the_places_of_a_worker_that_died_are_free_when_its_share_runs_out():
    endpoint = limited(max_in_flight=4)
    dead, alive = Share(endpoint.pk, "dead"), Share(endpoint.pk, "alive")
    dead.renew(WANTS_ALL)
    alive.renew(WANTS_ALL)
    assert begin(alive) == 0
    EndpointShare.objects.filter(holder="dead").update(expires_at=timezone.now() - timedelta(seconds=1))
    alive.renew(WANTS_ALL)
    assert begin(alive) == 4


@pytest.mark.django_db
def test_a_share_ends_for_its_holder_before_it_ends_for_the_others(settings):
    settings.CLAIM_SECONDS = 2
    share = Share(limited(max_in_flight=4).pk, "first")
    share.renew(WANTS_ALL)
    assert share.pace.begin(time.monotonic() + 1.75) == float("inf")
    assert EndpointShare.objects.get().expires_at > timezone.now() + timedelta(seconds=1.75)
    assert begin(share) == 4


@pytest.mark.django_db
def test_changed_limits_hold_from_the_next_renewal_on():
    endpoint = limited(max_in_flight=4)
    share = Share(endpoint.pk, "first")
    share.renew(WANTS_ALL)
    Endpoint.objects.update(max_in_flight=1, requests_per_minute=None)
    share.renew(WANTS_ALL)
    assert begin(share) == 1


@pytest.mark.django_db
def test_a_pause_that_the_server_asked_for_holds_for_every_worker():
    endpoint = limited(max_in_flight=4)
    told, other = Share(endpoint.pk, "told"), Share(endpoint.pk, "other")
    told.renew(WANTS_ALL)
    other.renew(WANTS_ALL)
    told.pace.wait_as_asked(time.monotonic() + 30)
    assert begin(told) == 0
    told.renew(WANTS_ALL)
    other.renew(WANTS_ALL)
    assert begin(other) == 0
    assert 25 < other.held_for <= 30
    assert not Share(endpoint.pk, "third").take()
    # A shorter wish does not end a longer pause.
    other.pace.wait_as_asked(time.monotonic() + 1)
    other.renew(WANTS_ALL)
    assert other.held_for > 20


@pytest.mark.django_db
def test_places_in_the_minute_are_given_out_once():
    # 600 a minute: one in 62/600 s.
    endpoint = limited(max_in_flight=50, requests_per_minute=600)
    shares = [Share(endpoint.pk, name) for name in ("first", "second")]
    moments = []
    for share in itertools.islice(itertools.cycle(shares), 8):
        before = share.pace.n_turns
        share.renew(Wish(n_places=50, n_turns=50, tokens_each=1.0))
        moments += [moment for moment, _ in list(share.pace._turns)[before:]]
    moments.sort()
    # At most a second and a half ahead, whoever asks and however often.
    assert 15 <= len(moments) <= 20
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    # Each renewal reads the clock anew: a few milliseconds between the database's and ours.
    assert min(gaps) > MINUTE / 600 - 0.05


@pytest.mark.django_db
def test_unused_places_in_the_minute_are_given_back_if_nobody_came_after():
    endpoint = limited(max_in_flight=5, requests_per_minute=6)
    first = Share(endpoint.pk, "first")
    wish = Wish(n_places=5, n_turns=5, tokens_each=1.0)
    first.renew(wish)
    assert first.pace.n_turns == 1
    first.leave()
    second = Share(endpoint.pk, "second")
    second.renew(wish)
    assert begin(second) == 1


@pytest.mark.django_db
def test_tokens_that_were_reckoned_too_many_are_given_back():
    # 62 tokens are a second. Reckoned: 620 of them, so the next request would wait for ten seconds.
    endpoint = limited(max_in_flight=5, tokens_per_minute=int(62 * MINUTE))
    share = Share(endpoint.pk, "first")
    share.renew(Wish(n_places=5, n_turns=5, tokens_each=620.0))
    assert begin(share) == 1
    endpoint.refresh_from_db()
    assert endpoint.next_request_at > timezone.now() + timedelta(seconds=9)
    share.pace.end(62)
    share.renew(Wish(n_places=5, n_turns=0, tokens_each=620.0))
    endpoint.refresh_from_db()
    assert endpoint.next_request_at < timezone.now() + timedelta(seconds=1.5)
