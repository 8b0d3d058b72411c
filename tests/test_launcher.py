"""The launcher: what it says on an old Python, that nothing outlives it, what the doctor and the last line say."""

from __future__ import annotations

import ast
import http.client
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config import processes as processes_module
from config.env import PROJECT
from config.processes import Processes
from config.testing import Tally, clean_environment

# A child with a child of its own, as the web server and the worker are; it prints both pids and waits.
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{FAMILY}"


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def family_of(path: Path) -> list[int]:
    assert wait_until(path.exists)
    return [int(pid) for pid in path.read_text().split()]


def test_the_bootstrap_can_be_read_by_an_old_python():
    ast.parse((PROJECT / "goldpanel").read_text(), feature_version=(3, 6))


def test_an_old_python_is_told_what_to_install():
    # The bootstrap asks sys.version_info; the PATH offers no newer Python.
    code = "import runpy, sys; sys.version_info = (3, 9, 2); sys.argv = ['goldpanel', 'demo'];"
    code += "runpy.run_path('goldpanel', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env={"PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_needs_no_environment_and_lists_every_command():
    # -S and an empty PATH: nothing that is installed can be imported or found.
    command = [sys.executable, "-S", str(PROJECT / "goldpanel"), "help"]
    done = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=True)
    for name in ("demo", "serve", "worker", "scheduler", "model", "manage", "doctor", "test", "help"):
        assert f"\n  {name} " in done.stdout


def test_an_unknown_command_is_refused():
    done = launcher("srve")
    assert done.returncode == 2
    assert done.stderr == "There is no command 'srve'; ./goldpanel help lists them.\n"


def test_bad_settings_end_every_command_with_their_names(tmp_path):
    for command in ("demo", "serve", "worker", "doctor"):
        done = launcher(command, GOLDPANEL_DATA=str(tmp_path), GOLDPANEL_WEB_THREADS="many")
        assert done.returncode == 1
        assert "GOLDPANEL_WEB_THREADS: expected a whole number" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_the_demo_refuses_an_installation_in_production(tmp_path):
    done = launcher("demo", GOLDPANEL_DATA=str(tmp_path), GOLDPANEL_MODE="production")
    assert done.returncode == 1
    assert "set up for production" in done.stdout


def test_children_and_their_children_are_stopped_together(tmp_path):
    with Processes(os.environ, tmp_path / "log") as processes:
        for name in ("one", "two"):
            processes.start(name, [sys.executable, "-c", FAMILY, str(tmp_path / name)])
        pids = family_of(tmp_path / "one") + family_of(tmp_path / "two")
        assert all(runs(pid) for pid in pids)
        assert processes.look_after() is None
    assert len(pids) == 4
    assert wait_until(lambda: not any(runs(pid) for pid in pids), 2)


def test_a_child_that_ignores_the_request_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(processes_module, "PATIENCE_SECONDS", 0.5)
    with Processes(os.environ) as processes:
        processes.start("stubborn", [sys.executable, "-c", STUBBORN, str(tmp_path / "pids")])
        pids = family_of(tmp_path / "pids")
    assert wait_until(lambda: not any(runs(pid) for pid in pids), 2)


def test_the_guard_stops_the_children_of_a_killed_launcher(tmp_path):
    code = f"""
        import os, sys, time
        from config.processes import Processes
        with Processes(os.environ) as processes:
            processes.start("one", [sys.executable, "-c", {FAMILY!r}, {str(tmp_path / "pids")!r}])
            time.sleep(600)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT)
    pids = family_of(tmp_path / "pids")
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not any(runs(pid) for pid in pids))


def test_a_child_that_cannot_start_is_noticed_with_its_last_words(tmp_path):
    with Processes(os.environ, tmp_path) as processes:
        processes.start("web", [sys.executable, "-c", "print('the port is taken'); raise SystemExit(3)"])
        assert wait_until(lambda: processes.look_after() == "web")
        assert processes.children["web"].ending() == "exit code 3"
        assert processes.last_words("web") == "the port is taken"


def environment_of(**more: str) -> dict[str, str]:
    # A test whose processes store something names their folder; one that forgot would otherwise litter the project.
    return clean_environment(Path(os.devnull)) | {"DJANGO_SETTINGS_MODULE": "config.settings"} | more


def launcher(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "config.launcher", *arguments],
        cwd=PROJECT,
        env=environment_of(**environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, dict[str, str]]]:
    """A running `./goldpanel serve` on SQLite and files: the launcher, its address, its environment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as server:
        model_port = server.getsockname()[1]
    environment = environment_of(
        GOLDPANEL_DATA=str(tmp_path),
        GOLDPANEL_PORT=str(port),
        GOLDPANEL_LOCAL_MODEL_PORT=str(model_port),
        GOLDPANEL_WEB_PROCESSES="1",
    )
    command = [sys.executable, "-m", "config.launcher", "serve"]
    process = subprocess.Popen(command, cwd=PROJECT, env=environment)
    yield process, f"http://127.0.0.1:{port}/", environment
    process.terminate()
    process.wait(timeout=30)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


def test_serve_answers_runs_a_worker_and_leaves_nothing_behind(served):
    launched, address, environment = served
    assert wait_until(lambda: answers(address), 120)
    # The doctor's word for it: a database that is up to date, a broker, and a worker where bells are taken.
    assert wait_until(lambda: launcher("doctor", **environment).returncode == 0, 60)
    family = psutil.Process(launched.pid).children(recursive=True)
    assert len(family) >= 4  # the guard, the web server and its process, the scheduler
    launched.send_signal(signal.SIGINT)
    assert launched.wait(timeout=30) == 0
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)
    assert not answers(address)


