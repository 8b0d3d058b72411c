"""The processes of an installation: their commands, and how they are started, watched and stopped together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from config.env import PROJECT
from config.logs import format_of

# A request takes milliseconds and a running chunk of model calls may take minutes: whoever is not done after this is
# killed, which loses at most the calls in flight (the rows say what is left).
PATIENCE_SECONDS = 8.0

MANAGE = [sys.executable, str(PROJECT / "manage.py")]


def web_command(values: Mapping[str, Any]) -> list[str]:
    """The web server. Values are those of `read_settings`."""
    # What it says itself about its processes is to be read like everything else.
    logs = ["--log-config", str(PROJECT / "config" / "granian_logs.json")] if format_of(values) == "json" else []
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws", "--respawn-failed-workers"),
        *("--host", values["GOLDPANEL_HOST"], "--port", str(values["GOLDPANEL_PORT"])),
        *("--workers", str(values["GOLDPANEL_WEB_PROCESSES"])),
        *("--blocking-threads", str(values["GOLDPANEL_WEB_THREADS"])),
        # Asked to end while it starts, a process of the server hears nothing: the server then kills it.
        *("--workers-kill-timeout", "2", "--log-level", "warning", *logs, "config.wsgi:application"),
    ]


def worker_command(n_processes: int, *, name: str = "worker", extra: Sequence[str] = ()) -> list[str]:
    """A Celery worker that talks to nobody but the broker: no gossip, no mingling, no events."""
    return [
        *(sys.executable, "-m", "celery", "-A", "config", "--quiet", "worker", "--concurrency", str(n_processes)),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        *("--loglevel", "WARNING", "--hostname", f"{name}-{os.getpid()}@%h", *extra),
    ]


def model_command(port: int) -> list[str]:
    """The server of the local model, which must be installed."""
    return [sys.executable, "-m", "config.local_model", str(port)]


def scheduler_command() -> list[str]:
    """The process that rings for everything that is due."""
    return [*MANAGE, "scheduler"]


@dataclass
class Processes:
    """Children of this process, each in a session of its own, stopped together however this process ends.

    Ctrl-C in a terminal reaches every process of its foreground group at once; in sessions of their own the children
    hear of it only from here, in order. A guard, forked before anything else runs, does the stopping when this
    process is killed and cannot.
    """

    environment: Mapping[str, str]
    log_folder: Path | None = None
    children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)
    _guard: int | None = None
    _pipe: int | None = None

    def __enter__(self) -> Self:
        read_end, write_end = os.pipe()
        guard = os.fork()
        if guard == 0:
            os.close(write_end)
            _guard_children(read_end)
        os.close(read_end)
        self._guard, self._pipe = guard, write_end
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, name: str, command: Sequence[str], *, needed: bool = True, **environment: str) -> None:
        """Start a child under this name; its output goes to `<log_folder>/<name>.log`, or where ours goes.

        needed: whether the others are of no use without it.
        """
        log = None
        if self.log_folder is not None:
            self.log_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = os.open(self.log_path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            child = subprocess.Popen(
                command,
                cwd=PROJECT,
                env={**self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            if log is not None:
                os.close(log)
        self.children[name] = child
        if not needed:
            self.optional.add(name)
        if self._pipe is not None:
            os.write(self._pipe, f"{json.dumps(child.pid)}\n".encode())

    def log_path(self, name: str) -> Path:
        assert self.log_folder is not None
        return self.log_folder / f"{name}.log"

    def ended(self) -> str | None:
        """The name of a child that has ended by itself, if any has; of an optional one it is said once."""
        for name, child in self.children.items():
            if child.poll() is not None and name not in self._told:
                if name in self.optional:
                    self._told.add(name)
                return name
        return None

    def last_words(self, name: str, n_lines: int = 20) -> str:
        """The end of a child's log, for the message that says it died."""
        if self.log_folder is None or not self.log_path(name).exists():
            return ""
        return "\n".join(self.log_path(name).read_text(errors="replace").splitlines()[-n_lines:])

    def stop(self) -> None:
        """Ask every child to end, wait, kill what is left, and let the guard go."""
        children = list(self.children.values())
        for child in children:
            _signal_session(child.pid, signal.SIGTERM, whole=False)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and any(child.poll() is None for child in children):
            time.sleep(0.05)
        for child in children:
            # Also where the child itself has ended: its own children share its session and may have outlived it.
            _signal_session(child.pid, signal.SIGKILL, whole=True)
            child.wait()
        if self._pipe is not None and self._guard is not None:
            os.write(self._pipe, b"done\n")
            os.close(self._pipe)
            os.waitpid(self._guard, 0)
            self._pipe = self._guard = None


def _guard_children(read_end: int) -> None:
    """In the guard: remember the children's pids until the pipe closes, then stop them unless told "done"."""
    os.setsid()
    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(caught, signal.SIG_IGN)
    # The guard holds no end of our output: a reader of it must see its end when this process ends.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    with os.fdopen(read_end) as pipe:
        lines = pipe.read().split()
    if "done" not in lines:
        pids = [int(line) for line in lines]
        for pid in pids:
            _signal_session(pid, signal.SIGTERM, whole=False)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and any(_is_running(pid) for pid in pids):
            time.sleep(0.1)
        for pid in pids:
            _signal_session(pid, signal.SIGKILL, whole=True)
    os._exit(0)


def _signal_session(pid: int, number: signal.Signals, *, whole: bool) -> None:
    try:
        if whole:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # it has ended already (macOS says the latter), which is what was wanted


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
