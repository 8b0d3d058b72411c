"""Whether this installation can answer requests, and whether what happens behind them goes on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from annotate.services.heartbeats import last_heard
from config.bells import n_waiting
from config.health import missing_migrations

logger = logging.getLogger(__name__)


class State(StrEnum):
    OK = "ok"
    AWAY = "away"
    BEHIND = "behind"
    SILENT = "silent"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Part:
    """One thing that is needed. is_vital: without it no request can be answered.

    heard_seconds_ago: of a worker or scheduler, None if never.
    """

    name: str
    state: State
    is_vital: bool = False
    heard_seconds_ago: int | None = None


@dataclass(frozen=True)
class Health:
    parts: tuple[Part, ...]

    @property
    def is_ready(self) -> bool:
        """Answers can be given and stored. The rest waits in rows, so a silent worker turns nobody away."""
        return all(part.state == State.OK for part in self.parts if part.is_vital)

    @property
    def is_degraded(self) -> bool:
        return any(part.state != State.OK for part in self.parts)


def examine() -> Health:
    """Ask the database (four small queries) and the broker. Whoever does not answer is a state, never an error."""
    try:
        migrations = State.BEHIND if missing_migrations() else State.OK
        heard = (_hearing("worker"), _hearing("scheduler"))
    except (DatabaseError, InterfaceError) as problem:
        logger.error("The database does not answer: %s", problem)
        return Health((Part("database", State.AWAY, is_vital=True), Part("migrations", State.UNKNOWN, is_vital=True)))
    return Health(
        (
            Part("database", State.OK, is_vital=True),
            Part("migrations", migrations, is_vital=True),
            Part("broker", State.AWAY if n_waiting() is None else State.OK),
            *heard,
        )
    )


def _hearing(role: str) -> Part:
    hearing = last_heard(role)
    state = State.SILENT if hearing.is_silent else State.OK
    if hearing.heard_at is None:
        return Part(role, state)
    # The database's clock wrote it: another machine's may be a little behind.
    return Part(role, state, heard_seconds_ago=max(0, int((timezone.now() - hearing.heard_at).total_seconds())))