def test_a_refusal_is_heard_however_much_was_sent_with_the_request(served):
    _, address, _ = served
    assert wait_until(lambda: answers(address), 120)
    server = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(server.hostname or "", server.port, timeout=20)
    refused = {"/nowhere/": 404, "/api/v1/projects/": 401, "/sign-in/": 403}
    for n_bytes in (1_000, 100_000, 3_000_000) * 5:
        for path, status in refused.items():
            # One connection for all: each answer leaves it open, although none of the bodies was asked for.
            connection.request("POST", path, body=b"x" * n_bytes, headers={"Content-Type": "text/plain"})
            response = connection.getresponse()
            response.read()
            assert response.status == status
    connection.close()


def test_the_doctor_says_what_to_do_on_a_fresh_machine(tmp_path):
    done = launcher("doctor", GOLDPANEL_DATA=str(tmp_path))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok       Python: 3.") for line in lines)
    assert any(line.startswith("PROBLEM  database: sqlite, reachable,") for line in lines)
    assert any("-> ./goldpanel manage migrate" in line for line in lines)
    assert any(line.startswith("ok       broker: files in the data folder, 0 bells waiting") for line in lines)
    assert any(
        line.startswith(("ok       WordNet: /usr/share/wordnet", "note     WordNet: not installed")) for line in lines
    )


def test_the_doctor_names_services_that_do_not_answer(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done = launcher(
        "doctor",
        GOLDPANEL_DATA=str(tmp_path),
        DATABASE_URL=f"postgres://nobody@127.0.0.1:{port}/none",
        REDIS_URL=f"redis://127.0.0.1:{port}/0",
    )
    assert done.returncode == 1
    assert "PROBLEM  database: no answer from 127.0.0.1" in done.stdout
    assert "-> check DATABASE_URL" in done.stdout
    assert "PROBLEM  broker: Redis" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_last_line_adds_up_what_every_run_reported(tmp_path):
    report = tmp_path / "report.xml"
    # Ten tests: one failed, one broke in its set-up, two were skipped, so six passed.
    report.write_text(
        '<testsuites><testsuite tests="10" failures="1" errors="1" skipped="2">'
        '<testcase classname="tests.test_a" name="test_b"><failure message="assert 1 == 2">trace</failure></testcase>'
        '<testcase classname="tests.test_a" name="test_c"><error message="no server">trace</error></testcase>'
        '<testcase classname="tests.test_a" name="test_d"/></testsuite></testsuites>'
    )
    tally = Tally()
    tally.count_report(report)
    tally.count_check("types", True)
    tally.count_check("migrations", False)
    tally.count_report(tmp_path / "a run that died.xml")
    assert (tally.passed, tally.failed, tally.skipped) == (7, 4, 2)
    assert tally.failures == [
        "report: tests.test_a::test_b\n    assert 1 == 2",
        "report: tests.test_a::test_c\n    no server",
        "migrations",
        "a run that died: pytest left no report",
    ]


def test_a_developers_settings_change_no_test(monkeypatch, tmp_path):
    monkeypatch.setenv("GOLDPANEL_MODE", "production")
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere/else")
    environment = clean_environment(tmp_path)
    assert not {"GOLDPANEL_MODE", "DATABASE_URL"} & environment.keys()
    assert environment["GOLDPANEL_ENV_FILE"] == ""
    assert environment["PATH"] == os.environ["PATH"]


def test_tests_leave_no_folder_behind(tmp_path):
    code = "import django; django.setup(); from django.conf import settings; settings.DATA.joinpath('left').touch()"
    environment = environment_of(DJANGO_SETTINGS_MODULE="tests.settings", TMPDIR=str(tmp_path), GOLDPANEL_DATA="")
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=environment, check=True)
    assert list(tmp_path.iterdir()) == []
    # A folder that was given is the giver's to remove, and no other one is made beside it.
    given = tmp_path / "given"
    environment["GOLDPANEL_DATA"] = str(given)
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=environment, check=True)
    assert list(tmp_path.iterdir()) == [given]


SKIPPING = """
import pytest

def test_skipped():
    pytest.skip("no browser here")

@pytest.mark.shared_data
def test_records(shared_path):
    shared_path("data")

def test_unmarked(shared_path):
    shared_path("data")
"""


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 failed, 1 skipped, 1 error"), ("", "2 skipped, 1 error")])
def test_in_ci_only_absent_records_may_be_skipped(tmp_path, ci, outcome):
    printed = printed_by_tests(tmp_path, SKIPPING, ci)
    # The error is test_unmarked: whoever uses the records says so by the marker.
    assert f"= {outcome}" in printed.splitlines()[-1]
    assert "must be marked shared_data" in printed


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 error"), ("", "1 skipped")])
def test_in_ci_a_module_cannot_skip_all_its_tests_at_once(tmp_path, ci, outcome):
    code = 'import pytest\n\npytest.skip("no browser here", allow_module_level=True)\n'
    assert f"= {outcome}" in printed_by_tests(tmp_path, code, ci).splitlines()[-1]


def printed_by_tests(folder: Path, code: str, ci: str) -> str:
    """What pytest prints about a file of tests under this project's rules, where no real records are."""
    (folder / "test_it.py").write_text(code)
    environment = environment_of(CI=ci, GOLDPANEL_SHARED=str(folder / "absent"), GOLDPANEL_DATA=str(folder / "data"))
    options = ["-p", "tests.conftest", "-c", str(PROJECT / "pyproject.toml"), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, str(folder / "test_it.py")]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout
