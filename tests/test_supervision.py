"""Whatever ends by itself is started again, after pauses that grow, while everything else goes on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from config import processes as processes_module
from config.env import PROJECT
from config.processes import LONGEST_PAUSE, Processes
from tests.test_launcher import FAMILY, answers, environment_of, family_of, launcher, runs, wait_until

RING = "from annotate.tasks import resolve_due; from config.bells import ring; assert ring(resolve_due)"
ENDING = [sys.executable, "-c", "raise SystemExit(1)"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def looked_after(processes: Processes, condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether the condition came true while the children were looked after."""

    def look() -> bool:
        assert processes.look_after() is None
        return condition()

    return wait_until(look, seconds)


def test_a_killed_child_runs_again_with_nothing_left_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with Processes(os.environ, tmp_path / "log") as processes:
        for name in ("one", "two"):
            processes.start(name, [sys.executable, "-c", FAMILY, str(tmp_path / name)])
        one, two = family_of(tmp_path / "one"), family_of(tmp_path / "two")
        (tmp_path / "one").unlink()
        os.kill(one[0], signal.SIGKILL)
        assert looked_after(processes, (tmp_path / "one").exists)
        again = family_of(tmp_path / "one")
        # The child of the killed one would have gone on alone, and held whatever it held.
        assert not any(runs(pid) for pid in one)
        assert all(runs(pid) for pid in again + two)
    assert "The one process ended by itself (killed by SIGKILL). It is started again in 1 s." in caplog.text
    assert wait_until(lambda: not any(runs(pid) for pid in again + two), 2)


