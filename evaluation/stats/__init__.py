"""Statistics: arrays in, numbers with their n, interval and the reason when undefined out. No Django.

docs/measures.md describes every function here.
"""

from evaluation.stats.aggregation import Votes, majority_votes, pooled_rounds, weighted_votes
from evaluation.stats.agreement import (
    COEFFICIENTS,
    all_coefficients,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha_nominal,
    majority_agreement,
    percent_agreement,
    percent_agreement_pooled,
)
from evaluation.stats.attainable import attainable_percentage
from evaluation.stats.audit import StratifiedAccuracy, StratumAccuracy, stratified_accuracy
from evaluation.stats.correlation import Correlations, MetricCorrelations, correlations, metric_correlations
from evaluation.stats.dawid_skene import DawidSkene, dawid_skene
from evaluation.stats.grid import GridSpread, spread_over_grid
from evaluation.stats.human_accuracy import (
    BestPerson,
    LeaveOneOut,
    MeanPerson,
    PersonMean,
    VoteOfK,
    best_person,
    chosen_label_accuracy,
    leave_one_out,
    mean_person,
    mean_person_difference,
    vote_of_k,
)
from evaluation.stats.intervals import Bootstrap, wilson
from evaluation.stats.macro_f1 import MacroF1, macro_f1
from evaluation.stats.means import count_missing_as_wrong
from evaluation.stats.multiplicity import benjamini_hochberg, holm
from evaluation.stats.paired import PairedDifference, paired_difference
from evaluation.stats.paired_tests import McNemar, PermutationTest, mcnemar, mcnemar_of_scores, permutation_test
from evaluation.stats.pairs import (
    PAIR_COEFFICIENTS,
    PairAgreement,
    RaterAgreement,
    cohen_kappa,
    cohen_kappa_linear,
    cohen_kappa_quadratic,
    confusion_matrix,
    light_kappa,
    pair_agreements,
    rater_agreements,
    scott_pi,
)
from evaluation.stats.parts import LabelAgreement, coincidence_matrix, label_agreements, unit_agreements
from evaluation.stats.power import ItemsNeeded, PilotSpread, detectable_difference, items_needed, pilot_spread, power_of
from evaluation.stats.proportions import TwoProportions, two_proportions
from evaluation.stats.ratings import Ratings
from evaluation.stats.results import (
    NO_DISCORDANT,
    NO_PAIRS,
    NO_TRIALS,
    NO_VARIATION,
    TOO_FEW,
    ZERO_VARIANCE,
    Coefficient,
    Estimate,
    Interval,
)
from evaluation.stats.scales import (
    MAX_ORDINAL_LABELS,
    MAX_TABLED_LABELS,
    SCALE_COEFFICIENTS,
    gwet_ac2_linear,
    gwet_ac2_ordinal,
    gwet_ac2_quadratic,
    krippendorff_alpha_interval,
    krippendorff_alpha_ordinal,
    krippendorff_alpha_ratio,
)

__all__ = [
    "COEFFICIENTS",
    "MAX_ORDINAL_LABELS",
    "MAX_TABLED_LABELS",
    "NO_DISCORDANT",
    "NO_PAIRS",
    "NO_TRIALS",
    "NO_VARIATION",
    "PAIR_COEFFICIENTS",
    "SCALE_COEFFICIENTS",
    "TOO_FEW",
    "ZERO_VARIANCE",
    "BestPerson",
    "Bootstrap",
    "Coefficient",
    "Correlations",
    "DawidSkene",
    "Estimate",
    "GridSpread",
    "Interval",
    "ItemsNeeded",
    "LabelAgreement",
    "LeaveOneOut",
    "MacroF1",
    "McNemar",
    "MeanPerson",
    "MetricCorrelations",
    "PairAgreement",
    "PairedDifference",
    "PermutationTest",
    "PersonMean",
    "PilotSpread",
    "RaterAgreement",
    "Ratings",
    "StratifiedAccuracy",
    "StratumAccuracy",
    "TwoProportions",
    "VoteOfK",
    "Votes",
    "all_coefficients",
    "attainable_percentage",
    "benjamini_hochberg",
    "best_person",
    "chosen_label_accuracy",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "coincidence_matrix",
    "confusion_matrix",
    "correlations",
    "count_missing_as_wrong",
    "dawid_skene",
    "detectable_difference",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2_linear",
    "gwet_ac2_ordinal",
    "gwet_ac2_quadratic",
    "holm",
    "items_needed",
    "krippendorff_alpha_interval",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_ratio",
    "label_agreements",
    "leave_one_out",
    "light_kappa",
    "macro_f1",
    "majority_agreement",
    "majority_votes",
    "mcnemar",
    "mcnemar_of_scores",
    "mean_person",
    "mean_person_difference",
    "metric_correlations",
    "pair_agreements",
    "paired_difference",
    "percent_agreement",
    "percent_agreement_pooled",
    "permutation_test",
    "pilot_spread",
    "pooled_rounds",
    "power_of",
    "rater_agreements",
    "scott_pi",
    "spread_over_grid",
    "stratified_accuracy",
    "two_proportions",
    "unit_agreements",
    "vote_of_k",
    "weighted_votes",
    "wilson",
]
