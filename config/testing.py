"""What `./goldpanel test` does: every check, then every test on SQLite and files, then on PostgreSQL and Redis.

Each check counts as a test, and the last line adds everything up. With CI=true (as root, on Debian) what is missing
is installed; elsewhere the same command passes without it, and says at the end what it could not test.
"""

from __future__ import annotations

import getpass
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from config import local_model, oracles
from config.doctor import find_browser, find_wordnet
from config.env import PROJECT, SETTINGS

CHECKS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "migrations": [str(PROJECT / "manage.py"), "makemigrations", "--check", "--dry-run"],
}
BROWSER_PACKAGES = ("chromium-headless-shell", "chromium")  # the first that this Debian has
DEBIAN_PACKAGES = ("fonts-noto-core", "fonts-noto-cjk", "gettext", "postgresql", "redis-server", "wordnet-base")


class ServerDidNotStart(Exception):
    """A private server for the tests ended, or listened to nobody."""


@dataclass
class Tally:
    """What was run and how it ended; `untested` says in words what could not be run here."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    untested: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def count_check(self, name: str, succeeded: bool) -> None:
        print(f"{'ok' if succeeded else 'FAILED'}: {name}", flush=True)
        if not succeeded:
            self.failures.append(name)
        self.passed += succeeded
        self.failed += not succeeded

    def count_report(self, path: Path) -> None:
        """Add the numbers and failures of a JUnit file; a run that left none did not get as far as its first test."""
        if not path.exists():
            self.failed += 1
            self.failures.append(f"{path.stem}: pytest left no report")
            return
        for suite in ElementTree.parse(path).iter("testsuite"):
            failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            self.failed += failed
            self.skipped += skipped
            self.passed += max(0, int(suite.get("tests", 0)) - failed - skipped)
            for case in suite.iter("testcase"):
                if (problem := case.find("failure")) is not None or (problem := case.find("error")) is not None:
                    says = (problem.get("message") or "").strip()[:500]
                    self.failures.append(f"{path.stem}: {case.get('classname')}::{case.get('name')}\n    {says}")


def run_everything(pytest_arguments: list[str]) -> int:
    """All checks and all tests, or with arguments only what they select; 1 if anything failed."""
    in_ci = os.environ.get("CI", "").lower() in {"1", "true"}
    tally = Tally()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="goldpanel-test-")))
        environment = clean_environment(scratch)
        with ThreadPoolExecutor() as beside:
            # One waits for a network, the other keeps one core busy.
            installing = beside.submit(install_what_tests_need, in_ci, in_ci or not pytest_arguments)
            if not pytest_arguments:
                for name, command in CHECKS.items():
                    tally.count_check(name, _run(command, environment) == 0)
            installing.result()
        run_pytest("SQLite and files", pytest_arguments, environment, scratch, tally)
        services = start_services(stack, scratch)
        if isinstance(services, str):
            tally.untested.append(services)
        else:
            arguments = [*pytest_arguments, "--services-only"]
            run_pytest("PostgreSQL and Redis", arguments, {**environment, **services}, scratch, tally)
    browser = find_browser()
    if browser.advice:
        tally.untested.append(f"the pages in a browser ({browser.advice})")
    if not local_model.is_installed():
        tally.untested.append(f"a run with a real model (./goldpanel model install, {local_model.SIZES})")
    wordnet = find_wordnet()
    if wordnet.advice:
        tally.untested.append(f"METEOR with synonyms ({wordnet.advice})")
    if shutil.which("xgettext") is None:
        tally.untested.append("whether every word of a page is translated (apt install gettext)")
    if not oracles.is_installed():
        tally.untested.append(f"statistics against other libraries ({oracles.ADVICE})")
    if tally.untested:
        print("\nNot tested here:", *(f"  {what}" for what in tally.untested), sep="\n")
    if in_ci and tally.untested:
        print("With CI=true nothing may be left out.")
        tally.failed += len(tally.untested)
    if tally.failures:
        print("\nFailed:", *(f"  {what}" for what in tally.failures), sep="\n")
    print(f"\n{tally.passed} passed, {tally.failed} failed" + (f", {tally.skipped} skipped" if tally.skipped else ""))
    return int(tally.failed > 0)


def install_what_tests_need(in_ci: bool, with_oracles: bool) -> None:
    """Whatever fails here shows below as not tested."""
    if in_ci:
        install_missing_packages()
        if not local_model.is_installed():
            print(f"Installing {local_model.NAME} ...", flush=True)
            local_model.install()
    if with_oracles and not oracles.is_installed():
        print("Installing the libraries that statistics are held against (half a minute, once) ...", flush=True)
        oracles.install()


def clean_environment(scratch: Path) -> dict[str, str]:
    """The environment without any setting of the platform: a developer's .env and variables change no test."""
    declared = {setting.name for setting in SETTINGS}
    kept = {name: value for name, value in os.environ.items() if name not in declared}
    return kept | {"GOLDPANEL_ENV_FILE": "", "GOLDPANEL_DATA": str(scratch / "data")}


