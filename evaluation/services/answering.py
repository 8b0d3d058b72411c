"""What a worker does for a run: claim a chunk of pending predictions, ask, parse, and write each result on arrival.

Safe to be rung twice, by any number of workers, and to be killed at any moment. A claim is a token on the rows and a
moment that is renewed while the worker lives; a result is written only where the token still stands. What a killed
worker held is claimed again by another one, so a crash repeats at most the requests that were under way.

Imports Jinja2 and aiohttp: only tasks import this module.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from annotate import events
from annotate.answers import AnswerInvalid, get_field_type
from annotate.exceptions import WorkNotPossible
from annotate.models import ItemRevision
from evaluation.clients.base import (
    Client,
    ClientError,
    Completion,
    CompletionStatus,
    ErrorKind,
    NotAsked,
    Outcome,
    Request,
    back_off_seconds,
)
from evaluation.clients.baselines import BASELINES, build_baseline
from evaluation.clients.keys import KeyRefused, authority, key_for
from evaluation.clients.openai import OpenAIClient
from evaluation.clients.outgoing import AddressRefused, checked_url
from evaluation.models import Call, Endpoint, Prediction, Run
from evaluation.parsing import Parsed, ParseStatus, parse_label, parse_short_answer
from evaluation.prompts import Message, RenderFailure
from evaluation.services.prompting import Asking, asking_of, render_items, wording_hash
from evaluation.services.running import LIVE, RING_AGAIN
from evaluation.storable import shorten

STATE = Prediction.State

# A task ends within 10 minutes whatever happens; rendering and the last writes come on top of this.
CHUNK_SECONDS = 480.0
MAX_CHUNK = 256
BASELINE_CHUNK = 256
# Calls one after another in each place of a chunk: enough that waiting for its slowest call costs little.
CALLS_IN_A_ROW = 8
# Requests that were really sent for one prediction. Being told to slow down says nothing about the item.
MAX_SENT = 3
MAX_SENT_RATE_LIMITED = 10
# Claims without any outcome: an item at which workers die is left alone after these.
MAX_CLAIMS_LOST = 3
# Chunks in a row without one completion: whatever is wrong, a person must look at it before more is spent.
MAX_FRUITLESS_CHUNKS = 5
# A bell is heard within this by a worker that is free.
BELL_SECONDS = timedelta(seconds=5)

LOST_NOTE = f"The worker ended {MAX_CLAIMS_LOST} times while this item was in its hands."
WORDING_CHANGED = (
    "What is asked, or how answers are read, has changed since the run began (the form, the project's date, exemplars, "
    "or the platform's own version). Its answers stay; make a new run for the rest."
)


@dataclass(frozen=True)
class Claimed:
    """A prediction in our hands; n_sent: requests sent for it so far, last_error: how the last of them ended."""

    pk: int
    revision_id: int
    repeat: int
    n_sent: int = 0
    last_error: str = ""


@dataclass(frozen=True)
class Chunk:
    """has_more: other predictions of the run could be claimed at the same moment."""

    run: Run
    token: str
    predictions: Mapping[int, Claimed]
    has_more: bool


@dataclass
class Tally:
    """What a chunk brought so far."""

    n_completions: int = 0
    n_errors: int = 0
    last_error: str = ""
    stopped_because: str = ""


def answer_chunk(*, run_id: int, when_more: Callable[[], object] | None = None) -> None:
    """Claim a chunk of the run and see it through; nothing happens if there is none.

    when_more: called after the claim if other predictions wait, to ring for the next worker.
    """
    until = time.monotonic() + CHUNK_SECONDS
    chunk = claim_chunk(run_id=run_id)
    if chunk is None:
        return
    if chunk.has_more and when_more is not None:
        when_more()
    tally = _Work(chunk).do(until)
    settle(chunk=chunk, tally=tally)


@transaction.atomic
def claim_chunk(*, run_id: int) -> Chunk | None:
    """Take the next predictions of a run, each counted as an attempt; None if none can be taken.

    Also says of predictions whose workers died once too often that they are lost, and when the run should be rung for
    next.
    """
    run = _locked_live(run_id)
    if run is None:
        return None
    lost_after = claim_lifetime()
    predictions = run.predictions
    predictions.lost_with_worker(lost_after, MAX_CLAIMS_LOST).update(
        state=STATE.WORKER_LOST, note=LOST_NOTE, claim_token="", due_at=None, finished_at=Now()
    )
    size = chunk_size(run.endpoint)
    # What was tried least comes first: while a server is down, no item uses up its attempts before the run is paused.
    waiting = predictions.claimable(lost_after).order_by("attempts", "due_at", "pk")
    ids = list(waiting.values_list("pk", flat=True)[: size + 1])
    token = secrets.token_hex(16)
    # The conditions once more: a worker that was thought lost may have written its result since we looked.
    predictions.claimable(lost_after).filter(pk__in=ids[:size]).update(
        claim_token=token, claimed_at=Now(), attempts=F("attempts") + 1
    )
    claimed = _claimed(token)
    has_more = len(ids) > size
    if claimed:
        run.state, run.started_at = Run.State.RUNNING, run.started_at or timezone.now()
        run.heartbeat_at = timezone.now()
    _plan_next_bell(run, after=RING_AGAIN if has_more else timedelta(0))
    run.save(update_fields=["state", "started_at", "heartbeat_at", "due_at", "n_done", "finished_at"])
    return Chunk(run, token, claimed, has_more) if claimed else None


def claim_lifetime() -> timedelta:
    """How long a claim stands without being renewed."""
    return timedelta(seconds=settings.CLAIM_SECONDS)


def chunk_size(endpoint: Endpoint) -> int:
    """How many predictions are claimed at once: a few minutes of work at most, so that the others find some too."""
    if endpoint.provider == Endpoint.Provider.BASELINE:
        return BASELINE_CHUNK
    size = min(endpoint.max_in_flight * CALLS_IN_A_ROW, MAX_CHUNK)
    if endpoint.requests_per_minute:
        size = min(size, 2 * endpoint.requests_per_minute)
    return max(size, 1)


def client_for(run: Run) -> Client:
    """Raises KeyRefused, AddressRefused, or WorkNotPossible for a baseline that there is not."""
    endpoint = run.endpoint
    if endpoint.provider == Endpoint.Provider.BASELINE:
        if endpoint.model not in BASELINES:
            raise WorkNotPossible(f"There is no baseline {endpoint.model!r}.")
        return build_baseline(endpoint.model, seed=run.seed, label_counts=run.parameters.get("label_counts", {}))
    # Before every chunk, not only when the endpoint is saved: which host may have the key is the worker's to know.
    key = key_for(endpoint.key_variable, authority(checked_url(endpoint.base_url)), os.environ)
    return OpenAIClient(
        base_url=endpoint.base_url,
        model=endpoint.model,
        api_key=key,
        allowed_private=frozenset(settings.PRIVATE_ENDPOINTS),
        concurrency=endpoint.max_in_flight,
        requests_per_minute=endpoint.requests_per_minute,
        call_seconds=float(endpoint.timeout_seconds),
    )


class _Work:
    """One chunk from its claim to its last result."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.tally = Tally()
        self.stop = threading.Event()
        self.unheard = set(chunk.predictions)
        self.next_beat = 0.0

    def do(self, until: float) -> Tally:
        run = self.chunk.run
        try:
            asking = asking_of(run)
            client = client_for(run)
        except (WorkNotPossible, KeyRefused, AddressRefused) as refusal:
            return self._give_up(str(refusal))
        if wording_hash(run, asking) != run.strategy_hash:
            return self._give_up(WORDING_CHANGED)
        self.tick()
        requests = self._requests(asking)
        self.tick()
        for pk, outcome in client.answer(list(requests.values()), stop=self.stop, until=until, on_tick=self.tick):
            self._record(self.chunk.predictions[int(pk)], requests[int(pk)], outcome, asking)
        return self.tally

    def tick(self) -> None:
        """About once a second: renew the claims now and then, and stop when the run was paused or taken away."""
        if Run.objects.filter(pk=self.chunk.run.pk).values_list("state", flat=True).first() not in LIVE:
            self.stop.set()
        if time.monotonic() < self.next_beat:
            return
        self.next_beat = time.monotonic() + min(10.0, settings.CLAIM_SECONDS / 4)
        ours = Prediction.objects.unanswered().filter(claim_token=self.chunk.token).update(claimed_at=Now())
        if self.unheard and not ours:
            # Thought lost while the machine slept, or cancelled: what is sent now would be asked twice.
            self.stop.set()
        Run.objects.filter(pk=self.chunk.run.pk).update(heartbeat_at=Now(), error=self.tally.last_error)

    def _requests(self, asking: Asking) -> dict[int, Request]:
        """A request for each prediction whose prompt could be rendered; the others end here, with the reason."""
        run = self.chunk.run
        claimed = list(self.chunk.predictions.values())
        revisions = ItemRevision.objects.select_related("item").in_bulk([row.revision_id for row in claimed])
        # Repeats of an item share its prompt.
        asked = list(revisions.values())
        chats = dict(zip(revisions, render_items(run, asking, asked), strict=True))
        requests = {}
        for row in claimed:
            revision, chat = revisions[row.revision_id], chats[row.revision_id]
            if isinstance(chat, RenderFailure):
                self._write(row, {"state": STATE.ERROR, "note": shorten(f"No prompt: {chat.message}")}, None)
                continue
            requests[row.pk] = Request(
                id=row.pk,
                messages=chat,
                item_key=f"{revision.item.external_id}#{row.repeat}",
                prompt=asking.of(revision),
                parameters=_sent_parameters(run, row.repeat),
            )
        return requests

    def _record(self, row: Claimed, request: Request, outcome: Outcome, asking: Asking) -> None:
        if isinstance(outcome, NotAsked):
            self.unheard.discard(row.pk)
            _give_back(self.chunk.token, [row.pk], outcome.retry_after)
        elif isinstance(outcome, Completion):
            self.tally.n_completions += 1
            language = request.prompt.language if request.prompt else asking.language
            self._write(row, after_completion(asking, outcome, language), _call_of(row, request, outcome))
        else:
            self.tally.n_errors += 1
            self.tally.last_error = outcome.message
            if outcome.stops_run and not self.tally.stopped_because:
                self.tally.stopped_because = outcome.message
            self._write(row, after_error(row, outcome), _failed_call_of(row, request, outcome))

    @transaction.atomic
    def _write(self, row: Claimed, values: dict[str, Any], call: Call | None) -> None:
        """Store one result, unless the claim was lost meanwhile: then somebody else has it, and this one is dropped."""
        self.unheard.discard(row.pk)
        is_final = values["state"] != STATE.PENDING
        # A completion that was under way when somebody cancelled is paid for: it still counts. An error does not.
        writable = [STATE.PENDING, STATE.CANCELLED] if call and not call.error_kind else [STATE.PENDING]
        ours = Prediction.objects.filter(pk=row.pk, claim_token=self.chunk.token, state__in=writable)
        values = {"due_at": None, "finished_at": Now() if is_final else None} | values
        if ours.update(claim_token="", **values) and call is not None:
            Call.objects.bulk_create(
                [call], update_conflicts=True, unique_fields=["prediction", "step"], update_fields=_CALL_COLUMNS
            )

    def _give_up(self, because: str) -> Tally:
        _give_back(self.chunk.token, list(self.chunk.predictions), None)
        self.tally.stopped_because = because
        return self.tally


