"""The limits of an endpoint, kept by all workers together.

Calls in flight: each worker holds a share of the places for a few seconds and renews it every second. A share shrinks
only as far as its calls have ended, and another one grows only into places that nobody holds, so the shares never come
to more than the endpoint allows. The places of a worker that dies are free when its share runs out.

Requests and tokens a minute: one moment in the endpoint's row, the next free place in the minute. Who wants to send
takes some of the next places and moves it on; a place is used at its moment or lost. So requests leave evenly, and no
minute ever holds more of them than allowed, whoever sends them. Where tokens are limited a place is as long as the
tokens that a request is reckoned to take, and is made longer or shorter once they were counted.

The row is locked for a few statements a worker and second, never for a request.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from evaluation.clients.pace import Ended, Pace
from evaluation.models import Endpoint, EndpointShare

SHARE_SECONDS = 15.0
# A share is not used to its last moment: clocks and networks take a little.
MARGIN = 0.15
# Places in the minute are taken this far ahead: a renewal and a half.
LEAD_SECONDS = 1.5
# A place may be used a second late (PLACE_LASTS_SECONDS) and its request may arrive later still: what is allowed in a
# minute is spread over a little more than one.
MINUTE_SECONDS = 62.0
# What a request takes before anything has been counted: this many characters of a prompt to a token, and an answer of
# the length that was allowed, or of this many tokens.
CHARACTERS_A_TOKEN = 3
ANSWER_TOKENS = 512


@dataclass(frozen=True)
class Wish:
    """What a worker asks for at a renewal.

    n_places: calls it could have in flight, those that are included; n_turns: requests it could send at this moment;
    tokens_each: that one of them is reckoned to take.
    """

    n_places: int
    n_turns: int
    tokens_each: float


class Share:
    """One worker's part of an endpoint's limits while it works on something; `pace` is kept up to date by `renew`."""

    def __init__(self, endpoint_id: int, holder: str) -> None:
        self.endpoint_id = endpoint_id
        self.holder = holder
        self.pace = Pace(0, lasts_until=0.0)
        self.held_for = 0.0
        self._next_request_at: datetime | None = None
        self._interval: float | None = None

    def take(self) -> bool:
        """False, holding nothing, where the endpoint is paused or has no place for one worker more."""
        is_entitled = self.renew(Wish(n_places=1, n_turns=0, tokens_each=1.0))
        if not is_entitled or self.held_for:
            self.leave()
            return False
        return True

    def renew(self, wish: Wish) -> bool:
        """Take what may be had now, give up what others may have; False if no place at all is meant for us."""
        asked_at = time.monotonic()
        to_wait = max(0.0, self.pace.take_wish() - asked_at)
        with transaction.atomic():
            endpoint, now = _locked(self.endpoint_id)
            entitled, places = self._places(endpoint, now, wish)
            held_until = _latest(endpoint.held_until, now + timedelta(seconds=to_wait) if to_wait else None)
            self.held_for = max(0.0, (held_until - now).total_seconds()) if held_until else 0.0
            first, n = self._turns(endpoint, now, wish)
            Endpoint.objects.filter(pk=endpoint.pk).update(
                held_until=held_until, next_request_at=endpoint.next_request_at
            )
        answered_at = time.monotonic()
        self.pace.allow(places, lasts_until=asked_at + (1 - MARGIN) * _share_seconds())
        if self.held_for:
            self.pace.hold(answered_at + self.held_for)
        if self._interval is None:
            self.pace.in_turn(None)
        else:
            interval = self._interval
            self.pace.in_turn([(answered_at + first + k * interval, interval) for k in range(n)])
        return entitled > 0

    def leave(self) -> None:
        """Free the places at once, and the places in the minute that nobody has taken after ours."""
        with transaction.atomic():
            endpoint, now = _locked(self.endpoint_id)
            EndpointShare.objects.filter(holder=self.holder).delete()
            unused = self.pace.n_turns * (self._interval or 0.0)
            if endpoint.next_request_at and endpoint.next_request_at == self._next_request_at:
                corrected = endpoint.next_request_at + timedelta(seconds=self._correction(endpoint) - unused)
                Endpoint.objects.filter(pk=endpoint.pk).update(next_request_at=max(corrected, now))

    def _places(self, endpoint: Endpoint, now: datetime, wish: Wish) -> tuple[int, int]:
        """(places meant for us, places we may use now)."""
        EndpointShare.objects.filter(endpoint=endpoint, expires_at__lte=now).delete()
        shares = list(EndpointShare.objects.filter(endpoint=endpoint).order_by("pk"))
        others = [share for share in shares if share.holder != self.holder]
        mine = next((share for share in shares if share.holder == self.holder), None)
        rank = len(others) if mine is None else shares.index(mine)
        in_flight = self.pace.n_in_flight
        wanted = max(wish.n_places, in_flight)
        # Who wants less than an even part leaves the rest to the others.
        of_others = sum(
            min(share.wanted, even_part(endpoint.max_in_flight, len(others) + 1, k + (k >= rank)))
            for k, share in enumerate(others)
        )
        entitled = max(even_part(endpoint.max_in_flight, len(others) + 1, rank), endpoint.max_in_flight - of_others)
        free = endpoint.max_in_flight - sum(share.places for share in others)
        places = max(0, min(entitled, free, wanted))
        # What is under way cannot be taken back: it counts until it ends.
        EndpointShare.objects.update_or_create(
            holder=self.holder,
            defaults={
                "endpoint": endpoint,
                "places": max(places, in_flight),
                "wanted": wanted,
                "expires_at": now + timedelta(seconds=_share_seconds()),
            },
        )
        return entitled, places

    def _turns(self, endpoint: Endpoint, now: datetime, wish: Wish) -> tuple[float, int]:
        """(seconds until the first of our next places in the minute, how many); moves the endpoint's on."""
        correction = self._correction(endpoint)
        self._interval = seconds_of(endpoint, wish.tokens_each)
        if self._interval is None:
            return 0.0, 0
        next_at = endpoint.next_request_at or now
        next_at = max(next_at + timedelta(seconds=correction), now)
        ahead = (next_at - now).total_seconds()
        n_workers = EndpointShare.objects.filter(endpoint=endpoint).count()
        n = 0
        if not self.held_for:
            n = n_turns(self._interval, ahead, n_workers, wish.n_turns, self.pace.n_turns)
        endpoint.next_request_at = self._next_request_at = next_at + timedelta(seconds=n * self._interval)
        return ahead, n

    def _correction(self, endpoint: Endpoint) -> float:
        return sum(correction_of(endpoint, ended) for ended in self.pace.take_ended())


