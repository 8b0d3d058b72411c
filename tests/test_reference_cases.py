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

from annotate.answers import short_answer_key
from annotate.resolution import Status, resolve, resolve_rounds, resolve_weighted
from evaluation.parsing import parse_label, recover_table
from evaluation.scorers import get_scorer
from evaluation.scorers.answers import read_table
from evaluation.scorers.bleu import sentence_bleu
from evaluation.scorers.rouge import latin_stems, latin_words, rouge_l, rouge_n, rouge_words
from evaluation.scorers.tokens import squad_tokens, unicode_tokens
from evaluation.scorers.tuples import matched_tuples
from evaluation.scorers.wordnet import missing_wordnet
from evaluation.stats import (
    COEFFICIENTS,
    PAIR_COEFFICIENTS,
    SCALE_COEFFICIENTS,
    Bootstrap,
    Ratings,
    attainable_percentage,
    benjamini_hochberg,
    correlations,
    dawid_skene,
    holm,
    label_agreements,
    light_kappa,
    macro_f1,
    mcnemar,
    mean_person,
    paired_difference,
    spread_over_grid,
    stratified_accuracy,
    two_proportions,
    vote_of_k,
    wilson,
)
from tests.conftest import SHARED

pytestmark = pytest.mark.shared_data

Case = dict[str, Any]
Values = dict[str, Any]
SEEDS = (1, 20250101)  # bands hold for any seed

FILES = ("agreement", "aggregation", "comparison_tests", "text_scores", "table_scores", "answer_normalisation")
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
        return Ratings.from_labels(pairs, n_labels=len(data["table"]))
    used = {answer for row in data["ratings"] for answer in row if answer is not None}
    labels = data.get("categories") or sorted(used)
    codes = {label: code for code, label in enumerate(labels)}
    rows = [[-1 if answer is None else codes[answer] for answer in row] for row in data["ratings"]]
    numbers = labels if all(isinstance(label, int | float) for label in labels) and labels else None
    return Ratings.from_labels(rows, n_labels=len(labels), values=numbers)


@adapter("coefficients")
def coefficients(data: Values, seed: int) -> Values:
    ratings = ratings_of(data)
    results = [coefficient(ratings, None) for coefficient in COEFFICIENTS.values()]
    found: Values = {"n_items_used": results[0].n}
    # The numeric ones make sense where the labels are numbers, those for two raters where there are two columns.
    if ratings.values is not None:
        results += [coefficient(ratings, None) for coefficient in SCALE_COEFFICIENTS.values()]
    columns = columns_of(data)
    if columns is not None and len(columns) == 2:
        results += [of_two(*columns, n_labels=ratings.n_labels) for of_two in PAIR_COEFFICIENTS.values()]
    if ratings.answers is not None:
        results.append(light_kappa(ratings))
    found["fleiss_kappa_per_category"] = {
        str(agreement.label + 1): agreement.kappa.value for agreement in label_agreements(ratings)
    }
    found |= {result.name: result.value for result in results}
    return found | {"undefined": {r.name: r.undefined for r in results if r.undefined}}


def columns_of(data: Values) -> Any:
    """Labels of each rater, shape (n_raters, n_units); None where only counts are known."""
    answers = ratings_of(data).answers
    if answers is None:
        return None
    n_raters = 2 if data["format"] == "contingency" else len(data["ratings"][0])
    n_units = sum(map(sum, data["table"])) if data["format"] == "contingency" else len(data["ratings"])
    labels = np.full((n_raters, n_units), -1)
    labels[answers.raters, answers.units] = answers.labels
    return labels


@adapter("bootstrap_ci")
def bootstrap_ci(data: Values, seed: int) -> Values:
    bootstrap = Bootstrap(seed, n_resamples=max(2000, data["min_resamples"]), level=data["level"])
    results = [coefficient(ratings_of(data), bootstrap) for coefficient in COEFFICIENTS.values()]
    for result in results:
        assert result.interval is None or result.interval.lower <= result.value <= result.interval.upper
    bounds = {r.name: {"lower": r.interval.lower, "upper": r.interval.upper} for r in results if r.interval}
    return {result.name: result.value for result in results} | {"ci": bounds}


