"""Five items of a draft, really asked: what comes back, how it is read, and what the whole run would take.

A trial is background work like any other and keeps to the endpoint's limits. Its calls stand in its own row: they are
no predictions, and no run, score or report ever reads them.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotate import events
from annotate.exceptions import WorkNotPossible, WorkTaken
from annotate.models import ItemRevision, Person
from annotate.services.background import beat, cancel_work, claim_work, end_work, holding
from annotate.wording import _
from config.bells import ring
from evaluation.estimating import Estimate, Limits, Tried, estimate
from evaluation.models import Endpoint, Run, Trial

N_TRIED = 5
# While every place of the endpoint is taken.
TRY_AGAIN = timedelta(seconds=3)
STATE = Trial.State


@transaction.atomic
def start_trial(*, run: Run, by: Person) -> Trial:
    """Have five items of a draft asked by a worker. Raises WorkNotPossible if the run has begun or one is under way."""
    from evaluation.services import prompting  # Jinja2: only where prompts are made

    # The run's row: two clicks make one trial.
    run = Run.objects.select_for_update(of=("self",)).select_related(*_RELATED).get(pk=run.pk)
    if run.state != Run.State.DRAFT:
        raise WorkNotPossible(_("This run has begun: its own predictions show what comes back."))
    if run.trials.filter(state__in=[STATE.WAITING, STATE.RUNNING]).exists():
        raise WorkNotPossible(_("A trial of this run is under way."))
    prompting.asking_of(run)
    prompting.refuse_overlap(run)
    trial = Trial.objects.create(run=run, created_by=by, due_at=Now(), n_total=min(N_TRIED, run.item_set.n_items))
    events.record(actor=by, verb="trial.started", subject=trial, project_id=run.project_id, run=run.pk)
    _ring_when_stored(trial)
    return trial


def cancel_trial(*, run: Run, by: Person) -> None:
    """Stop waiting for it; what a worker may still bring is refused. Raises WorkNotPossible if none is under way."""
    trial = latest_trial(run)
    if trial is None:
        raise WorkNotPossible(_("There is no trial of this run."))
    cancel_work(work=trial, by=by)


def latest_trial(run: Run) -> Trial | None:
    return run.trials.order_by("-pk").first()


def tried_positions(run: Run) -> list[int]:
    """The places in the item set of the items that are tried: drawn by the run's seed, the same at every trial."""
    n = run.item_set.n_items
    return sorted(random.Random(f"trial {run.seed}").sample(range(n), min(N_TRIED, n)))


def make_trial(*, trial_id: int) -> None:
    """Claim the trial and make it; nothing happens if it is in other hands, cancelled or done."""
    from evaluation.clients.keys import KeyRefused
    from evaluation.clients.outgoing import AddressRefused

    trial = claim_work(model=Trial, pk=trial_id)
    if trial is None:
        return
    run = Run.objects.select_related(*_RELATED).get(pk=trial.run_id)
    try:
        results = _ask(trial, run)
    except WorkTaken:
        return
    except (WorkNotPossible, KeyRefused, AddressRefused) as refusal:
        _end_if_ours(trial, error=str(refusal))
        return
    if results is not None:
        _end_if_ours(trial, results=results)


def estimate_of(trial: Trial, run: Run) -> Estimate:
    """What the whole run would take, by the completions of its trial and the endpoint's limits and prices."""
    endpoint = run.endpoint
    tried = [
        Tried(result["prompt_tokens"], result["completion_tokens"], result["latency_ms"])
        for result in trial.results
        if result["latency_ms"] is not None and not result["error"]
    ]
    limits = Limits(
        places=endpoint.max_in_flight,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
        input_price=None if endpoint.input_price is None else float(endpoint.input_price),
        output_price=None if endpoint.output_price is None else float(endpoint.output_price),
    )
    return estimate(tried, run.item_set.n_items * run.repeats, limits)


