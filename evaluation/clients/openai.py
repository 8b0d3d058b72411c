"""Any endpoint that speaks the OpenAI protocol of chat completions, or the older one of text completions.

One HTTP request for every outcome, never more: nothing is retried here, because retries are `due_at` in the database
and attempts are counted there. What is handled here is what a chunk in flight must do at once: keep to the limits,
wait out a short Retry-After, and stop asking an endpoint that is down or that refuses us.
"""

import asyncio
import contextlib
import email.utils
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import aiohttp
from yarl import URL

from evaluation.clients.base import (
    LONGEST_RETRY_AFTER_SECONDS,
    MAX_BODY_BYTES,
    ClientError,
    Completion,
    ErrorKind,
    Inbox,
    NotAsked,
    NotAskedReason,
    Outcome,
    Request,
    RequestId,
    back_off_seconds,
    redact,
)
from evaluation.clients.bridge import answer_in_thread
from evaluation.clients.logprobs import read_logprobs
from evaluation.clients.outgoing import (
    AddressRefused,
    NameNotResolved,
    PinnedResolver,
    Resolve,
    checked_url,
    destination_of,
    system_resolve,
)
from evaluation.clients.pace import Meter, Pace
from evaluation.prompts.plain_text import BETWEEN_TURNS
from evaluation.storable import storable

Put = Callable[[tuple[RequestId, Outcome]], None]

CONNECT_SECONDS = 10.0
# A pause up to this long is waited out; a longer one goes back to the caller, whose rows become due later.
SHORT_HOLD_SECONDS = 5.0
# So many failures without a success between them, and the rest of the chunk is not sent: a server that is down must
# not use up the attempts of every item in the run.
FAILURES_IN_A_ROW = 5
LOOK_SECONDS = 0.05

