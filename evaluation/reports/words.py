"""The words of a report: what each measure, outcome and reason is called, on pages and in files for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.wording import _, listed

MEASURES = {
    "label_accuracy": _("Accuracy"),
    "same_answer": _("Same answer"),
    "items_exact": _("All items right"),
    "items_f1": _("Item F1"),
    "rouge_1": _("ROUGE-1"),
    "rouge_2": _("ROUGE-2"),
    "rouge_l": _("ROUGE-L"),
    "rouge_1_stem": _("ROUGE-1, stems"),
    "rouge_2_stem": _("ROUGE-2, stems"),
    "rouge_l_stem": _("ROUGE-L, stems"),
    "bleu": _("BLEU"),
    "bleu_zh": _("BLEU, Chinese"),
    "meteor_no_synonyms": _("METEOR (no synonyms)"),
    "meteor_nltk": _("METEOR (NLTK)"),
    "cell_f1": _("Cell F1"),
    "cell_f1_multiset": _("Cell F1, one to one"),
    "tuple_fraction": _("Expected rows found"),
    "tuple_similarity": _("Tuple similarity"),
    "temptabqa_exact_match": _("Exact match (TempTabQA)"),
    "temptabqa_f1": _("F1 (TempTabQA)"),
    "temptabqa_rouge_1": _("ROUGE-1 (TempTabQA)"),
    "temptabqa_rouge_l": _("ROUGE-L (TempTabQA, its “R2”)"),
    "temptabqa_meteor": _("METEOR (TempTabQA)"),
    "temptabqa_c_ems": _("EMS (TempTabQA-C)"),
    "temptabqa_c_rems": _("REMS (TempTabQA-C)"),
    "structext_rouge_l": _("ROUGE-L (StrucText-Eval)"),
    "structext_rouge_l_75": _("Accuracy (StrucText-Eval)"),
    "structext_rouge_l_75_empty_left_out": _("Accuracy (StrucText-Eval), empty left out"),
    "wikitablequestions": _("Official rule (WikiTableQuestions)"),
    "galois_cell_precision": _("Cell precision (Galois)"),
    "galois_cell_recall": _("Cell recall (Galois)"),
    "galois_cell_f1": _("Cell F1 (Galois)"),
    "galois_cell_f1_exact": _("Cell F1, exact (Galois)"),
    "galois_cell_f1_2025": _("Cell F1 (Galois, rule of July 2025)"),
    "galois_tuple_cardinality": _("Tuple cardinality (Galois)"),
    "galois_tuple_constraint": _("Tuple constraint (Galois)"),
    "galois_tuple_similarity": _("TS (Galois, older)"),
    "galois_tuple_cell_similarity": _("TS (Galois, newer, without judge)"),
    "qatch_cell_precision": _("Cell precision (QATCH)"),
    "qatch_cell_recall": _("Cell recall (QATCH)"),
    "qatch_tuple_cardinality": _("Tuple cardinality (QATCH)"),
    "qatch_tuple_constraint": _("Tuple constraint (QATCH)"),
    "qatch_execution_accuracy": _("Execution accuracy (QATCH)"),
    "qatch_tuple_order": _("Tuple order (QATCH)"),
    "exact_match": _("Exact match"),
    "exact_match_squad": _("Exact match (SQuAD)"),
    "token_f1": _("Token F1"),
    "token_f1_squad": _("Token F1 (SQuAD)"),
    "macro_f1_all_declared": _("Macro-F1"),
    "macro_f1_gold_classes": _("Macro-F1, labels in gold"),
    "equals_vote_of_others": _("Equals the vote of the others"),
    "equals_vote_of_others_difference": _("Difference to one person"),
    "majority_agreement": _("Majority agreement"),
    "percent_agreement": _("Percent agreement, mean of items"),
    "percent_agreement_pooled": _("Percent agreement, pooled pairs"),
    "specific_agreement": _("Agreement given the label"),
    "dawid_skene_accuracy": _("Right, as Dawid and Skene’s model estimates"),
    "krippendorff_alpha_nominal": _("Krippendorff’s alpha, nominal"),
    "krippendorff_alpha_ordinal": _("Krippendorff’s alpha, ordinal"),
    "krippendorff_alpha_interval": _("Krippendorff’s alpha, interval"),
    "krippendorff_alpha_ratio": _("Krippendorff’s alpha, ratio"),
    "fleiss_kappa": _("Fleiss’ kappa"),
    "gwet_ac1": _("Gwet’s AC1"),
    "gwet_ac2_linear": _("Gwet’s AC2, linear weights"),
    "gwet_ac2_quadratic": _("Gwet’s AC2, quadratic weights"),
    "gwet_ac2_ordinal": _("Gwet’s AC2, ordinal weights"),
    "scott_pi": _("Scott’s pi"),
    "cohen_kappa": _("Cohen’s kappa"),
    "cohen_kappa_linear": _("Cohen’s kappa, linear weights"),
    "cohen_kappa_quadratic": _("Cohen’s kappa, quadratic weights"),
    "light_kappa": _("Light’s kappa, mean of pairs"),
    "judged_right": _("Judged right"),
    "wins_minus_losses": _("Wins minus losses"),
    "win_rate": _("Win rate"),
    "mcnemar_exact": _("McNemar’s exact test"),
    "mcnemar_mid_p": _("McNemar’s mid-p test"),
    "audit_sampled": _("Labels right, in the sample"),
    "audit_population": _("Labels right, in the population"),
    "pearson": _("Pearson’s r"),
    "spearman": _("Spearman’s rho"),
    "kendall_tau_b": _("Kendall’s tau-b"),
}
# In [-1, 1] and printed with two decimals, not as per cent.
COEFFICIENT_MEASURES = frozenset(
    name for name in MEASURES if name.startswith(("krippendorff_", "fleiss_", "gwet_", "scott_", "cohen_", "light_"))
)
UNDEFINED = {
    "no_pairs": _("no item has two answers"),
    "no_variation": _("one label in use"),
    "no_trials": _("nothing to average"),
    "too_few": _("too few"),
    "zero_variance": _("no spread"),
    "not_binary": _("scores between right and wrong"),
    "not_independent": _("items that share roots; see the permutation test"),
    "several_answers": _("a run with several answers to an item"),
    "no_shared_items": _("no item that all were asked"),
}
# An outcome that has no answer, as people and models have it; the first group was asked, the second does not count.
NO_ANSWER = {
    "skipped": _("“cannot tell”"),
    "unparsed": _("unparsed"),
    "refused": _("refused"),
    "empty": _("empty"),
    "cut_off": _("cut off"),
    "tied": _("tied vote"),
    "timed_out": _("timed out"),
    "error": _("failed"),
    "worker_lost": _("lost with a worker"),
    "no_value": _("without this field"),
}
LEFT_OUT = {
    "excluded": _("excluded"),
    "surplus": _("surplus"),
    "later_round": _("of later rounds"),
    "wrote_item": _("by the item’s author"),
    "made_gold": _("by who made the gold label"),
    "passed_on": _("skipped and passed on"),
    "pending": _("still pending"),
    "cancelled": _("cancelled"),
}
# Why an answer that was drawn for judges has no judgement.
NOT_JUDGED = {
    "waiting": _("waiting for a judge"),
    "undecided": _("judges undecided"),
    "left_out": _("left out with the item"),
    "answered": _("without this field"),
}
# Failures of the way, not of the model: many of them make "all" a number about the network.
TECHNICAL = ("timed_out", "error", "worker_lost")
VOTES = {
    "unanimous": _("unanimous"),
    "majority": _("majority (more than half)"),
    "plurality": _("plurality (the most, not more than half)"),
    "tie": _("tie (nobody wins)"),
    "no_votes": _("no votes"),
}


def measure_words(measure: str) -> str:
    """label_accuracy -> "Accuracy"; a name without words of its own keeps its own, without underscores."""
    return MEASURES.get(measure, measure.replace("_", " "))


# What evaluation/stats says, which knows no languages: marked here, so that catalogues have it.
OF_STATISTICS: dict[str, str] = {
    str.__str__(sentence): sentence
    for sentence in (
        _("percentile bootstrap over roots"),
        _("percentile bootstrap over roots (sign test)"),
        _("percentile bootstrap over people and roots"),
        _("Wilson with the effective number of trials, by percentile bootstrap over roots"),
        _("Wilson with the effective number of trials, by percentile bootstrap over people and roots"),
        _("Wilson with the effective sample size, weighted by population, with finite-population correction"),
        _("degenerate interval: every resample gave the same value"),
        _("no interval: a single independent unit cannot show how much units vary"),
        _("no interval: %(n)s of %(total)s resamples were undefined"),
        _("no interval: %(n)s raters, and all pairs are resampled together for at most %(most)s"),
        _("%(n)s of %(total)s resamples were undefined and are left out"),
    )
}


def undefined_words(figure: Mapping[str, Any]) -> str:
    """Why a figure has no value."""
    reason, note = str(figure["undefined"]), str(figure["note"])
    return note if reason == "too_few" and note else UNDEFINED.get(reason, reason)


def interval_words(figure: Mapping[str, Any]) -> str:
    """Why a figure has no interval, or how many resamples its interval leaves out; "" where there is nothing to say."""
    parts = str(figure["note"]).split("; ")
    return next((part for part in parts if part.startswith("no interval") or "resamples were undefined" in part), "")


def counted_words(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    """{"unparsed": 4, "refused": 2} -> "4 unparsed, 2 refused"."""
    return listed(
        [_("%(n)s %(what)s", n=f"{counts[name]:,}", what=what) for name, what in words.items() if counts.get(name)]
    )