def run_pytest(pair: str, arguments: list[str], environment: Mapping[str, str], scratch: Path, tally: Tally) -> None:
    print(f"\n=== Tests on {pair}", flush=True)
    report = scratch / f"{pair.replace(' ', '-')}.xml"
    data = scratch / f"data-{pair.replace(' ', '-')}"
    code = _run(
        [
            "pytest",
            f"--junitxml={report}",
            "-p",
            "no:cacheprovider",
            "--capture=no",
            *side_by_side(arguments),
            *arguments,
        ],
        {**environment, "GOLDPANEL_DATA": str(data)},
    )
    before = tally.failed
    tally.count_report(report)
    # 5: nothing was selected, which happens when arguments select tests of the other pair only.
    if code not in {0, 5} and tally.failed == before:
        tally.failed += 1
        tally.failures.append(f"{pair}: pytest ended with exit code {code}")


def side_by_side(arguments: list[str]) -> list[str]:
    """One process of pytest a core and one more, with what is slow spread while it runs; arguments may ask for another.

    Tests of real processes wait for them most of the time, which leaves a core idle.
    """
    asked = any(argument.startswith(("-n", "--numprocesses", "--pdb")) for argument in arguments)
    return [] if asked else ["-n", str(min(4, (os.cpu_count() or 1) + 1)), "--dist", "worksteal"]


def _run(command: list[str], environment: Mapping[str, str]) -> int:
    module = command if command[0].endswith(".py") else ["-m", *command]
    return subprocess.run([sys.executable, *module], cwd=PROJECT, env=environment, check=False).returncode


def install_missing_packages() -> None:
    """Debian's packages for the browser and service tests, as far as they are missing; needs root."""
    missing = [package for package in DEBIAN_PACKAGES if not _is_there(package)]
    browsers = [] if _is_there(BROWSER_PACKAGES[0]) else list(BROWSER_PACKAGES)
    if not (missing or browsers) or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print(f"Installing {', '.join([*browsers[:1], *missing])} ...", flush=True)
    # What fails here shows below as "not tested", which is a failure with CI=true.
    _apt_get("update")
    if missing:
        _apt_get("install", *missing)
    for package in browsers:
        if _is_there(package) or _apt_get("install", package):
            break


def _apt_get(command: str, *packages: str) -> bool:
    """Whether that worked."""
    options = ["-qq", "-y", "--no-install-recommends"] if packages else ["-qq"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", command, *options, *packages], env=environment, stdout=subprocess.DEVNULL, check=False
    )
    return done.returncode == 0


def _is_there(package: str) -> bool:
    if package == BROWSER_PACKAGES[0]:
        return shutil.which(package) is not None
    if package in BROWSER_PACKAGES:
        return not find_browser().advice
    if package == "postgresql":
        return postgresql_folder() is not None
    if package == "redis-server":
        return shutil.which("redis-server") is not None
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout == "installed"


def start_services(stack: ExitStack, scratch: Path) -> dict[str, str] | str:
    """Addresses of a private PostgreSQL and Redis that end with the stack, or what is missing, in words."""
    missing = []
    if postgresql_folder() is None:
        missing.append("postgresql")
    if shutil.which("redis-server") is None:
        missing.append("redis-server")
    if missing:
        return f"PostgreSQL and Redis (apt install {' '.join(missing)}; they need not be running)"
    try:
        return {
            "DATABASE_URL": stack.enter_context(private_postgresql(scratch)),
            "REDIS_URL": stack.enter_context(private_redis(scratch)),
        }
    except (subprocess.CalledProcessError, ServerDidNotStart) as problem:
        return f"PostgreSQL and Redis ({problem})"


@contextmanager
def private_postgresql(scratch: Path) -> Iterator[str]:
    """The address of a PostgreSQL server of our own, in the scratch folder, on a free port of the loopback."""
    programs = postgresql_folder()
    assert programs is not None
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="goldpanel-postgresql-") as folder:
        as_owner: list[str] = []
        owner = getpass.getuser()
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            owner = "postgres"
            shutil.chown(folder, owner)
            as_owner = ["runuser", "-u", owner, "--"]
        data = f"{folder}/data"
        initdb = [f"{programs}/initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync"]
        initdb += ["--encoding", "UTF8", "--locale", "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"]
        subprocess.run([*as_owner, *initdb], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        # A test database is thrown away: nothing in it needs to survive a power cut.
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": folder,
            "fsync": "off",
            "max_connections": "200",
        }
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [*as_owner, f"{programs}/postgres", "-D", data, "-p", str(port), *settings]
        with (scratch / "postgresql.log").open("wb") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
            try:
                _wait_for_port(port, server)
                yield f"postgres://postgres@127.0.0.1:{port}/postgres"
            finally:
                _end(server)


@contextmanager
def private_redis(scratch: Path) -> Iterator[str]:
    """The address of a Redis server of our own that keeps nothing on disk."""
    port = _free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with (scratch / "redis.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=scratch, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_for_port(port, server)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            _end(server)


def postgresql_folder() -> str | None:
    """Where initdb and postgres are: Debian keeps them off the PATH, newest version last."""
    if on_path := shutil.which("initdb"):
        return str(Path(on_path).resolve().parent)
    folders = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    return str(Path(max(folders, key=lambda path: int(path.split("/")[4]))).parent) if folders else None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _wait_for_port(port: int, server: subprocess.Popen[bytes], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise ServerDidNotStart(f"{server.args!r} did not start listening on port {port}")


def _end(server: subprocess.Popen[bytes]) -> None:
    """Stop a server and what stands between it and us (runuser passes the signal on)."""
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, 9)
        server.wait()
