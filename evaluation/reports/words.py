"""The words of a report: what each measure, outcome and reason is called, on pages and in files for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MEASURES = {
    "label_accuracy": "Accuracy",
    "exact_match": "Exact match",
    "exact_match_squad": "Exact match (SQuAD)",
    "token_f1": "Token F1",
    "token_f1_squad": "Token F1 (SQuAD)",
    "macro_f1_all_declared": "Macro-F1",
    "macro_f1_gold_classes": "Macro-F1, labels in gold",
    "equals_vote_of_others": "Equals the vote of the others",
    "equals_vote_of_others_difference": "Difference to one person",
    "majority_agreement": "Majority agreement",
    "percent_agreement": "Percent agreement, mean of items",
    "percent_agreement_pooled": "Percent agreement, pooled pairs",
    "specific_agreement": "Agreement given the label",
    "krippendorff_alpha_nominal": "Krippendorff’s alpha, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff’s alpha, ordinal",
    "krippendorff_alpha_interval": "Krippendorff’s alpha, interval",
    "krippendorff_alpha_ratio": "Krippendorff’s alpha, ratio",
    "fleiss_kappa": "Fleiss’ kappa",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2_linear": "Gwet’s AC2, linear weights",
    "gwet_ac2_quadratic": "Gwet’s AC2, quadratic weights",
    "gwet_ac2_ordinal": "Gwet’s AC2, ordinal weights",
    "scott_pi": "Scott’s pi",
    "cohen_kappa": "Cohen’s kappa",
    "cohen_kappa_linear": "Cohen’s kappa, linear weights",
    "cohen_kappa_quadratic": "Cohen’s kappa, quadratic weights",
    "light_kappa": "Light’s kappa, mean of pairs",
}
# In [-1, 1] and printed with two decimals, not as per cent.
COEFFICIENT_MEASURES = frozenset(
    name for name in MEASURES if name.startswith(("krippendorff_", "fleiss_", "gwet_", "scott_", "cohen_", "light_"))
)
UNDEFINED = {
    "no_pairs": "no item has two answers",
    "no_variation": "one label in use",
    "no_trials": "nothing to average",
    "too_few": "too few",
}
# An outcome that has no answer, as people and models have it; the first group was asked, the second does not count.
NO_ANSWER = {
    "skipped": "“cannot tell”",
    "unparsed": "unparsed",
    "refused": "refused",
    "empty": "empty",
    "cut_off": "cut off",
    "timed_out": "timed out",
    "error": "failed",
    "worker_lost": "lost with a worker",
    "no_value": "without this field",
}
LEFT_OUT = {
    "excluded": "excluded",
    "surplus": "surplus",
    "later_round": "of later rounds",
    "wrote_item": "by the item’s author",
    "made_gold": "by who made the gold label",
    "passed_on": "skipped and passed on",
    "pending": "still pending",
    "cancelled": "cancelled",
}
# Failures of the way, not of the model: many of them make "all" a number about the network.
TECHNICAL = ("timed_out", "error", "worker_lost")
VOTES = {
    "unanimous": "unanimous",
    "majority": "majority (more than half)",
    "plurality": "plurality (the most, not more than half)",
    "tie": "tie (nobody wins)",
    "no_votes": "no votes",
}


def measure_words(measure: str) -> str:
    """label_accuracy -> "Accuracy"; a name without words of its own keeps its own, without underscores."""
    return MEASURES.get(measure, measure.replace("_", " "))


def undefined_words(figure: Mapping[str, Any]) -> str:
    """Why a figure has no value."""
    reason, note = str(figure["undefined"]), str(figure["note"])
    return note if reason == "too_few" and note else UNDEFINED.get(reason, reason)


def counted_words(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    """{"unparsed": 4, "refused": 2} -> "4 unparsed, 2 refused"."""
    return listed([f"{counts[name]:,} {said}" for name, said in words.items() if counts.get(name)])


def listed(parts: Sequence[str]) -> str:
    """Those that say something, separated by commas."""
    return ", ".join(part for part in parts if part)
