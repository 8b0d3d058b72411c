"""What a client takes and gives: `Request` in, one of `Completion`, `ClientError`, `NotAsked` out.

The kinds are kept apart on purpose. A rate limit is not a wrong answer, an empty completion is not an unparsed one,
and a request that never left the house must not use up an attempt.
"""

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self

from evaluation.clients.logprobs import TokenLogprob
from evaluation.prompts.inputs import Message, PromptInput
from evaluation.storable import shorten

MAX_BODY_BYTES = 4 * 1024 * 1024
LONGEST_BACK_OFF_SECONDS = 300.0
# A server may ask for hours; a run that waits longer than a day is better off failing where people see it.
LONGEST_RETRY_AFTER_SECONDS = 86_400.0

RequestId = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a client.

    id: the caller's own, given back with the outcome.
    messages: the rendered chat, as a remote model gets it.
    item_key: names item and repeat, the same in every run of the same set; seeded baselines draw from it, so that
        their answers depend neither on order nor on how a run was cut into chunks.
    prompt: the input that `messages` was rendered from; baselines read it, for they cannot read prose.
    parameters: sampling parameters of the run (temperature, max_tokens ...).
    """

    id: RequestId
    messages: Sequence[Message] = ()
    item_key: str = ""
    prompt: PromptInput | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)


class Inbox:
    """Requests for a client, more of them while it works. Once closed it takes none, and the client ends with it."""

    def __init__(self, requests: Iterable[Request] = ()) -> None:
        self._lock = threading.Lock()
        self._waiting = deque(requests)
        self._is_closed = False

    @classmethod
    def of(cls, requests: Iterable[Request]) -> Self:
        """These requests and no others."""
        inbox = cls(requests)
        inbox.close()
        return inbox

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def add(self, requests: Iterable[Request]) -> bool:
        """False, taking none of them, if the inbox has been closed."""
        with self._lock:
            if not self._is_closed:
                self._waiting.extend(requests)
            return not self._is_closed

    def take(self) -> Request | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def close(self) -> None:
        with self._lock:
            self._is_closed = True

    def close_and_take_rest(self) -> list[Request]:
        with self._lock:
            self._is_closed = True
            rest = list(self._waiting)
            self._waiting.clear()
            return rest


class CompletionStatus(StrEnum):
    ANSWERED = "answered"  # there is text, and the model ended it itself: parsing decides what it says
    EMPTY = "empty"  # nothing, or white space only
    CUT_OFF = "cut_off"  # the token limit ended it: the answer may be missing or half a word
    REFUSED = "refused"  # the provider says that the model refused or that its filter stepped in


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said, verbatim, with its circumstances.

    text: the completion; `altered` tells that characters no database can store (NUL, lone surrogates) became U+FFFD.
    refusal: the provider's own statement that the model refused, where it has one.
    prompt_tokens, completion_tokens: as the provider counted them; None where it does not say.
    logprobs: of each token (see `logprobs`); None where the provider was not asked or does not say.
    latency_ms: from sending the request to the last byte of the body; 0 for baselines.
    http_status: None where no HTTP was involved.
    model: the model that the response names, which may be more exact than the one asked for.
    """

    text: str
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: Sequence[TokenLogprob] | None = None
    model: str = ""
    latency_ms: int = 0
    http_status: int | None = None
    response_id: str = ""
    altered: bool = False

    @property
    def tokens(self) -> int | None:
        """In and out together; None unless both were counted."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    @property
    def status(self) -> CompletionStatus:
        # The order matters: a refusal is often empty, and an empty text that was cut off was all spent on reasoning.
        if self.refusal or self.finish_reason == "content_filter":
            return CompletionStatus.REFUSED
        if self.finish_reason == "length":
            return CompletionStatus.CUT_OFF
        if not self.text.strip():
            return CompletionStatus.EMPTY
        return CompletionStatus.ANSWERED


class ErrorKind(StrEnum):
    RATE_LIMITED = "rate_limited"  # 429
    SERVER_ERROR = "server_error"  # 5xx
    TIMEOUT = "timeout"  # the total deadline of the call passed, or the server said 408
    CONNECTION = "connection"  # no such host, refused, reset, closed half way
    BAD_RESPONSE = "bad_response"  # broken JSON, wrong shape, a body above the limit
    BAD_REQUEST = "bad_request"  # any other 4xx: this one request is at fault (too long, for example)
    AUTH = "auth"  # 401, 402, 403, or 429 because the money is spent
    NOT_FOUND = "not_found"  # 404: wrong address or model name
    REFUSED_ADDRESS = "refused_address"  # our own rule on outgoing requests said no
    REDIRECT = "redirect"  # the server wants us elsewhere; a key never follows


HEALING_KINDS = frozenset({ErrorKind.RATE_LIMITED, ErrorKind.SERVER_ERROR, ErrorKind.TIMEOUT, ErrorKind.CONNECTION})
STOPPING_KINDS = frozenset({ErrorKind.AUTH, ErrorKind.NOT_FOUND, ErrorKind.REFUSED_ADDRESS, ErrorKind.REDIRECT})


class ClientError(Exception):
    """A request that was sent (or refused by our own rule) and brought no completion.

    message: at most 500 characters; whoever raises it has already taken the keys out.
    retry_after: seconds the server asked us to wait, None if it did not.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retry_after: float | None = None,
        http_status: int | None = None,
        latency_ms: int = 0,
    ) -> None:
        self.kind = kind
        self.message = shorten(message)
        self.retry_after = retry_after
        self.http_status = http_status
        self.latency_ms = latency_ms
        super().__init__(f"{kind}: {self.message}")

    @property
    def heals(self) -> bool:
        """True if the same request may well succeed later."""
        return self.kind in HEALING_KINDS

    @property
    def stops_run(self) -> bool:
        """True if every other request of the run would fail the same way."""
        return self.kind in STOPPING_KINDS

    @property
    def asks_to_wait(self) -> bool:
        """True if the server told us to slow down: that is about everything sent there, not about this request."""
        return self.kind == ErrorKind.RATE_LIMITED or self.retry_after is not None


