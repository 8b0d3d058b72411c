"""Programs that are forked from what is loaded behave as if each had begun by itself, and share its memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from config.env import PROJECT
from config.forks import CAN_FORK, Fork
from config.processes import Processes
from tests.test_launcher import FAMILY, family_of, runs, wait_until

if not CAN_FORK:
    pytest.skip("programs are forked on Linux only", allow_module_level=True)


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A program with a child of its own, which writes both pids into the file it is told."""
    program = tmp_path / "family.py"
    program.write_text(FAMILY)
    return program


def test_a_fork_has_the_arguments_environment_output_and_exit_code_of_a_program(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['ONLY'], os.environ.get('HOME'), flush=True)\n"
        "print('to stderr', file=sys.stderr)\nraise SystemExit(7)"
    )
    output = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    fork = Fork([sys.executable, str(program), "a", "b c"], {"ONLY": "this"}, title="one", output=output)
    os.close(output)
    assert fork.wait(20) == 7 == fork.returncode
    assert (tmp_path / "log").read_text() == "['a', 'b c'] this None\nto stderr\n"
    assert os.environ.get("ONLY") is None


def test_a_fork_runs_a_module_as_python_does(tmp_path: Path):
    output = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    fork = Fork([sys.executable, "-m", "calendar", "2026", "11"], os.environ, title="calendar", output=output)
    os.close(output)
    assert fork.wait(20) == 0
    assert "November 2026" in (tmp_path / "log").read_text()


def test_a_fork_that_raises_tells_its_traceback_and_fails_alone(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text("raise RuntimeError('this is what happened')")
    output = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    fork = Fork([sys.executable, str(program)], os.environ, title="one", output=output)
    os.close(output)
    assert fork.wait(20) == 1
    assert "RuntimeError: this is what happened" in (tmp_path / "log").read_text()


def test_a_signal_ends_a_fork_as_it_ends_a_program(tmp_path: Path, family: Path):
    fork = Fork([sys.executable, str(family), str(tmp_path / "pids")], os.environ, title="a family")
    own, child = family_of(tmp_path / "pids")
    assert own == fork.pid
    assert psutil.Process(fork.pid).cmdline()[0].startswith("goldpanel: a family")
    assert fork.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        fork.wait(0.05)
    os.kill(fork.pid, signal.SIGTERM)
    assert fork.wait(20) == -signal.SIGTERM
    os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_to_end_that_comes_while_python_forks_is_not_lost(tmp_path: Path, number: str):
    program = tmp_path / "program.py"
    program.write_text("")
    forking = tmp_path / "forking.py"
    forking.write_text(
        textwrap.dedent(f"""\
        import os, signal, sys
        from config.forks import Fork

        class Told(Exception):
            pass

        def end(number, frame):
            raise Told

        signal.signal(signal.{number}, end)
        os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.{number}))
        try:
            Fork([sys.executable, {str(program)!r}], os.environ, title="one")
        except Told:
            print("told to end")
        """)
    )
    done = subprocess.run(
        [sys.executable, forking],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "told to end\n", done.stderr
    assert "ignored" not in done.stderr


def test_forked_children_are_stopped_with_theirs_and_started_again(tmp_path: Path, family: Path):
    with Processes(os.environ, tmp_path / "log", forks=True) as processes:
        processes.start("one", [sys.executable, str(family), str(tmp_path / "pids")])
        first = family_of(tmp_path / "pids")
        (tmp_path / "pids").unlink()
        os.kill(first[0], signal.SIGKILL)
        assert wait_until(lambda: processes.look_after() is None and (tmp_path / "pids").exists())
        second = family_of(tmp_path / "pids")
        assert not any(runs(pid) for pid in first)
        assert all(runs(pid) for pid in second)
    assert wait_until(lambda: not any(runs(pid) for pid in second), 2)


def test_the_guard_stops_forked_children_of_a_killed_launcher(tmp_path: Path, family: Path):
    # A fork that kept the launcher's end of the pipe open would keep the guard waiting for ever.
    code = f"""
        import os, sys, time
        from config.processes import Processes
        with Processes(os.environ, forks=True) as processes:
            for name in ("one", "two"):
                processes.start(name, [sys.executable, {str(family)!r}, {str(tmp_path)!r} + "/" + name])
            time.sleep(600)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT)
    pids = family_of(tmp_path / "one") + family_of(tmp_path / "two")
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not any(runs(pid) for pid in pids))


def test_what_is_loaded_opens_no_database_and_starts_no_thread(tmp_path: Path):
    code = """
        import threading
        from config import forks
        forks.load_for_pages()
        forks.load_for_background()
        from django.db import connections
        assert all(connection.connection is None for connection in connections.all())
        assert threading.enumerate() == [threading.main_thread()]
    """
    environment = {**os.environ, "GOLDPANEL_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT, env=environment, check=True)