OUR_OWN_FIELDS = frozenset({"model", "messages", "prompt", "stream", "stream_options", "n"})
# Of an error body only the message is of interest.
_MAX_ERROR_BODY_BYTES = 64 * 1024
_LARGEST_COUNT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class OpenAIClient:
    """A model behind an OpenAI-compatible endpoint.

    base_url: up to and without `/chat/completions`, e.g. `https://api.example.org/v1`.
    takes_chats: else each request has one message, whose content is the text to go on from.
    api_key: the value (see `keys.key_for`), "" for none; kept out of `repr` and of every message.
    allowed_private: `host:port` entries of the settings that may be reached although they are not public.
    concurrency: connections at most; pace: which of them may be used now, and when, all of them where it is None.
    meter: of what is spent, where that is limited.
    call_seconds: the total deadline of one call: connecting, sending, and the whole body.
    """

    base_url: str
    model: str
    takes_chats: bool = True
    api_key: str = field(default="", repr=False)
    allowed_private: frozenset[str] = frozenset()
    concurrency: int = 8
    pace: Pace | None = None
    meter: Meter | None = None
    call_seconds: float = 120.0
    resolve: Resolve = system_resolve

    def answer(
        self,
        inbox: Inbox,
        *,
        stop: threading.Event,
        until: float,
        on_tick: Callable[[], None] | None = None,
    ) -> Iterator[list[tuple[RequestId, Outcome]]]:
        """See `Client.answer`. HTTP happens in a thread of its own; a request is sent only while a call still fits."""
        return answer_in_thread(lambda put: self.complete_many(inbox, put=put, stop=stop, until=until), on_tick=on_tick)

    async def complete_many(self, inbox: Inbox, *, put: Put, stop: threading.Event, until: float) -> None:
        """Put exactly one (request id, outcome) for every request, each as it arrives.

        Raises ValueError if a request sets a parameter that is ours to set.
        """
        gate = _Gate(
            inbox,
            pace=self.pace or Pace(self.concurrency),
            meter=self.meter,
            stop=stop,
            last_start=until - self.call_seconds,
        )
        try:
            url = checked_url(self.base_url)
            url = url / "chat" / "completions" if self.takes_chats else url / "completions"
            destination = await destination_of(url, allowed_private=self.allowed_private, resolve=self.resolve)
        except AddressRefused as error:
            gate.fail_next(ClientError(ErrorKind.REFUSED_ADDRESS, self._redacted(str(error))), put)
        except NameNotResolved as error:
            gate.fail_next(ClientError(ErrorKind.CONNECTION, self._redacted(str(error))), put)
        else:
            connector = aiohttp.TCPConnector(
                limit=self.concurrency, resolver=PinnedResolver(destination), use_dns_cache=False
            )
            session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,  # no proxies and no .netrc of whoever started the worker
                auto_decompress=False,  # a small body must not become a large one
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                headers=self._headers(),
            )
            async with session, asyncio.TaskGroup() as group:
                while (request := await gate.next_request()) is not None:
                    group.create_task(self._see_through(session, url, request, gate, put))
        gate.give_back_rest(put)

    async def _see_through(
        self, session: aiohttp.ClientSession, url: URL, request: Request, gate: "_Gate", put: Put
    ) -> None:
        outcome = await self._outcome(session, url, self._body(request))
        gate.hear(outcome)
        put((request.id, outcome))

    def _body(self, request: Request) -> bytes:
        return (request_body if self.takes_chats else text_request_body)(self.model, request)

    async def _outcome(self, session: aiohttp.ClientSession, url: URL, body: bytes) -> Completion | ClientError:
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.call_seconds):
                return await self._call(session, url, body, started)
        except ClientError as error:
            return error
        except aiohttp.ConnectionTimeoutError:
            kind, message = ErrorKind.CONNECTION, f"No connection within {CONNECT_SECONDS:g} s."
        except TimeoutError:
            kind, message = ErrorKind.TIMEOUT, f"No complete answer within {self.call_seconds:g} s."
        except (aiohttp.ClientError, OSError) as error:
            kind, message = ErrorKind.CONNECTION, f"{type(error).__name__}: {error}"
        return ClientError(kind, self._redacted(message), latency_ms=_ms_since(started))

    async def _call(self, session: aiohttp.ClientSession, url: URL, body: bytes, started: float) -> Completion:
        async with session.post(url, data=body, allow_redirects=False) as response:
            status = response.status
            if 300 <= status < 400:
                response.close()
                target = self._redacted(response.headers.get("Location", "nowhere"))
                raise ClientError(
                    ErrorKind.REDIRECT,
                    f"HTTP {status}: the server redirects to {target}; redirects are not followed. "
                    "Write the final address into the endpoint.",
                    http_status=status,
                    latency_ms=_ms_since(started),
                )
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                response.close()
                raise ClientError(
                    ErrorKind.BAD_RESPONSE,
                    "The body is compressed although we asked for it not to be.",
                    http_status=status,
                    latency_ms=_ms_since(started),
                )
            raw = await self._read(response, started)
        latency_ms = _ms_since(started)
        if status != 200:
            raise self._error(status, response.headers, raw, latency_ms)
        return self._completion(raw, response.headers, latency_ms)

    async def _read(self, response: aiohttp.ClientResponse, started: float) -> bytes:
        """The body; of an error no more than its beginning. Raises ClientError above 4 MiB, having read no further."""
        limit = MAX_BODY_BYTES if response.status == 200 else _MAX_ERROR_BODY_BYTES
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > limit:
                response.close()
                if response.status != 200:
                    break
                raise ClientError(
                    ErrorKind.BAD_RESPONSE,
                    f"The body is above {MAX_BODY_BYTES // 1024**2} MiB; reading was broken off.",
                    http_status=response.status,
                    latency_ms=_ms_since(started),
                )
        return bytes(body[:limit])

    def _completion(self, raw: bytes, headers: Mapping[str, str], latency_ms: int) -> Completion:
        try:
            return read_completion(raw, latency_ms=latency_ms, takes_chats=self.takes_chats)
        except EmbeddedError as embedded:
            raise self._error(embedded.status, headers, raw, latency_ms) from None
        except ValueError as error:
            raise ClientError(
                ErrorKind.BAD_RESPONSE, self._redacted(str(error)), http_status=200, latency_ms=latency_ms
            ) from None

    def _error(self, status: int, headers: Mapping[str, str], raw: bytes, latency_ms: int) -> ClientError:
        said = _error_message(raw)
        return ClientError(
            kind_of_status(status, said),
            self._redacted(f"HTTP {status}: {said}" if said else f"HTTP {status}"),
            retry_after=retry_after_seconds(headers, now=datetime.now(UTC)),
            http_status=status,
            latency_ms=latency_ms,
        )

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "goldpanel",
        }
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    def _redacted(self, message: str) -> str:
        return redact(message, [self.api_key])


