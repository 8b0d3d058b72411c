"""Five items of a draft, really asked: what comes back, how it is read, and what the whole run would take.

A trial is background work like any other and keeps to the endpoint's limits. Its calls stand in its own row: they are
no predictions, and no run, score or report ever reads them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotate import events
from annotate.exceptions import WorkNotPossible, WorkTaken
from annotate.models import Person
from annotate.services.background import cancel_work, claim_work, end_work, holding
from annotate.wording import _
from config.bells import ring
from evaluation.estimating import Estimate, Limits, Tried, estimate
from evaluation.models import Run, Trial

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
    # Prompts and HTTP bring libraries that no page needs.
    from evaluation.clients.keys import KeyRefused
    from evaluation.clients.outgoing import AddressRefused
    from evaluation.services.trying import NoPlace, try_items

    trial = claim_work(model=Trial, pk=trial_id)
    if trial is None:
        return
    run = Run.objects.select_related(*_RELATED).get(pk=trial.run_id)
    try:
        results = try_items(trial, run, tried_positions(run))
    except WorkTaken:
        return
    except NoPlace as later:
        # Not asked: the attempt that the claim counted is taken back.
        Trial.objects.filter(pk=trial.pk, claim_token=trial.claim_token).update(
            state=STATE.WAITING,
            claim_token="",
            attempts=F("attempts") - 1,
            due_at=Now() + max(TRY_AGAIN, timedelta(seconds=later.seconds)),
        )
        return
    except (WorkNotPossible, KeyRefused, AddressRefused) as refusal:
        _end_if_ours(trial, error=str(refusal))
        return
    _end_if_ours(trial, results=results)


def estimate_of(trial: Trial, run: Run) -> Estimate:
    """What the whole run would take, by the completions of its trial and the endpoint's limits and prices."""
    endpoint = run.endpoint
    tried = [_tried(result["calls"]) for result in trial.results if result["calls"] and not result["error"]]
    limits = Limits(
        places=endpoint.max_in_flight,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
        input_price=None if endpoint.input_price is None else float(endpoint.input_price),
        output_price=None if endpoint.output_price is None else float(endpoint.output_price),
    )
    return estimate([each for each in tried if each is not None], run.item_set.n_items * run.repeats, limits)


def _tried(calls: Sequence[Mapping[str, Any]]) -> Tried | None:
    """The calls of an item together; None for a baseline, which takes no time."""
    if any(call["latency_ms"] is None for call in calls):
        return None
    return Tried(
        _sum_if_counted([call["prompt_tokens"] for call in calls]),
        _sum_if_counted([call["completion_tokens"] for call in calls]),
        sum(call["latency_ms"] for call in calls),
        n_calls=len(calls),
    )


def _sum_if_counted(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(filter(None, counts))


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
