"""How heavy an idle installation is, and how soon it answers: the processes of `./goldpanel serve`.

    python benchmarks/weight.py [--starts 3] [--idle 5]

PSS counts a page that several processes share once; PostgreSQL and Redis, where DATABASE_URL and REDIS_URL name them,
are not counted. The first start migrates and is not counted either. It needs psutil.
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
                whole.append(sum(pss for _, pss in rows))
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait()
    for name, pss in rows:
        print(f"{pss:7.1f} MiB  {name}")
    print(f"PSS of {len(rows)} processes, MiB: {spread(whole)}")
    print(f"seconds to the first answer: {spread(seconds)}")


def serve(folder: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"GOLDPANEL_MODE": "development", "GOLDPANEL_DEBUG": "false", "GOLDPANEL_ENV_FILE": ""}
    settings |= {"GOLDPANEL_DATA": folder, "GOLDPANEL_PORT": str(port)}
    command = [sys.executable, "-m", "config.launcher", "serve"]
    server = subprocess.Popen(command, cwd=PROJECT, env=os.environ | settings, stdout=subprocess.DEVNULL)
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
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in rollup.splitlines()[1:]}
        what = " ".join(process.cmdline()).removeprefix(sys.executable).strip()
        rows.append((f"{what} ({sizes['Private_Dirty:']:.1f} of its own)", sizes["Pss:"]))
    return rows


def spread(values: list[float]) -> str:
    return f"{min(values):.1f}/{median(values):.1f}/{max(values):.1f}"


if __name__ == "__main__":
    main()