@transaction.atomic
def settle(*, chunk: Chunk, tally: Tally) -> None:
    """Say of the run what the chunk showed: done, stopped and why, or when to ring next."""
    run = _locked_live(chunk.run.pk)
    if run is None:
        n_done = chunk.run.predictions.exclude(state=STATE.PENDING).count()
        Run.objects.filter(pk=chunk.run.pk).update(n_done=n_done)
        return
    run.error = tally.last_error or ("" if tally.n_completions else run.error)
    if tally.n_completions:
        run.attempts = 0
    elif tally.n_errors:
        run.attempts += 1
        _hold(run)
    because = tally.stopped_because
    if not because and run.attempts >= MAX_FRUITLESS_CHUNKS:
        because = f"{run.attempts} attempts in a row brought no completion at all. The last error: {run.error}"
    # The bell of the last claim is on its way, and the worker that has just become free hears it.
    _plan_next_bell(run, after=BELL_SECONDS)
    if because and run.state in LIVE:
        run.state, run.due_at, run.stopped_because = Run.State.PAUSED, None, shorten(because)
        events.record(verb="run.stopped", subject=run, project_id=run.project_id)
    run.save(
        update_fields=["state", "due_at", "attempts", "error", "stopped_because", "n_done", "finished_at"],
    )


