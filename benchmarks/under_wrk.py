"""Answers a second through the real pages under wrk, whose people cost the machine next to nothing.

    BENCH_PG_USER=... PYTHONPATH=benchmarks:DRIVER python benchmarks/under_wrk.py --venv VENV --work DIR
        [--annotators 50] [--seconds 8] [--rounds 1] [--items 20000] [--out FILE]

The load driver reads the pages in Python: about a millisecond of processor time an answer, on the cores that it
measures. wrk has a connection and a Lua state for each person (benchmarks/answer_pages.lua), who signed in as in a
browser, with a session and a CSRF cookie of their own; each answer is the form of the page that came before. What is
stored is counted afterwards: every acknowledged answer, and besides them at most the one that each person had on the
way when the time was up; each of the right person to the right item, none above the overlap, none as surplus.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp
import common
import goldpanel
from yarl import URL

SCRIPT = Path(__file__).with_name("answer_pages.lua")
WARMING_UP = 3.0  # seconds: everybody has opened the page, and each process knows its statements
FIGURE = re.compile(r"^= (\w+) ([\d.]+)$", re.MULTILINE)

# Prints how many answers are stored, how many of them twice or as surplus, items above the overlap, and wrong answers:
# everybody gives the answer that follows from the item and their own number.
STORED = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from collections import Counter
from annotate.models import Annotation
number = {{pseudonym: n for n, pseudonym in enumerate({people})}}
choices, n_wrong, n_surplus, slots, pairs = {choices}, 0, 0, Counter(), Counter()
rows = Annotation.objects.values_list("assignment__stage_item__revision__item__external_id",
    "assignment__person__pseudonym", "assignment__slot", "answer")
for key, pseudonym, slot, answer in rows.iterator():
    n_wrong += answer != {{"label": choices[(int(key[5:11]) + number[pseudonym]) % len(choices)]}}
    n_surplus += slot is None
    slots[key] += slot is not None
    pairs[key, pseudonym] += 1
json.dump({{"stored": pairs.total(), "wrong": n_wrong, "surplus": n_surplus, "doubled": pairs.total() - len(pairs),
            "above_overlap": sum(n > {overlap} for n in slots.values())}}, sys.stdout)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--work", required=True, type=Path, help="scratch folder, emptied")
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    system = goldpanel.System(common.Config(system_dir=given.venv, work=str(given.work)))
    system.prepare()
    try:
        system.start()
        asyncio.run(prepare(system, given))
        rounds = [measure(system, given) for _ in range(given.rounds)]
    finally:
        system.stop()
    for figures in rounds:
        print(json.dumps(figures), flush=True)
    if given.out:
        given.out.write_text(json.dumps(rounds))


async def prepare(system: goldpanel.System, given: argparse.Namespace) -> None:
    """Items, and everybody signed in: their cookies into the file that the script reads."""
    await system.setup(given.annotators)
    await system.import_items(common.make_items(given.items))
    lines = []
    for number in range(given.annotators):
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await system.login(session, number)
            cookies = session.cookie_jar.filter_cookies(URL(system.base))
            lines.append(f"{number} " + "; ".join(f"{cookie.key}={cookie.value}" for cookie in cookies.values()))
    people_file(given).write_text("\n".join(lines) + "\n")


def people_file(given: argparse.Namespace) -> Path:
    return given.work / "people.txt"


def measure(system: goldpanel.System, given: argparse.Namespace) -> dict[str, Any]:
    """The figures of one round; SystemExit where something went wrong in it."""
    before = stored(system)["stored"]
    begin = time.time() + WARMING_UP
    figures, cpu = play(system, given, begin, begin + given.seconds)
    time.sleep(0.5)  # what was on its way when the time was up
    after = stored(system)
    figures |= after | {"stored": after["stored"] - before, "cpu_cores": cpu}
    figures["answers_per_s"] = figures["answered"] / given.seconds
    figures["cpu_ms_per_answer"] = 1000 * (cpu["server"] + cpu["postgres"]) / figures["answers_per_s"]
    faults = ["failed", "nothing_left", "socket_errors", "wrong", "surplus", "doubled", "above_overlap"]
    unheard = figures["stored"] - figures["acknowledged"]
    if any(figures[fault] for fault in faults) or not 0 <= unheard <= given.annotators:
        raise SystemExit(f"something went wrong: {figures}")
    return figures


def play(
    system: goldpanel.System, given: argparse.Namespace, begin: float, end: float
) -> tuple[dict[str, Any], dict[str, float]]:
    """Everybody works until the end; what wrk counted from the beginning on, and how busy the cores were meanwhile."""
    n = str(given.annotators)
    run = ["wrk", "-t", n, "-c", n, "-d", f"{math.ceil(end - time.time())}s", "--timeout", "20s", "-s", str(SCRIPT)]
    run += [system.base, "--", str(people_file(given)), system.addresses["work"], str(begin), str(end)]
    with subprocess.Popen([*run, *common.CHOICES], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as wrk:
        groups = {"server": system.pids(), "postgres": common.postgres_pids(system.cfg.pg["port"]), "wrk": [wrk.pid]}
        time.sleep(max(0, begin - time.time()))
        meter = common.CpuMeter(**groups).start()
        time.sleep(max(0, end - time.time()))
        cpu = meter.stop()
        said = wrk.communicate()[0]
    figures: dict[str, Any] = {name: float(figure) for name, figure in FIGURE.findall(said)}
    if not figures.get("answered"):
        raise SystemExit(f"nobody answered:\n{said}")
    return figures | {"first_failure": said.partition("first failure: ")[2].strip()}, cpu


def stored(system: goldpanel.System) -> dict[str, int]:
    people = [pseudonym for _, pseudonym in system.members]
    program = STORED.format(people=people, choices=common.CHOICES, overlap=system.cfg.overlap)
    counts: dict[str, int] = json.loads(system._python("-c", program))
    return counts


if __name__ == "__main__":
    main()
