"""What a worker does for a trial: ask each item call by call, each call once, and tell what came of it.

Imports Jinja2 and aiohttp: only tasks import this module.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from annotate.services.background import beat
from annotate.wording import _
from evaluation.clients.base import ClientError, Completion, Inbox, Outcome, Request
from evaluation.conversations import Ask, Item, Reading, Reply, ended_by_error, following, read, reads_each
from evaluation.models import Endpoint, Run, Trial
from evaluation.parsing.envelope import reasoning_in
from evaluation.prompts import RenderFailure
from evaluation.services import answering, prompting, running
from evaluation.services.pacing import Share, Wish

NOT_ASKED = _("Not asked: another call had shown that the endpoint cannot be asked now.")


class NoPlace(Exception):
    """The endpoint has none for us now. seconds: for which it asked us to wait, if it did."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"no place for {seconds:g} s")


def try_items(trial: Trial, run: Run, positions: Sequence[int]) -> list[dict[str, Any]]:
    """What came of each item, in the order of the set; never its gold. Raises NoPlace, WorkTaken, WorkNotPossible."""
    asking = prompting.asking_of(run)
    if running.is_fitted(run):
        # As the start would: the draft itself stays unfitted.
        run.parameters = running.fitted_on_labels(run, asking.field.name)
    entries = run.item_set.entries.filter(position__in=positions).order_by("position")
    revisions = [entry.revision for entry in entries.select_related("revision__item")]
    chats = prompting.render_items(run, asking, revisions)
    tried = [
        _Tried(run, revision.pk, revision.item.external_id, failure=_("No prompt: %(message)s", message=chat.message))
        if isinstance(chat, RenderFailure)
        else _Tried(run, revision.pk, revision.item.external_id, asking.item(revision, chat))
        for revision, chat in zip(revisions, chats, strict=True)
    ]
    share = Share(run.endpoint_id, trial.claim_token) if run.endpoint.provider == Endpoint.Provider.OPENAI else None
    if share is not None and not share.take():
        raise NoPlace(share.held_for)
    try:
        _ask(trial, run, tried, share)
    finally:
        if share is not None:
            share.leave()
    return [one.told() for one in tried]


def _ask(trial: Trial, run: Run, tried: Sequence[_Tried], share: Share | None) -> None:
    by_pk = {one.pk: one for one in tried}
    first = [one.request() for one in tried if not one.is_over]
    inbox = Inbox(first)

    def tick() -> None:
        n_left = sum(not one.is_over for one in tried)
        beat(trial, n_done=len(tried) - n_left)
        if share is not None:
            share.renew(Wish(n_places=n_left, n_turns=n_left, tokens_each=answering.reckoned(first)))
        if not n_left:
            inbox.close()

    client = answering.client_for(run, pace=share.pace if share else None)
    tick()
    until = time.monotonic() + answering.SHIFT_SECONDS
    for batch in client.answer(inbox, stop=threading.Event(), until=until, on_tick=tick):
        for request_id, outcome in batch:
            by_pk[int(request_id)].take(outcome)
        inbox.add([one.request() for pk, _outcome in batch if not (one := by_pk[int(pk)]).is_over])
        if all(one.is_over for one in tried):
            inbox.close()


class _Tried:
    """One item while it is asked. What goes wrong ends it: nothing heals in a trial."""

    def __init__(self, run: Run, pk: int, external_id: str, item: Item | None = None, *, failure: str = "") -> None:
        self.run, self.pk, self.external_id, self.item = run, pk, external_id, item
        self.replies: list[Reply] = []
        self.calls: list[dict[str, Any]] = []
        self.error = failure
        self.next: Ask | Reading | None = None if item is None else following(item, ())

    @property
    def is_over(self) -> bool:
        return bool(self.error) or not isinstance(self.next, Ask)

    def request(self) -> Request:
        """The next one; what is sent is kept at once, for it may be all there is to show."""
        assert self.item is not None
        assert isinstance(self.next, Ask)
        messages = prompting.as_sent(self.next.messages, self.run.endpoint.protocol)
        self.calls.append(_call(messages))
        return Request(
            id=self.pk,
            messages=messages,
            item_key=f"{self.item.name}#0",
            prompt=self.item.prompt,
            parameters=answering.sent_parameters(self.run, 0, self.next.draw),
        )

    def take(self, outcome: Outcome) -> None:
        assert self.item is not None
        if isinstance(outcome, Completion):
            reply = Reply(outcome.text, read(self.item, len(self.replies), outcome))
            self.replies.append(reply)
            self.calls[-1] |= _said(outcome, is_baseline=self.run.endpoint.provider == Endpoint.Provider.BASELINE)
            if reads_each(self.item):
                self.calls[-1]["reading"] = reply.reading.to_json()
            self.next = following(self.item, self.replies)
        elif isinstance(outcome, ClientError):
            self.calls[-1]["latency_ms"] = outcome.latency_ms
            ended = ended_by_error(self.item, self.replies, outcome)
            if ended is None:
                self.error = outcome.message
            else:
                self.next = ended
        else:
            self.error = NOT_ASKED

    def told(self) -> dict[str, Any]:
        """One item as the page shows it."""
        reading = self.next if isinstance(self.next, Reading) else Reading("")
        error = self.error or ("" if reading.state else NOT_ASKED)
        return {"external_id": self.external_id, **reading.to_json(), "error": error, "calls": self.calls}


def _call(messages: Any) -> dict[str, Any]:
    """A call of which nothing is known but what was sent."""
    return {
        "messages": answering.as_json(messages),
        "completion": "",
        "reasoning": "",
        "finish_reason": "",
        "server_model": "",
        "prompt_tokens": None,
        "completion_tokens": None,
        "logprobs": None,
        "latency_ms": None,
        "reading": None,
    }


def _said(completion: Completion, *, is_baseline: bool) -> dict[str, Any]:
    return {
        "completion": completion.text,
        "reasoning": completion.reasoning or reasoning_in(completion.text),
        "finish_reason": completion.finish_reason[:40],
        "server_model": completion.model[:200],
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "logprobs": completion.logprobs,
        "latency_ms": None if is_baseline else completion.latency_ms,
    }
