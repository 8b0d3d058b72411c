"""The life of a run: draft, started, paused, resumed, cancelled, extended, its failures repeated.

What a worker does for it is in `answering`. Everything here is a short transaction that locks the run's row first, as a
claim does: a run is never paused or cancelled in the middle of a claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import Gold, ItemSet, ItemSetEntry, Person, Project, StageVersion
from annotate.services.names import naming
from annotate.wording import _
from evaluation.models import Call, Endpoint, Prediction, Run
from evaluation.querysets import n_requests
from evaluation.services import budgets
from evaluation.strategies import STRATEGIES, Strategy

STATE = Run.State
LIVE = (STATE.WAITING, STATE.RUNNING)
# What may be sent beside model and messages. `seed` is sent as it is for the first repeat, plus one for each further.
PARAMETERS = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "logprobs", "top_logprobs"}
)
MAX_REPEATS = 20
FITTED_BASELINE = "majority_label"
# Between two bells for a run at which nobody takes one: messages must not pile up while no worker runs.
RING_AGAIN = timedelta(seconds=10)


@transaction.atomic
def create_run(
    *,
    project: Project,
    by: Person,
    name: str,
    item_set: ItemSet,
    stage_version: StageVersion,
    endpoint: Endpoint,
    strategy: str = "zero_shot",
    exemplar_set: ItemSet | None = None,
    n_steps: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    repeats: int = 1,
    reuses_answers: bool = False,
    budget_money: Decimal | None = None,
    budget_tokens: int | None = None,
) -> Run:
    """A draft: its prompts can be looked at, nothing is asked before it is started.

    Raises WorkNotPossible for a combination that could not run, overlapping exemplars included.
    """
    projects = {item_set.project_id, stage_version.stage.project_id, endpoint.project_id}
    projects |= {exemplar_set.project_id} if exemplar_set else set()
    if projects != {project.pk}:
        raise WorkNotPossible(_("Items, form, endpoint and exemplars must belong to one project."))
    if strategy not in STRATEGIES:
        raise WorkNotPossible(_("There is no prompt strategy %(strategy)s.", strategy=repr(strategy)))
    if not 1 <= repeats <= MAX_REPEATS:
        raise WorkNotPossible(_("A run asks each item 1 to %(max_repeats)s times.", max_repeats=MAX_REPEATS))
    if not item_set.n_items:
        raise WorkNotPossible(_("This item set is empty."))
    if endpoint.provider == Endpoint.Provider.LOG:
        raise WorkNotPossible(_("The answers of this model were imported from a log: nothing can be asked there."))
    is_baseline = endpoint.provider == Endpoint.Provider.BASELINE
    needs_labels = is_baseline and endpoint.model == FITTED_BASELINE
    asks = STRATEGIES[strategy]
    if asks.exemplars == "needed" and exemplar_set is None:
        raise WorkNotPossible(_("Few-shot needs exemplars: choose the item set that holds them."))
    if asks.exemplars == "none" and exemplar_set is not None and not needs_labels:
        raise WorkNotPossible(_("Zero-shot shows no exemplars: choose few-shot, or no exemplar set."))
    if is_baseline and asks.takes_several_calls:
        raise WorkNotPossible(_("A baseline reads the item itself and answers at once: choose zero-shot."))
    sent = {} if is_baseline else dict(parameters or {})
    if asks.by_chance and sent.get("temperature") == 0:
        raise WorkNotPossible(_("At temperature 0 all samples would be the same: choose one above 0."))
    budgets.check_budget(endpoint, money=budget_money, tokens=budget_tokens)
    if reuses_answers and (is_baseline or sent.get("temperature") != 0):
        raise WorkNotPossible(
            _("Answers are taken from earlier runs only at temperature 0: other requests are drawn anew.")
        )
    if unknown := sorted(sent.keys() - PARAMETERS):
        raise WorkNotPossible(_("These parameters cannot be set: %(unknown)s.", unknown=", ".join(unknown)))
    with naming(f"The name {name}"):
        run = Run.objects.create(
            project=project,
            name=name,
            item_set=item_set,
            stage_version=stage_version,
            endpoint=endpoint,
            strategy=strategy,
            exemplar_set=exemplar_set,
            n_steps=_checked_steps(asks, n_steps),
            parameters=sent,
            seed=seed,
            repeats=repeats,
            reuses_answers=reuses_answers,
            budget_money=budget_money,
            budget_tokens=budget_tokens,
            state=STATE.DRAFT,
            due_at=None,
            created_by=by,
        )
    _check_inputs(run)
    events.record(actor=by, verb="run.created", subject=run, project_id=project.pk)
    return run


def _checked_steps(asks: Strategy, n_steps: int | None) -> int | None:
    """The samples or rounds of a run, as many as usual where none are asked for. Raises WorkNotPossible."""
    if asks.steps is None:
        if n_steps is not None:
            raise WorkNotPossible(
                _("This strategy itself says how many calls it makes: leave samples and rounds empty.")
            )
        return None
    wanted = asks.steps.usual if n_steps is None else n_steps
    if not asks.steps.least <= wanted <= asks.steps.most:
        raise WorkNotPossible(
            _(
                "%(what)s: from %(least)s to %(most)s.",
                what=asks.steps.label,
                least=asks.steps.least,
                most=asks.steps.most,
            )
        )
    return wanted


@transaction.atomic
def discard_draft(*, run: Run, by: Person) -> None:
    """Remove a run that never started; one that did stays, with all it cost."""
    locked = _locked(run)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("This run has begun, so it stays. It can be cancelled."))
    events.record(actor=by, verb="run.discarded", subject=locked, project_id=locked.project_id)
    locked.delete()


@transaction.atomic
def start_run(*, run: Run, by: Person) -> Run:
    """Freeze the run and put a pending prediction in place for every item and repeat. A worker takes it from there."""
    from evaluation.services import prompting  # Jinja2: only where prompts are made

    run = _locked(run)
    if run.state != STATE.DRAFT:
        raise WorkNotPossible(_("This run has begun already."))
    _check_inputs(run)
    asking = prompting.asking_of(run)
    if is_fitted(run):
        run.parameters = fitted_on_labels(run, asking.field.name)
    run.strategy_hash = prompting.wording_hash(run, asking)
    # The database's clock, as claims have it: by another one the run could be due a moment too late.
    run.state, run.frozen_at, run.due_at = STATE.WAITING, Now(), Now()
    run.save()
    run.n_total = n = _add_predictions(run)
    run.save(update_fields=["n_total"])
    run.refresh_from_db(fields=["frozen_at", "due_at"])
    events.record(
        actor=by, verb="run.started", subject=run, project_id=run.project_id, wording=run.strategy_hash, predictions=n
    )
    return run


def _add_predictions(run: Run) -> int:
    """A pending prediction for each item and repeat that has none; how many that were."""
    n = 0
    with connection.cursor() as cursor:
        for repeat in range(run.repeats):
            # Inside the database: 20,000 rows through Python would hold up the page that starts the run.
            cursor.execute(_ADD_PREDICTIONS, [repeat, run.item_set_id, run.pk, repeat])
            n += cursor.rowcount
    return n


_ADD_PREDICTIONS = f"""
INSERT INTO {Prediction._meta.db_table}
    (run_id, revision_id, "position", "repeat", state, note, due_at, claim_token, attempts)
