"""How fast an endpoint may be asked, and how much may still be spent there.

The caller's thread says so, the event loop that sends keeps to it. Nobody waits for a lock that is held for longer than
a few statements.
"""

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from evaluation.clients.base import Completion

# A place in the minute that was not used within this is lost: places must not pile up and leave together.
PLACE_LASTS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that is over. tokens: as the server counted them, None where it did not; seconds: that its place in the
    minute was reckoned to take."""

    tokens: int | None
    seconds: float


class Pace:
    """What of an endpoint's limits is ours at this moment, on the clock of `time.monotonic()`.

    places: calls in flight at once. Without `in_turn`, a call may begin whenever a place is free; with it, only at the
    moments that `allow` was given, each of them once.
    """

    def __init__(self, places: int, *, lasts_until: float = float("inf")) -> None:
        self._lock = threading.Lock()
        self._places = places
        self._lasts_until = lasts_until
        self._turns: deque[tuple[float, float]] | None = None
        self._under_way: deque[float] = deque()
        self._ended: list[Ended] = []
        self._held_until = 0.0
        self._asked_to_wait = 0.0

    # For the caller's thread

    @property
    def n_in_flight(self) -> int:
        return len(self._under_way)

    @property
    def n_turns(self) -> int:
        """Moments that were given and are neither used nor lost."""
        return len(self._turns or ())

    def allow(self, places: int, *, lasts_until: float) -> None:
        """From now on so many places; at `lasts_until` all of them end, unless they were renewed."""
        with self._lock:
            self._places, self._lasts_until = places, lasts_until

    def in_turn(self, turns: Iterable[tuple[float, float]] | None) -> None:
        """More moments at which one call may begin, each with the seconds it was reckoned to take; None: at any."""
        with self._lock:
            if turns is None:
                self._turns = None
            else:
                self._turns = self._turns if self._turns is not None else deque()
                self._turns.extend(turns)

    def hold(self, until: float) -> None:
        """Nothing begins before this moment."""
        with self._lock:
            self._held_until = max(self._held_until, until)

    def take_ended(self) -> list[Ended]:
        with self._lock:
            ended, self._ended = self._ended, []
            return ended

    def take_wish(self) -> float:
        """The moment until which the server asked us to wait since this was last asked; 0 if it did not."""
        with self._lock:
            until, self._asked_to_wait = self._asked_to_wait, 0.0
            return until

    # For the event loop

    def held_for(self, now: float) -> float:
        return max(0.0, self._held_until - now)

    def begin(self, now: float) -> float:
        """0 and a call is under way, or the seconds after which it is worth asking again: infinite where something
        else must happen first."""
        with self._lock:
            if self._held_until > now:
                return self._held_until - now
            if now >= self._lasts_until or len(self._under_way) >= self._places:
                return float("inf")
            seconds = 0.0
            if self._turns is not None:
                while self._turns and self._turns[0][0] + PLACE_LASTS_SECONDS < now:
                    self._turns.popleft()
                if not self._turns:
                    return float("inf")
                moment, seconds = self._turns[0]
                if moment > now:
                    return moment - now
                self._turns.popleft()
            self._under_way.append(seconds)
            return 0.0

    def end(self, tokens: int | None) -> None:
        with self._lock:
            # Which of the calls it was does not matter: only the sums are looked at.
            self._ended.append(Ended(tokens, self._under_way.popleft()))

    def wait_as_asked(self, until: float) -> None:
        """The server asked for it: we hold at once, and whoever shares the endpoint is told (`take_wish`)."""
        with self._lock:
            self._held_until = max(self._held_until, until)
            self._asked_to_wait = max(self._asked_to_wait, until)


class Meter:
    """What a run has spent and may spend, counted where completions arrive: nothing is sent once it is all gone.

    input_price, output_price: of a million tokens; exact numbers, so that this and what the database adds up never
    disagree on whether it is all gone. Limits are None where there is none.
    """

    def __init__(self, *, input_price: Decimal = Decimal(0), output_price: Decimal = Decimal(0)) -> None:
        self._lock = threading.Lock()
        self._prices = input_price, output_price
        self._limits: tuple[Decimal | None, int | None] = None, None
        self._known = 0, 0
        self._unstored = 0, 0
        self.is_blind = False

    def limit(self, *, money: Decimal | None, tokens: int | None) -> None:
        with self._lock:
            self._limits = money, tokens

    def know(self, prompt_tokens: int, completion_tokens: int, *, of_ours: tuple[int, int] = (0, 0)) -> None:
        """What the database says was spent by all workers; of_ours: what of our own has come into it just now."""
        with self._lock:
            self._known = prompt_tokens, completion_tokens
            self._unstored = self._unstored[0] - of_ours[0], self._unstored[1] - of_ours[1]

    def count(self, completion: Completion) -> None:
        with self._lock:
            if completion.tokens is None:
                self.is_blind = True
            self._unstored = (
                self._unstored[0] + (completion.prompt_tokens or 0),
                self._unstored[1] + (completion.completion_tokens or 0),
            )

    @property
    def is_limited(self) -> bool:
        return self._limits != (None, None)

    @property
    def is_spent(self) -> bool:
        """Also where a completion came without a count: a budget that cannot be watched must not be overdrawn."""
        with self._lock:
            money, tokens = self._limits
            prompt, completion = (a + b for a, b in zip(self._known, self._unstored, strict=True))
            cost = prompt * self._prices[0] + completion * self._prices[1]
            is_over = (money is not None and cost >= money * 1_000_000) or (
                tokens is not None and prompt + completion >= tokens
            )
            return is_over or (self.is_blind and self.is_limited)
