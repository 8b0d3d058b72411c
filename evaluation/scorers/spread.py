"""Scores many pairs, the slow ones in several child processes.

Children of our own instead of a pool of the standard library's, because Celery's worker processes may not have any.
They get no environment, so no keys. A scorer bounds its own time; a child that ends or falls silent all the same ends
the scoring with a reason instead of a hang.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from evaluation.scorers.registry import Score, Scorer

Pair = tuple[str, Collection[str]]

_PROJECT = Path(__file__).resolve().parents[2]
MAX_CHILDREN = 4
# Pairs between two words to the caller, who may stop the work there.
PROGRESS_EVERY = 500
SILENT_SECONDS = 120.0
_KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG")


class ScoringFailed(RuntimeError):
    """A child process ended, or said nothing for minutes; nothing of what it scored is kept."""


def score_pairs(
    scorer: Scorer,
    pairs: Sequence[Pair],
    *,
    progress: Callable[[int], None] = lambda n_scored: None,
    n_children: int | None = None,
) -> list[Score]:
    """The score of every pair, in order. progress: told how many are scored; an exception from it ends everything.

    n_children: how many processes; by default one a core, at most four, if there are as many pairs as the scorer says.
    0 scores here. Raises ScoringFailed.
    """
    if n_children is None:
        many = scorer.spread_from is not None and len(pairs) >= scorer.spread_from
        n_children = min(MAX_CHILDREN, os.cpu_count() or 1) if many else 0
    if n_children < 2:
        return _score_here(scorer, pairs, progress)
    results: list[Score | None] = [None] * len(pairs)
    arrived: queue.Queue[tuple[int, Score] | str] = queue.Queue()
    children = [_start() for _ in range(n_children)]
    try:
        for number, child in enumerate(children):
            # Every n-th pair: long answers stand side by side in a study, and would else fall to one child.
            places = range(number, len(pairs), n_children)
            threading.Thread(target=_feed, args=(child, scorer.name, pairs, places), daemon=True).start()
            threading.Thread(target=_collect, args=(child, places, arrived), daemon=True).start()
        for n_scored in range(1, len(pairs) + 1):
            try:
                found = arrived.get(timeout=SILENT_SECONDS)
            except queue.Empty:
                raise ScoringFailed(f"Scoring with {scorer.name} said nothing for {SILENT_SECONDS:g} s.") from None
            if isinstance(found, str):
                raise ScoringFailed(f"Scoring with {scorer.name} ended early. {found}")
            place, score = found
            results[place] = score
            if n_scored % PROGRESS_EVERY == 0:
                progress(n_scored)
    finally:
        for child in children:
            child.kill()
            child.wait()
    return [score for score in results if score is not None]


def _score_here(scorer: Scorer, pairs: Sequence[Pair], progress: Callable[[int], None]) -> list[Score]:
    scores = []
    for n_scored, (answer, gold) in enumerate(pairs, start=1):
        scores.append(scorer(answer, gold))
        if n_scored % PROGRESS_EVERY == 0:
            progress(n_scored)
    return scores


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "evaluation.scorers.child"],
        cwd=_PROJECT,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _feed(child: subprocess.Popen[bytes], scorer: str, pairs: Sequence[Pair], places: range) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(json.dumps(scorer).encode() + b"\n")
        for place in places:
            answer, gold = pairs[place]
            child.stdin.write(json.dumps([answer, sorted(gold)]).encode() + b"\n")
        child.stdin.close()
    except (BrokenPipeError, OSError, ValueError):
        # It has ended; the thread that reads it says so.
        return


def _collect(child: subprocess.Popen[bytes], places: range, arrived: "queue.Queue[tuple[int, Score] | str]") -> None:
    assert child.stdout is not None
    assert child.stderr is not None
    for place in places:
        line = child.stdout.readline()
        if not line.endswith(b"\n"):
            said = child.stderr.read().decode("utf-8", "replace").strip().splitlines()
            arrived.put(said[-1] if said else f"Its process ended with status {child.wait()}.")
            return
        value, note = json.loads(line)
        arrived.put((place, Score(value, note)))
