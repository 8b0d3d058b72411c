"""Our statistics against krippendorff, irrCAC, scikit-learn, NLTK and crowd-kit on generated data, to nine digits."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from config import oracles
from evaluation.stats import COEFFICIENTS, PAIR_COEFFICIENTS, SCALE_COEFFICIENTS, Ratings, dawid_skene

SCRIPT = Path(__file__).with_name("oracles.py")
SHAPES = [(5, 2, 2), (12, 3, 3), (40, 5, 4), (60, 4, 5), (150, 8, 6)]
SHARES_MISSING = (0.0, 0.2, 0.5)
ITERATIONS = 60


def labels_of(rng, n_units, n_raters, n_labels, share_missing):
    """Answers around a truth, some missing; the first two units are complete and different, so nothing is undefined."""
    labels = np.clip(
        rng.integers(0, n_labels, (n_units, 1)) + rng.integers(-1, 2, (n_units, n_raters)), 0, n_labels - 1
    )
    labels[rng.random(labels.shape) < share_missing] = -1
    labels[0], labels[1] = 0, n_labels - 1
    return labels


def held_against():
    """Every case with what the libraries say of it, from one start of their interpreter."""
    if not oracles.is_installed():
        pytest.skip(f"the libraries to compare with are not here: {oracles.ADVICE}")
    rng = np.random.default_rng(2024)
    cases = []
    for shape in SHAPES:
        for share in SHARES_MISSING:
            labels = labels_of(rng, *shape, share)
            values = np.cumsum(rng.integers(1, 4, shape[2])).tolist()
            rows = [[None if k < 0 else int(k) for k in row] for row in labels]
            cases.append({"kind": "coefficients", "labels": rows, "values": values})
        complete = labels_of(rng, *shape, 0.0)
        first, second = complete[:, 0].tolist(), complete[:, 1].tolist()
        cases.append({"kind": "pair", "first": first, "second": second, "n_labels": shape[2] + 1})
    for n_items, n_raters, n_labels in SHAPES[2:]:
        labels = labels_of(rng, n_items, n_raters, n_labels, 0.3)
        items, raters = np.nonzero(labels >= 0)
        # One rater answers some items twice, as in the data of 1979.
        twice = raters == 0
        columns = [np.concatenate([c, c[twice]]).tolist() for c in (items, raters, labels[items, raters])]
        cases.append(
            dict(zip(("items", "raters", "labels"), columns, strict=True), kind="crowd", n_iterations=ITERATIONS)
        )
    done = subprocess.run(
        [oracles.python(), "-I", SCRIPT], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(zip(cases, json.loads(done.stdout), strict=True))


def agreement_of_many_raters(case):
    labels = [[-1 if k is None else k for k in row] for row in case["labels"]]
    ratings = Ratings.from_labels(labels, values=case["values"])
    return {name: of(ratings, None).value for name, of in (COEFFICIENTS | SCALE_COEFFICIENTS).items()}


def agreement_of_two_raters(case):
    first, second, n_labels = case["first"], case["second"], case["n_labels"]
    return {name: of(first, second, n_labels=n_labels).value for name, of in PAIR_COEFFICIENTS.items()}


def most_likely_classes(case):
    columns = [np.array(case[name]) for name in ("items", "raters", "labels")]
    sizes = {
        name: int(column.max()) + 1 for name, column in zip(("n_items", "n_raters", "n_classes"), columns, strict=True)
    }
    found = dawid_skene(*columns, **sizes, n_starts=1, tolerance=0, max_iterations=ITERATIONS)
    return {"posteriors": found.posteriors, "priors": found.priors}


OURS = {"coefficients": agreement_of_many_raters, "pair": agreement_of_two_raters, "crowd": most_likely_classes}


def test_ours_equal_theirs():
    n_compared = dict.fromkeys(OURS, 0)
    for case, theirs in held_against():
        ours = OURS[case["kind"]](case)
        for name, value in theirs.items():
            assert ours[name] == pytest.approx(np.array(value), abs=1e-9), (name, case)
            n_compared[case["kind"]] += 1
    # 15 matrices and 9 coefficients, 5 pairs and 4, 3 crowds and 2.
    assert n_compared == {"coefficients": 135, "pair": 20, "crowd": 6}
