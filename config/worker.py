"""A Celery worker that talks to nobody but the broker: no gossip, no mingling, no events. `python -m config.worker`.

Celery's own command line does the same and loads a shell with it, which would be a seventh of an idle installation.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import time
import warnings
from typing import Any

from celery import bootsteps
from celery.apps.worker import Worker
from celery.platforms import SecurityWarning
from celery.worker import state

from config.celery import app


class TakesNoMoreThanItCanDo(bootsteps.StartStopStep):  # type: ignore[misc]
    """A worker whose processes are all at work takes no bell: it would keep it from another one that is idle.

    Celery counts a bell that is being worked on as done with, and takes one more for each process; it can be told not
    to (`worker_disable_prefetch`), but on Redis only.
    """

    # What is asked before a look into the queue is made by this step, anew for every connection.
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        asked = consumer.task_consumer.channel.qos
        # Reserved is whatever came in and has not ended.
        asked.can_consume = lambda: len(state.reserved_requests) < consumer.pool.num_processes


class EndsWhenIdle(bootsteps.StartStopStep):  # type: ignore[misc]
    """A worker that was begun for a bell (config/processes.py) ends when there was nothing to do for a while.

    It decides before a look into the queue, and then looks no more: a bell that comes now is another worker's.
    """

    requires = (TakesNoMoreThanItCanDo,)
    seconds = float("inf")

    def start(self, consumer: Any) -> None:
        asked = consumer.task_consumer.channel.qos
        may_consume = asked.can_consume
        busy_at, n_heard = time.monotonic(), state.all_total_count[0]

        def can_consume() -> bool:
            nonlocal busy_at, n_heard
            # What came and was done between two looks is seen in the count alone.
            if state.reserved_requests or state.all_total_count[0] != n_heard:
                busy_at, n_heard = time.monotonic(), state.all_total_count[0]
            elif time.monotonic() - busy_at >= self.seconds and state.should_stop is None:
                state.should_stop = os.EX_OK
            return state.should_stop is None and may_consume()

        asked.can_consume = can_consume


app.steps["consumer"].update([TakesNoMoreThanItCanDo, EndsWhenIdle])


def main() -> int:
    parser = argparse.ArgumentParser(prog="config.worker")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--name", default="worker")
    parser.add_argument("--include", help="modules of further tasks, with commas between")
    parser.add_argument("--idle-seconds", type=float, help="end after so long without a bell (default: never)")
    given = parser.parse_args()
    if given.idle_seconds is not None:
        EndsWhenIdle.seconds = given.idle_seconds
        # That it is root's would be told again with each worker that is begun.
        warnings.simplefilter("ignore", SecurityWarning)
    worker: Worker = app.Worker(
        hostname=f"{given.name}-{os.getpid()}@{socket.gethostname()}",
        concurrency=given.processes,
        include=given.include,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return worker.exitcode or 0


if __name__ == "__main__":
    sys.exit(main())
