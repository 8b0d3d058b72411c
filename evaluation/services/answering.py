"""What a worker does for a run: claim pending predictions, ask, parse, and write each result on arrival.

Safe to be rung twice, by any number of workers, and to be killed at any moment. A claim is a token on the rows and a
moment that is renewed while the worker lives; a result is written only where the token still stands. What a killed
worker held is claimed again by another one, so a crash repeats at most the requests that were under way.

A shift is what one bell brings: chunk after chunk, the next one claimed and rendered while the former is still being
answered, so that the places in flight are never empty in between. Whatever has arrived when the worker looks is written
in one transaction of three statements; it looks as soon as the one before is written.

Imports Jinja2 and aiohttp: only tasks import this module.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import ItemRevision
from annotate.wording import _
from evaluation.clients.base import (
    Client,
    ClientError,
    Completion,
    ErrorKind,
    Inbox,
    NotAsked,
    Outcome,
    Request,
    RequestId,
    back_off_seconds,
)
from evaluation.clients.baselines import BASELINES, build_baseline
from evaluation.clients.keys import KeyRefused, authority, key_for
from evaluation.clients.openai import OpenAIClient
from evaluation.clients.outgoing import AddressRefused, checked_url
from evaluation.clients.pace import Meter, Pace
from evaluation.conversations import Ask, Item, Reading, Reply, ended_by_error, following, read, reads_each
from evaluation.models import Call, Endpoint, Prediction, Run
from evaluation.parsing.envelope import reasoning_in
from evaluation.prompts import Message, RenderFailure, render_chunk
from evaluation.result_sql import Written, write_calls, write_results, write_steps
from evaluation.services import budgets, reusing
from evaluation.services.pacing import Share, Wish, reckoned_tokens
from evaluation.services.prompting import as_sent, asking_of, wording_hash
from evaluation.services.running import LIVE, RING_AGAIN
from evaluation.storable import shorten
from evaluation.strategies import strategy_of

STATE = Prediction.State

# A task ends within 10 minutes whatever happens; rendering and the last writes come on top of this.
SHIFT_SECONDS = 480.0
# No further chunk is claimed after this: other work waits for the worker, too.
CLAIMING_SECONDS = 30.0
MAX_CHUNK = 512
BASELINE_CHUNK = 256
# Calls one after another in each place of a chunk: enough that waiting for its slowest call costs little.
CALLS_IN_A_ROW = 8
# Requests that were really sent for one prediction. Being told to slow down says nothing about the item.
MAX_SENT = 3
MAX_SENT_RATE_LIMITED = 10
# Claims without any outcome: an item at which workers die is left alone after these.
MAX_CLAIMS_LOST = 3
# Shifts in a row without one completion: whatever is wrong, a person must look at it before more is spent.
MAX_FRUITLESS_SHIFTS = 5
# A bell is heard within this by a worker that is free.
BELL_SECONDS = timedelta(seconds=5)

LOST_NOTE = _(
    "The worker ended %(max_claims_lost)s times while this item was in its hands.", max_claims_lost=MAX_CLAIMS_LOST
)
WORDING_CHANGED = _(
    "What is asked, or how answers are read, has changed since the run began (the form, the "
    "project's date, exemplars, or the platform's own version). Its answers stay; make a new run "
    "for the rest."
)


@dataclass(frozen=True)
class Claimed:
    """A prediction in our hands. replies: to the steps before the one that it is at.

    n_sent: requests sent for that step so far, last_error: how the last of them ended.
    """

    pk: int
    revision_id: int
    repeat: int
    n_sent: int = 0
    last_error: str = ""
    replies: tuple[Reply, ...] = ()

    @property
    def step(self) -> int:
        return len(self.replies)

    def after(self, reply: Reply) -> Claimed:
        """At its next step."""
        return Claimed(self.pk, self.revision_id, self.repeat, replies=(*self.replies, reply))


@dataclass(frozen=True)
class Chunk:
    """has_more: other predictions of the run could be claimed at the same moment."""

    run: Run
    token: str
    predictions: Mapping[int, Claimed]
    has_more: bool


@dataclass
class Tally:
    """What a shift brought so far."""

    n_completions: int = 0
    n_errors: int = 0
    last_error: str = ""
    stopped_because: str = ""
    is_spent: bool = False


def answer_chunk(*, run_id: int, when_more: Callable[[], object] | None = None) -> bool:
    """Take a shift on the run; nothing happens if there is nothing to claim, or no place left at its endpoint.

    when_more: called after the first claim if other predictions wait, to ring for the next worker.
    True if predictions could be claimed when the shift ended.
    """
    token = secrets.token_hex(16)
    share = _share_of(run_id, token)
    if share is not None and not share.take():
        if share.held_for:
            Run.objects.due().filter(pk=run_id).update(due_at=timezone.now() + timedelta(seconds=share.held_for))
        return False
    try:
        chunk = claim_chunk(run_id=run_id, token=token)
        if chunk is None:
            return False
        if chunk.has_more and when_more is not None:
            when_more()
        shift = _Shift(chunk, share)
        shift.work()
    finally:
        if share is not None:
            share.leave()
    return settle(chunk=chunk, tally=shift.tally)


def _share_of(run_id: int, token: str) -> Share | None:
    """A share of the endpoint's limits, not taken yet; None for a baseline, which has none."""
    servers = Run.objects.filter(pk=run_id, endpoint__provider=Endpoint.Provider.OPENAI)
    endpoint_id = servers.values_list("endpoint_id", flat=True).first()
    return None if endpoint_id is None else Share(endpoint_id, token)