class NotAskedReason(StrEnum):
    STOPPED = "stopped"  # the caller's stop event (pause, cancel, shutdown)
    OUT_OF_TIME = "out_of_time"  # a whole call no longer fits before the chunk's end
    HELD_BACK = "held_back"  # the endpoint asked for a pause, or failed several times in a row
    RUN_STOPPED = "run_stopped"  # another request met an error that will not heal
    BUDGET_SPENT = "budget_spent"  # what the run may cost is gone


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A request that was never sent: no attempt is used up. `retry_after`: seconds to wait before offering it again."""

    reason: NotAskedReason
    retry_after: float | None = None


Outcome = Completion | ClientError | NotAsked


class Client(Protocol):
    """Anything that answers requests: `OpenAIClient`, the baselines."""

    def answer(
        self,
        inbox: Inbox,
        *,
        stop: threading.Event,
        until: float,
        on_tick: Callable[[], None] | None = None,
    ) -> Iterator[list[tuple[RequestId, Outcome]]]:
        """Yield exactly one outcome for every request of the inbox, in no particular order: whatever has arrived by
        the time the caller asks for more, at once, and never later than that.

        Runs in the caller's thread, which may use the database between two yields and put further requests into the
        inbox until it closes it. The client closes it, too, once it will send nothing more.
        stop: once set, no further request is sent; those in flight are finished.
        until: moment of `time.monotonic()` after which nothing is under way any more.
        on_tick: called in the caller's thread about once a second while outcomes are awaited, and between outcomes
            (for heartbeats and for looking whether the run was paused).
        """
        ...


def back_off_seconds(attempt: int, *, retry_after: float | None, draw: float) -> float:
    """Seconds to wait before attempt number `attempt` + 1.

    attempt: how many times the request has been sent, from 1.
    draw: a uniform draw from [0, 1). The wait is spread over the upper half of the doubling step, so that requests
        that failed together do not come back together.
    A server's Retry-After is the least we wait; up to a quarter (at most 5 s) comes on top, for the same reason.
    """
    if retry_after is not None:
        return retry_after + draw * min(retry_after / 4, 5.0)
    step = min(2.0 ** min(attempt, 16), LONGEST_BACK_OFF_SECONDS)
    return step * (0.5 + draw / 2)


_SECRET_SHAPES = re.compile(
    r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,512}"
    r"|\b(?:sk|pk|rk|hf|gsk|xai)[-_][\w*.-]{6,512}"
    r"|(?<=//)[^\s/@]{1,512}@"
)
_SHARED_RUN = 8


def redact(message: str, secrets: Sequence[str]) -> str:
    """The message without keys: each secret, every run of 8 of its characters, and whatever looks like a key.

    Providers echo keys back in part ("Incorrect API key provided: sk-abcdef***xyz"), so whole-key replacement is not
    enough. Only the first 4,096 characters are looked at and returned.
    """
    message = message[:4096]
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        message = message.replace(secret, "[key]")
        if len(secret) > _SHARED_RUN:
            message = _without_runs_of(secret, message)
    return _SECRET_SHAPES.sub("[key]", message)


def _without_runs_of(secret: str, message: str) -> str:
    runs = {secret[start : start + _SHARED_RUN] for start in range(len(secret) - _SHARED_RUN + 1)}
    hidden = [False] * len(message)
    for start in range(len(message) - _SHARED_RUN + 1):
        if message[start : start + _SHARED_RUN] in runs:
            hidden[start : start + _SHARED_RUN] = [True] * _SHARED_RUN
    kept: list[str] = []
    for position, character in enumerate(message):
        if not hidden[position]:
            kept.append(character)
        elif position == 0 or not hidden[position - 1]:
            kept.append("[key]")
    return "".join(kept)