def after_completion(asking: Asking, completion: Completion, language: str) -> dict[str, Any]:
    """The columns of a prediction after a completion: its answer, or the name of the reason why there is none."""
    match completion.status:
        case CompletionStatus.REFUSED:
            reason = completion.refusal or "The provider's filter stepped in."
            return {"state": STATE.REFUSED, "note": shorten(reason)}
        case CompletionStatus.EMPTY:
            return {"state": STATE.EMPTY, "note": "The completion is empty."}
        case CompletionStatus.CUT_OFF:
            return {"state": STATE.CUT_OFF, "note": "The token limit ended the completion."}
    parsed = _parsed(asking, completion.text, language)
    if parsed.status == ParseStatus.REFUSAL:
        return {"state": STATE.REFUSED, "note": shorten(parsed.note)}
    if parsed.status != ParseStatus.OK or parsed.value is None:
        return {
            "state": STATE.UNPARSED,
            "note": shorten(_UNPARSED[parsed.status] + f" ({parsed.note})" * bool(parsed.note)),
        }
    try:
        value = get_field_type(asking.field.type).validate(parsed.value, asking.field)
    except AnswerInvalid as invalid:
        return {"state": STATE.UNPARSED, "note": shorten(f"Read, but the form would not take it: {invalid}")}
    return {"state": STATE.ANSWERED, "answer": {asking.field.name: value}, "note": shorten(parsed.note)}