@transaction.atomic
def claim_chunk(*, run_id: int, token: str = "") -> Chunk | None:
    """Take the next predictions of a run, each counted as an attempt; None if none can be taken.

    token: of the shift that claims, a new one if there is none. Also says of predictions whose workers died once too
    often that they are lost, and when the run should be rung for next.
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
    token = token or secrets.token_hex(16)
    # The conditions once more: a worker that was thought lost may have written its result since we looked.
    predictions.claimable(lost_after).filter(pk__in=ids[:size]).update(
        claim_token=token, claimed_at=Now(), attempts=F("attempts") + 1
    )
    claimed = _claimed(token, ids[:size])
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


def client_for(run: Run, *, pace: Pace | None = None, meter: Meter | None = None) -> Client:
    """Raises KeyRefused, AddressRefused, or WorkNotPossible for a baseline that there is not."""
    endpoint = run.endpoint
    if endpoint.provider == Endpoint.Provider.BASELINE:
        if endpoint.model not in BASELINES:
            raise WorkNotPossible(_("There is no baseline %(model)s.", model=repr(endpoint.model)))
        return build_baseline(endpoint.model, seed=run.seed, label_counts=run.parameters.get("label_counts", {}))
    # Before every chunk, not only when the endpoint is saved: which host may have the key is the worker's to know.
    key = key_for(endpoint.key_variable, authority(checked_url(endpoint.base_url)), os.environ)
    return OpenAIClient(
        base_url=endpoint.base_url,
        model=endpoint.model,
        takes_chats=endpoint.protocol == Endpoint.Protocol.CHAT,
        api_key=key,
        allowed_private=frozenset(settings.PRIVATE_ENDPOINTS),
        concurrency=endpoint.max_in_flight,
        pace=pace,
        meter=meter,
        call_seconds=float(endpoint.timeout_seconds),
    )


@dataclass
class _Usage:
    """What was counted of the completions so far, for what the next ones are reckoned to take."""

    n: int = 0
    tokens: int = 0

    def of_each(self, request: Request | None) -> float:
        if self.n:
            return self.tokens / self.n
        return reckoned([] if request is None else [request])


class _Shift:
    """From the first claim of a worker to the last result."""

    def __init__(self, chunk: Chunk, share: Share | None = None) -> None:
        self.run = chunk.run
        self.token = chunk.token
        self.share = share
        self.tally = Tally()
        self.stop = threading.Event()
        self.inbox = Inbox()
        # What is in our hands: claimed, and neither written nor given back.
        self.rows: dict[int, Claimed] = {}
        self.requests: dict[int, Request] = {}
        # Each with the field as it is beside it: a completion is read by the columns and captions it was asked with.
        self.items: dict[int, Item] = {}
        self.meter = budgets.meter_of(self.run)
        self.usage = _Usage(self.run.n_counted, self.run.prompt_tokens + self.run.completion_tokens)
        self.next_beat = 0.0
        self.claims_until = time.monotonic() + CLAIMING_SECONDS
        self.first = chunk
        # A baseline answers faster than prompts are rendered: there is nothing to be gained.
        self.claims_ahead = self.run.endpoint.provider == Endpoint.Provider.OPENAI
        self.has_further_steps = strategy_of(self.run.strategy).takes_several_calls
        self.has_more = chunk.has_more
        self.renderer: ThreadPoolExecutor | None = None
        self.rendering: Future[Callable[[], None]] | None = None

    def work(self) -> None:
        until = time.monotonic() + SHIFT_SECONDS
        self.rows |= self.first.predictions
        try:
            self.asking = asking_of(self.run)
            client = client_for(self.run, pace=self.share.pace if self.share else None, meter=self.meter)
        except (WorkNotPossible, KeyRefused, AddressRefused) as refusal:
            return self._give_up(str(refusal))
        if wording_hash(self.run, self.asking) != self.run.strategy_hash:
            return self._give_up(WORDING_CHANGED)
        if because := budgets.spent_words(self.run):
            return self._give_up(because)
        self.tick()
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="prompts") as self.renderer:
            self._render(self.first)
            self._take_rendered(wait=True)
            self.tick()
            for batch in client.answer(self.inbox, stop=self.stop, until=until, on_tick=self.tick):
                self._record(batch)
                self._claim_ahead()
        self._give_back(list(self.rows), None)

    def tick(self) -> None:
        """About once a second: renew share and claims, and stop when the run was paused or taken away."""
        self._claim_ahead()
        if self.share is not None:
            self._renew_share()
        if Run.objects.filter(pk=self.run.pk).values_list("state", flat=True).first() not in LIVE:
            self.stop.set()
        if time.monotonic() < self.next_beat:
            return
        self.next_beat = time.monotonic() + min(10.0, settings.CLAIM_SECONDS / 4)
        ours = Prediction.objects.unanswered().filter(claim_token=self.token).update(claimed_at=Now())
        if self.rows and not ours:
            # Thought lost while the machine slept, or cancelled: what is sent now would be asked twice.
            self.stop.set()
        Run.objects.filter(pk=self.run.pk).update(heartbeat_at=Now(), error=self.tally.last_error)

    def _renew_share(self) -> None:
        assert self.share is not None
        waiting = next(iter(self.requests.values()), None)
        tokens = self.usage.of_each(waiting)
        self.share.renew(Wish(n_places=len(self.rows), n_turns=len(self.inbox), tokens_each=tokens))

    # Claiming ahead

    def _claim_ahead(self) -> None:
        """Have the next chunk ready before this one is used up; close the inbox when there will be none."""
        self._take_rendered()
        if self.renderer is None or self.rendering is not None or self.inbox.is_closed:
            return
        may_claim = self.claims_ahead and self.has_more
        if self._begins_nothing_more() or not (may_claim or (self.has_further_steps and self.rows)):
            self.inbox.close()
        elif may_claim and len(self.inbox) <= chunk_size(self.run.endpoint) // 2:
            chunk = claim_chunk(run_id=self.run.pk, token=self.token)
            if chunk is None:
                self.inbox.close()
                return
            self.has_more = chunk.has_more
            self.rows |= chunk.predictions
            self._render(chunk)

    def _begins_nothing_more(self) -> bool:
        """Neither claims nor further steps: other work waits for this worker, and the next bell goes on with ours."""
        return self.stop.is_set() or time.monotonic() > self.claims_until

    def _render(self, chunk: Chunk) -> None:
        """Have the prompts of a chunk rendered in a child process, which a thread waits for."""
        claimed = list(chunk.predictions.values())
        revisions = ItemRevision.objects.select_related("item").in_bulk([row.revision_id for row in claimed])
        # Repeats of an item share its prompt.
        prompts = {pk: self.asking.of(revision) for pk, revision in revisions.items()}
        strategy = self.run.strategy

        def render() -> Callable[[], None]:
            chats = dict(zip(prompts, render_chunk(strategy, list(prompts.values())), strict=True))
            return lambda: self._enqueue(claimed, revisions, chats)

        assert self.renderer is not None
        self.rendering = self.renderer.submit(render)

    def _take_rendered(self, *, wait: bool = False) -> None:
        if self.rendering is not None and (wait or self.rendering.done()):
            enqueue = self.rendering.result()
            self.rendering = None
            enqueue()

    def _enqueue(
        self,
        claimed: Sequence[Claimed],
        revisions: Mapping[int, ItemRevision],
        chats: Mapping[int, list[Message] | RenderFailure],
    ) -> None:
        """A request for each prediction whose prompt could be rendered; the others end here, with the reason."""
        ended, requests = [], []
        for row in claimed:
            chat = chats[row.revision_id]
            if isinstance(chat, RenderFailure):
                reason = shorten(_("No prompt: %(message)s", message=chat.message))
                ended.append(_Result(row, {"state": STATE.ERROR, "note": reason}))
                continue
            self.items[row.pk] = item = self.asking.item(revisions[row.revision_id], chat)
            step = following(item, row.replies)
            if isinstance(step, Reading):
                ended.append(_Result(row, step.to_json()))
            else:
                requests.append(self._request(row, step))
        self._write(ended)
        self._offer(requests)

    def _request(self, row: Claimed, step: Ask) -> Request:
        item = self.items[row.pk]
        request = self.requests[row.pk] = Request(
            id=row.pk,
            messages=as_sent(step.messages, self.run.endpoint.protocol),
            item_key=f"{item.name}#{row.repeat}",
            prompt=item.prompt,
            parameters=sent_parameters(self.run, row.repeat, step.draw),
        )
        return request

    def _offer(self, requests: Sequence[Request]) -> None:
        """Have them sent, but for those that the store can answer, which are written at once."""
        stored = reusing.stored_completions(self.run, requests)
        unsent = [request for request in requests if request.id not in stored]
        if not self.inbox.add(unsent):
            self._give_back([int(request.id) for request in unsent], None)
        self._write(
            [
                self._completed(self.rows[int(request.id)], request, *stored[request.id])
                for request in requests
                if request.id in stored
            ]
        )

    # Results

    def _record(self, batch: Sequence[tuple[RequestId, Outcome]]) -> None:
        results: list[_Result] = []
        unasked: dict[float | None, list[int]] = defaultdict(list)
        asks_to_wait = False
        for request_id, outcome in batch:
            pk = int(request_id)
            row, request = self.rows[pk], self.requests[pk]
            if isinstance(outcome, NotAsked):
                unasked[outcome.retry_after].append(pk)
            elif isinstance(outcome, Completion):
                results.append(self._completed(row, request, outcome))
            else:
                asks_to_wait |= outcome.asks_to_wait
                self.tally.n_errors += 1
                self.tally.last_error = outcome.message
                if outcome.stops_run and not self.tally.stopped_because:
                    self.tally.stopped_because = outcome.message
                ended = ended_by_error(self.items[pk], row.replies, outcome)
                values = after_error(row, outcome) if ended is None else ended.to_json()
                results.append(_Result(row, values, _failed_call_of(row, request, outcome)))
        self._write(results)
        for retry_after, ids in unasked.items():
            self._give_back(ids, retry_after)
        if asks_to_wait and self.share is not None:
            # The others at this endpoint must not go on for another second.
            self._renew_share()

    def _completed(
        self, row: Claimed, request: Request, completion: Completion, reused_from: int | None = None
    ) -> _Result:
        self.tally.n_completions += 1
        item = self.items[row.pk]
        call = _call_of(row, request, completion)
        call.request_hash = reusing.request_hash(self.run.endpoint, request)
        if reused_from is not None:
            call.reused_from_id, call.attempts, call.latency_ms = reused_from, row.n_sent, None
        reply = Reply(completion.text, read(item, row.step, completion))
        if reads_each(item):
            call.reading = reply.reading.to_json()
        step = following(item, (*row.replies, reply))
        if isinstance(step, Reading):
            return _Result(row, step.to_json(), call, completion, reused_from)
        return _Result(row, {}, call, completion, reused_from, _Step(row.after(reply), step))

    def _write(self, results: Sequence[_Result]) -> None:
        """Store results together, except where the claim was lost meanwhile: then somebody else has the item."""
        if not results:
            return
        now = timezone.now()
        ended = [result for result in results if result.further is None]
        going_on = [result for result in results if result.further is not None]
        asked = [result.completion for result in results if result.completion and result.reused_from is None]
        for completion in asked:
            if completion.tokens is not None:
                self.usage.n, self.usage.tokens = self.usage.n + 1, self.usage.tokens + completion.tokens
        with transaction.atomic():
            # The run's row first, as everything does that changes a run and its predictions.
            spent = budgets.count_spent(self.run, asked)
            ours = write_results(
                self.token,
                [
                    Written(
                        pk=result.row.pk,
                        state=result.values["state"],
                        answer=result.values.get("answer"),
                        note=result.values["note"],
                        due_at=result.values.get("due_at"),
                        finished_at=None if result.values["state"] == STATE.PENDING else now,
                        is_paid_for=result.completion is not None,
                    )
                    for result in ended
                ],
            )
            # A further step is a further attempt, unless the store answered this one.
            states = write_steps(self.token, {r.row.pk: int(r.reused_from is None) for r in going_on})
            write_calls([r.call for r in results if r.call and (r.row.pk in ours or r.row.pk in states)])
        further = [r.further for r in going_on if r.further and states.get(r.row.pk) == STATE.PENDING]
        self._forget({result.row.pk for result in results} - {step.row.pk for step in further})
        if spent is not None and self.meter is not None:
            budgets.update_meter(self.meter, spent, asked)
            is_blind = self.meter.is_blind and self.meter.is_limited
            self.tally.is_spent |= bool(budgets.spent_words(spent))
            self.tally.stopped_because = self.tally.stopped_because or (budgets.BLIND if is_blind else "")
        if further:
            self._go_on(further)

    def _go_on(self, further: Sequence[_Step]) -> None:
        """Ask what follows; given back where this worker begins nothing more: the replies are stored."""
        if self._begins_nothing_more():
            return self._give_back([step.row.pk for step in further], None)
        self.rows |= {step.row.pk: step.row for step in further}
        self._offer([self._request(step.row, step.ask) for step in further])

    def _forget(self, ids: Iterable[int]) -> None:
        for pk in ids:
            self.rows.pop(pk, None)
            self.requests.pop(pk, None)
            self.items.pop(pk, None)

    def _give_back(self, ids: list[int], retry_after: float | None) -> None:
        """Not asked: the attempt that the claim counted is taken back."""
        if not ids:
            return
        wait = timedelta(seconds=retry_after or 0)
        Prediction.objects.unanswered().filter(pk__in=ids, claim_token=self.token).update(
            claim_token="", attempts=F("attempts") - 1, due_at=timezone.now() + wait
        )
        self._forget(ids)

    def _give_up(self, because: str) -> None:
        self._give_back(list(self.rows), None)
        self.tally.stopped_because = because


@dataclass(frozen=True)
class _Step:
    """What is asked next about a prediction that has not ended."""

    row: Claimed
    ask: Ask


@dataclass(frozen=True)
class _Result:
    """One prediction's new columns, or its next step, and the exchange that led there, if there was one."""

    row: Claimed
    values: Mapping[str, Any]
    call: Call | None = None
    completion: Completion | None = None
    reused_from: int | None = None
    further: _Step | None = None


