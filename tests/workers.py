"""Real processes on the database of the tests: workers, a scheduler, and a broker that can be stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psutil
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config.celery import app
from config.env import PROJECT, read_settings
from config.processes import MANAGE, web_command, worker_command
from config.testing import postgresql_folder


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def test_database_url() -> str:
    """The address of the database that this test uses, for another process."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    password = f":{quote(values['PASSWORD'], safe='')}" if values["PASSWORD"] else ""
    port = f":{values['PORT']}" if values["PORT"] else ""
    return f"postgres://{quote(values['USER'], safe='')}{password}@{values['HOST']}{port}/{values['NAME']}"


# Its name begins like a test's.
test_database_url.__test__ = False  # type: ignore[attr-defined]


@dataclass
class Process:
    """A child in a session of its own, with what it said."""

    child: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """kill -9, its pool processes included: nobody gets to say goodbye."""
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()


@dataclass
class Processes:
    """Starts workers and schedulers; `environment` is what they get beside that of the tests."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: list[Process] = field(default_factory=list)

    def worker(self, *, n_processes: int = 1) -> Process:
        return self._start(worker_command(n_processes, name=f"test{len(self.started)}"))

    def workers(self, n: int) -> list[Process]:
        """So many workers that can take work: on a busy machine the first would else be done before the next is up."""
        made = [self.worker() for _ in range(n)]
        for one in made:
            assert wait_until(lambda one=one: psutil.Process(one.child.pid).children()), one.log.read_text()
        return made

    def scheduler(self, *, interval: float = 0.3) -> Process:
        return self._start([*MANAGE, "scheduler", "--interval", str(interval)])

    def web(self, *, port: int, n_processes: int = 2) -> Process:
        """A web server on this port of the loopback, once it answers."""
        asked = {"GOLDPANEL_PORT": str(port), "GOLDPANEL_WEB_PROCESSES": str(n_processes)}
        server = self._start(
            web_command(read_settings({**os.environ, **settings_of_tests(), **self.environment, **asked}))
        )
        assert wait_until(lambda: _answers(port)), server.log.read_text()
        return server

    def kill_all(self) -> None:
        for process in self.started:
            process.kill()

    def _start(self, command: list[str]) -> Process:
        log = self.folder / f"{len(self.started)}.log"
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=PROJECT,
                env={**os.environ, **settings_of_tests(), **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        process = Process(child, log)
        self.started.append(process)
        return process


def settings_of_tests() -> Mapping[str, str]:
    """What leads another process to the database and the files of this one."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": test_database_url(),
        "GOLDPANEL_DATA": str(settings.DATA),
        "GOLDPANEL_ENV_FILE": "",
    }


# Does a piece of work, and stops for ever at a statement that it has executed, after a sign that it came so far.
_STOPPING = """
import pathlib, sys, time
import django
django.setup()
from django.db import connection
work, statement, sign = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
def stop(execute, sql, params, many, context):
    result = execute(sql, params, many, context)
    if statement in sql:
        sign.touch()
        time.sleep(600)
    return result
with connection.execute_wrapper(stop):
    exec(work)
"""


def stopped_at(statement: str, work: str, folder: Path) -> subprocess.Popen[bytes]:
    """A process that holds its work at this statement; `work` is the code that does it."""
    sign = folder / "reached"
    command = [sys.executable, "-c", _STOPPING, work, statement, str(sign)]
    child = subprocess.Popen(command, cwd=PROJECT, env={**os.environ, **settings_of_tests()})
    assert wait_until(sign.exists), "it never came so far"
    return child


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live/", timeout=5):
            return True
    except OSError:
        return False


def empty_queue() -> None:
    """No bell of an earlier test is heard by a worker of this one."""
    with app.connection_for_write() as broker:
        broker.default_channel.queue_declare(app.conf.task_default_queue)
        broker.default_channel.queue_purge(app.conf.task_default_queue)


