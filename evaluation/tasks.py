"""Doorbells of the model side: an id in, one service call, safe to ring twice. What is left to do is in the rows."""

from __future__ import annotations

from celery import shared_task

from config.bells import n_waiting, ring
from evaluation.services import reporting, trials


@shared_task
def make_report(report_id: int) -> None:
    reporting.make_report(report_id=report_id)


@shared_task
def answer_chunk(run_id: int) -> None:
    # Prompts and HTTP bring libraries that no other process needs.
    from evaluation.services import answering

    # The next bell is rung as soon as a chunk is taken, so that other workers join in.
    is_due = answering.answer_chunk(run_id=run_id, when_more=lambda: ring(answer_chunk, run_id))
    # Another worker may have heard it and found no place at the endpoint: then nobody would come for a while.
    if is_due and n_waiting() == 0:
        ring(answer_chunk, run_id)


@shared_task
def import_log(job_id: int) -> None:
    # Prompts and parsers, as above.
    from evaluation.services import log_importing

    log_importing.run_log_import(job_id=job_id)


@shared_task
def make_trial(trial_id: int) -> None:
    trials.make_trial(trial_id=trial_id)
