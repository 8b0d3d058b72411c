"""Statistics: arrays in, numbers with their n, interval and the reason when undefined out. No Django.

docs/measures.md describes every function here.
"""

from evaluation.stats.aggregation import Votes, majority_votes
from evaluation.stats.agreement import (
    COEFFICIENTS,
    Ratings,
    all_coefficients,
    fleiss_kappa,
    krippendorff_alpha_nominal,
    majority_agreement,
    percent_agreement,
    percent_agreement_pooled,
)
from evaluation.stats.human_accuracy import (
    LeaveOneOut,
    MeanPerson,
    PersonMean,
    VoteOfK,
    leave_one_out,
    mean_person,
    mean_person_difference,
    vote_of_k,
)
from evaluation.stats.intervals import Bootstrap, wilson
from evaluation.stats.macro_f1 import MacroF1, macro_f1
from evaluation.stats.means import count_missing_as_wrong
from evaluation.stats.paired import PairedDifference, paired_difference
from evaluation.stats.results import NO_PAIRS, NO_TRIALS, NO_VARIATION, TOO_FEW, Coefficient, Estimate, Interval

__all__ = [
    "COEFFICIENTS",
    "NO_PAIRS",
    "NO_TRIALS",
    "NO_VARIATION",
    "TOO_FEW",
    "Bootstrap",
    "Coefficient",
    "Estimate",
    "Interval",
    "LeaveOneOut",
    "MacroF1",
    "MeanPerson",
    "PairedDifference",
    "PersonMean",
    "Ratings",
    "VoteOfK",
    "Votes",
    "all_coefficients",
    "count_missing_as_wrong",
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "leave_one_out",
    "macro_f1",
    "majority_agreement",
    "majority_votes",
    "mean_person",
    "mean_person_difference",
    "paired_difference",
    "percent_agreement",
    "percent_agreement_pooled",
    "vote_of_k",
    "wilson",
]
