"""`scheduler`: ring for everything that is due every two seconds. Two of them are harmless: one holds the lease."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import InterfaceError, OperationalError, connection

from annotate.services.database_leases import hold_lease, release_lease
from annotate.services.heartbeats import hear
from annotate.services.resolving import mark_outdated
from annotate.tasks import hear_worker
from config.bells import n_waiting
from evaluation.services.ringing import ring_due, ring_to_hear

logger = logging.getLogger(__name__)

LEASE = "scheduler"
# Longer than a few rounds, so that a slow round loses nothing; short, so that a dead scheduler is soon replaced.
LEASE_SECONDS = 15
HEARING_SECONDS = 10
# After an upgrade old processes may count votes by old rules for a while; an hour later nothing of that is left.
LOOKING_BACK_SECONDS = 3600


class Command(BaseCommand):
    help = "Ring workers for everything that is due, until stopped. Several may run: one at a time rings."
    # They load every page and the API, which a scheduler never needs: a third of its memory.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=2.0, help="seconds between two rounds (default: 2)")
        parser.add_argument("--once", action="store_true", help="one round, then end")
        parser.add_argument(
            "--worker-on-demand",
            action="store_true",
            help="a worker is begun for each bell: none is asked whether it runs",
        )

    def handle(self, *, interval: float, once: bool, worker_on_demand: bool, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        hearing, looking_back = _Every(HEARING_SECONDS), _Every(LOOKING_BACK_SECONDS)
        while not stop.is_set():
            try:
                if looking_back.is_due():
                    mark_outdated()
                _round(holder, hearing, worker_on_demand=worker_on_demand)
            except (OperationalError, InterfaceError) as problem:
                # The database restarts, or another process holds SQLite's lock for long: the next round tries again.
                logger.warning("The scheduler cannot reach the database: %s", type(problem).__name__)
                connection.close()
            if once:
                break
            stop.wait(interval)
        try:
            release_lease(name=LEASE, holder=holder)
        except (OperationalError, InterfaceError):
            logger.warning("The scheduler's lease was not given back; it ends by itself in %s s.", LEASE_SECONDS)


def _round(holder: str, hearing: _Every, *, worker_on_demand: bool = False) -> None:
    holds = hold_lease(name=LEASE, holder=holder, seconds=LEASE_SECONDS)
    if hearing.is_due():
        hear(name=f"scheduler@{socket.gethostname()}", role="scheduler")
        if holds:
            _hear_on_demand() if worker_on_demand else ring_to_hear()
    if holds:
        ring_due()


def _hear_on_demand() -> None:
    """A worker that is begun when a bell is rung is there as long as bells do not wait.

    Asked before this round rings: those of the rounds before have had their time.
    """
    if n_waiting() == 0:
        hear_worker()


class _Every:
    """True at once and then again every so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._next = time.monotonic()

    def is_due(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + self.seconds
        return True
