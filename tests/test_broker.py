"""Bells between real processes: on the embedded broker, and on Redis where the services run."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from config.bells import ring
from config.broker import STALE_SECONDS, any_waits
from config.celery import app
from config.env import PROJECT
from config.processes import worker_command
from tests.bell_tasks import leave_mark, leave_mark_and_grow


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def queue() -> Iterator[Path]:
    """The broker's folder, with nothing waiting in the queue before and after."""
    with app.connection_for_write() as connection:
        connection.default_channel.queue_declare(app.conf.task_default_queue)
        connection.default_channel.queue_purge(app.conf.task_default_queue)
        yield settings.BROKER_FOLDER
        connection.default_channel.queue_purge(app.conf.task_default_queue)


@pytest.fixture
def start_worker(queue: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a real worker; all of them are killed, with their pools, when the test ends."""
    workers: list[subprocess.Popen[bytes]] = []

    def start(*more: str) -> subprocess.Popen[bytes]:
        command = worker_command(2, name=f"bells{len(workers)}", extra=["--include", "tests.bell_tasks", *more])
        worker = subprocess.Popen(command, cwd=PROJECT, start_new_session=True)
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def received(marks: Path) -> Counter[int]:
    return Counter(int(path.name.partition(".")[0]) for path in marks.iterdir())


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def n_waiting() -> int:
    with app.connection_for_write() as connection:
        channel = connection.default_channel
        return channel.queue_declare(app.conf.task_default_queue).message_count


def test_two_workers_receive_every_bell_once_between_them(start_worker, marks):
    start_worker()
    start_worker()
    for number in range(200):
        assert ring(leave_mark, str(marks), number)
    assert wait_until(lambda: len(received(marks)) == 200)
    time.sleep(0.5)  # time for a second receipt, if there were one
    assert received(marks) == Counter(range(200))
    # Four pool processes took part: nobody was left out.
    assert len({path.name.split(".")[1] for path in marks.iterdir()}) > 1


def test_a_busy_worker_leaves_the_next_bell_to_an_idle_one(start_worker, marks):
    start_worker()
    ring(leave_mark, str(marks), 0, 60)
    ring(leave_mark, str(marks), 1, 60)
    assert wait_until(lambda: received(marks) == Counter([0, 1]))
    for number in (2, 3):
        ring(leave_mark, str(marks), number, 60)
    time.sleep(1)  # time to take them, for a worker that would hold them until its own work is done
    assert n_waiting() == 2
    start_worker()
    assert wait_until(lambda: received(marks) == Counter(range(4)))


def test_a_worker_goes_on_after_one_of_its_processes_was_killed_at_work(start_worker, marks):
    start_worker()
    for number in (0, 1):
        ring(leave_mark, str(marks), number, 60)
    assert wait_until(lambda: received(marks) == Counter([0, 1]))
    os.kill(int(next(marks.iterdir()).name.split(".")[1]), signal.SIGKILL)
    for number in (2, 3, 4):
        ring(leave_mark, str(marks), number)
    assert wait_until(lambda: received(marks) == Counter(range(5)))


def test_a_worker_that_was_begun_for_a_bell_ends_when_nothing_was_to_do_for_a_while(start_worker, marks):
    for number in (0, 1):
        ring(leave_mark, str(marks), number)
    ring(leave_mark, str(marks), 2, 4)
    worker = start_worker("--idle-seconds", "1")
    assert wait_until(lambda: received(marks) == Counter([0, 1, 2]))
    # Longer idle than it may be, but for the one that is being worked on.
    time.sleep(2.5)
    assert worker.poll() is None
    ring(leave_mark, str(marks), 3)
    assert worker.wait(20) == 0
    assert received(marks) == Counter(range(4))
    assert n_waiting() == 0


@pytest.mark.embedded
def test_whether_a_bell_waits_is_seen_without_a_connection(queue, marks):
    name = app.conf.task_default_queue
    assert not any_waits(queue, name)
    ring(leave_mark, str(marks), 0)
    assert any_waits(queue, name)
    assert not any_waits(queue, "another")
    assert not any_waits(marks / "nowhere", name)


def test_a_process_that_a_task_made_large_gives_its_memory_back(start_worker, marks):
    start_worker()
    ring(leave_mark_and_grow, str(marks), 0, 200)
    assert wait_until(lambda: received(marks) == Counter([0]))
    large = int(next(marks.iterdir()).name.split(".")[1])
    assert wait_until(lambda: not psutil.pid_exists(large))
    # The next ones find as many processes as before.
    for number in (1, 2):
        ring(leave_mark, str(marks), number, 60)
    assert wait_until(lambda: received(marks) == Counter(range(3)))


def test_bells_rung_without_a_worker_wait_for_one(start_worker, marks):
    for number in range(5):
        assert ring(leave_mark, str(marks), number)
    assert n_waiting() == 5
    start_worker()
    assert wait_until(lambda: received(marks) == Counter(range(5)))


def test_a_killed_worker_takes_along_no_bell_that_it_had_not_taken(start_worker, marks):
    worker = start_worker()
    for number in range(20):
        ring(leave_mark, str(marks), number, 60)
    assert wait_until(lambda: len(received(marks)) == 2)
    kill(worker)
    assert n_waiting() == 18
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge(app.conf.task_default_queue)
    start_worker()
    ring(leave_mark, str(marks), 99)
    assert wait_until(lambda: received(marks)[99] == 1)


@pytest.mark.embedded
def test_an_empty_or_broken_message_is_set_aside_and_the_worker_lives(start_worker, queue, marks):
    ring(leave_mark, str(marks), 0)
    name = app.conf.task_default_queue
    # Their names sort first: they are older than both bells.
    (queue / "messages" / f"{0:020}_empty.{name}.msg").touch()
    (queue / "messages" / f"{1:020}_half.{name}.msg").write_text('{"body": "W1')
    (queue / "messages" / f"{2:020}_list.{name}.msg").write_text("[]")
    (queue / "messages" / f"{3:020}_bytes.{name}.msg").write_bytes(b"\xff\xfe\x00")
    worker = start_worker()
    ring(leave_mark, str(marks), 1)
    assert wait_until(lambda: received(marks) == Counter([0, 1]))
    assert worker.poll() is None
    aside = {path.name.partition(".")[0].partition("_")[2] for path in (queue / "aside").iterdir()}
    assert {"empty", "half", "list", "bytes"} <= aside


@pytest.mark.embedded
def test_the_broker_makes_its_folder_again_while_a_worker_runs(start_worker, queue, marks):
    start_worker()
    ring(leave_mark, str(marks), 0)
    assert wait_until(lambda: received(marks) == Counter([0]))
    queue.rename(marks.parent / "gone")
    assert ring(leave_mark, str(marks), 1)
    assert wait_until(lambda: received(marks) == Counter([0, 1]))


@pytest.mark.embedded
def test_only_the_owner_can_read_the_broker(queue, marks):
    ring(leave_mark, str(marks), 0)
    folders = [queue, queue / "messages", queue / "taken"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    messages = list((queue / "messages").iterdir())
    assert [stat.S_IMODE(message.stat().st_mode) for message in messages] == [0o600]
    assert messages[0].suffix == ".msg"


@pytest.mark.embedded
def test_a_half_written_message_is_received_by_nobody(queue):
    half = queue / "messages" / f"0_x.{app.conf.task_default_queue}.msg.part"
    half.touch()
    assert n_waiting() == 0
    assert half.exists()
    half.unlink()


@pytest.mark.embedded
def test_leftovers_of_killed_processes_are_removed_after_an_hour(queue, monkeypatch):
    half = queue / "messages" / f"0_x.{app.conf.task_default_queue}.msg.part"
    half.touch()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + STALE_SECONDS + 1)
    with app.connection_for_write() as connection:
        connection.default_channel.close()
    assert not half.exists()


@pytest.mark.embedded
def test_a_bell_is_given_up_where_the_broker_cannot_be_written(queue, marks):
    queue.rename(marks.parent / "gone")
    queue.touch()  # a file where the folder should be: not even root can write into it
    try:
        assert ring(leave_mark, str(marks), 0) is False
    finally:
        queue.unlink()
        (marks.parent / "gone").rename(queue)


@pytest.mark.embedded
def test_a_worker_waits_for_a_broker_that_is_away(start_worker, queue, marks):
    worker = start_worker()
    ring(leave_mark, str(marks), 0)
    assert wait_until(lambda: received(marks) == Counter([0]))
    queue.rename(marks.parent / "gone")
    queue.touch()
    time.sleep(2)  # the worker looks five times a second
    try:
        assert worker.poll() is None
    finally:
        queue.unlink()
        (marks.parent / "gone").rename(queue)
    ring(leave_mark, str(marks), 1)
    assert wait_until(lambda: received(marks) == Counter([0, 1]))


@pytest.mark.embedded
def test_a_worker_that_starts_while_the_broker_is_away_waits_for_it(start_worker, queue, marks):
    queue.rename(marks.parent / "gone")
    queue.touch()
    worker = start_worker()
    time.sleep(3)  # by then it has tried once, or has not come so far and tries later
    try:
        assert worker.poll() is None
    finally:
        queue.unlink()
        (marks.parent / "gone").rename(queue)
    ring(leave_mark, str(marks), 1)
    assert wait_until(lambda: received(marks) == Counter([1]))


RING_AND_TIME = """
import time, django
django.setup()
from config.bells import ring
from tests.bell_tasks import leave_mark, leave_mark_and_grow
begun = time.monotonic()
print(ring(leave_mark, "nowhere", 0), time.monotonic() - begun)
"""


def ring_elsewhere(port: int) -> tuple[str, float]:
    """What ring() says, and after how many seconds, in a process whose Redis is at this port."""
    environment = {**os.environ, "REDIS_URL": f"redis://127.0.0.1:{port}/0"}
    command = [sys.executable, "-c", RING_AND_TIME]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    rung, seconds = done.stdout.split()
    assert "No worker was rung for tests.bell_tasks.leave_mark" in done.stderr
    return rung, float(seconds)


def test_a_bell_is_given_up_at_once_where_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    rung, seconds = ring_elsewhere(port)
    assert rung == "False"
    assert seconds < 1


def test_a_bell_is_given_up_after_about_a_second_where_the_broker_hangs():
    # It accepts connections (the backlog does) and never says a word.
    with socket.create_server(("127.0.0.1", 0)) as server:
        rung, seconds = ring_elsewhere(server.getsockname()[1])
    assert rung == "False"
    assert seconds < 2
