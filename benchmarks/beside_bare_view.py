"""Answers a second through the real pages, beside a bare authenticated Django view, in alternating rounds.

    python benchmarks/beside_bare_view.py --bench DIR --venv VENV [--rounds 3] [--seconds 8]

DIR holds the load driver (`driver.py`, `common.py`) and its `limits/`; VENV has the platform's requirements and those
of the driver (aiohttp, psutil). It needs PostgreSQL and `wrk`; BENCH_PG_USER and BENCH_PG_PASSWORD name a superuser.

The bare view claims an item and stores an answer with three cursor statements behind session and user; nothing is
rendered, checked or recorded. The ratio says what the rest of an answer costs: form, validation, counters, event,
lease, progress, and the page with the next item. Rounds alternate, so that the neighbours' load meets both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).resolve().parent.parent
BARE = "http auth granian-wsgi2x4 c50"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, type=Path)
    parser.add_argument("--venv", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--annotators", default="1,10,50")
    given = parser.parse_args()
    per_second: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    p95: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="goldpanel-bench-") as folder:
        for turn in range(given.rounds):
            bare = run_bare(given, Path(folder))
            per_second["bare view, 50"].append(bare["rps"])
            cpu["bare view, 50"].append(1000 * (bare["cpu"]["server"] + bare["cpu"]["postgres"]) / bare["rps"])
            p95["bare view, 50"].append(bare["p99"])
            report = run_ours(given, Path(folder))
            for level in report["annotate"]:
                name = f"goldpanel, {level['annotators']}"
                per_second[name].append(level["answers_per_s"])
                cpu[name].append(level["cpu_ms_per_answer"])
                p95[name].append(level["submit_ms"]["p95"])
            print(f"round {turn + 1}: import {report['import_s']} s, integrity {report['integrity']}", flush=True)
    print(f"\n{'':16} {'answers/s':>22} {'CPU ms an answer':>20} {'p95 ms':>20}")
    for name in per_second:
        print(f"{name:16} {spread(per_second[name]):>22} {spread(cpu[name]):>20} {spread(p95[name]):>20}")
    ratio = median(per_second["goldpanel, 50"]) / median(per_second["bare view, 50"])
    print(f"\nanswers/s at 50 beside the bare view: {ratio:.2f} (the bare view's last column is its p99)")


def run_bare(given: argparse.Namespace, folder: Path) -> dict:
    out = folder / "bare.json"
    out.unlink(missing_ok=True)
    run = [sys.executable, "run_limits.py", "--venv", str(given.venv), "--out", str(out), "--only", f"^{BARE}$"]
    subprocess.run([*run, "--seconds", str(given.seconds), "--repeat", "1"], cwd=given.bench / "limits", check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads(out.read_text())[BARE][-1]


def run_ours(given: argparse.Namespace, folder: Path) -> dict:
    out = folder / "ours.json"
    path = os.pathsep.join([str(PROJECT), str(PROJECT / "benchmarks"), str(given.bench)])
    run = [sys.executable, str(given.bench / "driver.py"), "goldpanel", "--dir", str(given.venv), "--work"]
    run += [str(folder / "work"), "--rounds", "1", "--seconds", str(given.seconds), "--starts", "1", "--exports", "1"]
    subprocess.run([*run, "--annotators", given.annotators, "--out", str(out)], env=os.environ | {"PYTHONPATH": path},
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    report = json.loads(out.read_text())
    if "failed" in report:
        raise SystemExit(report["failed"])
    return report


def spread(values: list[float]) -> str:
    return f"{min(values):.1f}/{median(values):.1f}/{max(values):.1f}"


if __name__ == "__main__":
    main()
