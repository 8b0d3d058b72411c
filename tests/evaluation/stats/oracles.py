"""What other libraries say of the same numbers. Run in the environment of the oracles: JSON comes in, JSON goes out.

Never imported: the libraries must not enter the process of the platform (config/oracles.py says why).
"""

import json
import sys
import warnings

import krippendorff
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene
from irrCAC.raw import CAC
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

LEVELS = ("nominal", "ordinal", "interval", "ratio")
GWET_WEIGHTS = {"ac1": "identity", "ac2_linear": "linear", "ac2_quadratic": "quadratic", "ac2_ordinal": "ordinal"}


def coefficients(case):
    """case: labels (units x raters, null missing) and the values of the scale."""
    scale = case["values"]
    numbers = np.array([[np.nan if k is None else scale[k] for k in row] for row in case["labels"]], dtype=float)
    found = {
        f"krippendorff_alpha_{level}": float(
            krippendorff.alpha(numbers.T, level_of_measurement=level, value_domain=scale)
        )
        for level in LEVELS
    }
    frame = pd.DataFrame(numbers)
    found["fleiss_kappa"] = CAC(frame, categories=scale, digits=15).fleiss()["est"]["coefficient_value"]
    for name, weights in GWET_WEIGHTS.items():
        result = CAC(frame, categories=scale, weights=weights, digits=15).gwet()
        found[f"gwet_{name}"] = result["est"]["coefficient_value"]
    return {name: float(value) for name, value in found.items()}


def pair(case):
    """case: two lists of labels and how many are declared."""
    labels = list(range(case["n_labels"]))
    first, second = case["first"], case["second"]
    triples = [*((0, unit, k) for unit, k in enumerate(first)), *((1, unit, k) for unit, k in enumerate(second))]
    return {
        "cohen_kappa": cohen_kappa_score(first, second, labels=labels),
        "cohen_kappa_linear": cohen_kappa_score(first, second, labels=labels, weights="linear"),
        "cohen_kappa_quadratic": cohen_kappa_score(first, second, labels=labels, weights="quadratic"),
        "scott_pi": AnnotationTask(triples).pi(),
    }


def crowd(case):
    """case: items, raters, labels, and how many iterations."""
    frame = pd.DataFrame({"task": case["items"], "worker": case["raters"], "label": case["labels"]})
    # Its stopping rule ends too early where a rater answers an item twice; below zero it never applies.
    model = DawidSkene(n_iter=case["n_iterations"], tol=-1).fit(frame)
    probabilities = model.probas_.sort_index(axis=0).sort_index(axis=1)
    return {"posteriors": probabilities.to_numpy().tolist(), "priors": model.priors_.sort_index().tolist()}


KINDS = {"coefficients": coefficients, "pair": pair, "crowd": crowd}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump([KINDS[case["kind"]](case) for case in json.load(sys.stdin)], sys.stdout)