def request_body(model: str, request: Request) -> bytes:
    """The JSON body of a request. Raises ValueError if its parameters set a field that is ours to set."""
    return _body_of({"model": model, "messages": list(request.messages)}, request)


def text_request_body(model: str, request: Request) -> bytes:
    """The same for the older protocol. Raises ValueError, too, unless the request has one message.

    Log probabilities are asked for by one number there, how many alternatives a token shall have.

    A base model would invent the next question and its answer, up to the limit of tokens: what ends the turns of a
    prompt ends its completion.
    """
    (message,) = request.messages
    parameters = dict(request.parameters)
    alternatives = parameters.pop("top_logprobs", 0)
    if parameters.pop("logprobs", False):
        parameters["logprobs"] = alternatives
    ours = {"model": model, "prompt": message["content"], "stop": [BETWEEN_TURNS]}
    return _body_of(ours, replace(request, parameters=parameters))


def _body_of(ours: Mapping[str, object], request: Request) -> bytes:
    if taken := OUR_OWN_FIELDS & request.parameters.keys():
        raise ValueError(f"These request fields cannot be set as parameters: {', '.join(sorted(taken))}.")
    return json.dumps({**ours, **request.parameters, "stream": False}, allow_nan=False).encode()


class EmbeddedError(Exception):
    """A body sent with status 200 that carries an error with a status of its own, as some gateways do."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"status {status}")


def read_completion(raw: bytes, *, latency_ms: int, takes_chats: bool = True) -> Completion:
    """The completion in the body of a response with status 200.

    Raises ValueError, saying what is wrong, if it is not JSON or not of the shape that the protocol lays down, and
    EmbeddedError if it is an error in the clothes of a success.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError(f"The body is not JSON; it begins with {_beginning(raw)!r}.") from None
    if not isinstance(body, dict):
        raise ValueError(f"The body is a JSON {type(body).__name__}, not an object.")
    error = body.get("error")
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code <= 599:
            raise EmbeddedError(code)
        raise ValueError(f"The body reports an error: {_error_message(raw)}")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    part = "message" if takes_chats else "text"
    said = choice.get(part) if isinstance(choice, dict) else None
    message = said if takes_chats else {"content": said} if isinstance(said, str) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ValueError(f"The body has no choices[0].{part}; it begins with {_beginning(raw)!r}.")
    text = _text_of(message.get("content"))
    if text is None:
        raise ValueError("choices[0].message.content is neither text nor null.")
    reasoning = _text_of(message.get("reasoning_content") or message.get("reasoning")) or ""
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    stored = storable(text)
    return Completion(
        text=stored,
        reasoning=storable(reasoning),
        refusal=storable(_text_of(message.get("refusal")) or ""),
        finish_reason=_short(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        logprobs=read_logprobs(choice.get("logprobs")),
        model=_short(body.get("model")),
        latency_ms=latency_ms,
        http_status=200,
        response_id=_short(body.get("id")),
        altered=stored != text,
    )


def _text_of(content: object) -> str | None:
    """Text, null, or a list of parts of which the text ones count; None for any other shape."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return None


def _short(value: object) -> str:
    return storable(value)[:200] if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _LARGEST_COUNT else None


def _beginning(raw: bytes) -> str:
    return raw[:60].decode("utf-8", "replace")


def _error_message(raw: bytes) -> str:
    """What an error body says: `error.message`, `error`, `message` or `detail` if it is JSON, else its beginning."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return raw[:2000].decode("utf-8", "replace").strip()
    if isinstance(body, dict):
        error = body.get("error")
        candidates = [error.get("message"), error.get("code")] if isinstance(error, dict) else [error]
        for said in [*candidates, body.get("message"), body.get("detail")]:
            if isinstance(said, str) and said.strip():
                return said.strip()
    return raw[:2000].decode("utf-8", "replace").strip()


def kind_of_status(status: int, said: str) -> ErrorKind:
    """The kind of error behind an HTTP status other than 200."""
    if status in (401, 402, 403):
        return ErrorKind.AUTH
    if status == 404:
        return ErrorKind.NOT_FOUND
    if status == 408:
        return ErrorKind.TIMEOUT
    if status == 429:
        # The same status for "slow down" and "your money is spent", and only the first one heals.
        spent = "insufficient_quota" in said or "exceeded your current quota" in said
        return ErrorKind.AUTH if spent else ErrorKind.RATE_LIMITED
    if status >= 500:
        return ErrorKind.SERVER_ERROR
    if 400 <= status < 500:
        return ErrorKind.BAD_REQUEST
    return ErrorKind.BAD_RESPONSE


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait by Retry-After, given in seconds or as a date: from 0 to a day; None if absent or unreadable."""
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    if seconds != seconds:  # "nan" is a float to Python
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_SECONDS)


def _ms_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


class _Gate:
    """Hands out the requests of an inbox, and knows when to wait and when to stop."""

    def __init__(
        self, inbox: Inbox, *, pace: Pace, meter: Meter | None, stop: threading.Event, last_start: float
    ) -> None:
        self._inbox = inbox
        self._pace = pace
        self._meter = meter
        self._stop = stop
        self._last_start = last_start
        self._failures_in_a_row = 0
        self._closed: NotAsked | None = None
        self._something_ended = asyncio.Event()

    async def next_request(self) -> Request | None:
        """The next request as soon as it may be sent; None when no more are handed out."""
        while True:
            now = time.monotonic()
            self._look(now)
            if self._closed or (self._inbox.is_closed and not len(self._inbox)):
                return None
            # Only one of us takes from the inbox, so what is in it now is still there after the pace was asked.
            wait = self._pace.begin(now) if len(self._inbox) else float("inf")
            if wait <= 0:
                return self._inbox.take()
            self._something_ended.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(wait, LOOK_SECONDS)):
                    await self._something_ended.wait()

    def hear(self, outcome: Completion | ClientError) -> None:
        self._something_ended.set()
        self._pace.end(outcome.tokens if isinstance(outcome, Completion) else None)
        if isinstance(outcome, Completion):
            self._failures_in_a_row = 0
            if self._meter is not None:
                self._meter.count(outcome)
            return
        if outcome.stops_run:
            self._close(NotAskedReason.RUN_STOPPED)
            return
        self._failures_in_a_row += 1
        wait = back_off_seconds(self._failures_in_a_row, retry_after=outcome.retry_after, draw=random.random())
        if outcome.asks_to_wait:
            self._pace.wait_as_asked(time.monotonic() + wait)
        if self._failures_in_a_row >= FAILURES_IN_A_ROW:
            self._close(NotAskedReason.HELD_BACK, wait)

    def fail_next(self, error: ClientError, put: Put) -> None:
        """The error of the whole endpoint, told once; the others were never asked."""
        first = self._inbox.take()
        if first is not None:
            put((first.id, error))
        if error.stops_run:
            self._close(NotAskedReason.RUN_STOPPED)
        else:
            self._close(NotAskedReason.HELD_BACK, back_off_seconds(1, retry_after=None, draw=random.random()))

    def give_back_rest(self, put: Put) -> None:
        for request in self._inbox.close_and_take_rest():
            put((request.id, self._closed or NotAsked(NotAskedReason.STOPPED)))

    def _look(self, now: float) -> None:
        if self._stop.is_set():
            self._close(NotAskedReason.STOPPED)
        elif now > self._last_start:
            self._close(NotAskedReason.OUT_OF_TIME)
        elif self._meter is not None and self._meter.is_spent:
            self._close(NotAskedReason.BUDGET_SPENT)
        elif (wait := self._pace.held_for(now)) > SHORT_HOLD_SECONDS:
            self._close(NotAskedReason.HELD_BACK, wait)

    def _close(self, reason: NotAskedReason, retry_after: float | None = None) -> None:
        # The first reason stays, except that what will not heal outranks what does.
        if self._closed is None or reason == NotAskedReason.RUN_STOPPED:
            self._closed = NotAsked(reason, retry_after)
