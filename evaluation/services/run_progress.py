"""How far runs are, by outcome, and their predictions page by page: reading only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Left
from django.utils import timezone

from annotate.answers import FieldSpec, fields_from_json, get_field_type
from annotate.wording import _
from evaluation.models import Call, Endpoint, Prediction, Run
from evaluation.services.running import LIVE

PAGE = 50
EXCERPT = 200
# The pace of a run is that of its last minutes: an endpoint that slowed down shows at once.
PACE_WINDOW = timedelta(minutes=3)
STATE = Prediction.State
# In the order of the bar: an answer, a completion without one, no completion, not asked yet or never.
OUTCOMES = (
    STATE.ANSWERED,
    STATE.UNPARSED,
    STATE.REFUSED,
    STATE.EMPTY,
    STATE.CUT_OFF,
    STATE.TIED,
    STATE.TIMED_OUT,
    STATE.ERROR,
    STATE.WORKER_LOST,
    STATE.CANCELLED,
    STATE.PENDING,
)
FAILED = (STATE.TIMED_OUT, STATE.ERROR, STATE.WORKER_LOST, STATE.CANCELLED)


@dataclass(frozen=True)
class Tokens:
    """As the endpoint counted them; n_calls: how many completions said so. n_reused: taken from earlier runs."""

    n_calls: int
    prompt: int
    completion: int
    n_reused: int = 0


@dataclass(frozen=True)
class Progress:
    """How many predictions are in each state. seconds_left: None where there is no pace to reckon with."""

    counts: dict[str, int]
    seconds_left: float | None = None

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def n_pending(self) -> int:
        return self.counts.get(STATE.PENDING, 0)

    @property
    def n_failed(self) -> int:
        return sum(self.counts.get(state, 0) for state in FAILED)


@dataclass(frozen=True)
class Row:
    """A prediction of the table; excerpt: the beginning of its last completion. Requests and time: of all its calls."""

    pk: int
    external_id: str
    repeat: int
    state: str
    state_words: str
    answer: str
    note: str
    excerpt: str
    n_sent: int
    latency_ms: int | None
    due_at: datetime | None


@dataclass(frozen=True)
class Page:
    """Some of a run's predictions; last_pk: where the next page goes on, if has_more."""

    rows: list[Row]
    has_more: bool
    last_pk: int


def progress_of(runs: Iterable[Run]) -> dict[int, Progress]:
    """The progress of each run, in two queries for them all."""
    listed = list(runs)
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    predictions = Prediction.objects.filter(run__in=listed)
    for run_id, state, n in predictions.values_list("run_id", "state").annotate(n=Count("pk")).order_by():
        counts[run_id][state] = n
    now = timezone.now()
    live = [run for run in listed if run.state in LIVE]
    recent: dict[int, int] = dict(
        Prediction.objects.filter(run__in=live, finished_at__gte=now - PACE_WINDOW)
        .values_list("run_id")
        .annotate(n=Count("pk"))
        .order_by()
    )
    return {
        run.pk: Progress(counts[run.pk], _seconds_left(run, counts[run.pk].get(STATE.PENDING, 0), recent, now))
        for run in listed
    }


def tokens_of(run: Run) -> Tokens:
    """What the run took, as far as the server counted: from its own counters, or, for a log, from its calls."""
    calls = Call.objects.filter(prediction__run=run)
    if run.endpoint.provider != Endpoint.Provider.LOG:
        n_reused = calls.exclude(reused_from=None).count() if run.reuses_answers else 0
        return Tokens(run.n_counted, run.prompt_tokens, run.completion_tokens, n_reused)
    counted = calls.aggregate(
        n=Count("pk", filter=Q(completion_tokens__isnull=False)),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
    )
    return Tokens(counted["n"], counted["prompt"] or 0, counted["completion"] or 0)


def page_of_predictions(*, run: Run, state: str = "", after: int = 0) -> Page:
    """The next predictions after the one with this primary key: all items of the first repeat, then of the next.

    By key and without counting, and completions are cut by the database: page 400 costs what page 1 does.
    """
    rows = run.predictions.filter(pk__gt=after)
    if state in OUTCOMES:
        rows = rows.filter(state=state)
    calls = Call.objects.filter(prediction=OuterRef("pk"))
    last = calls.order_by("-step")[:1]
    together = calls.order_by().values("prediction")
    found = list(
        rows.order_by("pk")
        .annotate(
            excerpt=Subquery(last.annotate(cut=Left("completion", EXCERPT + 1)).values("cut")),
            n_sent=Subquery(together.annotate(n=Sum("attempts")).values("n")),
            latency_ms=Subquery(together.annotate(all_ms=Sum("latency_ms")).values("all_ms")),
        )
        .select_related("revision__item")
        .defer("revision__content")[: PAGE + 1]
    )
    form = fields_from_json(run.stage_version.fields)
    page = found[:PAGE]
    return Page([_row(row, form) for row in page], len(found) > PAGE, page[-1].pk if page else after)


def answer_words(answer: dict[str, Any] | None, form: Iterable[FieldSpec]) -> str:
    """An answer as people would have seen it on the form: options by their captions; of a table how large it is."""
    if not answer:
        return ""
    fields = {field.name: field for field in form}
    captions = {name: {option.value: option.caption for option in field.options} for name, field in fields.items()}
    return ", ".join(
        table_words(value)
        if name in fields and fields[name].type == "table"
        else str(captions.get(name, {}).get(str(value), value))
        for name, value in answer.items()
    )


def table_words(table: dict[str, Any]) -> str:
    """How large it is. A reply that says there are no more rows may name no columns."""
    if not table["columns"]:
        return _("a table without rows")
    return get_field_type("table").in_words(table, FieldSpec(name="", type="table", caption=""))


def _row(prediction: Any, form: tuple[FieldSpec, ...]) -> Row:
    return Row(
        pk=prediction.pk,
        external_id=prediction.revision.item.external_id,
        repeat=prediction.repeat + 1,
        state=prediction.state,
        state_words=prediction.get_state_display(),
        answer=answer_words(prediction.answer, form),
        note=prediction.note,
        excerpt=_shortened(prediction.excerpt or ""),
        n_sent=prediction.n_sent or 0,
        latency_ms=prediction.latency_ms,
        due_at=prediction.due_at,
    )


def _shortened(text: str) -> str:
    """On one line; with an ellipsis where the database has cut it."""
    folded = " ".join(text.split())
    return f"{folded}…" if len(text) > EXCERPT else folded


def _seconds_left(run: Run, n_pending: int, recent: dict[int, int], now: datetime) -> float | None:
    n_recent = recent.get(run.pk, 0)
    if run.state not in LIVE or not n_recent or run.started_at is None:
        return None
    window = min(PACE_WINDOW, now - run.started_at).total_seconds()
    return n_pending * window / n_recent