def _ask(trial: Trial, run: Run) -> list[dict[str, Any]] | None:
    """What came of each item, in the order of the set; None if the endpoint has no place for us now."""
    from evaluation.clients.base import Inbox, Outcome, Request, RequestId
    from evaluation.prompts import RenderFailure
    from evaluation.services import answering, prompting, running
    from evaluation.services.pacing import Share, Wish

    asking = prompting.asking_of(run)
    if running.is_fitted(run):
        # As the start would: the draft itself stays unfitted.
        run.parameters = running.fitted_on_labels(run, asking.field.name)
    entries = run.item_set.entries.filter(position__in=tried_positions(run)).order_by("position")
    revisions = [entry.revision for entry in entries.select_related("revision__item")]
    chats = dict(zip((row.pk for row in revisions), prompting.render_items(run, asking, revisions), strict=True))
    requests: dict[RequestId, Request] = {
        revision.pk: Request(
            id=revision.pk,
            messages=chat,
            item_key=f"{revision.item.external_id}#0",
            prompt=asking.of(revision),
            parameters=answering.sent_parameters(run, 0),
        )
        for revision in revisions
        if not isinstance(chat := chats[revision.pk], RenderFailure)
    }
    share = Share(run.endpoint_id, trial.claim_token) if run.endpoint.provider == Endpoint.Provider.OPENAI else None
    if share is not None and not share.take():
        wait = max(TRY_AGAIN, timedelta(seconds=share.held_for))
        # Not asked: the attempt that the claim counted is taken back.
        Trial.objects.filter(pk=trial.pk, claim_token=trial.claim_token).update(
            state=STATE.WAITING, claim_token="", attempts=F("attempts") - 1, due_at=Now() + wait
        )
        return None
    outcomes: dict[RequestId, Outcome] = {}

    def tick() -> None:
        beat(trial, n_done=len(outcomes))
        if share is not None:
            n_left = len(requests) - len(outcomes)
            share.renew(Wish(n_places=n_left, n_turns=n_left, tokens_each=answering.reckoned(requests.values())))

    try:
        client = answering.client_for(run, pace=share.pace if share else None)
        tick()
        inbox = Inbox.of(requests.values())
        until = time.monotonic() + answering.SHIFT_SECONDS
        for batch in client.answer(inbox, stop=threading.Event(), until=until, on_tick=tick):
            outcomes |= dict(batch)
    finally:
        if share is not None:
            share.leave()
    return [_told(revision, chats[revision.pk], outcomes.get(revision.pk), asking, run) for revision in revisions]


def _told(revision: ItemRevision, chat: Any, outcome: Any, asking: Any, run: Run) -> dict[str, Any]:
    """One item as the page shows it; never its gold."""
    from evaluation.clients.base import Completion, NotAsked
    from evaluation.parsing.envelope import reasoning_in
    from evaluation.prompts import RenderFailure
    from evaluation.services import answering

    told: dict[str, Any] = {
        "external_id": revision.item.external_id,
        "messages": [],
        "answer": None,
        "state": "",
        "note": "",
        "completion": "",
        "reasoning": "",
        "finish_reason": "",
        "server_model": "",
        "prompt_tokens": None,
        "completion_tokens": None,
        "logprobs": None,
        "latency_ms": None,
        "error": "",
    }
    if isinstance(chat, RenderFailure):
        return told | {"error": _("No prompt: %(message)s", message=chat.message)}
    told["messages"] = answering.as_json(chat)
    if isinstance(outcome, Completion):
        is_baseline = run.endpoint.provider == Endpoint.Provider.BASELINE
        return (
            told
            | _columns(
                answering.after_completion(asking.field_of(revision), outcome, revision.language or asking.language)
            )
            | {
                "completion": outcome.text,
                "reasoning": outcome.reasoning or reasoning_in(outcome.text),
                "finish_reason": outcome.finish_reason[:40],
                "server_model": outcome.model[:200],
                "prompt_tokens": outcome.prompt_tokens,
                "completion_tokens": outcome.completion_tokens,
                "logprobs": outcome.logprobs,
                "latency_ms": None if is_baseline else outcome.latency_ms,
            }
        )
    if isinstance(outcome, NotAsked) or outcome is None:
        return told | {"error": _("Not asked: another call had shown that the endpoint cannot be asked now.")}
    return told | {"error": outcome.message, "latency_ms": outcome.latency_ms}


def _columns(after: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": str(after["state"]), "answer": after.get("answer"), "note": after["note"]}


def _end_if_ours(trial: Trial, *, results: Sequence[Mapping[str, Any]] = (), error: str = "") -> None:
    try:
        with holding(trial) as row:
            row.results, row.n_done = list(results), len(results)
            row.save(update_fields=["results", "n_done"])
            end_work(row, error=error)
    except WorkTaken:
        return


def _ring_when_stored(trial: Trial) -> None:
    from evaluation.tasks import make_trial as task

    transaction.on_commit(lambda: ring(task, trial.pk))


_RELATED = ("project", "item_set", "stage_version", "endpoint", "exemplar_set")