@adapter("attainable_percentage")
def attainable(data: Values, seed: int) -> Values:
    percent, decimals = data["percent"], data["decimals"]
    return {"attainable": {str(n): attainable_percentage(percent, n, decimals=decimals) for n in data["n"]}}


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


@adapter("weighted_majority")
def weighted_majority(data: Values, seed: int) -> Values:
    found = {}
    for item, votes in data["items"].items():
        outcome = resolve_weighted([(vote, data["weights"][rater]) for rater, vote in votes])
        found[item] = {
            "label": outcome.key,
            "status": str(outcome.status),
            "scores": dict(outcome.shares),
            "tied": list(outcome.tied),
        }
    return found


@adapter("escalation")
def escalation(data: Values, seed: int) -> Values:
    found = {}
    for item, rounds in data["items"].items():
        result = resolve_rounds(rounds["first"], rounds.get("second"))
        status = Status.MAJORITY if result.outcome.status == Status.UNANIMOUS else result.outcome.status
        if result.needs_escalation:
            status = "needs_escalation"
        elif status == Status.TIE:
            status = "unresolved_tie"
        found[item] = {
            "label": None if result.needs_escalation else result.outcome.key,
            "status": str(status),
            "round": result.round,
            "votes": dict(result.outcome.counts),
        }
    return found


@adapter("dawid_skene")
def confusion_of_raters(data: Values, seed: int) -> Values:
    codes = {label: code for code, label in enumerate(data["classes"])}
    items = list(dict.fromkeys(item for item, _, _ in data["annotations"]))
    raters = list(dict.fromkeys(rater for _, rater, _ in data["annotations"]))
    result = dawid_skene(
        [items.index(item) for item, _, _ in data["annotations"]],
        [raters.index(rater) for _, rater, _ in data["annotations"]],
        [codes[label] for _, _, label in data["annotations"]],
        n_items=len(items),
        n_raters=len(raters),
        n_classes=len(codes),
        smoothing=data.get("smoothing", 0),
        seed=seed,
    )
    labels = [None if label < 0 else data["classes"][label] for label in result.labels]
    votes = majority_votes_of(data, items, codes)
    return {
        "log_likelihood": result.log_likelihood,
        "priors": dict(zip(map(str, data["classes"]), result.priors.tolist(), strict=True)),
        "posteriors": dict(zip(map(str, items), result.posteriors.tolist(), strict=True)),
        "labels": dict(zip(map(str, items), labels, strict=True)),
        "error_rates": dict(zip(map(str, raters), result.error_rates.tolist(), strict=True)),
        "majority_differs_from_em": {
            str(item): {"majority": vote, "em": label}
            for item, label, vote in zip(items, labels, votes, strict=True)
            if vote != label
        },
    }


def majority_votes_of(data: Values, items: list[Any], codes: Values) -> list[Any]:
    by_item: dict[Any, list[str]] = {item: [] for item in items}
    for item, _, label in data["annotations"]:
        by_item[item].append(str(codes[label]))
    keys = [resolve(votes).key for votes in by_item.values()]
    return [None if key is None else data["classes"][int(key)] for key in keys]


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


