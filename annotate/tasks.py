"""Doorbells of the human side: ids in, one service call, safe to ring twice. What is due is in the rows."""

from __future__ import annotations

import socket

from celery import shared_task

from annotate.services import assigning, files, heartbeats, resolving


@shared_task
def resolve_due() -> None:
    resolving.resolve_due()


@shared_task
def expire_leases() -> None:
    assigning.expire_leases()


@shared_task
def run_import(job_id: int) -> None:
    # Reads files with libraries that no other task needs.
    from annotate.services import importing

    importing.run_import(job_id=job_id)


@shared_task
def run_export(export_id: int) -> None:
    from annotate.services import exporting

    exporting.run_export(export_id=export_id)


@shared_task
def restore_archive(restoration_id: int) -> None:
    from annotate.services import archiving

    archiving.run_restoration(restoration_id=restoration_id)


@shared_task
def forget_outdated_files() -> None:
    files.forget_outdated_files()


@shared_task
def hear_worker() -> None:
    heartbeats.hear(name=f"worker@{socket.gethostname()}", role="worker")