def test_pauses_double_up_to_a_minute_and_are_short_again_after_a_minute_of_health(monkeypatch):
    clock = [time.monotonic()]
    monkeypatch.setattr(processes_module.time, "monotonic", lambda: clock[0])
    with Processes(os.environ) as processes:
        processes.start("worker", ENDING)
        child = processes.children["worker"]
        child.has_started = True

        def pause() -> float:
            child.process.wait()
            assert processes.look_after() is None
            assert child.again_at is not None
            paused = child.again_at - clock[0]
            # A moment before its time nothing happens.
            clock[0] += paused - 0.01
            processes.look_after()
            assert child.again_at is not None
            clock[0] += 0.02
            processes.look_after()
            assert child.again_at is None
            return paused

        assert [round(pause()) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
        assert LONGEST_PAUSE == 60
        clock[0] += 61
        assert round(pause()) == 1
        monkeypatch.undo()


def test_what_is_wanted_now_and_then_runs_while_it_is_wanted(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    wanted, begun = tmp_path / "wanted", tmp_path / "begun"
    # It does what there is to do, and ends.
    program = f"""
import os, pathlib
with open({str(begun)!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
print("at work")
pathlib.Path({str(wanted)!r}).unlink(missing_ok=True)
"""

    def n_begun() -> int:
        return len(begun.read_text().split()) if begun.exists() else 0

    with Processes(os.environ, tmp_path / "log") as processes:
        processes.start_on_demand("worker", [sys.executable, "-c", program], wanted.exists)
        assert processes.look_after() is None
        assert not processes.children
        for k in (1, 2):
            wanted.touch()
            assert looked_after(processes, lambda k=k: n_begun() == k and not processes.children)
        assert not looked_after(processes, lambda: n_begun() > 2, 0.5)
        # The log tells of both.
        assert processes.last_words("worker") == "at work\nat work"
    assert not caplog.text


def test_what_is_wanted_now_and_then_and_fails_is_tried_again_while_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with Processes(os.environ, tmp_path / "log") as processes:
        processes.start_on_demand("worker", ENDING, lambda: True)
        assert looked_after(processes, lambda: "The worker process ended by itself (exit code 1)." in caplog.text)
        assert "It is started again in 1 s." in caplog.text
        assert looked_after(processes, lambda: "It is started again in 2 s." in caplog.text)


def test_a_command_that_is_away_for_a_while_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    # As while an upgrade replaces the environment.
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nsleep 600\n")
    program.chmod(0o700)
    with Processes(os.environ) as processes:
        processes.start("worker", [str(program)])
        child = processes.children["worker"]
        program.rename(tmp_path / "away")
        child.process.kill()
        assert looked_after(processes, lambda: "no start: No such file or directory" in caplog.text)
        (tmp_path / "away").rename(program)
        assert looked_after(processes, lambda: child.again_at is None)
        assert runs(child.process.pid)


def test_the_guard_stops_what_was_started_again_and_touches_no_older_number(tmp_path: Path):
    code = f"""
        import os, signal, sys, time
        from config.processes import Processes
        with Processes(os.environ) as processes:
            processes.start("one", [sys.executable, "-c", {FAMILY!r}, {str(tmp_path / "pids")!r}])
            while True:
                processes.look_after()
                time.sleep(0.05)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT, stderr=subprocess.DEVNULL)
    first = family_of(tmp_path / "pids")
    (tmp_path / "pids").unlink()
    os.kill(first[0], signal.SIGKILL)
    second = family_of(tmp_path / "pids")
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not any(runs(pid) for pid in first + second))


def test_a_taken_port_is_told_before_anything_starts(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = launcher("serve", GOLDPANEL_DATA=str(tmp_path), GOLDPANEL_PORT=str(port))
    assert done.returncode == 1
    assert f"GOLDPANEL_PORT: cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
    assert not list(tmp_path.iterdir())


def child_of(launched: psutil.Process, word: str) -> psutil.Process | None:
    """The child of the launcher whose title has the word in it."""
    for child in launched.children():
        try:
            if word in " ".join(child.cmdline()):
                return child
        except psutil.NoSuchProcess:
            continue
    return None


def test_serve_goes_on_whatever_is_killed(tmp_path: Path):
    port = free_port()
    environment = environment_of(
        GOLDPANEL_DATA=str(tmp_path / "data"),
        GOLDPANEL_PORT=str(port),
        GOLDPANEL_LOCAL_MODEL_PORT=str(free_port()),
        GOLDPANEL_WEB_PROCESSES="1",
        GOLDPANEL_LOG_FORMAT="json",
    )
    address = f"http://127.0.0.1:{port}/"
    log = tmp_path / "log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "config.launcher", "serve"]
        served = subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=output)
    launched = psutil.Process(served.pid)
    try:
        assert wait_until(lambda: answers(address), 120)
        assert wait_until(lambda: all(child_of(launched, word) for word in ("scheduler", "granian")), 30)
        # A worker is begun for a bell, and only then.
        assert child_of(launched, "worker") is None
        assert launcher("manage", "shell", "--command", RING, **environment).returncode == 0
        assert wait_until(lambda: child_of(launched, "worker") is not None, 30)
        scheduler, worker, web = (child_of(launched, word) for word in ("scheduler", "worker", "granian"))
        assert scheduler
        assert worker
        assert web
        worker.kill()
        assert wait_until(lambda: (again := child_of(launched, "worker")) is not None and again.pid != worker.pid, 30)
        # Two kills within five seconds: the web server takes its own processes for broken, and ends.
        for _ in range(2):
            (process,) = [child for child in web.children() if "resource_tracker" not in " ".join(child.cmdline())]
            process.kill()
            process.wait(10)
            assert wait_until(lambda: not runs(web.pid) or answers(address), 30)
        scheduler.kill()
        assert wait_until(
            lambda: all(
                (child := child_of(launched, word)) and child.pid != old.pid
                for word, old in (("scheduler", scheduler), ("granian", web))
            ),
            30,
        )
        assert wait_until(lambda: answers(address), 30)
        assert wait_until(lambda: launcher("doctor", **environment).returncode == 0, 60)
        # What it was rung for was done long ago: it has given its memory back.
        assert wait_until(lambda: child_of(launched, "worker") is None, 30)
        family = launched.children(recursive=True)
    finally:
        served.send_signal(signal.SIGTERM)
        assert served.wait(timeout=30) == 0
    assert not any(runs(process.pid) for process in family)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    told = [line["message"] for line in lines if line["logger"] == "config.processes"]
    assert all(line["level"] == "WARNING" for line in lines if line["logger"] == "config.processes")
    for name, how in (("scheduler", "killed by SIGKILL"), ("worker", "killed by SIGKILL"), ("web", "exit code 1")):
        assert f"The {name} process ended by itself ({how}). It is started again in 1 s." in told
