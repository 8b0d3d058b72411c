"""What `./goldpanel doctor` looks at. Each finding says what is so and, where something is wrong, what to do."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config import local_model
from config.env import SettingsInvalid, read_settings

# The same pages from the same engine; without windows, profiles and extensions, a visitor costs a quarter of the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ENOUGH_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Finding:
    """One line of the doctor. `advice` is empty where all is well; `needed` says whether work stops without it."""

    subject: str
    state: str
    advice: str = ""
    needed: bool = True

    def __str__(self) -> str:
        if not self.advice:
            return f"ok       {self.subject}: {self.state}"
        return f"{'PROBLEM' if self.needed else 'note   '}  {self.subject}: {self.state}\n         -> {self.advice}"


def examine(environment: Mapping[str, str]) -> int:
    """Print all findings; 1 if something needed is broken, else 0."""
    try:
        values = read_settings(environment)
    except SettingsInvalid as problem:
        # Nothing else can be looked at: every other part reads the settings first.
        print(_python())
        print(Finding("settings", str(problem), "correct them in the environment or in .env (docs/settings.md)"))
        return 1
    findings = []
    for finding in _look(values):
        print(finding, flush=True)
        findings.append(finding)
    return int(any(finding.advice and finding.needed for finding in findings))


def _look(values: Mapping[str, Any]) -> Iterator[Finding]:
    yield _python()
    yield Finding("settings", f"mode {values['GOLDPANEL_MODE']}, data in {values['GOLDPANEL_DATA']}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    database = _database()
    yield database
    yield _broker()
    if not database.advice:
        yield _worker()
    yield _local_model(values["GOLDPANEL_LOCAL_MODEL_PORT"])
    yield _disk(values["GOLDPANEL_DATA"])
    yield find_wordnet()
    yield find_browser()


def _python() -> Finding:
    return Finding("Python", platform.python_version())


def _database() -> Finding:
    from django.db import DatabaseError, connection

    from config.health import missing_migrations

    try:
        missing = missing_migrations()
    except DatabaseError as problem:
        where = connection.settings_dict["HOST"] or "the data folder"
        return Finding("database", f"no answer from {where}: {str(problem).splitlines()[0]}", "check DATABASE_URL")
    if missing:
        state = f"{connection.vendor}, reachable, {len(missing)} migrations not applied"
        return Finding("database", state, "./goldpanel manage migrate (demo and serve do it by themselves)")
    return Finding("database", f"{connection.vendor}, reachable, all migrations applied")


def _broker() -> Finding:
    from django.conf import settings
    from kombu.exceptions import KombuError

    from config.bells import broker_connection
    from config.celery import app

    connection = broker_connection()
    unreachable = (KombuError, OSError, *connection.connection_errors, *connection.channel_errors)
    name = "Redis" if settings.REDIS_URL else "files in the data folder"
    try:
        with connection:
            waiting = connection.default_channel.queue_declare(app.conf.task_default_queue).message_count
    except unreachable as problem:
        what_to_do = "check REDIS_URL, and that Redis runs" if settings.REDIS_URL else "make the data folder writable"
        return Finding("broker", f"{name}: {type(problem).__name__}", f"{what_to_do}; answers are stored meanwhile")
    aside = settings.BROKER_FOLDER / "aside"
    n_aside = len(list(aside.iterdir())) if not settings.REDIS_URL and aside.is_dir() else 0
    if n_aside:
        state = f"{name}, {waiting} bells waiting, {n_aside} unreadable messages set aside"
        return Finding("broker", state, f"look at {aside} and delete them", needed=False)
    return Finding("broker", f"{name}, {waiting} bells waiting")


def _worker() -> Finding:
    from django.utils import timezone

    from annotate.services.heartbeats import last_heard

    advice = "start one: ./goldpanel worker (demo and serve start one by themselves)"
    hearing = last_heard("worker")
    if hearing.heard_at is None:
        return Finding("worker", "never heard from", advice)
    seconds = max(0, int((timezone.now() - hearing.heard_at).total_seconds()))
    return Finding("worker", f"last heard from {seconds} seconds ago", advice if hearing.is_silent else "")


def _local_model(port: int) -> Finding:
    if not local_model.is_installed():
        advice = f"only runs without a network need it: ./goldpanel model install ({local_model.SIZES})"
        return Finding("local model", "not installed", advice, needed=False)
    answering = local_model.who_answers(port)
    if answering == local_model.Answering.MODEL:
        return Finding("local model", f"{local_model.NAME}, answers at {local_model.base_url(port)}", needed=False)
    if answering == local_model.Answering.OTHER:
        state = f"installed, but something else answers on port {port}"
        return Finding("local model", state, "set GOLDPANEL_LOCAL_MODEL_PORT to a free port", needed=False)
    advice = "start it: ./goldpanel model serve (demo and serve start it by themselves)"
    return Finding("local model", "installed, not served", advice, needed=False)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    state = f"{free / 1e9:.1f} GB free in {folder}"
    try:
        probe = folder / f"doctor.{os.getpid()}.{time.time_ns()}"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        return Finding("disk", f"{folder} cannot be written: {problem.strerror}", "give it to the user who runs this")
    return Finding("disk", state, "" if free >= ENOUGH_BYTES else "make room: databases stop when a disk is full")


def find_wordnet() -> Finding:
    """Synonyms for one scorer; evaluation.scorers.wordnet says which files it needs."""
    from evaluation.scorers.wordnet import FOLDER, missing_wordnet

    if missing_wordnet():
        advice = "only the score METEOR (NLTK) needs it: apt install wordnet-base"
        return Finding("WordNet", "not installed", advice, needed=False)
    return Finding("WordNet", str(FOLDER), needed=False)


def find_browser() -> Finding:
    """The browser of the tests; nothing else needs one on this machine."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return Finding("browser for the tests", path, needed=False)
    advice = "only the browser tests need it: apt install chromium-headless-shell (or chromium)"
    return Finding("browser for the tests", "none found", advice, needed=False)