_UNPARSED = {
    ParseStatus.AMBIGUOUS: "More than one answer",
    ParseStatus.NONE: "No answer found",
    ParseStatus.OK: "No answer found",
}


def after_error(row: Claimed, error: ClientError) -> dict[str, Any]:
    """The columns of a prediction after a request that brought no completion: tried again later, or ended."""
    if error.stops_run:
        # Nothing is wrong with the item: it waits until somebody has mended the endpoint and resumed the run.
        return {"state": STATE.PENDING, "note": error.message, "due_at": timezone.now()}
    n_sent = row.n_sent + 1
    is_throttled = ErrorKind.RATE_LIMITED in (error.kind, row.last_error)
    if error.heals and n_sent < (MAX_SENT_RATE_LIMITED if is_throttled else MAX_SENT):
        wait = back_off_seconds(n_sent, retry_after=error.retry_after, draw=random.random())
        return {
            "state": STATE.PENDING,
            "note": error.message,
            "due_at": timezone.now() + timedelta(seconds=wait),
        }
    state = STATE.TIMED_OUT if error.kind == ErrorKind.TIMEOUT else STATE.ERROR
    return {"state": state, "note": error.message}


def _parsed(asking: Asking, text: str, language: str) -> Parsed:
    if asking.kind == "label":
        return parse_label(text, [(option.value, option.caption) for option in asking.options], language)
    return parse_short_answer(text)