@transaction.atomic
def settle(*, chunk: Chunk, tally: Tally) -> bool:
    """Say of the run what the shift showed: done, stopped and why, or when to ring next; True if it is due now."""
    run = _locked_live(chunk.run.pk)
    if run is None:
        n_done = chunk.run.predictions.exclude(state=STATE.PENDING).count()
        Run.objects.filter(pk=chunk.run.pk).update(n_done=n_done)
        return False
    run.error = tally.last_error or ("" if tally.n_completions else run.error)
    if tally.n_completions:
        run.attempts = 0
    elif tally.n_errors:
        run.attempts += 1
        _hold(run)
    # Said now, when the calls that were in flight have been counted, too.
    because = tally.stopped_because or (budgets.spent_words(run) if tally.is_spent else "")
    if not because and run.attempts >= MAX_FRUITLESS_SHIFTS:
        because = _(
            "%(attempts)s attempts in a row brought no completion at all. The last error: %(error)s",
            attempts=run.attempts,
            error=run.error,
        )
    # The bell of the first claim may still be on its way, and the worker that has just become free hears it.
    is_due = _plan_next_bell(run, after=BELL_SECONDS)
    if because and run.state in LIVE:
        run.state, run.due_at, run.stopped_because = Run.State.PAUSED, None, shorten(because)
        events.record(verb="run.stopped", subject=run, project_id=run.project_id)
    run.save(
        update_fields=["state", "due_at", "attempts", "error", "stopped_because", "n_done", "finished_at"],
    )
    return is_due and run.state in LIVE


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


