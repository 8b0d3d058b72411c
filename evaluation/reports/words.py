"""The words of a report: what each measure, outcome and reason is called, on pages and in files for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MEASURES = {
    "label_accuracy": "Accuracy",
    "same_answer": "Same answer",
    "items_exact": "All items right",
    "items_f1": "Item F1",
    "rouge_1": "ROUGE-1",
    "rouge_2": "ROUGE-2",
    "rouge_l": "ROUGE-L",
    "rouge_1_stem": "ROUGE-1, stems",
    "rouge_2_stem": "ROUGE-2, stems",
    "rouge_l_stem": "ROUGE-L, stems",
    "bleu": "BLEU",
    "bleu_zh": "BLEU, Chinese",
    "meteor_no_synonyms": "METEOR (no synonyms)",
    "meteor_nltk": "METEOR (NLTK)",
    "cell_f1": "Cell F1",
    "cell_f1_multiset": "Cell F1, one to one",
    "tuple_fraction": "Expected rows found",
    "tuple_similarity": "Tuple similarity",
    "temptabqa_exact_match": "Exact match (TempTabQA)",
    "temptabqa_f1": "F1 (TempTabQA)",
    "temptabqa_rouge_1": "ROUGE-1 (TempTabQA)",
    "temptabqa_rouge_l": "ROUGE-L (TempTabQA, its “R2”)",
    "temptabqa_meteor": "METEOR (TempTabQA)",
    "temptabqa_c_ems": "EMS (TempTabQA-C)",
    "temptabqa_c_rems": "REMS (TempTabQA-C)",
    "structext_rouge_l": "ROUGE-L (StrucText-Eval)",
    "structext_rouge_l_75": "Accuracy (StrucText-Eval)",
    "structext_rouge_l_75_empty_left_out": "Accuracy (StrucText-Eval), empty left out",
    "wikitablequestions": "Official rule (WikiTableQuestions)",
    "galois_cell_precision": "Cell precision (Galois)",
    "galois_cell_recall": "Cell recall (Galois)",
    "galois_cell_f1": "Cell F1 (Galois)",
    "galois_cell_f1_exact": "Cell F1, exact (Galois)",
    "galois_cell_f1_2025": "Cell F1 (Galois, rule of July 2025)",
    "galois_tuple_cardinality": "Tuple cardinality (Galois)",
    "galois_tuple_constraint": "Tuple constraint (Galois)",
    "galois_tuple_similarity": "TS (Galois, older)",
    "galois_tuple_cell_similarity": "TS (Galois, newer, without judge)",
    "qatch_cell_precision": "Cell precision (QATCH)",
    "qatch_cell_recall": "Cell recall (QATCH)",
    "qatch_tuple_cardinality": "Tuple cardinality (QATCH)",
    "qatch_tuple_constraint": "Tuple constraint (QATCH)",
    "qatch_execution_accuracy": "Execution accuracy (QATCH)",
    "qatch_tuple_order": "Tuple order (QATCH)",
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
    "dawid_skene_accuracy": "Right, as Dawid and Skene’s model estimates",
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
    "judged_right": "Judged right",
    "wins_minus_losses": "Wins minus losses",
    "pearson": "Pearson’s r",
    "spearman": "Spearman’s rho",
    "kendall_tau_b": "Kendall’s tau-b",
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
    "zero_variance": "no spread",
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
# Why an answer that was drawn for judges has no judgement.
NOT_JUDGED = {
    "waiting": "waiting for a judge",
    "undecided": "judges undecided",
    "left_out": "left out with the item",
    "answered": "without this field",
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
