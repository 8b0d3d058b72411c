"""The statements that write what has come of predictions: many rows at once, for every answer of a model pays for it.

One text for PostgreSQL and SQLite (docs/decisions/0011). The first says which of the rows it wrote, so that a call is
stored exactly where its prediction was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from evaluation.models import Call, Prediction

# Written anew with every request for a step: the newest counts.
_CALL_COLUMNS = (
    "messages",
    "completion",
    "reasoning",
    "finish_reason",
    "server_model",
    "prompt_tokens",
    "completion_tokens",
    "logprobs",
    "latency_ms",
    "http_status",
    "error_kind",
    "error",
    "attempts",
    "finished_at",
    "request_hash",
    "reused_from_id",
    "reading",
)


@dataclass(frozen=True)
class Written:
    """The new columns of a prediction. is_paid_for: there is a completion, which is kept even if the run was cancelled
    while it was under way."""

    pk: int
    state: str
    answer: dict[str, Any] | None
    note: str
    due_at: datetime | None
    finished_at: datetime | None
    is_paid_for: bool


def write_results(token: str, results: Sequence[Written]) -> set[int]:
    """Write each result whose prediction is still claimed by this token, and free it; their primary keys."""
    if not results:
        return set()
    adapt = connection.ops.adapt_datetimefield_value
    values: list[Any] = []
    for result in results:
        values += [
            result.pk,
            result.state,
            None if result.answer is None else json.dumps(result.answer),
            result.note,
            adapt(result.due_at),
            adapt(result.finished_at),
            int(result.is_paid_for),
        ]
    # A column of VALUES in which all are NULL is text to PostgreSQL.
    is_typed = connection.vendor == "postgresql"
    moment, json_type = ("::timestamptz", "::jsonb") if is_typed else ("", "")
    rows = ", ".join(["(%s, %s, %s, %s, %s, %s, %s)"] * len(results))
    statement = f"""
        WITH result (pk, new_state, new_answer, new_note, new_due_at, new_finished_at, is_paid_for) AS (VALUES {rows})
        UPDATE {Prediction._meta.db_table} SET
            state = new_state, answer = new_answer{json_type}, note = new_note, claim_token = '',
            due_at = new_due_at{moment}, finished_at = new_finished_at{moment}
        FROM result
        WHERE id = pk AND claim_token = %s AND (state = 'pending' OR (state = 'cancelled' AND is_paid_for = 1))
        RETURNING id
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, token])
        return {pk for (pk,) in cursor.fetchall()}


def write_steps(token: str, n_attempts: Mapping[int, int]) -> dict[int, str]:
    """Keep each prediction claimed for its next step, if this token still stands; their states by primary key.

    n_attempts: by primary key, what is added to each one's attempts. One that was cancelled meanwhile goes no further,
    and what it was told is kept.
    """
    if not n_attempts:
        return {}
    rows = ", ".join(["(%s, %s)"] * len(n_attempts))
    statement = f"""
        WITH step (pk, n) AS (VALUES {rows})
        UPDATE {Prediction._meta.db_table} SET
            note = CASE WHEN state = 'pending' THEN '' ELSE note END,
            attempts = attempts + CASE WHEN state = 'pending' THEN n ELSE 0 END,
            claim_token = CASE WHEN state = 'pending' THEN claim_token ELSE '' END
        FROM step
        WHERE id = pk AND claim_token = %s AND state IN ('pending', 'cancelled')
        RETURNING id, state
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, [*(value for pair in n_attempts.items() for value in pair), token])
        return dict(cursor.fetchall())


def write_calls(calls: Sequence[Call]) -> None:
    """Store what was sent and what came back, in place of the former request for the same step."""
    if not calls:
        return
    adapt = connection.ops.adapt_datetimefield_value
    values: list[Any] = []
    for call in calls:
        values += [
            call.prediction_id,
            call.step,
            json.dumps(call.messages),
            call.completion,
            call.reasoning,
            call.finish_reason,
            call.server_model,
            call.prompt_tokens,
            call.completion_tokens,
            None if call.logprobs is None else json.dumps(call.logprobs),
            call.latency_ms,
            call.http_status,
            call.error_kind,
            call.error,
            call.attempts,
            adapt(call.finished_at),
            call.request_hash,
            call.reused_from_id,
            None if call.reading is None else json.dumps(call.reading),
        ]
    with connection.cursor() as cursor:
        cursor.execute(_ADD_CALLS.format(", ".join([_CALL_VALUES] * len(calls))), values)


_CALL_VALUES = f"({', '.join(['%s'] * (2 + len(_CALL_COLUMNS)))})"
_ADD_CALLS = f"""
    INSERT INTO {Call._meta.db_table} (prediction_id, step, {", ".join(_CALL_COLUMNS)}) VALUES {{}}
    ON CONFLICT (prediction_id, step) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _CALL_COLUMNS)}
"""