def even_part(places: int, n_workers: int, rank: int) -> int:
    """The places of the worker that came as number `rank`, from 0: what is left over goes to the first ones."""
    return places // n_workers + (rank < places % n_workers)


def seconds_of(endpoint: Endpoint, tokens: float) -> float | None:
    """How long a place in the minute is for a request of so many tokens; None without a limit."""
    by_requests = MINUTE_SECONDS / endpoint.requests_per_minute if endpoint.requests_per_minute else 0.0
    by_tokens = tokens * MINUTE_SECONDS / endpoint.tokens_per_minute if endpoint.tokens_per_minute else 0.0
    return max(by_requests, by_tokens) or None


def correction_of(endpoint: Endpoint, ended: Ended) -> float:
    """By how much the place of a call would have been longer, had its tokens been known."""
    if ended.tokens is None or not ended.seconds or not endpoint.tokens_per_minute:
        return 0.0
    return (seconds_of(endpoint, ended.tokens) or 0.0) - ended.seconds


def n_turns(interval: float, ahead: float, n_workers: int, n_waiting: int, n_unused: int) -> int:
    """How many of the next places in the minute one of these workers takes; the first is `ahead` seconds away."""
    horizon = max(LEAD_SECONDS, interval)
    if ahead > horizon:
        return 0
    enough = math.ceil(LEAD_SECONDS / interval / n_workers) - n_unused
    return max(0, min(n_waiting - n_unused, enough, int((horizon - ahead) / interval) + 1))


def reckoned_tokens(prompt_characters: float, max_tokens: int | None) -> float:
    """What a request is taken to need before anything was counted: rather too much than too little."""
    return prompt_characters / CHARACTERS_A_TOKEN + (max_tokens or ANSWER_TOKENS)


def _locked(endpoint_id: int) -> tuple[Endpoint, datetime]:
    # no_key: a run that is being made points here, and must not wait.
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    # The clock after the lock: who waited for it would be told an old time.
    now = Endpoint.objects.filter(pk=endpoint_id).annotate(now=Now()).values_list("now", flat=True).get()
    return endpoint, now


def _share_seconds() -> float:
    return min(SHARE_SECONDS, float(settings.CLAIM_SECONDS))


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
