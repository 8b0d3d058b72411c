"""The reference cases of the kinds that the project computes, read from the shared records beside the repository.

A case is data: input, expected values, tolerance. The adapter of its kind, below, turns the input into a call of ours.
Only names that stand in `expected` are compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate.resolution import Status, resolve
from evaluation.parsing import parse_label
from evaluation.scorers import get_scorer
from evaluation.scorers.tokens import squad_tokens, unicode_tokens
from evaluation.stats import (
    COEFFICIENTS,
    Bootstrap,
    Ratings,
    macro_f1,
    mean_person,
    paired_difference,
    vote_of_k,
    wilson,
)
from tests.conftest import SHARED

pytestmark = pytest.mark.shared_data

Case = dict[str, Any]
Values = dict[str, Any]
SEEDS = (1, 20250101)  # bands hold for any seed

FILES = ("agreement", "aggregation", "comparison_tests", "text_scores", "answer_normalisation")
# Kinds that the project does not compute yet have no adapter, and are not selected.
ADAPTERS: dict[str, Callable[[Values, int], Values]] = {}


def adapter(kind: str) -> Callable[[Callable[[Values, int], Values]], Callable[[Values, int], Values]]:
    def register(function: Callable[[Values, int], Values]) -> Callable[[Values, int], Values]:
        ADAPTERS[kind] = function
        return function

    return register


def ratings_of(data: Values) -> Ratings:
    if data["format"] == "counts":
        return Ratings.from_counts(data["counts"])
    if data["format"] == "contingency":
        pairs = [[i, j] for i, row in enumerate(data["table"]) for j, n in enumerate(row) for _ in range(n)]
        return Ratings.from_labels(pairs)
    used = {answer for row in data["ratings"] for answer in row if answer is not None}
    labels = data.get("categories") or sorted(used)
    codes = {label: code for code, label in enumerate(labels)}
    return Ratings.from_labels([[-1 if answer is None else codes[answer] for answer in row] for row in data["ratings"]])


@adapter("coefficients")
def coefficients(data: Values, seed: int) -> Values:
    results = [coefficient(ratings_of(data), None) for coefficient in COEFFICIENTS.values()]
    found: Values = {result.name: result.value for result in results}
    return found | {"n_items_used": results[0].n, "undefined": {r.name: r.undefined for r in results if r.undefined}}


@adapter("bootstrap_ci")
def bootstrap_ci(data: Values, seed: int) -> Values:
    bootstrap = Bootstrap(seed, n_resamples=max(2000, data["min_resamples"]), level=data["level"])
    results = [coefficient(ratings_of(data), bootstrap) for coefficient in COEFFICIENTS.values()]
    bounds = {r.name: {"lower": r.interval.lower, "upper": r.interval.upper} for r in results if r.interval}
    return {result.name: result.value for result in results} | {"ci": bounds}


@adapter("majority_vote")
def majority_vote(data: Values, seed: int) -> Values:
    found = {}
    for item, votes in data["items"].items():
        outcome = resolve(votes)
        # The cases know no "unanimous": it is a majority, too.
        status = Status.MAJORITY if outcome.status == Status.UNANIMOUS else outcome.status
        found[item] = {
            "label": outcome.key,
            "status": str(status),
            "votes": dict(outcome.counts),
            "tied": list(outcome.tied),
        }
    return found


@adapter("wilson")
def wilson_interval(data: Values, seed: int) -> Values:
    interval = wilson(data["k"], data["n"], data["level"])
    estimate = mean_person(np.arange(data["n"])[:, np.newaxis] < data["k"]).answered
    return {
        "estimate": estimate.value,
        "lower": interval and interval.lower,
        "upper": interval and interval.upper,
        "undefined": {"estimate": estimate.undefined} if estimate.undefined else {},
    }


@adapter("human_accuracy")
def human_accuracy(data: Values, seed: int) -> Values:
    people = sorted({person for answers in data["answers"].values() for person in answers})
    codes: dict[str, int] = {}
    labels = np.array(
        [
            [-1 if answers.get(p) is None else codes.setdefault(answers[p], len(codes)) for p in people]
            for answers in data["answers"].values()
        ]
    )
    gold = np.array([codes.setdefault(data["gold"][item], len(codes)) for item in data["answers"]])
    scores = np.where(labels < 0, np.nan, labels == gold[:, np.newaxis])
    mean, vote = mean_person(scores, people=people), vote_of_k(labels, scores)
    return {
        "per_annotator": {person.person: person.answered for person in mean.per_person},
        "mean_of_annotators": mean.answered.value,
        "pooled_replies": mean.pooled.value,
        "majority_accuracy_all": vote.all_items.value,
        "majority_accuracy_resolved": vote.resolved.value,
        "majority_coverage": vote.coverage,
    }


@adapter("cluster_bootstrap")
def cluster_bootstrap(data: Values, seed: int) -> Values:
    correct = np.array(data["correct"], dtype=float)
    estimate = mean_person(correct, bootstrap=Bootstrap(seed, level=data["level"])).answered
    naive = wilson(int(correct.sum()), correct.size, data["level"])
    interval = estimate.interval
    assert interval is not None
    assert naive is not None
    return {
        "estimate": estimate.value,
        "lower": interval.lower,
        "upper": interval.upper,
        "naive_wilson_lower": naive.lower,
        "naive_wilson_upper": naive.upper,
        "width_ratio_to_naive": (interval.upper - interval.lower) / (naive.upper - naive.lower),
    }


@adapter("macro_f1")
def macro_averages(data: Values, seed: int) -> Values:
    codes = {label: code for code, label in enumerate(data["labels"])}
    gold = [codes[label] for label in data["gold"]]
    predicted = [codes.get(label, -1) for label in data["pred"]]
    result = macro_f1(gold, predicted, len(codes))
    return {
        "per_class": dict(zip(data["labels"], result.per_class, strict=True)),
        "macro_f1_all_declared": result.all_declared.value,
        "macro_f1_gold_classes": result.gold_classes.value,
        "accuracy": result.accuracy.value,
        "n_unparsed": result.n_unparsed,
    }


@adapter("paired_bootstrap")
def paired_bootstrap(data: Values, seed: int) -> Values:
    bootstrap = Bootstrap(seed, n_resamples=max(2000, data["min_resamples"]), level=data["level"])
    result = paired_difference(data["a"], data["b"], bootstrap=bootstrap)
    swapped = paired_difference(data["b"], data["a"], bootstrap=bootstrap)
    assert result.interval is not None
    assert swapped.interval is not None
    assert result.value is not None
    assert swapped.value == pytest.approx(-result.value)
    assert swapped.interval.lower == pytest.approx(-result.interval.upper)
    return {
        "difference": result.value,
        "lower": result.interval.lower,
        "upper": result.interval.upper,
        "p_le_0": result.share_not_above_zero,
    }


@adapter("squad")
def squad(data: Values, seed: int) -> Values:
    gold = frozenset(data["golds"])
    return {
        "em": get_scorer("exact_match_squad")(data["pred"], gold).value,
        "f1": get_scorer("token_f1_squad")(data["pred"], gold).value,
        "pred_tokens": squad_tokens(data["pred"]),
    }


@adapter("unicode_f1")
def unicode_f1(data: Values, seed: int) -> Values:
    gold = frozenset(data["golds"])
    return {
        "em": get_scorer("exact_match")(data["pred"], gold).value,
        "f1": get_scorer("token_f1")(data["pred"], gold).value,
        "pred_tokens": unicode_tokens(data["pred"]),
    }


@adapter("parse_label")
def label_of_completion(data: Values, seed: int) -> Values:
    parsed = parse_label(data["text"], [(label, label) for label in data["labels"]], data.get("lang", "en"))
    return {"label": parsed.value, "status": str(parsed.status)}


# Names within a kind that the project does not compute: other coefficients than its own.
NOT_COMPUTED = {
    "coefficients": (
        "cohen_kappa",
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "light_kappa",
        "scott_pi",
        "gwet_",
        "krippendorff_alpha_ordinal",
        "krippendorff_alpha_interval",
        "krippendorff_alpha_ratio",
        "fleiss_kappa_per_category",
    )
}


def compare(found: Any, expected: Any, tolerance: Values, where: str) -> None:
    if isinstance(expected, dict) and set(expected) == {"min", "max"}:
        assert expected["min"] - 1e-12 <= found <= expected["max"] + 1e-12, where
    elif isinstance(expected, dict):
        for name, value in expected.items():
            compare(found.get(name), value, tolerance, f"{where}.{name}")
    elif isinstance(expected, float) and not tolerance.get("exact"):
        assert found == pytest.approx(expected, abs=tolerance.get("abs", 0), rel=tolerance.get("rel", 0)), where
    else:
        assert found == expected, where


def load_cases() -> list[Any]:
    """The cases of the kinds with an adapter; one that skips, and says so, where the shared records are absent."""
    folder: Path = SHARED / "cases"
    if not folder.exists():
        reason = f"the reference cases are not here: no cases in {os.path.relpath(SHARED)}"
        return [pytest.param({}, id="absent", marks=pytest.mark.skip(reason=reason))]
    cases = [case for name in FILES for case in json.loads((folder / f"{name}.json").read_bytes())["cases"]]
    return [pytest.param(case, id=case["id"]) for case in cases if case["kind"] in ADAPTERS and computed_values(case)]


def computed_values(case: Case) -> Values:
    """The expected values that the project computes; none for a case about other coefficients only."""
    others = NOT_COMPUTED.get(case["kind"], ())
    return {name: value for name, value in case["expected"].items() if not name.startswith(others)}


@pytest.mark.parametrize("case", load_cases())
def test_reference_case(case: Case) -> None:
    expected, tolerance = computed_values(case), case["tolerance"]
    for seed in SEEDS if tolerance.get("ci") == "bounds" else SEEDS[:1]:
        found = ADAPTERS[case["kind"]](case["input"], seed)
        compare(found, expected, tolerance, case["id"])
        for name, reason in case.get("undefined", {}).items():
            if name in expected and "undefined" in found:
                assert found["undefined"][name] == reason, f"{case['id']}: why {name} is undefined"


def test_every_kind_with_an_adapter_has_cases(shared_path: Callable[[str], Path]) -> None:
    kinds = {
        case["kind"] for name in FILES for case in json.loads(shared_path(f"cases/{name}.json").read_bytes())["cases"]
    }
    assert set(ADAPTERS) <= kinds