SELECT run.id, entry.revision_id, entry."position", %s, 'pending', '', run.due_at, '', 0
FROM {ItemSetEntry._meta.db_table} entry CROSS JOIN {Run._meta.db_table} run
WHERE entry.item_set_id = %s AND run.id = %s AND NOT EXISTS (
    SELECT 1 FROM {Prediction._meta.db_table} there
    WHERE there.run_id = run.id AND there.revision_id = entry.revision_id AND there."repeat" = %s
)
ORDER BY entry."position"
"""


@transaction.atomic
def pause_run(*, run: Run, by: Person) -> Run:
    """Send nothing more for now. Requests under way are finished and their answers kept."""
    run = _locked(run)
    if run.state not in LIVE:
        raise WorkNotPossible(_("Only a run that is under way can be paused."))
    return _move(run, STATE.PAUSED, by, "run.paused")


@transaction.atomic
def resume_run(*, run: Run, by: Person) -> Run:
    """Go on with what is pending, at once."""
    run = _locked(run)
    if run.state != STATE.PAUSED:
        raise WorkNotPossible(_("Only a paused run can be resumed."))
    if because := budgets.spent_words(run):
        raise WorkNotPossible(because)
    run.predictions.unanswered().filter(claim_token="").update(due_at=Now())
    return _wake(run, by, "run.resumed")


@transaction.atomic
def cancel_run(*, run: Run, by: Person) -> Run:
    """End the run: what is pending will not be asked. Answers stay."""
    run = _locked(run)
    if run.state not in (*LIVE, STATE.PAUSED):
        raise WorkNotPossible(_("This run is not under way, so there is nothing to cancel."))
    # Claims stay: what a model is answering at this moment is paid for, and kept if it arrives (see answering).
    n = run.predictions.unanswered().update(
        state=Prediction.State.CANCELLED, note=_("The run was cancelled."), due_at=None, finished_at=Now()
    )
    run.finished_at = timezone.now()
    run.n_done = run.n_total or 0
    return _move(run, STATE.CANCELLED, by, "run.cancelled", predictions=n)


@transaction.atomic
def repeat_failed(*, run: Run, by: Person) -> Run:
    """Ask again where asking again may help: errors, timeouts, lost workers, cancelled. Every answer stays.

    A refusal, an empty, a cut-off or an unparsed completion is what the model said, and is not asked for anew.
    """
    run = _locked(run)
    if run.state == STATE.DRAFT:
        raise WorkNotPossible(_("This run has not begun."))
    if run.endpoint.provider == Endpoint.Provider.LOG:
        raise WorkNotPossible(_("The answers of this run were imported from a log: nothing can be asked again."))
    failed = run.predictions.failed()
    # A call holds the error and the requests that brought it; the new attempts are counted from one. Steps that were
    # answered before it stay: their completions are what the model said.
    Call.objects.filter(prediction__in=failed).exclude(error_kind="").delete()
    n = failed.update(
        state=Prediction.State.PENDING,
        note="",
        due_at=Now(),
        claim_token="",
        claimed_at=None,
        attempts=n_requests(of_prediction=OuterRef("pk")),
        finished_at=None,
    )
    if not n:
        raise WorkNotPossible(_("Nothing in this run failed."))
    run.finished_at, run.n_done = None, max(0, run.n_done - n)
    return _wake(run, by, "run.repeated", predictions=n)


@transaction.atomic
def extend_run(*, run: Run, by: Person, repeats: int | None = None, item_set: ItemSet | None = None) -> Run:
    """Ask more of the same: each item more often, or the further items of a set that has grown. Every answer stays.

    item_set: one that holds every item of the present one, at the same revision. Whatever else decides the answers is
    what it was at the start, or the run stops and says so.
    """
    from evaluation.services import prompting

    run = _locked(run)
    if run.state in (STATE.DRAFT, STATE.CANCELLED):
        raise WorkNotPossible(_("Only a run that was started and not cancelled can be extended."))
    if run.endpoint.provider == Endpoint.Provider.LOG:
        raise WorkNotPossible(_("The answers of this run were imported from a log: nothing can be asked."))
    before = {"repeats": run.repeats, "item_set": run.item_set_id}
    if repeats is not None:
        if not run.repeats <= repeats <= MAX_REPEATS:
            raise WorkNotPossible(
                _(
                    "This run asks each item %(repeats)s times; more than that, up to %(max_repeats)s.",
                    repeats=run.repeats,
                    max_repeats=MAX_REPEATS,
                )
            )
        run.repeats = repeats
    if item_set is not None and item_set.pk != run.item_set_id:
        _check_grown(run, item_set)
        run.item_set = item_set
        prompting.refuse_overlap(run)
        places = ItemSetEntry.objects.filter(item_set=item_set, revision=OuterRef("revision"))
        run.predictions.update(position=Subquery(places.values("position")[:1]))
    run.due_at = Now()
    run.save(update_fields=["repeats", "item_set", "due_at"])
    n = _add_predictions(run)
    if not n:
        raise WorkNotPossible(_("That would ask nothing new: choose more repeats, or a set with further items."))
    run.n_total, run.finished_at = (run.n_total or 0) + n, None
    run.save(update_fields=["n_total"])
    return _wake(run, by, "run.extended", predictions=n, before=before)


def _check_grown(run: Run, item_set: ItemSet) -> None:
    if item_set.project_id != run.project_id:
        raise WorkNotPossible(_("The items must belong to the run's project."))
    if is_fitted(run) and run.exemplar_set is None:
        raise WorkNotPossible(_("This baseline was fitted on the labels of its own items: make a new run for others."))
    present = ItemSetEntry.objects.filter(item_set=item_set, revision=OuterRef("revision"))
    n_missing = run.item_set.entries.exclude(Exists(present)).count()
    if n_missing:
        raise WorkNotPossible(
            _(
                "%(name)s lacks %(n_missing)s of the %(n_items)s items of %(name_2)s, at the revision that "
                "was asked about: a run can only grow.",
                name=item_set.name,
                n_missing=f"{n_missing:,}",
                n_items=f"{run.item_set.n_items:,}",
                name_2=run.item_set.name,
            )
        )


@transaction.atomic
def runs_to_ring(*, limit: int = 50) -> list[int]:
    """Ids of the runs at which a bell is due; each is not due again for a moment, so that bells do not pile up."""
    due = Run.objects.due().order_by("due_at")
    # A run that is being claimed at this moment needs no bell.
    locked = due.select_for_update(skip_locked=connection.features.has_select_for_update_skip_locked)
    ids = list(locked.values_list("pk", flat=True)[:limit])
    Run.objects.filter(pk__in=ids).update(due_at=Now() + RING_AGAIN)
    return ids


def _locked(run: Run) -> Run:
    rows = Run.objects.select_for_update(of=("self",))
    locked: Run = rows.select_related("project", "item_set", "stage_version", "endpoint", "exemplar_set").get(pk=run.pk)
    return locked


def _move(run: Run, state: str, by: Person, verb: str, **detail: Any) -> Run:
    run.state, run.due_at = state, None
    run.save(update_fields=["state", "due_at", "finished_at", "n_done"])
    events.record(actor=by, verb=verb, subject=run, project_id=run.project_id, **detail)
    return run


def _wake(run: Run, by: Person, verb: str, **detail: Any) -> Run:
    """Waiting for a worker, with a clean slate: what stopped it before says nothing of now."""
    run.state, run.due_at = STATE.WAITING, Now()
    run.attempts, run.stopped_because, run.error = 0, "", ""
    run.save(update_fields=["state", "due_at", "attempts", "stopped_because", "error", "finished_at", "n_done"])
    run.refresh_from_db(fields=["due_at"])
    events.record(actor=by, verb=verb, subject=run, project_id=run.project_id, **detail)
    return run


def _check_inputs(run: Run) -> None:
    """Raises WorkNotPossible; at creation to be told early, and again at the start, for a draft may be old."""
    from evaluation.services import prompting

    answered = prompting.answered_field(run.stage_version).type
    if is_fitted(run) and answered != "choice":
        raise WorkNotPossible(_("The most frequent label needs labels: this form asks for a text."))
    if (types := STRATEGIES[run.strategy].field_types) and answered not in types:
        raise WorkNotPossible(_("This strategy is for answers that are tables: this form asks for something else."))
    prompting.asking_of(run)
    prompting.refuse_overlap(run)


def is_fitted(run: Run) -> bool:
    return run.endpoint.provider == Endpoint.Provider.BASELINE and run.endpoint.model == FITTED_BASELINE


def fitted_on_labels(run: Run, field: str) -> dict[str, Any]:
    """Label counts of the exemplars, or else of the evaluated items themselves: which one is said beside them."""
    fitted_on = run.exemplar_set or run.item_set
    entries = ItemSetEntry.objects.filter(item_set=fitted_on, revision__item=OuterRef("item"))
    golds = Gold.objects.filter(Exists(entries), field=field, label_set="", is_current=True)
    # Of several acceptable labels the first counts: it is the one the source gives.
    counts = Counter(str(answers[0]) for answers in golds.values_list("answers", flat=True).iterator() if answers)
    if not counts:
        raise WorkNotPossible(
            _("No item of %(name)s has a gold label for “%(field)s” to count.", name=fitted_on.name, field=field)
        )
    said = f"gold labels of {counts.total():,} items of {fitted_on.name}"
    if run.exemplar_set is None:
        said += ", which are the evaluated items themselves: the best constant answer in hindsight, not a prediction"
    return {"label_counts": dict(sorted(counts.items())), "fitted_on": said}