@adapter("stratified_audit")
def stratified_audit(data: Values, seed: int) -> Values:
    strata = data["strata"]
    columns = [[stratum[name] for stratum in strata] for name in ("n", "correct", "population")]
    result = stratified_accuracy(*columns)
    sampled, interval = result.sampled, result.population.interval
    assert sampled.interval is not None
    assert interval is not None
    assert interval.lower < result.population.value < interval.upper
    return {
        "unweighted": sampled.value,
        "n": sampled.n,
        "wilson": {
            "estimate": sampled.value,
            "lower": sampled.interval.lower,
            "upper": sampled.interval.upper,
        },
        "population_weighted": result.population.value,
        "se_stratified": result.standard_error,
        "se_stratified_fpc": result.standard_error_finite,
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


@adapter("mcnemar")
def mcnemar_test(data: Values, seed: int) -> Values:
    return vars(mcnemar(data["b"], data["c"])) | {"undefined": {}}


@adapter("two_proportion")
def two_proportion(data: Values, seed: int) -> Values:
    result = two_proportions(data["x1"], data["n1"], data["x2"], data["n2"], data["level"])
    interval = result.interval
    return {
        "difference": result.difference,
        "z": result.z,
        "p": result.p,
        "newcombe_lower": interval and interval.lower,
        "newcombe_upper": interval and interval.upper,
        "undefined": {"z": result.undefined},
    }


@adapter("adjust")
def adjust(data: Values, seed: int) -> Values:
    found: Values = {"holm": holm(data["p"]), "bh": benjamini_hochberg(data["p"])}
    # An adjusted p-value of exactly .05 rejects; sums in floats leave it a digit above.
    counts = {f"n_reject_{name}_05": sum(p is not None and p <= 0.05 + 1e-12 for p in ps) for name, ps in found.items()}
    return found | counts


@adapter("correlation")
def correlation(data: Values, seed: int) -> Values:
    x, y = ([np.nan if value is None else value for value in data[side]] for side in "xy")
    found = list(correlations(x, y))
    return {c.name: c.value for c in found} | {"n": found[0].n, "undefined": {c.name: c.undefined for c in found}}


@adapter("grid_std")
def grid_std(data: Values, seed: int) -> Values:
    rows = [
        (cell["depth"], cell["width"], score) for cell in data["cells"] for score in (cell["scores"] or [float("nan")])
    ]
    result = spread_over_grid(*zip(*rows, strict=True))
    return {
        "means": {f"{depth}x{width}": mean for (depth, width), mean in result.means.items()},
        "std_sample": result.std_sample,
        "std_population": result.std_population,
        "n_cells": result.n_cells,
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


def rouge_measures(tokens: Callable[[str], list[str]], data: Values, ending: str = "") -> Values:
    answer, gold = tokens(data["pred"]), tokens(data["ref"])
    return {
        f"rouge1{ending}": rouge_n(answer, gold, 1),
        f"rouge2{ending}": rouge_n(answer, gold, 2),
        f"rougeL{ending}": rouge_l(answer, gold),
    }


@adapter("rouge")
def rouge(data: Values, seed: int) -> Values:
    return rouge_measures(latin_words, data) | rouge_measures(latin_stems, data, "_stem")


@adapter("rouge_cjk")
def rouge_cjk(data: Values, seed: int) -> Values:
    gold = {data["ref"]}
    by_name = {f"rouge{n.upper()}": get_scorer(f"rouge_{n}")(data["pred"], gold).value for n in "12l"}
    assert by_name == rouge_measures(rouge_words, data)
    return by_name


@adapter("bleu_sentence")
def bleu_sentence(data: Values, seed: int) -> Values:
    assert data["smooth"] == "exp"
    options = {"tokenizer": data["tokenize"], "effective_order": data["effective_order"]}
    return {"bleu": 100 * sentence_bleu(data["pred"], data["refs"], **options)}


@adapter("meteor")
def meteor(data: Values, seed: int) -> Values:
    gold = {data["ref"]}
    found = {"meteor_no_synonyms": get_scorer("meteor_no_synonyms")(data["pred"], gold).value}
    if not missing_wordnet():
        found["meteor_wordnet"] = get_scorer("meteor_nltk")(data["pred"], gold).value
    return found


@adapter("table")
def table(data: Values, seed: int) -> Values:
    gold = data["expected"] | {"exact_columns": data.get("exact_columns", [])}
    names = {"cell_f1": "cell_f1_set", "tuple_similarity": "tuple_similarity_strict"}
    found = {
        names.get(name, name): get_scorer(name)(data["actual"], [gold]).value
        for name in ("cell_f1", "cell_f1_multiset", "tuple_fraction", "tuple_similarity")
    }
    return found | {"matched_tuples": matched_tuples(read_table(data["actual"]), read_table(gold)).n_matched}


@adapter("equal")
def one_answer(data: Values, seed: int) -> Values:
    unit = data.get("expected_unit", "")
    return {"equal": short_answer_key(data["a"], unit) == short_answer_key(data["b"], unit)}


@adapter("parse_label")
def label_of_completion(data: Values, seed: int) -> Values:
    parsed = parse_label(data["text"], [(label, label) for label in data["labels"]], data.get("lang", "en"))
    return {"label": parsed.value, "status": str(parsed.status)}


@adapter("recover_table")
def table_of_completion(data: Values, seed: int) -> Values:
    recovered = recover_table(data["text"])
    error = {"error": "no_table"} if recovered.rows is None else {}
    return {"rows": recovered.rows, "flags": list(recovered.flags)} | error


# Expected names that tell how a case was reasoned, and bind nobody to their form.
EXPLAINING = {"equal": ("canonical_a", "canonical_b")}


def compare(found: Any, expected: Any, tolerance: Values, where: str) -> None:
    if isinstance(expected, dict) and set(expected) == {"min", "max"}:
        assert expected["min"] - 1e-12 <= found <= expected["max"] + 1e-12, where
    elif isinstance(expected, dict):
        for name, value in expected.items():
            own = {"abs": tolerance[name]} if name in tolerance and name != "ci" else tolerance
            assert name in found, f"{where}: nothing computes {name}"
            compare(found[name], value, own, f"{where}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            compare(one, other, tolerance, f"{where}[{place}]")
    elif isinstance(expected, list) and expected and isinstance(expected[0], float):
        assert len(found) == len(expected), where
        for place, value in enumerate(expected):
            compare(found[place], value, tolerance, f"{where}[{place}]")
    elif isinstance(expected, float) and not tolerance.get("exact"):
        assert found == pytest.approx(expected, abs=tolerance.get("abs", 0), rel=tolerance.get("rel", 0)), where
    else:
        assert found == expected, where


def load_cases() -> list[Any]:
    """All cases; one that skips, and says so, where the shared records are absent."""
    folder: Path = SHARED / "cases"
    if not folder.exists():
        reason = f"the reference cases are not here: no cases in {os.path.relpath(SHARED)}"
        return [pytest.param({}, id="absent", marks=pytest.mark.skip(reason=reason))]
    cases = [case for name in FILES for case in json.loads((folder / f"{name}.json").read_bytes())["cases"]]
    return [pytest.param(case, id=case["id"]) for case in cases]


@pytest.mark.parametrize("case", load_cases())
def test_reference_case(case: Case) -> None:
    explains = EXPLAINING.get(case["kind"], ())
    expected = {name: value for name, value in case["expected"].items() if name not in explains}
    tolerance = case["tolerance"]
    for seed in SEEDS if tolerance.get("ci") == "bounds" else SEEDS[:1]:
        found = ADAPTERS[case["kind"]](case["input"], seed)
        compare(found, expected, tolerance, case["id"])
        for name, reason in case.get("undefined", {}).items():
            if name in expected and "undefined" in found:
                assert found["undefined"][name] == reason, f"{case['id']}: why {name} is undefined"


def test_every_kind_has_an_adapter_and_every_adapter_cases(shared_path: Callable[[str], Path]) -> None:
    kinds = {
        case["kind"] for name in FILES for case in json.loads(shared_path(f"cases/{name}.json").read_bytes())["cases"]
    }
    assert set(ADAPTERS) == kinds
