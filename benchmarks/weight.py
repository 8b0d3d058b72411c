"""How heavy an idle installation is, and how soon it answers: the processes of `./goldpanel serve`.

    python benchmarks/weight.py [--starts 3] [--idle 5] [--used]

With --used, in the last start, the sample people and baselines of the demo then do their whole job, pages, votes, runs
and reports, and it is weighed when they are done and when nothing was to do for a while. PSS counts a page that several
processes share once; PostgreSQL and Redis, where DATABASE_URL and REDIS_URL name them, are not counted. The first start
migrates and is not counted either. It needs psutil.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import median

import psutil

PROJECT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--idle", type=float, default=5, help="seconds after the first answer before it is weighed")
    parser.add_argument("--used", action="store_true", help="weigh it after a job as well")
    given = parser.parse_args()
    seconds, whole = [], []
    with tempfile.TemporaryDirectory(prefix="goldpanel-weight-") as folder:
        for start in range(given.starts + 1):
            begun = time.monotonic()
            server, address = serve(folder)
            try:
                wait_for(address)
                took = time.monotonic() - begun
                if start == 0:
                    continue
                seconds.append(took)
                time.sleep(given.idle)
                rows = weigh(server.pid)
                whole.append(total(rows))
                if given.used and start == given.starts:
                    rows = use(server.pid, address, folder)
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait()
    for name, pss in rows:
        print(f"{pss:7.1f} MiB  {name}")
    print(f"PSS of {len(rows)} processes, MiB: {spread(whole)}")
    print(f"seconds to the first answer: {spread(seconds)}")


def use(pid: int, address: str, folder: str) -> list[tuple[str, float]]:
    """Play the demo on the server, and tell what that leaves behind."""
    before = total(weigh(pid))
    play = [sys.executable, "manage.py", "demo_headless", "--base-url", address.removesuffix("/sign-in/")]
    command = [*play, "--out", f"{folder}/reports"]
    subprocess.run(command, cwd=PROJECT, env=os.environ | settings_in(folder), stdout=subprocess.DEVNULL, check=True)
    print(f"MiB before, right after a job: {before:.1f}, {total(weigh(pid)):.1f}")
    for seconds in (15, 45):
        time.sleep(seconds)
        rows = weigh(pid)
        print(f"{seconds} s later: {total(rows):.1f} in {len(rows)} processes")
    return rows


def settings_in(folder: str) -> dict[str, str]:
    settings = {"GOLDPANEL_MODE": "development", "GOLDPANEL_DEBUG": "false", "GOLDPANEL_ENV_FILE": ""}
    return settings | {"GOLDPANEL_DATA": folder}


def serve(folder: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | settings_in(folder) | {"GOLDPANEL_PORT": str(port)}
    command = [sys.executable, "-m", "config.launcher", "serve"]
    server = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL)
    return server, f"http://127.0.0.1:{port}/sign-in/"


def wait_for(address: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except urllib.error.URLError:
            time.sleep(0.02)


def weigh(pid: int) -> list[tuple[str, float]]:
    """(what it is, PSS in MiB) of a process and all its children."""
    root = psutil.Process(pid)
    rows = []
    for process in [root, *root.children(recursive=True)]:
        try:
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        except OSError:
            continue  # it has ended meanwhile
        sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in rollup.splitlines()[1:]}
        what = " ".join(process.cmdline()).removeprefix(sys.executable).strip()
        rows.append((f"{what} ({sizes['Private_Dirty:']:.1f} of its own)", sizes["Pss:"]))
    return rows


def total(rows: list[tuple[str, float]]) -> float:
    return sum(pss for _, pss in rows)


def spread(values: list[float]) -> str:
    return f"{min(values):.1f}/{median(values):.1f}/{max(values):.1f}"


if __name__ == "__main__":
    main()
