"""Processes of an installation that share what they have in common: loaded here once, and forked from here.

Each program loads the same Django, applications and libraries. Begun one by one, a web server, a worker and a scheduler
hold them six times, and load them three times before the first page. A page of memory that nobody writes to is held
once, however many processes were forked from the one that made it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

import setproctitle

from config.env import PROJECT

# Elsewhere system libraries may hold threads and locks that no fork survives: programs then begin one by one.
CAN_FORK = sys.platform == "linux"
# Bytes. glibc lays out holes in such steps, and puts what is a little larger than the first into a mapping of its own;
# holes come to less than the last, and what some other library does with this costs no more than that.
BEHIND_ALL, LARGEST_HOLE, STEP, MOST_FILLED = 100_000, 32_768, 16, 8 << 20
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def load_for_pages() -> None:
    """Everything that a web process needs, and the database commands before it; no connection is opened."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # The second sets Django up.
    for module in ("granian.cli", "config.wsgi"):
        importlib.import_module(module)
    from django.apps import apps
    from django.template import engines
    from django.urls import get_resolver

    # What is made when it is first asked for would be made in each process.
    _ = get_resolver().url_patterns
    for name in ("base.html", "annotate/sign_in.html", "annotate/home.html", "annotate/work.html"):
        engines["django"].get_template(name)
    for model in apps.get_models(include_auto_created=True):
        _ = model._meta.fields_map, model._meta.related_objects, model._meta.default_manager
    _set_apart()


def load_for_background() -> None:
    """Everything that a worker and a scheduler need while there is nothing to do."""
    for module in (
        "celery.apps.worker",
        "celery.concurrency.prefork",
        "celery.events",
        "celery.worker.autoscale",
        "celery.worker.components",
        "celery.worker.consumer",
        "celery.worker.strategy",
        "config.broker",
        "django.db.models.sql.compiler",
        "evaluation.management.commands.scheduler",
        "kombu.pidbox",
    ):
        importlib.import_module(module)
    from config.celery import app

    app.loader.import_default_modules()
    _ = app.tasks, app.amqp.queues, app.control, app.events
    _set_apart()


def _set_apart() -> None:
    """Keep what is loaded in pages of its own: a page that a child writes to is shared no longer."""
    # A collection writes into everything it looks at.
    gc.collect()
    gc.freeze()
    if CAN_FORK:
        _fill_holes()


def _fill_holes() -> None:
    """Take up the room that is free between what is loaded, so that what a child makes is laid side by side elsewhere.

    Else the first statement of a child copies 5 MiB for 1: SQLite's notes on the schema go into a thousand holes.
    """
    libc = ctypes.CDLL(None)
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes, libc.free.restype = [ctypes.c_void_p], None
    # No hole is that large, so it lies behind all of them.
    behind = libc.malloc(BEHIND_ALL) or 0
    left = MOST_FILLED
    for size in range(LARGEST_HOLE, 0, -STEP):
        while left > 0:
            place = libc.malloc(size) or 0
            if not 0 < place < behind:
                libc.free(place)
                break
            left -= size
    libc.free(behind)


class Fork:
    """A Python program forked from this process, with as much of subprocess.Popen as its keeper needs.

    command: [python, "-m", module, ...] or [python, path, ...], as for Popen. output: a descriptor, or None for ours.
    closing: descriptors that are this process's own affair.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        title: str,
        output: int | None = None,
        closing: Sequence[int] = (),
        in_own_session: bool = True,
    ) -> None:
        self.args = command
        self._process = multiprocessing.get_context("fork").Process(
            name=title, target=_become, args=(command, environment, title, output, closing, in_own_session)
        )
        # What a handler raises while Python forks is swallowed there: a process told to end would go on for ever.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """As of Popen: negative for the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (code := self.returncode) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def kill(self) -> None:
        self._process.kill()


def _become(
    command: Sequence[str],
    environment: Mapping[str, str],
    title: str,
    output: int | None,
    closing: Sequence[int],
    in_own_session: bool,
) -> None:
    """In the fork: be what the command would have become."""
    # Before the environment changes: the title stands in its old place.
    setproctitle.setproctitle(f"goldpanel: {title}")
    if in_own_session:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    for descriptor in closing:
        os.close(descriptor)
    if output is not None:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(PROJECT)
    os.environ.clear()
    os.environ.update(environment)
    program, *arguments = command[1:]
    if program == "-m":
        module, *arguments = arguments
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name="__main__")