def _locked_live(run_id: int) -> Run | None:
    live = Run.objects.select_for_update(of=("self",)).filter(pk=run_id, state__in=LIVE)
    return live.select_related("project", "item_set", "stage_version", "endpoint", "exemplar_set").first()


def _claimed(token: str) -> dict[int, Claimed]:
    calls = Call.objects.filter(prediction__claim_token=token, step=0)
    sent = {pk: (n, kind) for pk, n, kind in calls.values_list("prediction_id", "attempts", "error_kind")}
    rows = Prediction.objects.filter(claim_token=token).order_by("attempts", "due_at", "pk")
    return {
        pk: Claimed(pk, revision_id, repeat, *sent.get(pk, (0, "")))
        for pk, revision_id, repeat in rows.values_list("pk", "revision_id", "repeat")
    }


def _give_back(token: str, ids: list[int], retry_after: float | None) -> None:
    """Not asked: the attempt that the claim counted is taken back."""
    wait = timedelta(seconds=retry_after or 0)
    Prediction.objects.unanswered().filter(pk__in=ids, claim_token=token).update(
        claim_token="", attempts=F("attempts") - 1, due_at=timezone.now() + wait
    )


def _hold(run: Run) -> None:
    """Nothing of the run is asked for a moment that doubles with every chunk that brought no completion."""
    wait = back_off_seconds(run.attempts, retry_after=None, draw=random.random())
    until = timezone.now() + timedelta(seconds=wait)
    run.predictions.unanswered().filter(claim_token="", due_at__lt=until).update(due_at=until)


def _plan_next_bell(run: Run, *, after: timedelta) -> None:
    """Set when the scheduler should ring for the run, if nobody has by then; done if nothing is left to answer.

    after: not before that; a bell that was rung from here is on its way.
    """
    now = timezone.now()
    left = run.predictions.unanswered().aggregate(
        due=Min(Coalesce("due_at", Now()), filter=Q(claim_token="")),
        claimed=Min("claimed_at", filter=~Q(claim_token="")),
    )
    moments = [left["due"], left["claimed"] and left["claimed"] + claim_lifetime()]
    run.n_done = run.predictions.exclude(state=STATE.PENDING).count()
    if not any(moments):
        run.state, run.due_at, run.finished_at = Run.State.DONE, None, now
        events.record(verb="run.done", subject=run, project_id=run.project_id)
    else:
        run.due_at = max(min(moment for moment in moments if moment), now + after)


def _sent_parameters(run: Run, repeat: int) -> dict[str, Any]:
    if run.endpoint.provider == Endpoint.Provider.BASELINE:
        return {}
    seed = {"seed": run.parameters["seed"] + repeat} if "seed" in run.parameters else {}
    return {**run.parameters, **seed}


_CALL_COLUMNS = [
    "messages",
    "completion",
    "reasoning",
    "finish_reason",
    "server_model",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "http_status",
    "error_kind",
    "error",
    "attempts",
    "finished_at",
]


def _call_of(row: Claimed, request: Request, completion: Completion) -> Call:
    return Call(
        prediction_id=row.pk,
        messages=_as_json(request.messages),
        completion=completion.text,
        reasoning=completion.reasoning,
        finish_reason=completion.finish_reason[:40],
        server_model=completion.model[:200],
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        latency_ms=completion.latency_ms,
        http_status=completion.http_status,
        attempts=row.n_sent + 1,
        finished_at=timezone.now(),
    )


def _failed_call_of(row: Claimed, request: Request, error: ClientError) -> Call:
    return Call(
        prediction_id=row.pk,
        messages=_as_json(request.messages),
        latency_ms=error.latency_ms,
        http_status=error.http_status,
        error_kind=error.kind,
        error=error.message,
        attempts=row.n_sent + 1,
        finished_at=timezone.now(),
    )


def _as_json(messages: Any) -> list[Message]:
    return [Message(role=message["role"], content=message["content"]) for message in messages]