def _locked_live(run_id: int) -> Run | None:
    live = Run.objects.select_for_update(of=("self",)).filter(pk=run_id, state__in=LIVE)
    return live.select_related("project", "item_set", "stage_version", "endpoint", "exemplar_set").first()


def _claimed(token: str, ids: Sequence[int]) -> dict[int, Claimed]:
    replies: dict[int, list[Reply]] = defaultdict(list)
    failed: dict[int, tuple[int, str]] = {}
    # Of what was never asked there is none.
    calls = Call.objects.filter(prediction__in=ids).order_by("step")
    for pk, n_sent, error, text, reading in calls.values_list(
        "prediction_id", "attempts", "error_kind", "completion", "reading"
    ):
        if error:
            failed[pk] = n_sent, error
        else:
            replies[pk].append(Reply(text, Reading.from_json(reading) if reading else Reading("")))
    rows = Prediction.objects.filter(pk__in=ids, claim_token=token).order_by("attempts", "due_at", "pk")
    return {
        pk: Claimed(pk, revision_id, repeat, *failed.get(pk, (0, "")), tuple(replies[pk]))
        for pk, revision_id, repeat in rows.values_list("pk", "revision_id", "repeat")
    }


def _hold(run: Run) -> None:
    """Nothing of the run is asked for a moment that doubles with every chunk that brought no completion."""
    wait = back_off_seconds(run.attempts, retry_after=None, draw=random.random())
    until = timezone.now() + timedelta(seconds=wait)
    run.predictions.unanswered().filter(claim_token="", due_at__lt=until).update(due_at=until)


