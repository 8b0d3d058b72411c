"""Ringing for a worker: best effort, because the rows already say what is due and the scheduler rings again."""

from __future__ import annotations

import logging
from typing import Any

from celery import Task
from kombu import Connection
from kombu.exceptions import KombuError
from kombu.pools import producers

from config.celery import app

logger = logging.getLogger(__name__)


def ring(task: Task, *ids: Any) -> bool:
    """Send the task with these ids; False, soon and with a line in the log, where the broker does not take it.

    Call it after the transaction committed (`transaction.on_commit`): a worker that is faster than the commit finds
    nothing to do.
    """
    connection = broker_connection()
    unreachable = (KombuError, OSError, *connection.connection_errors, *connection.channel_errors)
    try:
        with producers[connection].acquire(block=True, timeout=1) as producer:
            task.apply_async(args=ids, producer=producer, retry=False, ignore_result=True)
    except unreachable as problem:
        logger.warning("No worker was rung for %s: %s", task.name, type(problem).__name__)
        return False
    return True


def broker_connection() -> Connection:
    """Equal options make equal connections: the pool behind `producers` recognises this one every time.

    A worker waits for its broker as long as it takes; a request that rings waits a second, and tries once.
    """
    once = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}
    options = dict(app.conf.broker_transport_options) | once
    if not app.conf.broker_url.startswith("goldpanel:"):
        options |= {"socket_timeout": 1, "socket_connect_timeout": 1, "retry_on_timeout": False}
    return app.connection_for_write().clone(transport_options=options)


def n_waiting() -> int | None:
    """How many bells no worker has heard yet; None where the broker does not say."""
    connection = broker_connection()
    unreachable = (KombuError, OSError, *connection.connection_errors, *connection.channel_errors)
    try:
        with producers[connection].acquire(block=True, timeout=1) as producer:
            # Not passive: on Redis an empty queue does not exist, and asking for it would be an error.
            declared = producer.channel.queue_declare(app.conf.task_default_queue)
            return int(declared.message_count)
    except unreachable as problem:
        logger.warning("The broker does not say how many bells wait: %s", type(problem).__name__)
        return None
