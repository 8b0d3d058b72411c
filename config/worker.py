"""A Celery worker that talks to nobody but the broker: no gossip, no mingling, no events. `python -m config.worker`.

Celery's own command line does the same and loads a shell with it, which would be a seventh of an idle installation.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

from celery.apps.worker import Worker

from config.celery import app


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
