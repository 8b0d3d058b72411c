"""A Celery worker that talks to nobody but the broker: no gossip, no mingling, no events. `python -m config.worker`.

Celery's own command line does the same and loads a shell with it, which would be a seventh of an idle installation.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from typing import Any

from celery import bootsteps
from celery.apps.worker import Worker
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


app.steps["consumer"].add(TakesNoMoreThanItCanDo)


def main() -> int:
    parser = argparse.ArgumentParser(prog="config.worker")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--name", default="worker")
    parser.add_argument("--include", help="modules of further tasks, with commas between")
    given = parser.parse_args()
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
