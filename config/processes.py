"""The processes of an installation: their commands, and how they are started, watched and stopped together."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from config.env import PROJECT
from config.forks import Fork
from config.logs import format_of

logger = logging.getLogger(__name__)

# A request takes milliseconds and a running chunk of model calls may take minutes: whoever is not done after this is
# killed, which loses at most the calls in flight (the rows say what is left).
PATIENCE_SECONDS = 8.0

# A child that ended by itself is started again after a pause that doubles each time, and is short again once the
# child has lived for a while.
FIRST_PAUSE, LONGEST_PAUSE, HEALTHY_SECONDS = 1.0, 60.0, 60.0
# One that gives up of its own accord before that has never started: what is wrong does not heal by trying again.
STARTED_SECONDS = 10.0

# How long a worker that was begun for a bell waits for the next. Votes are rung for every two seconds while people
# answer, so it is not begun for each of them anew.
IDLE_SECONDS = 5

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
    """A worker for everything long: config/worker.py."""
    return [sys.executable, "-m", "config.worker", "--processes", str(n_processes), "--name", name, *extra]


def passing_worker_command(n_processes: int) -> list[str]:
    """A worker that ends when nothing was to do for a while; whoever hears the next bell begins another one."""
    return worker_command(n_processes, extra=["--idle-seconds", str(IDLE_SECONDS)])


def model_command(port: int) -> list[str]:
    """The server of the local model, which must be installed."""
    return [sys.executable, "-m", "config.local_model", str(port)]


def scheduler_command(*, worker_on_demand: bool = False) -> list[str]:
    """The process that rings for everything that is due."""
    return [*MANAGE, "scheduler", *(["--worker-on-demand"] if worker_on_demand else [])]


@dataclass
class Child:
    """A process, and how it is started again.

    needed: whether the others are of no use where it cannot be started. supervised: whether it is to run for ever.
    again_at: when it is started again, on the monotonic clock; None while it runs.
    """

    process: subprocess.Popen[bytes] | Fork
    command: Sequence[str]
    environment: Mapping[str, str]
    needed: bool = True
    supervised: bool = True
    begun_at: float = field(default_factory=time.monotonic)
    has_started: bool = False
    pause: float = FIRST_PAUSE
    again_at: float | None = None

    def gave_up(self) -> bool:
        """It ended of its own accord before it had started; a kill from outside says nothing about the child."""
        killed = self.process.returncode in (-signal.SIGKILL, -signal.SIGTERM)
        return not (self.has_started or killed or time.monotonic() - self.begun_at >= STARTED_SECONDS)

    def ending(self) -> str:
        code = self.process.returncode
        assert code is not None, "asked of a child that has ended"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@dataclass(frozen=True)
class OnDemand:
    """A program that runs only while it has something to do: begun when that comes, it ends by itself afterwards."""

    command: Sequence[str]
    is_wanted: Callable[[], bool]


@dataclass
class Processes:
    """Children of this process, each in a session of its own, stopped together however this process ends.

    Ctrl-C in a terminal reaches every process of its foreground group at once; in sessions of their own the children
    hear of it only from here, in order. A guard (config/guard.sh), started before anything else runs, does the stopping
    when this process is killed and cannot. Whoever calls `look_after` again and again keeps them running.
    """

    environment: Mapping[str, str]
    log_folder: Path | None = None
    # Whether Python programs are forked from what this process has loaded (config/forks.py), or begin by themselves.
    forks: bool = False
    children: dict[str, Child] = field(default_factory=dict)
    on_demand: dict[str, OnDemand] = field(default_factory=dict)
    _guard: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        # It holds no end of our output: a reader of it must see its end when this process ends.
        self._guard = subprocess.Popen(
            ["/bin/sh", str(PROJECT / "config" / "guard.sh"), str(round(PATIENCE_SECONDS))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(
        self, name: str, command: Sequence[str], *, needed: bool = True, supervised: bool = True, **environment: str
    ) -> None:
        """Start a child under this name; its output goes to `<log_folder>/<name>.log`, or where ours goes."""
        everything = {**self.environment, **environment}
        process = self._spawn(name, command, everything, os.O_TRUNC)
        self.children[name] = Child(process, command, everything, needed=needed, supervised=supervised)

    def start_on_demand(self, name: str, command: Sequence[str], is_wanted: Callable[[], bool]) -> None:
        """From now on start the command whenever it is wanted and does not run.

        That it cannot be started is seen when the others have run for long, and they go on: it is tried again.
        """
        self.on_demand[name] = OnDemand(command, is_wanted)
        if self.log_folder is not None:
            self.log_path(name).unlink(missing_ok=True)

    def look_after(self) -> str | None:
        """Start what is wanted, and again, after its pause, whatever has ended by itself.

        Returns the name of a needed child that cannot start.
        """
        for name, wanted in self.on_demand.items():
            if name not in self.children and wanted.is_wanted():
                process = self._spawn(name, wanted.command, self.environment, os.O_APPEND)
                self.children[name] = Child(process, wanted.command, self.environment, has_started=True)
        for name, child in list(self.children.items()):
            if not child.supervised:
                continue
            if child.again_at is None:
                if child.process.poll() is not None and self._has_ended(name, child):
                    return name
            elif time.monotonic() >= child.again_at:
                self._start_again(name, child)
        return None

    def _has_ended(self, name: str, child: Child) -> bool:
        """Plan its next start; True if it is of no use to try again and to go on without it."""
        self._forget(child)
        if name in self.on_demand and child.process.returncode == 0:
            del self.children[name]
            return False
        if child.gave_up():
            child.supervised = False
            if child.needed:
                return True
            words = self.last_words(name)
            logger.warning("The %s process ended by itself (%s); the others go on without it.", name, child.ending())
            if words:
                logger.warning("Its last words: %s", words)
            return False
        if time.monotonic() - child.begun_at >= HEALTHY_SECONDS:
            child.pause = FIRST_PAUSE
        self._wait_to_start(name, child, child.ending())
        return False

    def _wait_to_start(self, name: str, child: Child, because: str) -> None:
        logger.warning("The %s process ended by itself (%s). It is started again in %g s.", name, because, child.pause)
        child.again_at = time.monotonic() + child.pause
        child.pause = min(2 * child.pause, LONGEST_PAUSE)

    def _start_again(self, name: str, child: Child) -> None:
        try:
            # Its log goes on where it was: the last words of the one before say why it ended.
            child.process = self._spawn(name, child.command, child.environment, os.O_APPEND)
        except OSError as problem:
            self._wait_to_start(name, child, f"no start: {problem.strerror}")
            return
        child.begun_at, child.again_at, child.has_started = time.monotonic(), None, True

    def _spawn(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], how: int
    ) -> subprocess.Popen[bytes] | Fork:
        log = None
        if self.log_folder is not None:
            self.log_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = os.open(self.log_path(name), os.O_WRONLY | os.O_CREAT | how, 0o600)
        try:
            process: subprocess.Popen[bytes] | Fork
            if self.forks and command[0] == sys.executable:
                # The guard sees the end of this process by the end of its pipe: nobody else may hold that open.
                own = [pipe.fileno()] if (pipe := self._pipe()) else []
                process = Fork(command, environment, title=name, output=log, closing=own)
            else:
                process = subprocess.Popen(
                    command,
                    cwd=PROJECT,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        finally:
            if log is not None:
                os.close(log)
        self._tell_guard(f"+{process.pid}")
        return process

    def _forget(self, child: Child) -> None:
        """Kill what the ended child left behind: its own children hold its port, and work for nobody."""
        _signal_session(child.process.pid, signal.SIGKILL, whole=True)
        # From now on the number may be somebody else's.
        self._tell_guard(f"-{child.process.pid}")

    def _tell_guard(self, line: str) -> None:
        if pipe := self._pipe():
            with suppress(BrokenPipeError):
                pipe.write(f"{line}\n".encode())

    def _pipe(self) -> IO[bytes] | None:
        """Our end of the pipe whose other end the guard reads."""
        return self._guard.stdin if self._guard is not None else None

    def log_path(self, name: str) -> Path:
        assert self.log_folder is not None
        return self.log_folder / f"{name}.log"

    def last_words(self, name: str, n_lines: int = 20) -> str:
        """The end of a child's log, for the message that says it died."""
        if self.log_folder is None or not self.log_path(name).exists():
            return ""
        return "\n".join(self.log_path(name).read_text(errors="replace").splitlines()[-n_lines:])

    def stop(self) -> None:
        """Ask every child to end, wait, kill what is left, and let the guard go."""
        children = [child.process for child in self.children.values() if child.again_at is None]
        for child in children:
            _signal_session(child.pid, signal.SIGTERM, whole=False)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and any(child.poll() is None for child in children):
            time.sleep(0.05)
        for child in children:
            # Also where the child itself has ended: its own children share its session and may have outlived it.
            _signal_session(child.pid, signal.SIGKILL, whole=True)
            child.wait()
        if self._guard is not None:
            self._tell_guard("done")
            self._guard.communicate()
            self._guard = None


def _signal_session(pid: int, number: signal.Signals, *, whole: bool) -> None:
    try:
        if whole:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # it has ended already (macOS says the latter), which is what was wanted