class StoppableFolder:
    """The embedded broker: its folder moved away, and a file in its place that not even root can write into."""

    def __init__(self, folder: Path, aside: Path) -> None:
        self._folder, self._aside = folder, aside
        self.environment: dict[str, str] = {}

    def stop(self) -> None:
        # The first that rings makes it.
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.rename(self._aside)
        self._folder.touch()

    def start(self) -> None:
        self._folder.unlink()
        self._aside.rename(self._folder)

    def close(self) -> None:
        if self._aside.exists():
            self.start()


class StoppableRedis:
    """A Redis of its own, without persistence: when it is killed, every bell in it is lost."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._folder = folder
        self._server: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.environment = {"REDIS_URL": self.url}

    def start(self) -> None:
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._server = subprocess.Popen(
            [*command, "--dir", str(self._folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert wait_until(self._listens, 10), "redis-server did not start"

    def stop(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    close = stop

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False


@contextlib.contextmanager
def stoppable_broker(folder: Path) -> Iterator[StoppableFolder | StoppableRedis]:
    """The broker of this process and of those that get its `environment`, until the block ends."""
    if settings.REDIS_URL:
        assert shutil.which("redis-server"), "these tests start a redis-server of their own"
        redis = StoppableRedis(folder)
        before = app.conf.broker_url
        redis.start()
        app.conf.broker_url = redis.url
        try:
            yield redis
        finally:
            app.conf.broker_url = before
            redis.close()
    else:
        broker = StoppableFolder(settings.BROKER_FOLDER, folder / "moved-away")
        try:
            yield broker
        finally:
            broker.close()


class StoppablePostgreSQL:
    """A PostgreSQL cluster of its own, which can be restarted under whoever uses it."""

    def __init__(self, folder: Path) -> None:
        programs = postgresql_folder()
        assert programs is not None, "these tests start a PostgreSQL of their own"
        self._programs, self._folder = programs, folder
        self.port = free_port()
        self._as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self._run("initdb", "--username", "postgres", "--auth", "trust", "--no-sync", "--encoding", "UTF8")

    def start(self) -> None:
        # Written to the system, if not to the disk: that survives whatever happens to a process.
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder} -c fsync=off"
        self._run("pg_ctl", "start", "--wait", "--log", str(self._folder / "log"), "--options", options)

    def restart(self, mode: str) -> None:
        """fast: transactions are rolled back and connections closed; immediate: as if it had crashed."""
        self._run("pg_ctl", "restart", "--wait", "--mode", mode, "--log", str(self._folder / "log"))
        # Ours is broken like everybody's; outside a request nobody else replaces it.
        connection.close()

    def close(self) -> None:
        self._run("pg_ctl", "stop", "--wait", "--mode", "immediate")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_owner, f"{self._programs}/{program}", "--pgdata", str(self._folder / "data"), *arguments]
        # Not to a pipe: the server would hold its other end open, and reading it would never end.
        subprocess.run(command, cwd=self._folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def stoppable_postgresql() -> Iterator[StoppablePostgreSQL]:
    """A cluster with an empty database that this process, and those it starts, use until the block ends."""
    with tempfile.TemporaryDirectory(prefix="goldpanel-postgresql-") as folder:
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            shutil.chown(folder, "postgres")
        server = StoppablePostgreSQL(Path(folder))
        server.start()
        before = dict(connection.settings_dict)
        connection.close()
        connection.settings_dict.update(
            HOST="127.0.0.1", PORT=server.port, USER="postgres", PASSWORD="", NAME="postgres"
        )
        try:
            call_command("migrate", interactive=False, verbosity=0)
            yield server
        finally:
            connection.close()
            connection.settings_dict.update(before)
            server.close()


@contextlib.contextmanager
def processes(folder: Path, **environment: str) -> Iterator[Processes]:
    """Processes that are all killed when the block ends."""
    running = Processes(folder, dict(environment))
    try:
        yield running
    finally:
        running.kill_all()
