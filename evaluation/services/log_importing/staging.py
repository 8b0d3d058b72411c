"""Where predictions of a log wait until its last record was read: a temporary table of this database connection.

As with items: a large log fills no worker's memory, nothing of it can be seen half done, and what is long takes no lock
that others wait for. At the end the rows become predictions with their calls in two statements a run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection

from annotate.exceptions import GoldpanelError
from annotate.services.staged_rows import insert_rows
from evaluation.models import Call, Prediction
from evaluation.services.log_importing.sorting import Sorted
from evaluation.storable import shorten

BATCH_ROWS = 1_000
BATCH_CHARS = 8_000_000
# How a call says that its error stood in a log: no client of ours met it.
ERROR_KIND = "log"

_COLUMNS = (
    *("run_number", "revision_id", "item_position", "state", "answer", "note", "messages", "completion", "reasoning"),
    *("finish_reason", "server_model", "prompt_tokens", "completion_tokens", "logprobs", "latency_ms", "error_kind"),
    *("error", "finished_at"),
)
_NULLABLE = ("answer", "prompt_tokens", "completion_tokens", "logprobs", "latency_ms")


class Staging:
    """Takes what a sorter kept; `flush` after the last one. finished_at: of records that do not say when."""

    def __init__(self, finished_at: datetime) -> None:
        self._finished_at = finished_at
        self._rows: list[tuple[Any, ...]] = []
        self._n_chars = 0

    def add(self, row: Sorted) -> bool:
        """Whether this row ended a batch."""
        record, outcome = row.record, row.outcome
        messages = json.dumps(list(record.messages))
        logprobs = None if record.logprobs is None else json.dumps(record.logprobs)
        moment = connection.ops.adapt_datetimefield_value(record.finished_at or self._finished_at)
        self._rows.append(
            (
                row.channel.number,
                row.revision_id,
                row.position,
                str(outcome["state"]),
                None if outcome["answer"] is None else json.dumps(outcome["answer"]),
                outcome["note"],
                messages,
                record.completion,
                record.reasoning,
                record.finish_reason[:40],
                record.server_model[:200],
                record.prompt_tokens,
                record.completion_tokens,
                logprobs,
                record.latency_ms,
                ERROR_KIND if record.error else "",
                shorten(record.error),
                moment,
            )
        )
        self._n_chars += len(messages) + len(record.completion) + len(record.reasoning) + len(logprobs or "")
        if len(self._rows) < BATCH_ROWS and self._n_chars < BATCH_CHARS:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        insert_rows("staged_prediction", _COLUMNS, self._rows, nullable=_NULLABLE)
        self._rows, self._n_chars = [], 0


@contextmanager
def staging(finished_at: datetime) -> Iterator[Staging]:
    """An empty table `staged_prediction`, dropped at the end, and by the next import where an error kept it."""
    _drop()
    _create()
    try:
        yield Staging(finished_at)
    except GoldpanelError:
        _drop()
        raise
    _drop()


def store_run(*, run_number: int, run_id: int) -> int:
    """The staged rows of one run as its predictions, each with a call; how many there are."""
    with connection.cursor() as cursor:
        cursor.execute(_PREDICTIONS, [run_id, run_number])
        n = int(cursor.rowcount)
        cursor.execute(_CALLS, [run_id, run_number])
    return n


def _create() -> None:
    is_postgres = connection.vendor == "postgresql"
    json_type, time_type = ("jsonb", "timestamptz") if is_postgres else ("text", "datetime")
    with connection.cursor() as cursor:
        cursor.execute(f"""
CREATE TEMPORARY TABLE staged_prediction (
    run_number integer NOT NULL, revision_id bigint NOT NULL, item_position integer NOT NULL, state text NOT NULL,
    answer {json_type}, note text NOT NULL, messages {json_type} NOT NULL, completion text NOT NULL,
    reasoning text NOT NULL, finish_reason text NOT NULL, server_model text NOT NULL, prompt_tokens integer,
    completion_tokens integer, logprobs {json_type}, latency_ms integer, error_kind text NOT NULL, error text NOT NULL,
    finished_at {time_type} NOT NULL
)""")


def _drop() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS staged_prediction")


_PREDICTIONS = f"""
INSERT INTO {Prediction._meta.db_table}
    (run_id, revision_id, "position", "repeat", state, answer, note, claim_token, attempts, finished_at)
SELECT %s, staged.revision_id, staged.item_position, 0, staged.state, staged.answer, staged.note, '', 0,
       staged.finished_at
FROM staged_prediction staged WHERE staged.run_number = %s
ORDER BY staged.item_position
"""

_CALLS = f"""
INSERT INTO {Call._meta.db_table}
    (prediction_id, step, messages, completion, reasoning, finish_reason, server_model, prompt_tokens,
     completion_tokens, logprobs, latency_ms, error_kind, error, attempts, finished_at, request_hash)
SELECT prediction.id, 0, staged.messages, staged.completion, staged.reasoning, staged.finish_reason,
       staged.server_model, staged.prompt_tokens, staged.completion_tokens, staged.logprobs, staged.latency_ms,
       staged.error_kind, staged.error, 1, staged.finished_at, ''
FROM staged_prediction staged
JOIN {Prediction._meta.db_table} prediction
  ON prediction.run_id = %s AND prediction.revision_id = staged.revision_id AND prediction."repeat" = 0
WHERE staged.run_number = %s
ORDER BY staged.item_position
"""
