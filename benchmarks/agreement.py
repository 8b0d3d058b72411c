"""How much faster our statistics are than the libraries they are held against, in the same run.

    python benchmarks/agreement.py [--rounds 3]

Needs the environment of the oracles (config/oracles.py; `./goldpanel test` makes it). Each library is timed inside its
own interpreter, on the very arrays that ours gets, in rounds that alternate; a ratio is that of the medians.

alpha: 100,000 units x 5 raters x 3 labels, nominal, 1,000 resamples of units; theirs is krippendorff.alpha on value
counts in a loop, its fastest form, 20 resamples scaled up. Dawid-Skene: 100,000 answers of 200 people to 20,000 items,
3 classes, as many iterations for both, and the labels must be the same. A million answers: 500 people, 200,000 items, 4
labels: every nominal coefficient with 1,000 resamples, in a process of its own whose peak memory is printed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from config import oracles  # noqa: E402
from evaluation.stats import (  # noqa: E402
    Bootstrap,
    Ratings,
    all_coefficients,
    dawid_skene,
    krippendorff_alpha_nominal,
    light_kappa,
)

N_RESAMPLES = 1_000
THEIR_RESAMPLES = 20
ITERATIONS = 4

THEIR_ALPHA = """
import json, sys, time
import krippendorff, numpy as np
counts, n = np.load(sys.argv[1])["counts"], int(sys.argv[2])
rng = np.random.default_rng(1)
start = time.perf_counter()
for _ in range(n):
    krippendorff.alpha(value_counts=counts[rng.integers(0, len(counts), len(counts))], level_of_measurement="nominal")
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
THEIR_DAWID_SKENE = """
import json, sys, time
import numpy as np, pandas as pd
from crowdkit.aggregation import DawidSkene
data = np.load(sys.argv[1])
frame = pd.DataFrame({"task": data["items"], "worker": data["raters"], "label": data["labels"]})
start = time.perf_counter()
model = DawidSkene(n_iter=int(sys.argv[2]), tol=-1).fit(frame)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "labels": model.labels_.sort_index().tolist()}))
"""


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def theirs(script: str, data: Path, argument: int) -> dict[str, object]:
    command = [str(oracles.python()), "-I", "-W", "ignore", "-c", script, str(data), str(argument)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def answers_around_truth(
    seed: int, n_items: int, n_people: int, per_item: int, n_labels: int
) -> tuple[np.ndarray, ...]:
    """Items, people and labels: each item answered by per_item different people who are right in 7 of 10 cases."""
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(n_items), per_item)
    # A random first person and a stride of its own for each item: all different, and drawn quickly.
    first, stride = rng.integers(0, n_people, n_items), rng.integers(1, n_people // per_item, n_items)
    people = (first[:, np.newaxis] + stride[:, np.newaxis] * np.arange(per_item)) % n_people
    truth = np.repeat(rng.integers(0, n_labels, n_items), per_item)
    labels = np.where(rng.random(items.size) < 0.7, truth, rng.integers(0, n_labels, items.size))
    return items, people.ravel(), labels


def measure_alpha(folder: Path, rounds: int) -> None:
    items, _, labels = answers_around_truth(1, 100_000, 200, 5, 3)
    matrix = labels.reshape(-1, 5)
    counts = np.bincount(items * 3 + labels, minlength=300_000).reshape(-1, 3)
    np.savez(folder / "alpha.npz", counts=counts)
    ours, other = [], []
    bootstrap = Bootstrap(seed=1, n_resamples=N_RESAMPLES)
    for _ in range(rounds):
        ours.append(timed(lambda: krippendorff_alpha_nominal(Ratings.from_labels(matrix), bootstrap))[0])
        found = theirs(THEIR_ALPHA, folder / "alpha.npz", THEIR_RESAMPLES)["seconds"]
        other.append(float(str(found)) * N_RESAMPLES / THEIR_RESAMPLES)
    report("alpha, 1,000 resamples, 100,000 x 5", ours, other)


def measure_dawid_skene(folder: Path, rounds: int) -> None:
    items, people, labels = answers_around_truth(2, 20_000, 200, 5, 3)
    np.savez(folder / "crowd.npz", items=items, raters=people, labels=labels)
    sizes = {"n_items": 20_000, "n_raters": 200, "n_classes": 3}
    ours, other = [], []
    for _ in range(rounds):
        seconds, result = timed(
            lambda: (
                dawid_skene(
                    items, people, labels, **sizes, n_starts=1, tolerance=0, max_iterations=ITERATIONS
                ).posteriors
            )
        )
        ours.append(seconds)
        found = theirs(THEIR_DAWID_SKENE, folder / "crowd.npz", ITERATIONS)
        other.append(float(str(found["seconds"])))
        assert np.asarray(result).argmax(axis=1).tolist() == found["labels"], "the labels differ"
    report(f"Dawid-Skene, {ITERATIONS} iterations, 100,000 answers, same labels", ours, other)


def million() -> None:
    """Run in a process of its own: prints seconds and the peak of its memory."""
    items, people, labels = answers_around_truth(3, 200_000, 500, 5, 4)
    bootstrap = Bootstrap(seed=1, n_resamples=N_RESAMPLES)

    def everything() -> list[object]:
        ratings = Ratings.from_answers(items, people, labels, n_units=200_000, n_labels=4)
        return [*all_coefficients(ratings, bootstrap), light_kappa(ratings)]

    seconds, found = timed(everything)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"a million answers, {len(list(found))} coefficients: {seconds:.2f} s, at most {peak:,.0f} MiB")  # type: ignore[call-overload]


def report(what: str, ours: list[float], other: list[float]) -> None:
    mine, their = float(np.median(ours)), float(np.median(other))
    spread = f"{min(ours):.3f} to {max(ours):.3f}"
    print(f"{what}: ours {mine:.3f} s ({spread}), theirs {their:.2f} s, {their / mine:.0f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--million", action="store_true", help="only the million answers, in this process")
    options = parser.parse_args()
    if options.million:
        million()
        return
    if not oracles.is_installed():
        sys.exit(f"The libraries to compare with are not here: {oracles.ADVICE}")
    with tempfile.TemporaryDirectory() as folder:
        measure_alpha(Path(folder), options.rounds)
        measure_dawid_skene(Path(folder), options.rounds)
    subprocess.run([sys.executable, __file__, "--million"], check=True)


if __name__ == "__main__":
    main()