def _plan_next_bell(run: Run, *, after: timedelta) -> bool:
    """Set when the scheduler should ring for the run, if nobody has by then; done if nothing is left to answer.

    after: not before that; a bell that was rung from here is on its way. True if something can be claimed at once.
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
    return left["due"] is not None and left["due"] <= now


def sent_parameters(run: Run, repeat: int, draw: int = 0) -> dict[str, Any]:
    """draw: which of the samples for one answer it is. No two of them, and no two repeats, share a seed."""
    if run.endpoint.provider == Endpoint.Provider.BASELINE:
        return {}
    n_draws = run.n_steps or 1
    seed = {"seed": run.parameters["seed"] + repeat * n_draws + draw} if "seed" in run.parameters else {}
    return {**run.parameters, **seed}


def reckoned(requests: Iterable[Request]) -> float:
    """The tokens that one of these requests is taken to need before anything was counted."""
    each = [
        reckoned_tokens(sum(len(message["content"]) for message in request.messages), _token_limit(request.parameters))
        for request in requests
    ]
    return sum(each) / len(each) if each else 1.0


def _token_limit(parameters: Mapping[str, object]) -> int | None:
    limits = [parameters.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return next((limit for limit in limits if isinstance(limit, int)), None)


def _call_of(row: Claimed, request: Request, completion: Completion) -> Call:
    return Call(
        prediction_id=row.pk,
        step=row.step,
        messages=as_json(request.messages),
        completion=completion.text,
        reasoning=completion.reasoning or reasoning_in(completion.text),
        finish_reason=completion.finish_reason[:40],
        server_model=completion.model[:200],
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        logprobs=completion.logprobs,
        latency_ms=completion.latency_ms,
        http_status=completion.http_status,
        attempts=row.n_sent + 1,
        finished_at=timezone.now(),
    )


def _failed_call_of(row: Claimed, request: Request, error: ClientError) -> Call:
    return Call(
        prediction_id=row.pk,
        step=row.step,
        messages=as_json(request.messages),
        latency_ms=error.latency_ms,
        http_status=error.http_status,
        error_kind=error.kind,
        error=error.message,
        attempts=row.n_sent + 1,
        finished_at=timezone.now(),
    )


def as_json(messages: Any) -> list[Message]:
    return [Message(role=message["role"], content=message["content"]) for message in messages]
