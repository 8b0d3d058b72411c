"""Answers a second through the real pages, beside a bare authenticated Django view, in alternating rounds.

    python benchmarks/beside_bare_view.py --bench DIR --venv VENV [--rounds 3] [--seconds 8] [--annotators 1,10,50]

DIR holds the load driver (`driver.py`, `common.py`) and its `limits/`; VENV has the platform's requirements and those
of the driver (aiohttp, psutil). It needs PostgreSQL and `wrk`; BENCH_PG_USER and BENCH_PG_PASSWORD name a superuser.

The bare view claims an item and stores an answer with three cursor statements behind session and user; nothing is
rendered, checked or recorded. The ratio says what the rest of an answer costs: form, validation, counters, event,
lease, progress, and the page with the next item. Rounds alternate, so that the neighbours' load meets both.

The bare view is played by wrk. The pages are played twice: by the load driver, whose reading of HTML takes about a
millisecond an answer from the cores that are measured, and by wrk, too (benchmarks/under_wrk.py). The second is the
fair comparison, and the first the one with every check of the export.
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
BARE_BY_WRK, OURS_BY_WRK = "wrk, bare view, 50", "wrk, 50 annotators"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, type=Path)
    parser.add_argument("--venv", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--annotators", default="1,10,50", help="levels of the driver; empty: wrk alone")
    given = parser.parse_args()
    per_second: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    p95: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="goldpanel-bench-") as folder:
        for turn in range(given.rounds):
            bare = run_bare(given, Path(folder))
            per_second[BARE_BY_WRK].append(bare["rps"])
            cpu[BARE_BY_WRK].append(1000 * (bare["cpu"]["server"] + bare["cpu"]["postgres"]) / bare["rps"])
            p95[BARE_BY_WRK].append(bare["p99"])
            ours = run_ours_under_wrk(given, Path(folder))
            per_second[OURS_BY_WRK].append(ours["answers_per_s"])
            cpu[OURS_BY_WRK].append(ours["cpu_ms_per_answer"])
            p95[OURS_BY_WRK].append(ours["p95_ms"])
            report = run_ours(given, Path(folder)) if given.annotators else {"annotate": []}
            for level in report["annotate"]:
                name = by_driver(level["annotators"])
                per_second[name].append(level["answers_per_s"])
                cpu[name].append(level["cpu_ms_per_answer"])
                p95[name].append(level["submit_ms"]["p95"])
            counted = {name: ours[name] for name in ("acknowledged", "stored", "doubled", "above_overlap", "surplus")}
            print(f"round {turn + 1}: under wrk {counted}", flush=True)
            if given.annotators:
                print(f"         under the driver: import {report['import_s']} s, {report['integrity']}", flush=True)
    print(f"\n{'':24} {'answers/s':>22} {'CPU ms an answer':>20} {'p95 ms':>20}")
    for name in per_second:
        print(f"{name:24} {spread(per_second[name]):>22} {spread(cpu[name]):>20} {spread(p95[name]):>20}")
    print("(The bare view's last column is its p99.)\n")
    for words, name in (("both under wrk", OURS_BY_WRK), ("ours under the driver", by_driver(50))):
        if name in per_second:
            ratio = median(per_second[name]) / median(per_second[BARE_BY_WRK])
            of_cpu = median(cpu[BARE_BY_WRK]) / median(cpu[name])
            print(f"answers/s at 50 beside the bare view, {words}: {ratio:.2f} (by processor time {of_cpu:.2f})")


def by_driver(annotators: int) -> str:
    return f"driver, {annotators} annotators"


def run_bare(given: argparse.Namespace, folder: Path) -> dict:
    out = folder / "bare.json"
    out.unlink(missing_ok=True)
    run = [sys.executable, "run_limits.py", "--venv", str(given.venv), "--out", str(out), "--only", f"^{BARE}$"]
    subprocess.run([*run, "--seconds", str(given.seconds), "--repeat", "1"], cwd=given.bench / "limits", check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads(out.read_text())[BARE][-1]


def run_ours_under_wrk(given: argparse.Namespace, folder: Path) -> dict:
    out = folder / "under_wrk.json"
    run = [sys.executable, str(PROJECT / "benchmarks" / "under_wrk.py"), "--venv", str(given.venv), "--out", str(out)]
    subprocess.run([*run, "--work", str(folder / "work"), "--seconds", str(given.seconds)], env=environment(given),
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads(out.read_text())[-1]


def run_ours(given: argparse.Namespace, folder: Path) -> dict:
    out = folder / "ours.json"
    run = [sys.executable, str(given.bench / "driver.py"), "goldpanel", "--dir", str(given.venv), "--work"]
    run += [str(folder / "work"), "--rounds", "1", "--seconds", str(given.seconds), "--starts", "1", "--exports", "1"]
    subprocess.run([*run, "--annotators", given.annotators, "--out", str(out)], env=environment(given),
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    report = json.loads(out.read_text())
    if "failed" in report:
        raise SystemExit(report["failed"])
    return report


def environment(given: argparse.Namespace) -> dict[str, str]:
    path = [str(PROJECT), str(PROJECT / "benchmarks"), str(given.bench)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}


def spread(values: list[float]) -> str:
    return f"{min(values):.1f}/{median(values):.1f}/{max(values):.1f}"


if __name__ == "__main__":
    main()
